"""The NumPy engine of arrays and its elements against the oracle; and against compiled code for some algebras."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import oracle
import pytest
import strategies
from bridge import CASES, ours
from families import families
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algebra.expression import Traced, operand
from semiring.kernels.build import kernel
from semiring.kernels.choose import choose
from semiring.kernels.cpu.compile.price import Code
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.general import general
from semiring.kernels.numpy import dense
from semiring.kernels.numpy.dense import CALL, ArrayKernel, Operations, operations, seconds
from semiring.operands.dense import Dense

F8 = np.dtype("f8")
PAIR = np.dtype([("cost", "f8"), ("hops", "i8")])
NUMBERS = [(name, dtype) for name, dtype in CASES if dtype.kind != "O"]
FAMILIES = families()
ONE_WAY = [name for name, g in FAMILIES.items() if not g.base.has("commutative")]  # a ⊗ b is not always b ⊗ a
generated = st.sampled_from(sorted(FAMILIES)) | st.sampled_from(ONE_WAY)
inf = np.inf
TWINS = {name: choose(sr.catalogue[name], F8, Facts(), 9, in_place=False)
         for name in ("min_plus", "max_min", "plus_times", "boolean")}
WEIGHTS = {"min_plus": [inf, inf, -inf, -1, 0, 0.5, 2, 3], "max_min": [-inf, inf, -1, 0, 0.5, 2],
           "plus_times": [0, 0, 0.25, -0.125, 0.5, 1, 2], "boolean": [0, 0, 1]}
LAYOUTS = ("C", "Fortran", "strided", "reversed", "stack last", "repeated", "read-only")
sizes, seeds = st.integers(0, 6), st.integers(0, 2**32 - 1)


def engine(low: Lowering) -> ArrayKernel:
    return ArrayKernel(low, Code(list))


def lowered(T: sr.Semiring, elements: np.ndarray, length: int) -> Lowering:
    """What the library computes products of so many factors of such elements in, where those are numbers."""
    given = Dense(elements, T, "A")
    low = choose(T, given.dtype, given.facts, length, in_place=False, packed=False)
    assume(low.kind == "numba")
    return low.interpreted


def laid_out(stack: np.ndarray, layout: str) -> np.ndarray:
    """The same stack in other memory; a repeated one is its first matrix over and over."""
    if layout == "Fortran":
        return np.ascontiguousarray(stack.swapaxes(1, 2)).swapaxes(1, 2)
    if layout == "strided":
        room = np.zeros(np.multiply(stack.shape, (2, 2, 3)), stack.dtype)[::2, ::2, ::3]
        room[...] = stack
        return room
    if layout == "reversed":
        return stack[::-1, ::-1, ::-1].copy()[::-1, ::-1, ::-1]
    if layout == "stack last":
        return np.ascontiguousarray(np.moveaxis(stack, 0, 2)).transpose(2, 0, 1)
    if layout == "repeated":
        return np.broadcast_to(stack[:1].copy(), stack.shape)
    copy = stack.copy()
    copy.flags.writeable = layout != "read-only"
    return copy


def same(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether two arrays hold the same, NaN included; 0 and −0 are the same, and so are the gaps between fields."""
    if x.dtype.names:
        return all(same(x[f], y[f]) for f in x.dtype.names)
    return x.dtype == y.dtype and np.array_equal(x, y, equal_nan=x.dtype.kind == "f")


def twin(name: str, seed: int, batch: int, *shapes: tuple[int, int]) -> tuple[Lowering, list[np.ndarray]]:
    """One of the algebras that are compiled, and stacks over it in storage."""
    rng, low = np.random.default_rng(seed), TWINS[name]
    stacks = [rng.choice(WEIGHTS[name], (batch, *shape)) for shape in shapes]
    return low, [low.encode(stack.astype(F8), True) for stack in stacks]


def assert_near(low: Lowering, found: np.ndarray, wanted: np.ndarray) -> None:
    """The same bits; for sums and products as near as rounding lets them be."""
    if low.blas:
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-11)
    else:
        assert same(found, wanted)


@settings(max_examples=50)
@given(st.sampled_from(NUMBERS), st.integers(0, 5), st.data())
def test_elements_are_the_oracles(case: tuple[str, np.dtype], n: int, data: st.DataObject) -> None:
    name, dtype = case
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    element = st.sampled_from([S.zero, S.one]) | strategies.elements(S, dtype, safe=False)
    X, Y, Z = (data.draw(st.lists(element, min_size=n, max_size=n)) for _ in range(3))
    sums = [[S.plus(a, b) for a, b in zip(X, Y, strict=True)]]
    products = [[S.times(a, b) for b in Y] for a in X]
    combined = [[S.plus(c, t) for c, t in zip(Z, row, strict=True)] for row in products]
    stars, whole = [S.star(a) for a in X], [[S.plus(S.one, a) for a in X]]
    assume(all(oracle.fits(S, rows, dtype) for rows in (sums, products, combined, whole)))
    array = oracle.to_numpy(S, [X, Y, Z], dtype, (3, n))
    low = lowered(ours(S), array, 3)
    stored, found = low.encode(array, True), operations(low)
    (x, y, z), kept = stored, stored.copy()
    C = np.empty((n, n), low.storage)
    C[...] = z
    with np.errstate(all="raise"):  # terms that are not numbers raise no error
        results = [found.add(x, y)[None], found.scale(x[:, None], y[None]), found.star(x)[None]]
        found.accumulate(C, x[:, None], y[None])
        defined = found.defined(x)
    assert np.array_equal(stored, kept)
    assert all(result.dtype == low.storage for result in results)
    sum_, product_, star, C = (low.decode(result.copy()) for result in (*results, C))
    if not n:
        assert (sum_.shape, product_.shape, star.shape, defined.shape) == ((1, 0), (0, 0), (1, 0), (0,))
        return
    oracle.assert_same(S, sums, sum_, "⊕")
    oracle.assert_same(S, products, product_, "⊗")
    oracle.assert_same(S, combined, C, "⊕ ⊗")
    if low.algebra.may_diverge:  # then a star shows where a cycle improves
        assert defined.all()
        oracle.assert_same(S, whole, star, "1 ⊕ a")
    else:
        assert defined.tolist() == [s is not None for s in stars]
        known = [s for s in stars if s is not None]
        assume(known and oracle.fits(S, [known], dtype))
        oracle.assert_same(S, [known], star[:, defined], "stars")


@settings(max_examples=25)
@given(generated, seeds)
def test_elements_of_generated_algebras(name: str, seed: int) -> None:
    """Moved numbers, finite tables, bits, records of both."""
    g, rng = FAMILIES[name], np.random.default_rng(seed)
    T = g.declare(sr)
    dtype = g.record_dtypes[0] if g.record_dtypes else T.default_dtype
    with np.errstate(all="ignore"):
        data = g.draw(rng, 3, 4, dtype, 5)
        low = lowered(T, data, 3)
        X, Y, Z = g.from_data(data)
        plus, times = g.base.plus(X, Y), g.base.times(X, Y)
        combined = g.base.plus(Z, times)
    (x, y, z), found = low.encode(data, True), operations(low)
    answers = [found.add(x, y).copy(), found.scale(x, y).copy(), z]
    found.accumulate(z, x, y)
    scale = g.scale(data)
    for wanted, answer in zip((plus, times, combined), answers, strict=True):
        with np.errstate(all="ignore"):
            fits = g.place(wanted[None], dtype)
        if fits.all():
            assert not g.differs(wanted[None], low.decode(answer)[None], scale[:1]).any(), name


def test_terms_that_are_no_numbers_are_dropped_and_what_is_stored_is_one() -> None:
    """∞ − ∞ and 0 · ∞ come up under ⊕ alone."""
    for S, x, y, nothing in ((sr.min_plus, inf, -inf, inf), (sr.max_plus, inf, -inf, -inf), (sr.max_times, 0, inf, 0)):
        found = operations(general(S, F8).interpreted)
        C = np.array([[5.0, nothing]])
        with np.errstate(all="raise"):
            for a, b in ((x, y), (y, x)):
                found.accumulate(C, np.array([[a]]), np.array([[b]]))
                assert C.tolist() == [[5, nothing]]
                assert found.scale(np.array([a]), np.array([b])).tolist() == [nothing]


def test_complex_numbers_are_pairs() -> None:
    rng = np.random.default_rng(0)
    for dtype in ("c16", "c8"):
        low = general(sr.plus_times, np.dtype(dtype)).interpreted
        found, z = operations(low), (rng.integers(-4, 5, (3, 7)) + 1j * rng.integers(-4, 5, (3, 7))).astype(dtype)
        x, y, C = low.encode(z, True)
        z[0, 0] = 1
        x = low.encode(z, True)[0]
        assert low.decode(found.add(x, y)).tolist() == (z[0] + z[1]).tolist()
        assert low.decode(found.scale(x, y)).tolist() == (z[0] * z[1]).tolist()
        found.accumulate(C, x, y)
        assert low.decode(C).tolist() == (z[2] + z[0] * z[1]).tolist()
        assert found.defined(x).tolist() == (z[0] != 1).tolist()
        some = z[0] != 1
        np.testing.assert_allclose(low.decode(found.star(x))[some], 1 / (1 - z[0][some]), rtol=1e-6)


def swapped(arity: int) -> Traced:
    """The last operand with its two components exchanged."""
    return Traced((operand(arity - 1, 1), operand(arity - 1, 0)), arity, 2)


def test_components_that_change_places() -> None:
    """What a component becomes is written when nothing reads it any more."""
    kind = np.dtype([("a", "f8"), ("b", "f8")])
    plain = general(sr.expectation, np.dtype([("p", "f8"), ("r", "f8")]))
    low = replace(plain, storage=kind, mul=swapped(2), scale=swapped(2), star=swapped(1),
                  add=Traced((operand(0, 1), operand(0, 0)), 2, 2), compiled=False)
    found = Operations(low)
    x, y = np.array([(1, 2), (3, 4)], kind), np.array([(5, 6), (7, 8)], kind)
    assert found.add(x, y).tolist() == [(2, 1), (4, 3)]
    assert found.scale(x, y).tolist() == [(6, 5), (8, 7)]
    assert found.star(x).tolist() == [(2, 1), (4, 3)]
    found.accumulate(x, y, y)
    assert x.tolist() == [(2, 1), (4, 3)]
    low = replace(low, add=Traced((operand(1, 0), operand(0, 0)), 2, 2))
    Operations(low).accumulate(x, y, y)
    assert x.tolist() == [(6, 2), (8, 4)]


@pytest.mark.parametrize("order", ["C", "F", "strided", "reversed"])
def test_results_are_written_where_they_belong(order: str) -> None:
    """Into a view of any strides, and nowhere else; factors broadcast, and may be read-only."""
    for S, dtype in ((sr.min_plus, F8), (sr.plus_times, F8), (sr.shortest_hops, PAIR), (sr.bitset_may, np.dtype("u1"))):
        found = operations(general(S, dtype).interpreted)
        room = np.zeros((9, 9), dtype)
        room[...] = found.one
        view = {"C": room[:3, :4], "F": room.T[:3, :4], "strided": room[1:7:2, ::2][:, :4],
                "reversed": room[8:5:-1, 7::-2]}[order]
        view[...] = found.zero
        mask = np.zeros((9, 9), bool)
        inside = {"C": mask[:3, :4], "F": mask.T[:3, :4], "strided": mask[1:7:2, ::2][:, :4],
                  "reversed": mask[8:5:-1, 7::-2]}[order]
        inside[...] = True
        a, b = found.zeros((3, 1)), found.zeros((1, 4))
        a[1:], b[0, ::2] = found.one, found.one
        for factor in (a, b):
            factor.flags.writeable = False
        found.accumulate(view, a, b)
        for i, j in product(range(3), range(4)):
            assert view[i, j] == (found.one if i and j % 2 == 0 else found.zero)
        assert (room[~mask] == found.one).all()


def test_constants_have_the_storages_type() -> None:
    for S, dtype, zero, one in (
        (sr.min_plus, F8, inf, 0.0), (sr.max_min, np.dtype("i2"), -(2**15), 2**15 - 1),
        (sr.boolean, np.dtype("?"), False, True), (sr.shortest_hops, PAIR, (inf, 2**63 - 1), (0.0, 0)),
    ):
        found = operations(general(S, dtype).interpreted)
        assert (found.zero.item(), found.one.item()) == (zero, one)
        assert found.zero.dtype == found.one.dtype == dtype
        zeros = found.zeros((2, 0, 3))
        assert (zeros.shape, zeros.dtype) == ((2, 0, 3), dtype)
        assert found.zeros((2,)).tolist() == [zero, zero]


def test_a_star_that_is_constant_has_the_operands_shape() -> None:
    found = operations(general(sr.max_min, F8).interpreted)
    for shape in ((0,), (3,), (2, 3)):
        x = np.zeros(shape)
        assert found.star(x).shape == found.defined(x).shape == shape
        assert found.defined(x).all() and (found.star(x) == inf).all()


def test_more_steps_are_predicted_to_take_longer() -> None:
    plain, half, slow = (operations(general(S, np.dtype(d)).interpreted) for S, d in
                         ((sr.min_plus, "f8"), (sr.min_plus, "f4"), (sr.log, "f8")))
    assert plain.seconds(0, 0) == 0
    assert plain.seconds(10, 0) >= 10 * CALL
    assert plain.seconds(10, 1e6) < plain.seconds(20, 1e6) < plain.seconds(20, 2e6)
    assert half.seconds(0, 1e6) < plain.seconds(0, 1e6) < slow.seconds(0, 1e6)


def test_operations_are_kept_for_each_lowering() -> None:
    low = general(sr.min_plus, F8).interpreted
    assert operations(low) is operations(low)


@settings(max_examples=40)
@given(st.sampled_from(NUMBERS), st.integers(0, 3), st.tuples(sizes, sizes, sizes),
       st.tuples(*[st.sampled_from(LAYOUTS)] * 3), st.data())
def test_products_are_the_oracles(
    case: tuple[str, np.dtype], batch: int, size: tuple[int, int, int], layouts: tuple[str, str, str],
    data: st.DataObject,
) -> None:
    (name, dtype), (m, k, n) = case, size
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    A, B, C = (
        laid_out(data.draw(strategies.matrices(S, dtype, (batch * r, c), safe=False)).reshape(batch, r, c), layout)
        for (r, c), layout in zip(((m, k), (k, n), (m, n)), layouts, strict=True)
    )
    terms = [oracle.matmul(S, oracle.from_numpy(S, a), oracle.from_numpy(S, b), n) for a, b in zip(A, B, strict=True)]
    sums = [oracle.matadd(S, oracle.from_numpy(S, c), t) for c, t in zip(C, terms, strict=True)]
    assume(all(oracle.fits(S, rows, dtype) for rows in (*terms, *sums)))
    low = lowered(ours(S), np.concatenate([x.ravel() for x in (A, B, C)])[None], 3)
    a, b = (laid_out(low.encode(x, True), layout) for x, layout in zip((A, B), layouts, strict=False))
    writable = layouts[2] if layouts[2] not in ("repeated", "read-only") else "C"
    c, fresh = (laid_out(low.encode(C, True), writable) for _ in range(2))
    one = engine(low)
    if batch == 1:
        one.multiply_add(c[0], a[0], b[0])
        one.multiply(fresh[0], a[0], b[0])
    else:
        one.multiply_add_stack(c, a, b)
        one.multiply_stack(fresh, a, b)
    for found, wanted in ((c, sums), (fresh, terms)):
        decoded = low.decode(found.copy())
        assert (decoded.shape, decoded.dtype) == ((batch, m, n), dtype)
        for matrix, rows in zip(decoded, wanted if m and n else (), strict=m * n > 0):
            oracle.assert_same(S, rows, matrix)


@settings(max_examples=40)
@given(st.sampled_from(NUMBERS), st.integers(0, 3), st.integers(0, 5), st.sampled_from(LAYOUTS[:5]), st.data())
def test_closures_are_the_oracles(
    case: tuple[str, np.dtype], batch: int, n: int, layout: str, data: st.DataObject
) -> None:
    name, dtype = case
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    A = np.empty((batch, n, n), dtype)
    for i in range(batch):
        A[i] = data.draw(strategies.matrices(S, dtype, n))
    wanted: list[oracle.Matrix | None] = []
    failed = []
    for matrix in A:
        try:
            wanted.append(oracle.closure_by_elimination(S, oracle.from_numpy(S, matrix)))
            failed.append(-1)
        except oracle.Undefined as e:
            wanted.append(None)
            failed.append(e.vertex)
    assume(all(oracle.fits(S, rows, dtype) for rows in wanted if rows is not None))
    low = lowered(ours(S), A.reshape(1, -1), max(n, 1))
    D = laid_out(low.encode(A, True), layout)
    before = D.copy()
    assert engine(low).close_stack(D).tolist() == failed
    decoded = low.decode(D.copy())
    for i, rows in enumerate(wanted):
        if rows is None:
            assert same(D[i], before[i])
        elif n:
            oracle.assert_same(S, rows, decoded[i])


@settings(max_examples=25)
@given(generated, seeds)
def test_closures_of_generated_algebras(name: str, seed: int) -> None:
    """Many have no star for some elements; where ⊗ does not commute, a wrong order shows."""
    g, rng = FAMILIES[name], np.random.default_rng(seed)
    T = g.declare(sr)
    dtype = g.record_dtypes[0] if g.record_dtypes else T.default_dtype
    with np.errstate(all="ignore"):
        A = g.draw(rng, 12, int(rng.integers(1, 5)), dtype)
        star, code = g.closure(A)
        known = g.place(star, dtype) & (code == 0)
    low = lowered(T, A.reshape(1, -1), A.shape[-1])
    D = low.encode(A, True)
    failed = engine(low).close_stack(D)
    if not T.selective:  # there a closure that is refused shows on the diagonal only
        assert not (failed[known] >= 0).any()
        assert (failed[code == 2] >= 0).all() or g.base.partial
    fine = known & (failed < 0)
    assert not g.differs(star[fine], low.decode(D[fine]), g.scale(A)[fine]).any()


@settings(max_examples=40)
@given(st.sampled_from(sorted(TWINS)), seeds, st.integers(0, 3), st.tuples(*[st.integers(0, 30)] * 3),
       st.tuples(*[st.sampled_from(LAYOUTS)] * 3))
def test_products_are_those_of_compiled_code(
    name: str, seed: int, batch: int, size: tuple[int, int, int], layouts: tuple[str, str, str]
) -> None:
    m, k, n = size
    low, (A, B, C) = twin(name, seed, batch, (m, k), (k, n), (m, n))
    A, B = laid_out(A, layouts[0]), laid_out(B, layouts[1])
    C = laid_out(C, layouts[2] if layouts[2] not in ("repeated", "read-only") else "C")
    found, wanted = C, C.copy()
    for one, result in ((engine(low), found), (kernel(low), wanted)):
        one.multiply_add_stack(result, A, B)
    assert_near(low, found, wanted)
    for one, result in ((engine(low), found), (kernel(low), wanted)):
        one.multiply_stack(result, A, B)
    assert_near(low, found, wanted)


@settings(max_examples=40)
@given(st.sampled_from(sorted(TWINS)), seeds, st.integers(0, 3), st.integers(0, 20), st.sampled_from(LAYOUTS[:5]))
def test_closures_are_those_of_compiled_code(name: str, seed: int, batch: int, n: int, layout: str) -> None:
    """Cycles that improve and pivots without a star included."""
    low, (A,) = twin(name, seed, batch, (n, n))
    if name == "plus_times":
        # No pivot cancels to what rounding leaves of it: it dominates its row, or is just without a star.
        A *= np.where(np.eye(n), 1, 2.0**-8)
        matrix, row, column = np.indices(A.shape, sparse=True)
        A[(A[matrix, row, row] == 1) & (column < row)] = 0
    found, wanted = laid_out(A, layout), A.copy()
    assert engine(low).close_stack(found).tolist() == kernel(low).close_stack(wanted).tolist()
    assert_near(low, found, wanted)
    if low.blas:
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-15)


@settings(max_examples=40)
@given(st.sampled_from(sorted(TWINS)), seeds, sizes, sizes)
def test_other_operations_are_those_of_compiled_code(name: str, seed: int, m: int, n: int) -> None:
    low, ((D,), (R,), (C,), (E,)) = twin(name, seed, 1, (m, m), (m, n), (n, m), (n, n))
    for array in (D, E):
        array.flags.writeable = False
    answers = []
    for one in (engine(low), kernel(low)):
        left, right, diagonal = R.copy(order="F"), C.copy(), one.diagonal(R, C)
        one.left(D, left)
        one.right(right, D)
        ones, other = D.copy(), one.like(D)
        one.add_one(ones)
        assert (other.shape, other.dtype) == (D.shape, D.dtype)
        one.assign(other, D)
        assert one.equal(other, D) and not np.shares_memory(other, D)
        one.set_diagonal(other, diagonal[:1].repeat(m) if n and m else D.diagonal())
        answers.append((left, right, diagonal, ones, other))
    for found, wanted in zip(*answers, strict=True):
        assert_near(low, found, wanted)


def test_a_stack_is_worked_on_in_strips(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a few rows of every matrix; whatever their height, no row is left out or taken twice."""
    low, (A, B, C) = twin("min_plus", 0, 2, (11, 5), (5, 3), (11, 3))
    heights, wanted = set(), C.copy()
    kernel(low).multiply_add_stack(wanted, A, B)
    for strip in (1, 2 * 3 * 2, 2 * 3 * 4, 2 * 3 * 11, 1 << 15):
        monkeypatch.setattr(dense, "STRIP", strip)
        one, found = engine(low), C.copy()
        accumulate = one._operations.accumulate
        monkeypatch.setattr(one._operations, "accumulate", lambda C, a, b, f=accumulate: heights.add(C.shape[1]) or f(
            C, a, b))
        one.multiply_add_stack(found, A, B)
        monkeypatch.undo()
        assert same(found, wanted)
    assert heights >= {1, 2, 3, 4, 11}


@pytest.mark.parametrize("place", ["corner", "strided", "turned"])
def test_nothing_beside_a_block_is_written(place: str) -> None:
    view = {"corner": np.s_[2:6, 3:7], "strided": np.s_[1:9:2, ::3], "turned": np.s_[8:4:-1, 9:1:-2]}[place]
    for S, dtype in ((sr.min_plus, F8), (sr.plus_times, F8), (sr.shortest_hops, PAIR), (sr.boolean, np.dtype("?"))):
        low = general(S, dtype).interpreted
        one, operations = engine(low), engine(low)._operations
        room = operations.zeros((10, 12))
        room[...] = operations.one
        D, rest = room[view], np.ones(room.shape, bool)
        rest[view] = False
        D[...] = operations.zero
        A = operations.zeros(D.shape)
        one.add_one(A)
        one.multiply_add(D, A, A)
        assert same(D, A)
        assert one.close(D) == -1 or S is sr.plus_times
        one.left(A, D)
        one.right(D, A)
        one.assign(D, A)
        one.set_diagonal(D, D.diagonal().copy())
        assert same(D, A)
        assert (room[rest] == operations.one).all()


def test_the_right_pivot_is_named_for_each_of_a_stack_and_its_block_is_left() -> None:
    D = np.zeros((5, 6, 6))
    D[1, 4, 4] = D[3, 0, 0] = D[3, 5, 5] = 1  # 1 / (1 − 1)
    D[2, 0, 1], D[2, 1, 0], D[4, 1, 1] = 0.5, 2, np.nan
    before, one = D.copy(), engine(general(sr.plus_times, F8))
    with np.errstate(all="raise"):
        assert one.close_stack(D).tolist() == [-1, 4, 1, 0, 1]
    assert (D[0] == np.eye(6)).all()
    assert same(D[1:], before[1:])
    assert one.close(D[1]) == 4 and same(D[1], before[1])
    assert one.close_stack(D[:0]).tolist() == []
    bits = np.array([[0, 1], [1, 0]], np.uint8)
    assert engine(general(sr.gf2, bits.dtype)).close(bits) == 1
    assert bits.tolist() == [[0, 1], [1, 0]]


def test_products_and_closures_of_complex_numbers() -> None:
    rng = np.random.default_rng(0)
    for dtype, layout in (("c16", "C"), ("c16", "strided"), ("c8", "Fortran"), ("c16", "reversed")):
        low = general(sr.plus_times, np.dtype(dtype)).interpreted
        A, B = ((rng.integers(-4, 5, (2, 4, 4)) + 1j * rng.integers(-4, 5, (2, 4, 4))) for _ in range(2))
        a, b, c = (laid_out(low.encode(x.astype(dtype), True), layout) for x in (A, B, B))
        engine(low).multiply_add_stack(c, a, b)
        assert low.decode(c.copy()).tolist() == (B + A @ B).tolist()
        D = laid_out(low.encode((A / 64).astype(dtype), True), layout)
        assert engine(low).close_stack(D).tolist() == [-1, -1]
        np.testing.assert_allclose(low.decode(D.copy()), np.linalg.inv(np.eye(4) - A / 64), rtol=1e-5, atol=1e-7)


def test_the_library_multiplies_finite_numbers_only() -> None:
    """To it 0 · ∞ is NaN; over the algebra 0 absorbs."""
    low = TWINS["plus_times"]
    A, B = np.array([[0.0, 2.0], [1.0, 0.0]]), np.array([[inf, 1.0], [3.0, 0.0]])
    for one in (engine(low), kernel(low)):
        C = np.array([[1.0, 0.0], [0.0, inf]])
        with np.errstate(all="raise"):
            one.multiply_add(C, A, B)
        assert C.tolist() == [[7, 0], [inf, inf]]
        one.multiply(C, A, A)
        assert C.tolist() == [[2, 0], [0, 2]]
        one.multiply(C, np.full((2, 2), 1e308), np.eye(2))  # whose sum overflows
        assert C.tolist() == [[1e308, 1e308]] * 2


def test_shapes_that_do_not_fit_are_refused() -> None:
    one, M = engine(TWINS["min_plus"]), np.zeros((3, 4))
    for C, A, B in ((M, M, M), (M, M[:, :3], M.T[:3]), (M[:, :2], M[:, :3], M[:3])):
        with pytest.raises(ValueError, match="do not fit"):
            one.multiply_add(C.copy(), A, B)
    with pytest.raises(ValueError, match="square, not 3 × 4"):
        one.close(M)
    with pytest.raises(ValueError, match="do not fit"):
        one.diagonal(M, M)


def test_what_is_refused_is_left_as_it_was() -> None:
    C = np.ones((2, 2))
    with pytest.raises(ValueError, match="do not fit"):
        engine(TWINS["min_plus"]).multiply(C, np.ones((2, 3)), np.ones((2, 2)))
    assert (C == 1).all()


def test_the_time_of_each_piece_of_work_is_told() -> None:
    code = Code(list)
    one, A = ArrayKernel(TWINS["min_plus"], code), np.zeros((2, 3, 3))
    spent = [code.spent]
    for piece in (lambda: one.multiply(A[0], A[1], A[1]), lambda: one.multiply_add(A[0], A[1], A[1]),
                  lambda: one.left(A[1], A[0]), lambda: one.close(A[0]), lambda: one.close_stack(A)):
        piece()
        spent.append(code.spent)
    assert all(before < after for before, after in pairwise(spent))


def test_what_an_engine_says_of_itself() -> None:
    one = engine(TWINS["max_min"])
    assert (one.place, one.threads, one.align) == ("CPU, 1 thread, NumPy", 1, 1)
    assert one.unchecked is one and one.dtype == np.dtype("i8")
    assert one.closes_whole(one.tile) and not one.closes_whole(one.tile + 1)
    assert one.add(np.array([1, 5]), np.array([3, 2])).tolist() == [3, 5]
    assert one.zeros((2, 3)).shape == (2, 3)


def test_more_work_is_predicted_to_take_longer() -> None:
    low = TWINS["min_plus"]
    assert seconds(low, 10, 1e6) < seconds(low, 10, 1e8) and seconds(low, 10, 1e6) < seconds(low, 1000, 1e6)
    assert seconds(TWINS["plus_times"], 1000, 1e9) < seconds(low, 1000, 1e9), "the BLAS is faster"
    assert 0 < seconds(low, 0, 0) + seconds(low, 1, 0) < 1e-3


def test_algebras_whose_fields_have_other_names_share_an_engine() -> None:
    def trip(first: str, second: str) -> sr.Semiring:
        return sr.Semiring(
            f"{first} and {second}", fields={first: "f8", second: "f8"}, zero=(np.inf, np.inf), one=(0, 0),
            add=lambda x, y: np.where((x[0] < y[0]) | ((x[0] == y[0]) & (x[1] <= y[1])), x, y),
            mul=lambda x, y: (x[0] + y[0], x[1] + y[1]),
            carrier=lambda a: (a[0] >= 0) & (a[1] >= 0) & ((a[0] < np.inf) | (a[1] == np.inf)),
        )

    answers = []
    for S in (trip("price", "changes"), trip("metres", "turns")):
        A = np.array([[(0, 0), (2, 1)], [(np.inf, np.inf), (0, 3)]], S.default_dtype)
        low = general(S, A.dtype).interpreted
        engine = kernel(low)
        C, D = np.empty_like(A), A.copy()
        engine.multiply(C, A, A)
        assert engine.close(D) == -1
        engine.add_one(C)
        answers.append((engine, C.tolist(), D.tolist(), engine.diagonal(A, A).tolist()))
        assert C.dtype == D.dtype == A.dtype
    assert answers[0] == answers[1]
