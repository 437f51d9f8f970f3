"""*Or* and *and* along bits, and bits that are written, against NumPy on truth values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.cpu.bits import words
from semiring.kernels.cpu.bits.words import along, unpacked, write

quick = settings(max_examples=100)
shapes = st.tuples(st.integers(0, 6), st.sampled_from([0, 1, 5, 63, 64, 65, 128, 200]))


@st.composite
def truths(draw: st.DrawFn) -> np.ndarray:
    shape = draw(shapes)
    random = np.random.default_rng(draw(st.integers(0, 99)))
    return random.random(shape) < draw(st.sampled_from([0.0, 0.02, 0.5, 0.98, 1.0]))


@quick
@given(truths(), st.sampled_from([None, 0, 1]), st.booleans())
def test_or_and_and_along_an_axis(dense: np.ndarray, axis: int | None, every: bool) -> None:
    found = along(sr.PackedMatrix.from_dense(dense), axis, every)
    assert found.dtype == bool and np.array_equal(found, (np.all if every else np.any)(dense, axis))


@pytest.mark.parametrize("block", [1 << 25, 1])
def test_what_is_written_is_what_numpy_writes(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(words, "BLOCK", block)

    @quick
    @given(truths(), st.data())
    def check(dense: np.ndarray, data: st.DataObject) -> None:
        rows, columns = (np.array(data.draw(st.lists(st.integers(0, n - 1), max_size=5) if n else st.just([])), int)
                         for n in dense.shape)
        new = np.random.default_rng(data.draw(st.integers(0, 99))).random((len(rows), len(columns))) < 0.5
        M = sr.PackedMatrix.from_dense(dense)
        write(M, rows, columns, new)
        for i, row in zip(rows, new, strict=True):  # of equal positions the last one stays
            for j, entry in zip(columns, row, strict=True):
                dense[i, j] = entry
        assert np.array_equal(M.to_dense(), dense)
        assert not unpacked(M.words, 64 * M.words.shape[1])[:, dense.shape[1] :].any()

    check()
