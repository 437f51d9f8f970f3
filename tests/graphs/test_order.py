"""Rows and columns of two matrices in one order."""

from __future__ import annotations

import numpy as np
from graphs.listing import refused
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.graphs.order import both, orders, reordered


@settings(max_examples=20)
@given(st.permutations("abc"), st.permutations("abc"), st.permutations("xyz"), st.permutations("xyz"))
def test_elements_stay_with_their_names(rows, others, columns, across):
    A = sr.Matrix(np.zeros((3, 3)), sr.min_plus, rows, columns=columns)
    B = sr.Matrix(np.arange(9.0).reshape(3, 3), sr.min_plus, others, columns=across)
    found = reordered(B.array, *orders(A, B))
    assert [[B[a, b] for b in columns] for a in rows] == found.tolist() and both(A, B) == (rows, columns)


def test_names_of_one_axis_are_taken_from_the_other_matrix():
    A = sr.Matrix(np.zeros((2, 3)), sr.min_plus, ["a", "b"])
    B = sr.Matrix(np.ones((2, 3)), sr.min_plus, columns=["x", "y", "z"])
    assert both(A, B) == (["a", "b"], ["x", "y", "z"]) == both(B, A) and orders(A, B) == (None, None)
    assert (A | B).column_names == ["x", "y", "z"] and (B | A).row_names == ["a", "b"]
    with refused("'z' is in the columns of A and not in the columns of B"):
        orders(B, sr.Matrix(np.ones((2, 3)), sr.min_plus, columns=["x", "y", "w"]))
