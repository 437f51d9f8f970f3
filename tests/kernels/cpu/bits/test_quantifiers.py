"""`any` and `all` of packed matrices are those of the unpacked ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from semiring.errors import SemiringError
from semiring.kernels.blocks import bits
from semiring.kernels.cpu.bits.matrix import PackedMatrix

AXES = (None, 0, 1, -1, -2, (0, 1), (1, -2))


@given(st.integers(0, 9), st.sampled_from([0, 1, 63, 64, 65, 128, 200, 513]), st.sampled_from([0.0, 0.01, 0.99, 1.0]),
       st.integers(0, 9), st.sampled_from([1, 16, 64, 1 << 20]))
@example(0, 0, 0.0, 0, 1)
@example(5, 64, 1.0, 0, 32)
def test_answers_are_those_of_arrays(rows: int, columns: int, density: float, seed: int, block: int) -> None:
    dense = np.random.default_rng(seed).random((rows, columns)) < density
    packed = PackedMatrix.from_dense(dense)
    wide = PackedMatrix(np.zeros((rows, packed.words.shape[1] + 2), np.uint64), columns)  # with words of other entries
    wide.words[:, packed.used_words :] = 2**64 - 1
    wide.words[:, : packed.used_words] = packed.words[:, : packed.used_words]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bits, "BLOCK", block)
        for M in (packed, wide, wide[:, :]):
            for axis in AXES:
                for verb in ("any", "all"):
                    for keepdims in (False, True):
                        wanted = getattr(dense, verb)(axis=axis, keepdims=keepdims)
                        got = getattr(M, verb)(axis=axis, keepdims=keepdims)
                        assert np.array_equal(got, wanted) and np.shape(got) == wanted.shape
                    assert np.array_equal(getattr(np, verb)(M, axis=axis), getattr(dense, verb)(axis=axis))
    assert np.array_equal(packed.to_dense(), dense)


def test_answers_for_parts_of_rows_of_words() -> None:
    dense = np.random.default_rng(0).random((40, 300)) < 0.9
    M = PackedMatrix.from_dense(dense)
    for part in ((slice(3, 30), slice(64, 192)), (slice(3, 4), slice(10, 75)), (slice(5, 5), slice(None))):
        for axis in AXES:
            assert np.array_equal(M[part].all(axis), dense[part].all(axis))
            assert np.array_equal(M[part].any(axis), dense[part].any(axis))


def test_an_answer_is_one_truth_value_or_an_array_of_them() -> None:
    M = PackedMatrix.identity(3)
    assert M.any() is True and M.all() is False
    assert M.any(axis=np.int8(0)).dtype == bool and M.all(0).flags.writeable
    out = np.ones(3)
    assert M.all(axis=1, out=out) is out and out.tolist() == [0, 0, 0]
    whole = np.zeros((), bool)
    assert M.any(out=whole) is whole and whole
    assert np.any(M, axis=1, keepdims=True).shape == (3, 1)


@pytest.mark.parametrize("axis", [2, -3, 0.5, "rows", (0,), (0, 0), (0, 1, 1)])
def test_other_axes_are_refused(axis: Any) -> None:
    M = PackedMatrix.identity(3)
    for quantified in (M.any, M.all):
        with pytest.raises(SemiringError, match="axis must be 0"):
            quantified(axis)


def test_where_an_answer_has_no_place() -> None:
    M, frozen = PackedMatrix.identity(3), np.zeros(3, bool)
    frozen.flags.writeable = False
    for out in (np.zeros(2, bool), np.zeros((1, 3), bool), frozen, [False] * 3, True):
        with pytest.raises(SemiringError, match=r"out must be a writable array of shape \(3,\)"):
            M.any(0, out)


def test_the_transposed_matrix() -> None:
    dense = np.random.default_rng(1).random((70, 130)) < 0.5
    M = PackedMatrix.from_dense(dense)
    assert M.T.shape == (130, 70) and np.array_equal(M.T.to_dense(), dense.T) and M.T.T == M
    turned = M.T
    turned.words[:] = 0
    assert np.array_equal(M.to_dense(), dense)
