"""Letters, names and lists of axes, and ellipses; what does not fit is refused with its operand and axis."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import semiring as sr


def test_an_ellipsis_broadcasts() -> None:
    rng = np.random.default_rng(0)
    A, B = rng.integers(0, 9, (4, 1, 2, 3)).astype(float), rng.integers(0, 9, (5, 3, 2)).astype(float)
    assert np.array_equal(sr.einsum("...ij,...jk", A, B, S=sr.min_plus), sr.matmul(A, B, sr.min_plus))
    assert np.array_equal(sr.einsum("...ij,...jk->ik...", A, B, S=sr.plus_times), np.einsum("...ij,...jk->ik...", A, B))
    assert np.array_equal(sr.einsum("...jk,...ij->...ik", B, A, S=sr.min_plus), sr.matmul(A, B, sr.min_plus))
    assert np.array_equal(sr.einsum("...,...->...", B, B[:1], S=sr.max_plus), B + B[:1])
    assert np.array_equal(sr.einsum("i...->...", B, S=sr.max_plus), B.max(0))
    assert np.array_equal(sr.einsum(B, [..., 7], [...], S=sr.max_plus), B.max(-1))
    assert np.array_equal(sr.einsum("... i, i -> ...", B, B[0, 0], S=sr.plus_times), B @ B[0, 0])


MESSAGES = [
    ("ij,jk", [(2, 3), (4, 4)], "axis j of 'ij,jk' has 3 elements in operand 0, of shape (2, 3), and 4 in operand 1"),
    ("ij,jk", [(2, 3), (4, 4)], "; an axis has one size: pass operands that agree, or give one of the two axes"),
    ("ij,jk", [(2, 3), (1, 4)], "to repeat the one element of operand 1, take that axis out of it, or write '...'"),
    ("ij,jk", [(2, 3)], "'ij,jk' has 2 terms, one for each operand, and einsum got 1 operand"),
    ("ij->i", [(2, 3, 4)], "operand 0 of 'ij->i' has 3 axes, shape (2, 3, 4), but its term 'i j' names 2 axes; '...'"),
    ("ii->i", [(2, 3)], "axis i is twice in operand 0 of 'ii->i', which takes a diagonal, but the shape (2, 3) has "
     "different sizes there: give the two axes different names"),
    ("ij->ik", [(2, 3)], "axis k of the answer of 'ij->ik' is in no operand"),
    ("ij->ii", [(2, 3)], "axis i is twice in the answer of 'ij->ii'"),
    ("...i->i", [(2, 3)], "'...' of '...i->i' stands for 1 axis, and the answer has no '...'"),
    ("...i...->i", [(2, 3)], "operand 0 of '...i...->i' has two ellipses"),
    ("i.j->i", [(2, 3)], "einsum cannot read 'i.j->i'"),
    ("ij->i,j", [(2, 3)], "one '->' before the axes of the answer"),
    ("a 2, a -> a", [(2, 3), (2,)], "einsum cannot read the axis '2'"),
    ("...row, row", [(2, 3), (3,)], "names 3 axes; each letter is an axis, unless some term has a blank"),
    ("->", [], "'->' has 1 term, one for each operand, and einsum got 0 operands"),
    ("...i,...j", [(2, 3), (4, 3)], "axis ...[-1] of '...i,...j' has 2 elements in operand 0, of shape (2, 3), and 4 "
     "in operand 1, of shape (4, 3); axes of '...' are matched from the last one, and need equal sizes, or one"),
]


@pytest.mark.parametrize(("text", "shapes", "says"), MESSAGES, ids=[m[0] for m in MESSAGES])
def test_what_does_not_fit_is_refused_with_its_operand_and_axis(text: str, shapes: Any, says: str) -> None:
    with pytest.raises(sr.SemiringError, match=re.escape(says)):
        sr.einsum(text, *(np.ones(shape) for shape in shapes), S=sr.min_plus)


def test_labels_that_cannot_name_an_axis_are_refused() -> None:
    A = np.ones((2, 3))
    for label in (None, [0]):
        with pytest.raises(sr.SemiringError, match="as the name of an axis after operand 0"):
            sr.einsum(A, [label, 1], [1], S=sr.min_plus)
    with pytest.raises(sr.SemiringError, match="an array of 40 axes here, and NumPy computes with at most 32"):
        sr.einsum(*[x for i in range(20) for x in (np.ones((1, 1)), [i, i + 20])], [*range(40)], S=sr.min_plus)
