"""Matrices of bits: what stays packed, with names, and what is not written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from graphs.test_holders import LINKS, ROADS
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.graphs.held_bits import PackedEntries

quick = settings(max_examples=80)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[sr.Matrix, sr.Matrix]:
    """A matrix and a mask, which may be over another algebra."""
    rows, columns = draw(st.integers(1, 4)), draw(st.sampled_from([1, 3, 64, 65, 130]))
    random = np.random.default_rng(draw(st.integers(0, 99)))
    A, B = (random.random((rows, columns)) < draw(st.sampled_from([0.0, 0.1, 0.6, 1.0])) for _ in range(2))
    weights = np.where(B, 2.0, np.inf)
    mask = sr.Matrix(B, sr.boolean) if draw(st.booleans()) else sr.Matrix(weights, sr.min_plus)
    return sr.Matrix(A, sr.boolean), mask


@quick
@given(pairs(), st.sampled_from(["packed", "sparse", "dense", "array"]), st.booleans())
def test_a_mask_of_any_kind_selects_bits(both: tuple[sr.Matrix, sr.Matrix], kind: str, complement: bool) -> None:
    dense, mask = both
    wanted = dense.where(mask, complement=complement)
    other: Any = mask.where(dense, complement=complement)
    if kind == "array":
        mask = mask.to_numpy() if mask.dtype == bool else np.isfinite(mask.to_numpy())
    elif kind != "packed" or mask.dtype == bool:
        mask = mask.hold(kind)
    bits = dense.hold("packed")
    found = bits.where(mask, complement=complement)
    assert found.holder == "packed" and found.equals(wanted)
    assert both[1].where(bits, complement=complement).equals(other)


@quick
@given(pairs(), st.data())
def test_bits_that_are_set_are_those_of_an_array(both: tuple[sr.Matrix, sr.Matrix], data: st.DataObject) -> None:
    dense = both[0]
    bits, before = dense.hold("packed"), dense.hold("packed").nnz
    shared = bits.hold("packed")
    key = tuple(data.draw(st.one_of(st.integers(0, n - 1), st.just(slice(None)),
                                    st.lists(st.integers(0, n - 1), min_size=1, max_size=4, unique=True)))
                for n in dense.shape)
    shape = tuple(len(np.arange(n)[k]) for n, k in zip(dense.shape, key, strict=True) if not isinstance(k, int))
    value = data.draw(st.booleans()) if data.draw(st.booleans()) else np.random.default_rng(0).random(shape) < 0.5
    for M in (bits, dense):
        M[key] = value
    assert bits.holder == "packed" and bits.equals(dense)
    assert shared.nnz == before, "the words of another matrix are not written"


@quick
@given(pairs())
def test_sums_and_products_of_bits(both: tuple[sr.Matrix, sr.Matrix]) -> None:
    dense = both[0]
    bits, array = dense.hold("packed"), dense.to_numpy()
    for axis in (None, 0, 1, (0, 1), ()):
        for x in (bits, sr.pack(array)):
            for fold in (sr.boolean.sum, sr.boolean.prod):
                for options in ({}, {"keepdims": True}, {"initial": True}):
                    found, wanted = fold(x, axis, **options), fold(array, axis, **options)
                    assert type(found) is type(wanted) and np.array_equal(found, wanted)
    for axis in (None, 0, 1):
        assert np.array_equal(bits.sum(axis), dense.sum(axis))
    assert np.array_equal(np.asarray(sr.boolean.cumsum(bits, 1)), np.asarray(sr.boolean.cumsum(dense, 1)))


def test_a_packed_matrix_is_computed_with_by_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: Any) -> Any:
        raise AssertionError("the entries were listed, or the bits unpacked")

    bits = sr.Matrix(sr.pack(np.random.default_rng(0).random((100, 100)) < 0.3), sr.boolean)
    other = bits.T
    monkeypatch.setattr(PackedEntries, "__init__", refuse)
    monkeypatch.setattr(sr.PackedMatrix, "to_dense", refuse)
    monkeypatch.setattr(sr.PackedMatrix, "to_sparse", refuse)
    bits.where(other), bits.where(other, complement=True), bits | other, bits * other, bits.equals(other)
    bits.sum(), bits.sum(0), sr.boolean.sum(bits, 1), sr.boolean.prod(bits, 0), bits.nnz, bits.diagonal()
    bits[3, 4] = True
    bits[[3, 4]] = True
    assert "a word of bits at a time" in str(sr.plan("sum", bits, axis=0))


def test_packed_matrices_stay_packed_with_their_names() -> None:
    dense = LINKS.hold("dense")
    for found, wanted in ((LINKS.closure(), dense.closure()), (LINKS**2, dense**2), (LINKS.T, dense.T),
                          (LINKS.closure(reflexive=False), dense.closure(reflexive=False)),
                          (LINKS[["c", "a"]], dense[["c", "a"]]), (LINKS @ LINKS, dense @ dense),
                          (LINKS.where(LINKS.T, complement=True), dense.where(dense.T, complement=True)),
                          (LINKS.map(lambda w: w), dense), (LINKS.select(lambda w: ~w), dense.select(lambda w: ~w))):
        assert found.holder == "packed" and found.equals(wanted) and found.names == wanted.names
    assert LINKS.map(lambda w: np.where(w, 2.0, 0.0), sr.min_plus).holder == "sparse"
    before = LINKS.hold("packed")
    before["c", "a"] = True
    assert before.nnz == 4 and LINKS.nnz == 3, "the words of another matrix are not written"
    assert sr.pack(LINKS).count() == sr.pack(ROADS).count() == 3
    assert sr.solve(LINKS, np.array([False, False, True])).tolist() == [True, True, True]
