"""Einsums on a GPU: diagonals, on the host in CuPy's place; tests/gpu/test_einsum.py has the answers."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from semiring.shapes.on_gpu import diagonals


def in_place(shape: Any, dtype: Any, data: Any, strides: Any) -> np.ndarray:
    """A view of memory, as `cupy.ndarray` makes it."""
    return np.ndarray(shape, dtype, data, 0, strides)


@pytest.mark.parametrize(("letters", "kept"), [
    ("aa", "a"), ("aba", "ab"), ("abab", "ab"), ("aaa", "a"), ("aab", "ab"), ("bcbc", "bc"),
])
def test_a_repeated_axis_is_a_diagonal(letters: str, kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(ndarray=in_place))
    lengths = {"a": 3, "b": 4, "c": 5}
    A = np.arange(np.prod([lengths[x] for x in letters])).reshape([lengths[x] for x in letters])
    found = diagonals(A, tuple(letters))
    assert np.array_equal(found, np.einsum(f"{letters}->{kept}", A))
    assert np.shares_memory(found, A)


def test_an_axis_of_length_one_that_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(ndarray=in_place))
    A = np.arange(6).reshape(2, 1, 3)
    assert diagonals(A, ("a", None, "b")).tolist() == A[:, 0].tolist()
    assert diagonals(A, ("a", "c", "b")) is A
