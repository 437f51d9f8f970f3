"""Answers are plain arrays that can be written to, in memory that no operand has, also if there was nothing to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import semiring as sr

ALGEBRAS = [sr.min_plus, sr.plus_times, sr.counting, sr.log, sr.boolean, sr.shortest_hops, sr.regex, sr.viterbi,
            sr.gf2, sr.why]


class Subclass(np.ndarray):
    """An array as other libraries derive it."""


VERBS: dict[str, Callable[[Any, sr.Semiring], Any]] = {
    "einsum, as it is": lambda A, S: sr.einsum("ij->ij", A, S=S),
    "einsum, a diagonal": lambda A, S: sr.einsum("ii->i", A, S=S),
    "einsum, turned": lambda A, S: sr.einsum("ij->ji", A, S=S),
    "einsum, one term": lambda A, S: sr.einsum("kij->ij", A[None], S=S),
    "einsum, by one": lambda A, S: sr.einsum("ij,k->ij", A, A[0, :1], S=S),
    "einsum, product": lambda A, S: sr.einsum("ij,jk->ik", A, A, S=S),
    "convolve": lambda A, S: sr.convolve(A[0], A[0, :1], S),
    "chain of one": lambda A, S: sr.chain([A], S),
    "chain of a stack": lambda A, S: sr.chain(A[None], S),
    "scan": lambda A, S: sr.scan(A[None], S),
    "scan from": lambda A, S: sr.scan(A[None], S, initial=A),
    "forward, no steps": lambda A, S: sr.forward(A[0], A, S, steps=0),
    "forward": lambda A, S: sr.forward(A[0], A, S, steps=1, emissions=None),
    "sum of one": lambda A, S: S.sum(A[None], 0),
    "sum of one, kept": lambda A, S: S.sum(A[None], 0, keepdims=True),
    "sum along no axis": lambda A, S: S.sum(A, ()),
    "sum, prepared": lambda A, S: S.sum(sr.prepare(A, S), ()),
    "sum of a Matrix": lambda A, S: S.sum(sr.Matrix(A, S), ()),
    "product of one": lambda A, S: S.prod(A[None], 0),
    "product along no axis": lambda A, S: S.prod(A, ()),
    "prefixes": lambda A, S: S.cumsum(A[None], 0),
    "prefix products": lambda A, S: S.cumprod(A[None], 0),
    "add": lambda A, S: S.add(A, A),
    "add, repeated": lambda A, S: S.add(A[:, :1], A[0]),
    "mul": lambda A, S: S.mul(A, A[:1]),
    "star": lambda A, S: S.star(A[0, 1:]),
    "star, repeated": lambda A, S: S.star(np.broadcast_to(A[0, 1:2], (3,) if len(A) > 1 else (0,))),
    "matmul": lambda A, S: sr.matmul(A, A, S),
    "power of 1": lambda A, S: sr.power(A, S, 1),
    "closure, no edges": lambda A, S: sr.closure(A, S, max_edges=0),
}


def arrays(found: Any) -> Iterator[np.ndarray]:
    yield np.asarray(found.array) if isinstance(found, sr.Matrix) else found


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("kind", [None, Subclass, "read-only"])
@pytest.mark.parametrize("S", ALGEBRAS, ids=lambda S: S.name)
def test_answers_share_no_memory(S: sr.Semiring, kind: Any, n: int) -> None:
    A = S.eye(n)
    if kind == "read-only":
        A.flags.writeable = False
    elif kind is not None:
        A = A.view(kind)
    before = A.tolist()
    for name, verb in VERBS.items():
        for found in arrays(verb(A, S)):
            assert type(found) is np.ndarray, name
            assert found.flags.writeable and not np.shares_memory(found, A), name
            assert all(stride for stride, length in zip(found.strides, found.shape, strict=True) if length > 1), name
            found[...] = found.copy()
    assert A.tolist() == before


def test_a_file_in_memory_gives_plain_answers(tmp_path: Any) -> None:
    for mode in ("w+", "r"):
        A = np.memmap(tmp_path / "A", float, mode, shape=(3, 3))
        S = sr.min_plus
        for found in (S.sum(A, 0), S.cumsum(A, 0), S.add(A, A), sr.matmul(A, A, S), sr.einsum("ij->ji", A, S=S),
                      sr.scan(A[None], S)):
            assert type(found) is np.ndarray and found.flags.writeable and not np.shares_memory(found, A)
