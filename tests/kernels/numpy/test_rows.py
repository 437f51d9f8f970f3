"""Products with compressed rows by NumPy against the oracle, and against the compiled engine."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import bases
import numpy as np
import oracle
import strategies
from bridge import CASES, ours, same_bits
from families import families
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.build import sparse_kernel
from semiring.kernels.choose import choose
from semiring.kernels.cpu.compile.price import Code
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.general import general
from semiring.kernels.numpy.dense import operations
from semiring.kernels.numpy.rows import ArrayRowsKernel, seconds
from semiring.operands.dense import Dense

F8 = np.dtype("f8")
NUMBERS = [(name, dtype) for name, dtype in CASES if dtype.kind != "O"]
FAMILIES = families()
ONE_WAY = [name for name, g in FAMILIES.items() if not g.base.has("commutative")]  # a ⊗ b is not always b ⊗ a
generated = st.sampled_from(sorted(FAMILIES)) | st.sampled_from(ONE_WAY)
inf = np.inf
TWINS = {name: choose(sr.catalogue[name], F8, Facts(), 9, in_place=False)
         for name in ("min_plus", "max_min", "plus_times", "boolean")}
WEIGHTS = {"min_plus": [inf, -inf, -1, 0, 0.5, 2, 3], "max_min": [-inf, inf, -1, 0, 0.5, 2],
           "plus_times": [0, 0.25, -0.125, 0.5, 1, 2, inf], "boolean": [0, 1]}
sizes, seeds = st.tuples(*[st.integers(0, 6)] * 3), st.integers(0, 2**32 - 1)


def engine(low: Lowering) -> ArrayRowsKernel:
    return ArrayRowsKernel(low, Code(list))


def lowered(T: sr.Semiring, elements: np.ndarray) -> Lowering:
    """What the library computes products of such elements in, where those are numbers."""
    given = Dense(elements, T, "A")
    low = choose(T, given.dtype, given.facts, 3, in_place=False, packed=False)
    assume(low.kind == "numba")
    return low.interpreted


def compressed(stored: np.ndarray, there: np.ndarray, spare: int = 0) -> Rows:
    """The entries that are there, with some places behind the last that mean nothing."""
    rows, columns = np.nonzero(there)
    offsets = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    values = np.concatenate([stored[rows, columns], stored.ravel()[:spare]])
    columns = np.concatenate([columns, np.full(len(values) - len(columns), -1)]).astype(np.int32)
    result = Rows(offsets, columns, values, stored.shape[1])
    for array in (offsets, columns, values):
        array.flags.writeable = False
    return result


def spread(A: Rows, zero: object) -> np.ndarray:
    """The matrix that compressed rows stand for, and that they are in order."""
    offsets, columns = A.offsets.tolist(), A.columns.tolist()
    result = np.empty(A.shape, A.values.dtype)
    result[...] = zero
    for i, (begin, end) in enumerate(pairwise(offsets)):
        assert columns[begin:end] == sorted(set(columns[begin:end]))
        result[i, columns[begin:end]] = A.values[begin:end]
    return result


def products(
    low: Lowering, A: np.ndarray, B: np.ndarray, C: np.ndarray, in_A: np.ndarray, in_B: np.ndarray, first: str = "C",
    second: str = "C", one: Any = None,
) -> list[np.ndarray]:
    """A B and C ⊕ A B of compressed rows and an array, the same of an array and rows, and A B of rows alone."""
    a, b = compressed(A, in_A, 2), compressed(B, in_B, 1)
    one = engine(low) if one is None else one
    fresh, more, other, again = (strategies.views_of(C)[second] for _ in range(4))
    left, right = (strategies.views_of(X)[first] for X in (A, B))
    for array in (left, right):
        array.flags.writeable = False
    one.times_dense(fresh, a, right)
    one.times_dense(more, a, right, accumulate=True)
    one.dense_times(other, left, b)
    one.dense_times(again, left, b, accumulate=True)
    turned = strategies.views_of(C)[second].T
    one.times_dense(turned, compressed(B.T, in_B.T), left.T, accumulate=True, mirrored=True)
    assert same_bits(turned.T, again)
    return [fresh, more, other, again, spread(one.times_sparse(a, b), operations(low).zero)]


layouts = st.sampled_from(["C", "Fortran", "strided", "reversed", "part of a larger"])


@settings(max_examples=40)
@given(st.sampled_from(NUMBERS), sizes, layouts, layouts, st.data())
def test_products_are_the_oracles(
    case: tuple[str, np.dtype], size: tuple[int, int, int], first: str, second: str, data: st.DataObject
) -> None:
    (name, dtype), (m, k, n) = case, size
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    A, B, C = (data.draw(strategies.matrices(S, dtype, shape, safe=False)) for shape in ((m, k), (k, n), (m, n)))
    terms = oracle.matmul(S, oracle.from_numpy(S, A), oracle.from_numpy(S, B), n)
    sums = oracle.matadd(S, oracle.from_numpy(S, C), terms)
    assume(oracle.fits(S, terms, dtype) and oracle.fits(S, sums, dtype))
    low = lowered(ours(S), np.concatenate([x.ravel() for x in (A, B, C)])[None])
    nothing = oracle.to_numpy(S, [[S.zero]], dtype)[0, 0]
    edges = [nothing != X for X in (A, B)]
    for there in edges:  # and a zero that is stored, here and there
        there.ravel()[3::7] = True
    found = products(low, *(low.encode(X, True) for X in (A, B, C)), *edges, first, second)
    for answer, wanted in zip(found, (terms, sums, terms, sums, terms), strict=True):
        decoded = low.decode(answer.copy())
        assert (decoded.shape, decoded.dtype) == ((m, n), dtype)
        if m and n:
            oracle.assert_same(S, wanted, decoded)


@settings(max_examples=40)
@given(generated, seeds)
def test_products_over_generated_algebras(name: str, seed: int) -> None:
    """Among them some whose ⊗ does not commute."""
    g, rng = FAMILIES[name], np.random.default_rng(seed)
    T, n = g.declare(sr), int(rng.integers(0, 6))
    dtype = g.record_dtypes[0] if g.record_dtypes else T.default_dtype
    with np.errstate(all="ignore"):
        A, B, C = data = g.draw(rng, 3, n, dtype)
        X, Y, Z = g.from_data(data)
        terms, sums = bases.matmul(g.base, X, Y), bases.matmul(g.base, X, Y, Z)
        known = g.place(np.stack([terms, sums]), dtype)
    low = lowered(T, data.reshape(1, -1))
    edges = [~g.is_constant(X, g.zero) for X in (A, B)]
    found = products(low, *(low.encode(X, True) for X in (A, B, C)), *edges)
    scale = g.scale(data).max(axis=0, keepdims=True) if not dtype.names else g.scale(data)[:1]
    for i, answer in enumerate(found):
        wanted = (terms, sums)[i % 2]
        if known[i % 2]:
            assert not g.differs(wanted[None], low.decode(answer.copy())[None], scale).any()


@settings(max_examples=40)
@given(st.sampled_from(sorted(TWINS)), seeds, st.tuples(*[st.integers(0, 12)] * 3), layouts, layouts)
def test_products_are_those_of_compiled_code(
    name: str, seed: int, size: tuple[int, int, int], first: str, second: str
) -> None:
    (m, k, n), rng, low = size, np.random.default_rng(seed), TWINS[name]
    A, B, C = (low.encode(rng.choice(WEIGHTS[name], shape).astype(F8), True) for shape in ((m, k), (k, n), (m, n)))
    edges = [rng.random(X.shape) < rng.choice([0.2, 0.9]) for X in (A, B)]
    both = [products(low, A, B, C, *edges, first, second, one) for one in (engine(low), sparse_kernel(low))]
    for found, wanted in zip(*both, strict=True):
        assert found.dtype == wanted.dtype and np.array_equal(found, wanted, equal_nan=found.dtype.kind == "f")


def test_complex_numbers() -> None:
    rng = np.random.default_rng(0)
    A, B, C = (rng.integers(-4, 5, (3, 4, 4)) + 1j * rng.integers(-4, 5, (3, 4, 4))).astype("c16")
    low = general(sr.plus_times, A.dtype).interpreted
    edges = [np.ones(A.shape, bool)] * 2
    found = products(low, *(low.encode(X, True) for X in (A, B, C)), *edges, "C", "strided")
    for answer, wanted in zip(found, (A @ B, C + A @ B, A @ B, C + A @ B, A @ B), strict=True):
        assert low.decode(answer.copy()).tolist() == wanted.tolist()


def test_an_entry_takes_its_terms_in_ascending_order() -> None:
    """Rounding shows it: the large one first, then small ones that vanish, or the small ones first, that do not."""
    low = general(sr.plus_times, F8)
    for large, wanted in ((0, 1.0), (2, 1 + 2.0**-52)):
        A = np.full((1, 3), 2.0**-53)
        A[0, large] = 1
        for answer in products(low, A, np.ones((3, 1)), np.zeros((1, 1)), A > 0, np.ones((3, 1), bool)):
            assert answer.tolist() == [[wanted]]


def test_nothing_of_matrices_without_entries_is_computed() -> None:
    low = TWINS["min_plus"]
    for m, k, n in ((0, 0, 0), (2, 0, 3), (0, 2, 3), (2, 3, 0), (2, 3, 4)):
        A, B, C = (np.zeros(shape) for shape in ((m, k), (k, n), (m, n)))
        edges = [np.zeros(X.shape, bool) for X in (A, B)]
        fresh, more, other, again, product = products(low, A, B, C, *edges)
        assert (fresh == inf).all() and (other == inf).all() and (product == inf).all()
        assert (more == 0).all() and (again == 0).all()
        found = engine(low).times_sparse(compressed(A, edges[0]), compressed(B, edges[1]))
        assert (found.shape, found.offsets.tolist(), found.columns.dtype) == ((m, n), [0] * (m + 1), np.int32)


def test_the_time_of_each_piece_of_work_is_told() -> None:
    code = Code(list)
    one, A = ArrayRowsKernel(TWINS["min_plus"], code), compressed(np.ones((2, 2)), np.ones((2, 2), bool))
    spent = [code.spent]
    for piece in (lambda: one.times_dense(np.ones((2, 2)), A, np.ones((2, 2))),
                  lambda: one.dense_times(np.ones((2, 2)), np.ones((2, 2)), A), lambda: one.times_sparse(A, A)):
        piece()
        spent.append(code.spent)
    assert all(before < after for before, after in pairwise(spent))


def test_more_work_is_predicted_to_take_longer() -> None:
    low = TWINS["min_plus"]
    assert 0 == seconds(low, 0, 0) < seconds(low, 10, 1e3) < seconds(low, 10, 1e6) < seconds(low, 1000, 1e6)
