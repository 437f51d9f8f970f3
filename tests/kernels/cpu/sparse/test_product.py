"""The compiled products with compressed rows against their definition, of any strides and on any number of threads."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.compile.program import program
from semiring.kernels.cpu.sparse import product as module
from semiring.kernels.cpu.sparse import structure
from semiring.kernels.cpu.sparse.product import SparseKernel
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.general import general

F8, inf = np.dtype("f8"), np.inf
quick = settings(max_examples=40)
# ⊗ takes its right operand: it tells one order from the other.
LAST = sr.Semiring("last", add=np.maximum, mul=lambda a, b: np.where((a == 0) | (b == 0), 0, b), zero=0, one=1,
                   dtypes="f", samples=[0, 1], product_only=True)


def last(a: Any, b: Any) -> Any:
    return np.where((a == 0) | (b == 0), 0, b)


CASES = {
    "min_plus": (sr.min_plus, np.minimum, np.add, [0, 1, 2.5, -3, inf]),
    "plus_times": (sr.plus_times, np.add, np.multiply, [0, 0.1, 0.7, -3, 1e16]),
    "last": (LAST, np.maximum, last, [0, 1, 2, 5]),
}


@cache
def lowering(name: str) -> Lowering:
    return general(CASES[name][0], F8)


def kernel(name: str, threads: int = 1) -> SparseKernel:
    return SparseKernel(program(lowering(name)), threads)


def drawn(random: np.random.Generator, name: str, *shape: int) -> np.ndarray:
    return random.choice(np.array(CASES[name][3], F8), shape)


def compressed(A: np.ndarray, kept: np.ndarray) -> Rows:
    """Some entries, whatever they are."""
    offsets = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int64)
    return Rows(offsets, np.nonzero(kept)[1].astype(np.int32), A[kept], A.shape[1])


def product(name: str, A: np.ndarray, B: np.ndarray, terms: np.ndarray, C: np.ndarray) -> np.ndarray:
    """C ⊕ the terms that are wanted (rows × inner × columns), in ascending k."""
    _, add, mul, _ = CASES[name]
    result = C.copy()
    for k in range(A.shape[1]):
        wanted = np.broadcast_to(terms[:, k], result.shape)
        result = np.where(wanted, add(result, mul(A[:, k, None], B[k])), result)
    return result


def strided(array: np.ndarray, layout: str) -> np.ndarray:
    if layout == "fortran":
        return np.asfortranarray(array)
    if layout == "sliced":
        return np.repeat(np.repeat(array, 2, axis=0), 3, axis=1)[::2, ::3]
    return array[::-1, ::-1].copy()[::-1, ::-1] if layout == "reversed" else array


LAYOUTS = st.sampled_from(["c", "fortran", "sliced", "reversed"])


@pytest.mark.parametrize("name", CASES)
def test_products(name: str) -> None:
    @quick
    @given(
        st.tuples(st.integers(0, 6), st.integers(0, 6), st.sampled_from([0, 1, 2, 5, 9])),
        st.tuples(LAYOUTS, LAYOUTS, LAYOUTS), st.booleans(), st.sampled_from([1, 3]), st.integers(0, 2**32 - 1),
    )
    def check(shape: tuple[int, int, int], layouts: Any, accumulate: bool, threads: int, seed: int) -> None:
        (m, k, n), random = shape, np.random.default_rng(seed)
        A, B, C = (drawn(random, name, *s) for s in ((m, k), (k, n), (m, n)))
        left, right = random.random((m, k)) < 0.5, random.random((k, n)) < 0.5
        start = C if accumulate else np.full((m, n), float(CASES[name][0].zero))
        engine = kernel(name, threads)
        D = strided(C.copy(), layouts[0])
        around = None if D.base is None else D.base.copy()
        engine.times_dense(D, compressed(A, left), strided(B, layouts[1]), accumulate=accumulate)
        assert np.array_equal(D, product(name, A, B, left[:, :, None], start))
        if around is not None and layouts[0] == "sliced":  # nothing beside the view was written
            assert np.array_equal(D.base[1::2], around[1::2]) and np.array_equal(D.base[:, 1::3], around[:, 1::3])
        D = strided(C.copy(), layouts[0])
        engine.dense_times(D, strided(A, layouts[2]), compressed(B, right), accumulate=accumulate)
        assert np.array_equal(D, product(name, A, B, right[None], start))
        D = strided(C.T.copy(), layouts[0])  # the transposed product, each term with the dense factor first
        engine.times_dense(
            D, compressed(B.T, right.T), strided(A.T, layouts[2]), accumulate=accumulate, mirrored=True
        )
        assert np.array_equal(D.T, product(name, A, B, right[None], start))
        found = engine.times_sparse(compressed(A, left), compressed(B, right))
        terms = left[:, :, None] & right[None]
        expected = product(name, A, B, terms, np.full((m, n), float(CASES[name][0].zero)))
        rows = np.repeat(np.arange(m), np.diff(found.offsets))
        assert found.shape == (m, n) and found.values.dtype == F8
        places = list(zip(rows.tolist(), found.columns.tolist(), strict=True))
        assert places == [tuple(place) for place in np.argwhere(terms.any(axis=1)).tolist()]
        assert np.array_equal(found.values, expected[rows, found.columns])

    check()


@pytest.mark.parametrize("n", [1, 64, 65, module.PANEL, module.PANEL + 3])
def test_wide_and_narrow_products(n: int) -> None:
    """More columns than a panel has, strips of a right operand that lies across, and a vector."""
    random = np.random.default_rng(n)
    A, B, C = (drawn(random, "min_plus", *shape) for shape in ((130, 9), (9, n), (130, n)))
    left, right = random.random(A.shape) < 0.5, random.random(B.shape) < 0.5
    expected = product("min_plus", A, B, left[:, :, None], C)
    mirrored = product("min_plus", A, B, right[None], C)
    for layout in ("c", "fortran", "sliced"):
        D = C.copy()
        kernel("min_plus").times_dense(D, compressed(A, left), strided(B, layout), accumulate=True)
        assert np.array_equal(D, expected)
        D = C.copy()
        kernel("min_plus").dense_times(D, strided(A, layout), compressed(B, right), accumulate=True)
        assert np.array_equal(D, mirrored)


def test_results_do_not_depend_on_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the bit, where ⊕ rounds."""
    monkeypatch.setattr(structure, "WORK", 50)
    monkeypatch.setattr("semiring.kernels.cpu.sparse.structure.WORK", 50)
    random = np.random.default_rng(5)
    A, B = random.random((150, 40)), random.random((40, 70))
    a, b = compressed(A, random.random(A.shape) < 0.3), compressed(B, random.random(B.shape) < 0.3)
    answers = []
    for threads in (1, 2, 5):
        engine = kernel("plus_times", threads)
        one, two, three = np.empty((150, 70)), np.empty((150, 70)), np.empty((150, 1))
        engine.times_dense(one, a, B)
        engine.dense_times(two, A, b)
        engine.times_dense(three, a, B[:, :1])
        answers.append((one, two, three, engine.times_sparse(a, b).values))
    for answer in answers[1:]:
        assert all(np.array_equal(x, y) for x, y in zip(answer, answers[0], strict=True))
    assert np.array_equal(answers[0][2], answers[0][0][:, :1])


def test_what_reads_alike_is_one_kernel() -> None:
    twin = sr.Semiring("twin", add=np.minimum, mul=np.add, zero=inf, one=0, star=lambda a: np.where(a < 0, -inf, 0))
    assert SparseKernel.of(general(twin, F8)) is SparseKernel.of(lowering("min_plus"))
    assert SparseKernel.of(lowering("plus_times")) is not SparseKernel.of(lowering("min_plus"))
    (function,) = SparseKernel.code(general(twin, F8))
    assert [function] == SparseKernel.code(lowering("min_plus")) and function.name == "times_dense"
    assert kernel("min_plus").module.__name__.endswith(function.on_disk.removesuffix(".times_dense"))


@settings(max_examples=200)
@given(
    st.lists(st.lists(st.integers(0, 4), max_size=5), max_size=5), st.sampled_from(["min_plus", "plus_times"]),
    st.lists(st.tuples(st.sampled_from(["columns", "offsets", "nan"]), st.integers(0, 9), st.integers(-1, 9)),
             max_size=2),
    st.booleans(), st.booleans(), st.sampled_from([1, 3]), st.booleans(), st.sampled_from([np.int32, np.int64]),
)
def test_a_product_that_looks_at_its_rows(
    rows: list[list[int]], name: str, changes: list[tuple[str, int, int]], ascending: bool, accumulate: bool,
    threads: int, strided_out: bool, index: type[np.integer],
) -> None:
    """It is fine where columns ascend inside the matrix and no value is NaN, and then it is the product."""
    rows = [sorted(set(row)) if ascending else row for row in rows]
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    columns, random = np.array([j for row in rows for j in row], np.int32), np.random.default_rng(len(rows))
    values = drawn(random, name, len(columns))
    for what, place, value in changes:
        if what == "offsets" and 0 < place < len(offsets) - 1:
            offsets[place] = value
        elif place < len(columns) and what == "columns":
            columns[place] = value
        elif place < len(columns) and what == "nan":
            values[place] = np.nan
    A, b, C = Rows(offsets, columns, values, 5), drawn(random, name, 5), drawn(random, name, len(rows), 1)
    given = Rows(offsets.astype(index), columns, values, 5)
    found = np.repeat(C, 2, axis=1)[:, :1].copy() if not strided_out else np.repeat(C, 2, axis=1)[:, 1:]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(structure, "WORK", 1)
        fine = kernel(name, threads).times_vector(found[:, 0], given, b, accumulate=accumulate)
    expected = structure.state_of(offsets, columns, 5) == structure.FINE and not np.isnan(values).any()
    assert fine is expected
    if fine:
        kernel(name).times_dense(C, A, b[:, None], accumulate=accumulate)
        assert np.array_equal(found, C)
