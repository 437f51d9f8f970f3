"""Masked arrays: what is masked is not an edge, whatever number lies below the mask, for every verb."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from bridge import same_bits

import semiring as sr

inf, nan = np.inf, np.nan
ALGEBRAS = [
    ("min_plus", "f8"), ("min_plus", "i4"), ("min_plus", "f2"), ("max_times", "f4"), ("boolean", "?"),
    ("plus_times", "f8"), ("gcd_lcm", "i8"), ("shortest_hops", None), ("why", None),
]


def acyclic(S: sr.Semiring, dtype: Any, shape: tuple) -> tuple[np.ma.MaskedArray, np.ndarray]:
    """Few edges, masked elsewhere, with worse than nothing below the mask; and the plain array that is meant."""
    random = np.random.default_rng(3)
    dtype = S.default_dtype if dtype is None else np.dtype(dtype)
    plain = np.empty(shape, dtype)
    below = plain.copy()
    for at in np.ndindex(*shape):
        absent = at[-1] <= at[-2] or random.random() < 0.4
        edge = (2.0, 1.0) if S.is_record else frozenset([frozenset([str(at)])]) if S.is_object else 1
        plain[at] = S.zero_in(dtype) if absent else edge
        if not absent:
            below[at] = edge
        elif S.is_record:
            below[at] = (nan, -1.0)
        else:
            below[at] = None if S.is_object else nan if dtype.kind == "f" else True
    mask = np.array([plain[at] == S.zero_in(dtype) for at in np.ndindex(*shape)]).reshape(shape)
    masked = np.ma.MaskedArray(below)
    masked[mask] = np.ma.masked
    return masked, plain


VERBS: dict[str, Callable[[Any, sr.Semiring], Any]] = {
    "closure": lambda A, S: sr.closure(A, S),
    "closure, blocked": lambda A, S: sr.closure(A, S, method="blocked", tile=2),
    "closure, not reflexive": lambda A, S: sr.closure(A, S, reflexive=False),
    "closure, overwrite": lambda A, S: sr.closure(A, S, overwrite=True),
    "matmul": lambda A, S: sr.matmul(A, A, S),
    "matmul with vectors": lambda A, S: sr.matmul(A[0], A, S),
    "accumulate": lambda A, S: sr.matmul(A, A, S, accumulate=A),
    "factor": lambda A, S: sr.factor(A, S).closure(),
    "solve": lambda A, S: sr.solve(A, A, S),
    "factor, then solve": lambda A, S: sr.factor(A, S).solve(A[:, 1]),
    "plan": lambda A, S: str(sr.plan("closure", A, S)),
    "Matrix": lambda A, S: np.asarray(sr.closure(sr.Matrix(A, S), S)),
}


@pytest.mark.parametrize(("name", "dtype"), ALGEBRAS)
def test_masked_entries_are_no_edges(name: str, dtype: Any) -> None:
    S = sr.catalogue[name]
    masked, plain = acyclic(S, dtype, (5, 5))
    verbs = dict(VERBS)
    if S.selective:
        verbs["path"] = lambda A, S: sr.path(A, S, 0, 4)
        verbs["closure_rows"] = lambda A, S: sr.closure_rows(A, S, [0, 2])
    for verb, call in verbs.items():
        kept = masked.copy()
        got, expected = call(masked, S), call(plain.copy(), S)
        assert not isinstance(got, np.ma.MaskedArray), verb
        assert same(got, expected), verb
        assert (masked.mask == kept.mask).all() and repr(masked.data) == repr(kept.data), f"{verb} changed its operand"


def same(x: Any, y: Any) -> bool:
    if isinstance(y, tuple):
        return len(x) == len(y) and all(p == q for p, q in zip(x, y, strict=True))
    return same_bits(x, y) if isinstance(y, np.ndarray) and y.dtype != object else np.array_equal(x, y)


@pytest.mark.parametrize(("name", "dtype"), ALGEBRAS[:6])
def test_stacks(name: str, dtype: str) -> None:
    S = sr.catalogue[name]
    masked, plain = acyclic(S, dtype, (2, 3, 4, 4))
    assert same_bits(sr.closure(masked, S), sr.closure(plain, S))
    assert same_bits(sr.matmul(masked, masked[0], S), sr.matmul(plain, plain[0], S))


def test_no_mask_and_all_masked() -> None:
    A = np.array([[0.0, 2.0], [1.0, 5.0]])
    assert same_bits(sr.closure(np.ma.array(A), sr.min_plus), sr.closure(A, sr.min_plus))
    assert same_bits(sr.closure(np.ma.array(A, mask=True), sr.min_plus), sr.min_plus.eye(2))
    assert same_bits(sr.closure(np.ma.array(A, mask=True), sr.boolean, packed=True).to_dense(), np.eye(2, dtype=bool))


def test_graphs_and_bits() -> None:
    A = np.ma.array([[0.0, 2.0, nan], [0.0, 0.0, 3.0], [4.0, 0.0, 0.0]], mask=[[0, 0, 1], [0, 0, 0], [1, 0, 0]])
    edges = [[inf, 2, inf], [inf, inf, 3], [inf, inf, inf]]
    assert np.asarray(sr.from_dense(A, sr.min_plus)).tolist() == edges
    assert sr.pack(A).to_dense(int).tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert sr.reach(A).descendants(1).tolist() == [2]
    for given in (A, (np.array([0]), np.array([1]), np.ma.array([2.0], mask=[True]))):
        with pytest.raises(sr.GraphError, match="mask"):
            sr.as_graph(given)


def test_records_that_are_masked_in_part() -> None:
    S = sr.shortest_hops
    A = np.ma.zeros((2, 2), S.default_dtype)
    A.mask[1, 0] = (True, False)
    for call in (lambda: sr.closure(A, S), lambda: sr.matmul(np.asarray(A), A, S)):
        with pytest.raises(sr.SemiringError, match=r"[AB]\[1, 0\] is masked in some of its fields only: mask"):
            call()


def test_nan_and_strangers_that_are_not_masked_are_refused() -> None:
    A = np.ma.array([[nan, 1.0], [2.0, nan]], mask=[[True, False], [False, False]])
    with pytest.raises(sr.SemiringError, match=r"A\[1, 1\] is NaN"):
        sr.closure(A, sr.min_plus)
    with pytest.raises(sr.SemiringError, match="cannot live in"):
        sr.closure(np.ma.zeros((2, 2), complex), sr.min_plus)


def test_answers_are_not_put_into_masked_arrays() -> None:
    A = np.zeros((2, 2))
    for out in (np.ma.zeros((2, 2)), np.ma.array(A, mask=True)):
        with pytest.raises(sr.SemiringError, match=r"a writable, unmasked float64 array of shape \(2, 2\)"):
            sr.matmul(A, A, sr.min_plus, out=out)


def test_the_answer_is_no_matrix_of_numpys() -> None:
    """Its * and slices mean something else."""
    A = np.array([[0.0, 2.0], [1.0, 5.0]])
    got = sr.closure(A.view(np.matrix), sr.min_plus)
    assert type(got) is np.ndarray and same_bits(got, sr.closure(A, sr.min_plus))


def test_masked_arrays_are_known_without_numpys_module_of_them() -> None:
    """It is loaded by who has one, and takes longer than a small product."""
    code = (
        "import sys, numpy as np, semiring as sr\n"
        "S = sr.Semiring('c', add=np.minimum, mul=lambda a, b: a + b, zero=np.inf, one=0.0, carrier=lambda a: a >= 0)\n"
        "graph = sr.as_graph([(0, 1, 3.0), (1, 2, 1.0)])\n"
        "C = sr.matmul(np.ones((2, 2)), np.ones((2, 2)), S, out=np.ones((2, 2)))\n"
        "print(sr.closure(graph, S)[0, 2], C[0, 0], 'numpy.ma' in sys.modules)\n"
        "masked = np.ma.array([[1.0, 2.0]] * 2, mask=[[0, 1]] * 2)\n"
        "print(np.array_equal(sr.closure(masked, S), [[0, np.inf], [1, 0]]))\n"
    )
    settings = {**os.environ, "SEMIRING_COMPILE": "never"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, env=settings)
    assert done.stdout.split() == ["4.0", "2.0", "False", "True"], done.stderr
