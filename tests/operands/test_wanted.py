"""Masks of every kind mark the entries that they store, whatever these hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring.operands.wanted import Mask, Wanted, mask_of, read_mask

M = np.array([[True, False, True], [False, False, False], [True, True, False]])
WHERE = np.nonzero(M)
GRAPH = sr.as_graph(list(zip(*(x.tolist() for x in WHERE), strict=True)), 3)
CLOSED = sp.bsr_array(M.astype(float), blocksize=(3, 3))  # whose blocks are padded with zeros


def read(given: Any, complement: bool = False) -> Wanted:
    return read_mask(Mask(given, complement))


@pytest.mark.parametrize(("given", "sparse"), [
    (M, False), (M.tolist(), False), (sr.pack(M), False), (np.ma.masked_array(np.ones((3, 3), bool), ~M), False),
    (sr.Matrix(np.where(M, 0.0, np.inf), sr.min_plus), False),
    (sr.prepare(np.where(M, 0.0, np.inf), sr.min_plus), False),
    (sp.csr_array((np.zeros(4), WHERE), (3, 3)), True), (sp.csc_array((np.zeros(4, bool), WHERE), (3, 3)), True),
    (sp.coo_array((np.full(8, np.nan), np.tile(WHERE, 2)), (3, 3)), True), (CLOSED, True), (GRAPH, True),
    (sp.csr_array((np.ones(4), [2, 0, 1, 0], [0, 2, 2, 4]), (3, 3)), True),
    (sr.prepare(sp.csr_array((np.ones(4), WHERE), (3, 3)), sr.min_plus), True),
    (sr.prepare(sr.pack(M), sr.boolean), False),
])
def test_stored_entries_are_wanted(given: Any, sparse: bool) -> None:
    for complement in (False, True):
        wanted = read(given, complement)
        assert wanted.sparse == (sparse and not complement) and wanted.shape == (3, 3)
        assert np.array_equal(wanted.array, M ^ complement) and wanted.count == (M ^ complement).sum()
        assert np.array_equal(wanted.packed().to_dense(), M ^ complement)
        offsets, columns = wanted.pattern()
        assert offsets.dtype == np.int64 and columns.dtype == np.int32
        assert np.array_equal(offsets, np.concatenate([[0], np.cumsum((M ^ complement).sum(axis=1))]))
        assert np.array_equal(columns, np.nonzero(M ^ complement)[1])


@pytest.mark.parametrize(("given", "text"), [
    (np.ones(3), "mask has elements of dtype float64"), (object(), "mask must be a Boolean array"),
    ([[True], [True, False]], "mask must be a Boolean array"), (np.array(["a"]), "mask must be a Boolean array"),
    (sp.coo_array(np.ones(3)), "a sparse mask has two axes"),
    (pd.DataFrame([[True, None], [False, True]], dtype="boolean"), r"missing entries.*pass mask.fillna\(False\)"),
])
def test_what_is_no_mask_is_refused(given: Any, text: str) -> None:
    with pytest.raises(sr.SemiringError, match=text):
        read(given)


@pytest.mark.parametrize("columns", [[0, 7], [-1, 0]])
def test_entries_outside_are_refused(columns: list[int]) -> None:
    broken = sp.csr_array((2, 3))
    broken.indptr, broken.indices, broken.data = np.array([0, 1, 2]), np.array(columns), np.ones(2)
    with pytest.raises(sr.SemiringError, match="some of its indices are outside"):
        read(broken)


@pytest.mark.parametrize("given", [[], [[], []], ()])
def test_lists_without_elements_are_masks(given: Any) -> None:
    wanted = read(given)
    assert wanted.shape == np.shape(given) and wanted.array.dtype == bool and wanted.count == 0


def test_a_complement_needs_a_mask() -> None:
    with pytest.raises(sr.SemiringError, match="pass mask="):
        mask_of(None, True)
    with pytest.raises(sr.SemiringError, match="complement must be True or False"):
        mask_of(M, 1)  # type: ignore[arg-type]
