"""Einsums on a GPU: diagonals, on the host in CuPy's place; tests/gpu/test_einsum.py has the answers."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gpu.host import Host

import semiring as sr
from semiring.shapes.einsum import on_gpu
from semiring.shapes.einsum.einsum import EinsumTask, is_zero
from semiring.shapes.einsum.on_gpu import diagonals
from semiring.shapes.einsum.running import assignment


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


@pytest.mark.parametrize("text", ["ij,jk->ik", "ij->i", "ij,jk->i", "ij,jk,kl->il", "ij,j->"])
@pytest.mark.parametrize("S", [sr.shortest_hops, sr.min_plus], ids=lambda S: S.name)
def test_winners_of_records_and_numbers_are_the_cpus(
    text: str, S: sr.Semiring, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The products are the CPU's, in the memory of a GPU that the host plays."""
    host = Host()
    host.stand_in(monkeypatch)

    def multiplied(A: Any, B: Any, S: sr.Semiring, **options: Any) -> Any:
        return tuple(map(host.array, sr.matmul(np.array(A), np.array(B), S, **options)))

    monkeypatch.setattr(on_gpu, "matmul", multiplied)
    rng, lengths = np.random.default_rng(0), {"i": 3, "j": 5, "k": 4, "l": 2}
    some = S.samples() if S.is_record else np.array([0.0, 1, 2, np.inf])
    arrays = [rng.choice(np.asarray(some), [lengths[a] for a in axes]) for axes in text.split("->")[0].split(",")]
    task = EinsumTask(text, tuple(arrays), S, argmax=True)
    result, won = on_gpu.run_on_gpu(task.steps, S, [host.array(A) for A in arrays], True, True)
    nothing = is_zero(result, S.over(arrays[0].dtype).zero)
    places = assignment(task.steps, won, np.array(nothing))
    wanted, known = sr.einsum(text, *arrays, S=S, argmax=True)
    assert np.array_equal(np.array(result), wanted) and places.keys() == known.keys()
    for axis, which in known.items():
        assert np.array_equal(np.array(places[axis]), which)
