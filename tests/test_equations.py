"""Factors and solutions as verbs: a prepared right-hand side stays as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import semiring as sr

inf = np.inf


@given(st.sampled_from(["<f8", ">f8"]), st.sampled_from(["<f8", ">f8"]), st.sampled_from(["array", "sparse", "graph"]))
def test_to_solve_with_what_is_prepared_does_not_change_it(wanted: str, own: str, kind: str) -> None:
    A = np.array([[inf, 1.0], [1.0, inf]]).astype(wanted)
    b: Any = np.array([[1.0, 2.0], [3.0, 4.0]]).astype(own)
    b = b if kind == "array" else sp.csr_array(b.astype("f8")) if kind == "sparse" else sr.Matrix(b, sr.min_plus)
    B = sr.prepare(b, sr.min_plus)
    before, dtype = repr(B), sr.closure(B, sr.min_plus, device="cpu")
    for solve in (lambda: sr.solve(A, B, sr.min_plus), lambda: sr.factor(A, sr.min_plus).solve(B)):
        assert np.asarray(solve()).dtype == np.dtype(wanted)
        after = sr.closure(B, sr.min_plus, device="cpu")
        assert repr(B) == before and np.asarray(after).dtype == np.asarray(dtype).dtype
