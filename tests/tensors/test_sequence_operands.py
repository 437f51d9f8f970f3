"""Operands of chains with the leading axes that tensor libraries add."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.tensors.sequence_operands import (
    Chains,
    chains_of,
    initial_with_axes,
    last_product,
    last_product_gradient,
    with_axes,
)

RNG = np.random.default_rng(0)


def drawn(*shape: int) -> np.ndarray:
    return RNG.integers(0, 9, shape).astype(float)


@pytest.mark.parametrize(("shapes", "lengths", "steps", "rows"), [
    (((3,), (3, 3), (4, 3)), None, None, 4), (((2, 3), (2, 3, 3, 3), (4, 3)), None, None, 4),
    (((3,), (3, 3)), None, 5, 6), (((5, 1, 3), (3, 3), (2, 4, 3)), [[1, 4]] * 5, None, 4),
])
def test_operands_get_the_same_number_of_leading_axes(shapes: Any, lengths: Any, steps: Any, rows: int) -> None:
    x, A, *rest = (drawn(*shape) for shape in shapes)
    e = rest[0] if rest else None
    chains = chains_of(x, A, e, lengths, steps, False)
    given = with_axes(chains, x, A, e)
    assert chains == Chains(rows, False, e is not None, False)
    assert len({y.ndim - k for y, k in zip(given, (1, 3, 2), strict=False)}) == 1
    found = chains.values(sr.min_plus, *given, *([] if lengths is None else [np.array(lengths)]))
    assert np.array_equal(found, sr.forward(x, A, sr.min_plus, emissions=e, lengths=lengths, steps=steps))


def test_joined_sequences_with_a_leading_axis_are_taken_one_after_the_other() -> None:
    x, A, e, lengths = drawn(5, 3), drawn(5, 1, 3, 3), drawn(5, 6, 3), np.array([[2, 4]] * 5)
    chains = chains_of(x[0], A[0], e[0], lengths[0], None, True)
    assert chains == Chains(6, True, True, True)
    found = chains.values(sr.min_plus, x, A, e, lengths)
    gradients = chains.gradients(sr.min_plus, np.ones_like(found), found, x, A, e, lengths)
    for k in range(5):
        one = x[k], A[k], e[k], lengths[k]
        assert np.array_equal(found[k], chains.values(sr.min_plus, *one))
        for every, each in zip(gradients, chains.gradients(sr.min_plus, np.ones((6, 3)), found[k], *one), strict=True):
            assert np.array_equal(every[k], each)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(sr.SemiringError, match="stack has 2 matrices and there are 4 rows"):
        chains_of(drawn(3), drawn(2, 3, 3), drawn(4, 3), None, None, False)


def test_a_chain_of_one_matrix_is_that_matrix_and_one_of_none_the_identity() -> None:
    A = drawn(2, 1, 3, 3)
    assert np.array_equal(last_product(sr.min_plus, A), A[:, 0])
    assert np.array_equal(last_product_gradient(sr.min_plus, A[:, 0], A), A)
    assert np.array_equal(last_product(sr.plus_times, A[:, :0]), [np.eye(3)] * 2)
    assert last_product_gradient(sr.plus_times, A[:, 0], A[:, :0]).shape == (2, 0, 3, 3)


def test_an_initial_matrix_gets_the_leading_axes_of_the_sequences() -> None:
    stack = drawn(2, 5, 4, 3, 3)
    assert initial_with_axes(stack, None, False) is None
    assert initial_with_axes(stack, drawn(1, 3), False).shape == (1, 1, 1, 3)
    assert initial_with_axes(stack, drawn(5, 3, 2), True).shape == (1, 5, 3, 2)
    with pytest.raises(sr.SemiringError, match="initial must be a matrix of shape"):
        initial_with_axes(stack, drawn(1, 3), True)
