"""An answer has the byte order of the first operand, in every verb; `out` may have any."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from exported import Exported

import semiring as sr

inf = np.inf
ORDERS = ("<", ">")
HERE = {"little": "<", "big": ">"}[sys.byteorder]
PLAIN = np.array([[inf, 1.0, 7.0], [2.0, inf, 3.0], [inf, 4.0, inf]])
NAMES = ["a", "b", "c"]


def matrix(order: str) -> np.ndarray:
    return PLAIN.astype(f"{order}f8")


def edges(A: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows, columns = np.nonzero(np.isfinite(A))
    return rows, columns, A[rows, columns]


def csr(A: np.ndarray) -> sp.csr_array:
    """SciPy makes none of numbers in another byte order, and takes them all the same."""
    rows, columns, values = edges(A)
    made = sp.csr_array((values.astype(float), (rows, columns)), A.shape)
    made.data = made.data.astype(A.dtype)
    return made


# How an operand is made, and whether it has a byte order of its own: entries by their places are taken to the host's.
MAKE: dict[str, tuple[Callable[[np.ndarray], Any], bool]] = {
    "array": (lambda A: A, True),
    "Fortran order": (np.asfortranarray, True),
    "masked": (lambda A: np.ma.masked_array(A, np.isinf(A)), True),
    "Matrix": (lambda A: sr.Matrix(A, sr.min_plus), True),
    "named": (lambda A: sr.Matrix(A, sr.min_plus, NAMES), True),
    "csr_array": (csr, False),
    "Graph": (lambda A: sr.as_graph(edges(A), len(A)), False),
    "named graph": (lambda A: sr.as_graph(edges(A), len(A), names=NAMES), False),
}
VERBS: dict[str, Callable[[Any, Any], Any]] = {
    "closure": lambda A, B: sr.closure(A, sr.min_plus),
    "closure, not reflexive": lambda A, B: sr.closure(A, sr.min_plus, reflexive=False),
    "closure, by squaring": lambda A, B: sr.closure(A, sr.min_plus, method="squaring"),
    "factor": lambda A, B: sr.factor(A, sr.min_plus).closure(),
    "Factors.solve": lambda A, B: sr.factor(A, sr.min_plus).solve(B),
    "solve": lambda A, B: sr.solve(A, B, sr.min_plus),
    "rows": lambda A, B: sr.closure_rows(A, sr.min_plus, [A.names[0] if getattr(A, "names", None) else 0]),
    "matmul": lambda A, B: sr.matmul(A, B, sr.min_plus),
    "matmul, accumulate": lambda A, B: sr.matmul(A, PLAIN, sr.min_plus, accumulate=B),
    "plan": lambda A, B: sr.plan("matmul", A, B, sr.min_plus).run(),
}


def order_of(answer: Any) -> str:
    return str(answer.dtype.str[0])


def numbers(answer: Any) -> np.ndarray:
    """What an answer holds, whatever it is."""
    if isinstance(answer, sr.Graph):
        answer = sr.adjacency(answer, sr.min_plus)
    if sp.issparse(answer):
        places = answer.tocoo()
        answer = np.full(answer.shape, inf)
        answer[places.row, places.col] = places.data
    return np.asarray(answer).astype(float)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("left", MAKE)
def test_the_first_operand_decides(left: str, verb: str) -> None:
    make, has_order = MAKE[left]
    for right, (make_right, _) in MAKE.items():
        expected = numbers(VERBS[verb](make(matrix(HERE)), make_right(matrix(HERE))))
        for a in ORDERS:
            for b in ORDERS:
                answer = VERBS[verb](make(matrix(a)), make_right(matrix(b)))
                np.testing.assert_array_equal(numbers(answer), expected)
                if not isinstance(answer, sr.Graph):
                    assert order_of(answer) == (a if has_order else HERE), (right, a, b)


@pytest.mark.parametrize("verb", ["closure", "factor", "matmul", "solve"])
def test_the_operands_stay(verb: str) -> None:
    for a in ORDERS:
        A, B = matrix(a), matrix(">" if a == "<" else "<")
        VERBS[verb](A, B)
        assert order_of(A) != order_of(B)
        np.testing.assert_array_equal(A, B)


def test_stacks_and_vectors() -> None:
    for a in ORDERS:
        for b in ORDERS:
            A, B = matrix(a), matrix(b)
            stack = np.broadcast_to(A, (2, 3, 3))
            for answer in (
                sr.matmul(stack, B, sr.min_plus), sr.matmul(A, B[0], sr.min_plus),
                sr.matmul(A[0], B, sr.min_plus), sr.closure(stack, sr.min_plus),
                sr.matmul(A[:0], B, sr.min_plus), sr.solve(A, B[0], sr.min_plus),
            ):
                assert order_of(answer) == a
            assert sr.matmul(A[0], B[:, 0], sr.min_plus) == 3.0


@pytest.mark.parametrize("S", [sr.min_plus, sr.max_min, sr.saturating_min_plus(8)], ids=lambda S: S.name)
def test_integers(S: sr.Semiring) -> None:
    A = np.array([[0, 3], [5, 1]])
    for kind in ("i4", "i8"):
        for a in ORDERS:
            if np.dtype(kind) not in S.dtypes:
                continue
            answer = sr.matmul(A.astype(a + kind), A.astype(kind), S)
            assert order_of(answer) == a
            np.testing.assert_array_equal(answer, sr.matmul(A.astype(kind), A.astype(kind), S))


@pytest.mark.parametrize("left", MAKE)
def test_out_may_have_any_byte_order(left: str) -> None:
    A, B = MAKE[left][0](matrix(HERE)), matrix(HERE)
    expected = numbers(sr.matmul(A, B, sr.min_plus))
    for order in ORDERS:
        for a in ORDERS:
            out = np.empty((3, 3), f"{order}f8")
            assert sr.matmul(MAKE[left][0](matrix(a)), B, sr.min_plus, out=out) is out
            assert order_of(out) == order
            np.testing.assert_array_equal(out, expected)
    with pytest.raises(sr.SemiringError, match="out must be a writable, unmasked float64 array"):
        sr.matmul(A, B, sr.min_plus, out=np.empty((3, 3), ">f4"))


# Records: the order of the bytes, and how the fields lie.

LAYOUTS = {
    "aligned": np.dtype([("cost", "f8"), ("hops", "f4")], align=True),
    "packed": np.dtype([("cost", "f8"), ("hops", "f4")]),
    "other byte order": np.dtype([("cost", ">f8"), ("hops", ">f4")]),
    "mixed": np.dtype([("cost", "<f8"), ("hops", ">f4")]),
    "fields exchanged": np.dtype([("hops", "f4"), ("cost", "f8")]),
}


def records(layout: str) -> np.ndarray:
    result = np.empty((3, 3), LAYOUTS[layout])
    result["cost"], result["hops"] = PLAIN, np.where(np.isinf(PLAIN), inf, 1)
    return result


@pytest.mark.parametrize("layout", LAYOUTS)
def test_records_go_back_as_they_came(layout: str) -> None:
    S, A = sr.shortest_hops, records(layout)
    for other in LAYOUTS:
        B = records(other)
        expected = sr.matmul(records("aligned"), records("aligned"), S)
        named = sr.matmul(A, sr.Matrix(B, S, NAMES), S)
        out = np.empty((3, 3), LAYOUTS[other])
        assert sr.matmul(A, B, S, out=out) is out
        for answer in (sr.matmul(A, B, S), named, out):
            for field in ("cost", "hops"):
                np.testing.assert_array_equal(answer[field], expected[field])
        assert sr.matmul(A, B, S).dtype == named.dtype == A.dtype
        assert sr.matmul(A[0], B[:, 0], S).dtype == A.dtype
        assert sr.solve(A, B, S).dtype == sr.closure(A, S).dtype == A.dtype


def test_another_library_gets_what_it_can_take(monkeypatch: pytest.MonkeyPatch) -> None:
    library = ModuleType("elsewhere")
    library.from_dlpack = lambda array: Exported(np.from_dlpack(array))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "elsewhere", library)
    monkeypatch.setattr(Exported, "__module__", "elsewhere")
    for order in ORDERS:
        expected = sr.solve(PLAIN, PLAIN, sr.min_plus)
        answer = sr.solve(matrix(order), Exported(PLAIN), sr.min_plus)
        assert isinstance(answer, Exported)
        np.testing.assert_array_equal(answer.array, expected)
