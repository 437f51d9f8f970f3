"""Products against the oracle: every algebra and dtype, odd shapes, any memory order, stacks, and every lowering."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import oracle
import pytest
import strategies
from bridge import CASES, ours, same_bits, to_library
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.build import code_of, kernel
from semiring.kernels.choose import choose
from semiring.kernels.cpu.compile import price
from semiring.kernels.lowering.general import general
from semiring.operands.examine import examine
from semiring.solvers.products import arrays
from semiring.solvers.products.arrays import needs_no_test, spared

inf = np.inf
quick = settings(max_examples=12, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize(("name", "dtype"), CASES, ids=str)
def test_products_are_the_oracles(name: str, dtype: np.dtype) -> None:
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    T = ours(S)

    @quick
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        m, k, n = (data.draw(st.integers(0, 4)) for _ in range(3))
        safe = data.draw(st.booleans())
        A, B, C = (data.draw(strategies.matrices(S, dtype, shape, safe)) for shape in ((m, k), (k, n), (m, n)))
        a, b, c = (data.draw(strategies.views(to_library(S, x))) for x in (A, B, C))
        expected = oracle.matmul(S, oracle.from_numpy(S, A), oracle.from_numpy(S, B), n)
        total = oracle.matadd(S, oracle.from_numpy(S, C), expected)
        assume(oracle.fits(S, expected, dtype) and oracle.fits(S, total, dtype))
        before = c.copy()
        product = sr.matmul(a, b, T)
        assert product.shape == (m, n)
        oracle.assert_same(S, expected, product, f"A = {A!r}, B = {B!r}")
        oracle.assert_same(S, total, sr.matmul(a, b, T, accumulate=c), f"A = {A!r}, B = {B!r}, C = {C!r}")
        assert (c == before).all(), "accumulate was changed"

    check()


# A product written with NumPy alone, for sizes at which the oracle is slow.
DIRECT: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "min_plus": lambda a, b: (a[:, :, None] + b[None]).min(1, initial=None if a.shape[1] else inf),
    "max_min": lambda a, b: np.minimum(a[:, :, None], b[None]).max(1, initial=-inf),
    "boolean": lambda a, b: (a[:, :, None] & b[None]).any(1),
    "plus_times": lambda a, b: (a[:, :, None] * b[None]).sum(1),
}
WIDE = [(65, 63, 64), (1, 257, 1), (257, 1, 65), (64, 64, 257), (129, 38, 1), (3, 0, 65), (0, 7, 64), (257, 64, 0)]


@pytest.mark.parametrize(("name", "dtype"), [
    ("min_plus", "f4"), ("min_plus", "f8"), ("min_plus", "f2"), ("min_plus", "i4"), ("max_min", "f8"),
    ("boolean", "?"), ("plus_times", "f8"),
])
def test_wide_products(name: str, dtype: str) -> None:
    random = np.random.default_rng(5)
    S = sr.catalogue[name]
    for m, k, n in WIDE:
        A, B = (random.integers(0, 2 if name == "boolean" else 100, shape).astype(dtype) for shape in ((m, k), (k, n)))
        if name == "min_plus" and dtype == "i4":
            if k:
                assert (sr.matmul(A, B, S) == DIRECT[name](A, B)).all(), (m, k, n)
            else:
                assert (sr.matmul(A, B, S) == np.iinfo(dtype).max).all()
            continue
        if name in ("min_plus", "max_min"):
            A[random.random(A.shape) < 0.3] = S.zero
        expected = DIRECT[name](A, B).astype(dtype) if k else np.full((m, n), S.zero_in(dtype))
        for a in (A, np.asfortranarray(A)):
            for b in (B, np.asfortranarray(B)):
                assert same_bits(sr.matmul(a, b, S), expected), (m, k, n)


def test_large_products_are_cut_into_tasks() -> None:
    random = np.random.default_rng(1)
    A, B = random.integers(0, 50, (2, 300, 300)).astype("f4")
    assert same_bits(sr.matmul(A, B, sr.min_plus), DIRECT["min_plus"](A, B))
    stacked = sr.matmul(A.reshape(3, 100, 300), B, sr.min_plus)
    assert same_bits(stacked.reshape(300, 300), DIRECT["min_plus"](A, B))


class TestShapes:
    A = np.array([[1.0, inf, 2.0], [0.0, 4.0, inf]])
    B = np.array([[1.0, 0.0], [2.0, inf], [3.0, 5.0]])
    product = np.array([[2.0, 1.0], [1.0, 0.0]])

    def test_vectors(self) -> None:
        S, x = sr.min_plus, np.array([1.0, 2.0, 3.0])
        assert sr.matmul(self.A, x, S).tolist() == [2, 1]
        assert sr.matmul(x, self.B, S).tolist() == [2, 1]
        single = sr.matmul(x, x, S)
        assert single == 2
        assert np.ndim(single) == 0
        y = np.array([0.0, 9.0])
        assert sr.matmul(self.A, x, S, accumulate=y).tolist() == [0, 1]
        assert y.tolist() == [0, 9]
        out = np.empty(2)
        assert sr.matmul(self.A, x[::-1], S, out=out) is out
        assert out.tolist() == [3, 3]

    def test_a_vector_against_a_stack(self) -> None:
        x, stack = np.array([1.0, 2.0]), np.arange(12.0).reshape(3, 2, 2)
        assert sr.matmul(x, stack, sr.min_plus).tolist() == [[1, 2], [5, 6], [9, 10]]
        assert sr.matmul(stack, x, sr.min_plus).tolist() == [[1, 3], [5, 7], [9, 11]]

    @pytest.mark.parametrize(
        ("left", "right"),
        [
            ((5,), (5,)),
            ((5,), (1,)),
            ((1,), (5,)),
            ((), (3,)),
            ((3,), ()),
            ((2, 1), (1, 3)),
            ((2, 3), (3,)),
            ((0,), (0,)),
            ((0,), ()),
            ((2, 1, 2), (3, 1)),
        ],
        ids=str,
    )
    @pytest.mark.parametrize("dtype", ["f8", "i4", "?"])
    def test_leading_axes_broadcast(self, left: tuple, right: tuple, dtype: str) -> None:
        random = np.random.default_rng(3)
        S = sr.boolean if dtype == "?" else sr.min_plus
        A, B = (random.integers(0, 2 if dtype == "?" else 9, shape).astype(dtype) for shape in (
            (*left, 2, 3), (*right, 3, 4)))
        result = sr.matmul(A, B, S)
        shape = np.broadcast_shapes(left, right)
        assert result.shape == (*shape, 2, 4)
        a, b = np.broadcast_to(A, (*shape, 2, 3)), np.broadcast_to(B, (*shape, 3, 4))
        for place in np.ndindex(*shape):
            assert (result[place] == sr.matmul(a[place], b[place], S)).all()
        total = sr.matmul(A, B, S, accumulate=result)
        assert (total == S.add(result, result)).all()

    def test_stacks_of_any_strides(self) -> None:
        random = np.random.default_rng(4)
        A, B = random.integers(0, 9, (2, 4, 6, 6)).astype("f8")
        a, b = A[::-1, ::2, ::-1], B.transpose(0, 2, 1)
        expected = np.stack([DIRECT["min_plus"](x, y) for x, y in zip(a, b, strict=True)])
        assert same_bits(sr.matmul(a, b, sr.min_plus), expected)

    def test_stacks_of_records_objects_and_halves(self) -> None:
        random = np.random.default_rng(6)
        half = random.integers(0, 9, (3, 2, 2)).astype("f2")
        records = np.empty((3, 2, 2), sr.shortest_hops.default_dtype)
        records["cost"], records["hops"] = random.integers(0, 3, (2, 3, 2, 2))
        sets = np.full((3, 2, 2), frozenset({(1, 2)}), object)
        for S, A in ((sr.min_plus, half), (sr.shortest_hops, records), (sr.pareto, sets)):
            result = sr.matmul(A, A, S)
            assert result.dtype == A.dtype
            for i in range(3):
                assert (result[i] == sr.matmul(A[i], A[i], S)).all()

    def test_no_terms_is_zero(self) -> None:
        for S, dtype in ((sr.min_plus, "f4"), (sr.min_plus, "i4"), (sr.max_min, "f8"), (sr.boolean, "?")):
            A, B = np.empty((3, 0), dtype), np.empty((0, 2), dtype)
            assert (sr.matmul(A, B, S) == S.zero_in(dtype)).all()
            C = np.full((3, 2), S.one_in(dtype))
            assert (sr.matmul(A, B, S, accumulate=C) == C).all()


class TestOut:
    def data(self, dtype: str = "f8") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        A, B = np.random.default_rng(7).integers(0, 20, (2, 5, 5)).astype(dtype)
        return A, B, sr.matmul(A, B, sr.min_plus)

    @pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i4"])
    def test_out_may_be_an_operand(self, dtype: str) -> None:
        A, B, expected = self.data(dtype)
        a = A.copy()
        assert sr.matmul(a, B, sr.min_plus, out=a) is a
        assert same_bits(a, expected)
        b = B.copy()
        sr.matmul(A, b, sr.min_plus, out=b)
        assert same_bits(b, expected)
        square = A.copy()
        sr.matmul(square, square, sr.min_plus, out=square)
        assert same_bits(square, sr.matmul(A, A, sr.min_plus))

    def test_out_may_overlap_an_operand(self) -> None:
        A, B, expected = self.data()
        memory = np.zeros((6, 5))
        memory[:5] = A
        sr.matmul(memory[:5], B, sr.min_plus, out=memory[1:])
        assert same_bits(memory[1:], expected)

    def test_out_may_be_what_is_accumulated(self) -> None:
        A, B, expected = self.data()
        C = np.full((5, 5), 15.0)
        result = sr.matmul(A, B, sr.min_plus, accumulate=C, out=C)
        assert result is C
        assert same_bits(C, np.minimum(expected, 15))

    def test_out_of_any_strides(self) -> None:
        A, B, expected = self.data()
        memory = np.full((10, 15), -1.0)
        sr.matmul(A, B, sr.min_plus, out=memory[::2, 1::3])
        assert same_bits(memory[::2, 1::3], expected)
        memory[::2, 1::3] = -1
        assert (memory == -1).all()
        fortran = np.empty((5, 5), order="F")
        sr.matmul(A, B, sr.min_plus, out=fortran)
        assert same_bits(fortran, expected)

    def test_out_on_packed_bits_and_objects(self) -> None:
        A = np.random.default_rng(8).random((70, 70)) < 0.05
        expected = DIRECT["boolean"](A, A)
        sr.matmul(A, A, sr.boolean, out=A)
        assert (expected == A).all()
        letters = np.array([[sr.letter("a")]], object)
        sr.matmul(letters, letters, sr.regex, out=letters)
        assert str(letters[0, 0]) == "aa"

    @pytest.mark.parametrize("out", [np.empty((5, 4)), np.empty((5, 5), "f4"), [[0.0] * 5] * 5, np.empty(25)])
    def test_what_does_not_fit_is_refused(self, out: Any) -> None:
        A, B, _ = self.data()
        with pytest.raises(sr.SemiringError, match=r"out must be a writable, unmasked float64 array of shape \(5, 5\)"):
            sr.matmul(A, B, sr.min_plus, out=out)

    def test_read_only_is_refused(self) -> None:
        A, B, _ = self.data()
        out = np.zeros((5, 5))
        out.flags.writeable = False
        with pytest.raises(sr.SemiringError, match="writable"):
            sr.matmul(A, B, sr.min_plus, out=out)
        assert not out.any()


def test_mixed_dtypes_are_refused() -> None:
    A = np.zeros((2, 2))
    for B in (A.astype("f4"), A.astype("i8")):
        with pytest.raises(sr.SemiringError, match=rf"A is float64 and B is {B.dtype}; convert"):
            sr.matmul(A, B, sr.min_plus)
        with pytest.raises(sr.SemiringError, match=rf"A is float64 and accumulate is {B.dtype}; convert"):
            sr.matmul(A, A, sr.min_plus, accumulate=B)


def test_plus_min_is_a_product_and_nothing_more() -> None:
    random = np.random.default_rng(9)
    A, B = random.integers(0, 9, (2, 7, 7)).astype("f8")
    A[0, 0] = B[0, 1] = inf
    expected = np.minimum(A[:, :, None], B[None]).sum(1)
    assert same_bits(sr.matmul(A, B, sr.plus_min), expected)
    assert same_bits(sr.matmul(A, B, "plus-min", accumulate=B), expected + B)
    wrong = r"plus-min is not a semiring.* does not distribute .* a = 2, b = 3, c = 5"
    for call in (lambda: sr.closure(A, sr.plus_min), lambda: sr.factor(A, sr.plus_min),
                 lambda: sr.solve(A, B, sr.plus_min)):
        with pytest.raises(sr.LawError, match=wrong):
            call()
    with pytest.raises(sr.SemiringError, match=r"A\[1, 2\] is -3: it is outside the carrier of plus-min"):
        A[1, 2] = -3
        sr.matmul(A, B, sr.plus_min)


# Lowerings: each answers as the general one does.


def by_lowering(S: sr.Semiring, A: np.ndarray, B: np.ndarray, n: int = 3, *, packed: bool = True) -> tuple:
    """A ⊗ B by the lowering that the data get and by the general one, and the name of the first."""
    facts = examine(S, A.dtype, [("A", A), ("B", B)])
    chosen = choose(S, A.dtype, facts, n, in_place=False, packed=packed)
    return product(chosen, A, B), product(general(S, A.dtype), A, B), chosen.name


def product(low: Any, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    result = low.empty((A.shape[0], B.shape[1]))
    kernel(low).multiply(result, low.encode(A, True), low.encode(B, True))
    return low.decode(result)


def closed(low: Any, A: np.ndarray) -> np.ndarray:
    work = low.encode(A, True)
    assert kernel(low).close(work) == -1
    return low.decode(work)


def edge_values(dtype: str) -> list[float]:
    info = np.finfo(dtype)
    tiny, small = float(info.smallest_subnormal), float(info.tiny)
    return [inf, -inf, 0.0, -0.0, tiny, -tiny, 3 * tiny, small, -small, 1.0, -1.0, float(info.max), -float(info.max)]


@pytest.mark.parametrize("name", ["max_min", "min_max"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_ordered_integers(name: str, dtype: str) -> None:
    S, random = sr.catalogue[name], np.random.default_rng(11)
    values = np.array(edge_values(dtype), dtype)
    A, B = random.choice(values, (2, 40, 40))
    got, expected, lowering = by_lowering(S, A, B)
    assert lowering == "ordered integers"
    assert same_bits(got, expected)
    plain = general(S, np.dtype(dtype))
    facts = examine(S, plain.dtype, [("A", A)])
    assert same_bits(closed(choose(S, plain.dtype, facts, 40, in_place=False), A), closed(plain, A))
    assert same_bits(sr.closure(A, S), closed(plain, A))


def test_ordered_integers_change_nothing_but_their_order() -> None:
    for dtype in ("f4", "f8"):
        values = np.array(edge_values(dtype), dtype)
        low = choose(
            sr.max_min, np.dtype(dtype), examine(sr.max_min, values.dtype, [("A", values[None])]), 3, in_place=False
        )
        codes = low.encode(values.copy(), True)
        assert (np.sort(low.decode(np.sort(codes))) == np.sort(values)).all()
        back = low.decode(low.encode(values.copy(), True))
        assert (back.view(f"i{back.itemsize}") == values.view(f"i{back.itemsize}")).all()


@pytest.mark.parametrize(("dtype", "size", "n", "storage"), [
    ("i1", 100, 3, "i2"), ("i2", 100, 3, "i2"), ("i2", 100, 1000, "i4"), ("u2", 60_000, 3, "i4"), ("i4", 1000, 3, "i2"),
    ("i4", 10**8, 3, "i4"), ("i4", 10**9, 3, "i8"), ("i8", 10**12, 3, "i8"), ("u8", 10**12, 10**4, "i8"),
])
@pytest.mark.parametrize("name", ["min_plus", "max_plus"])
def test_tropical_integers(name: str, dtype: str, size: int, n: int, storage: str) -> None:
    """Sums that the dtype holds, in every storage; the answer is checked in Python's integers."""
    if name == "max_plus" and dtype[0] == "u":
        with pytest.raises(sr.SemiringError, match="cannot live in"):
            sr.matmul(np.zeros((1, 1), dtype), np.zeros((1, 1), dtype), sr.max_plus)
        return
    S, random = sr.catalogue[name], np.random.default_rng(12)
    limits = np.iinfo(dtype)
    top = min(size, limits.max // 2 - 1)
    A, B = random.integers(0 if dtype[0] == "u" else -top, top + 1, (2, 9, 9)).astype(dtype)
    A[0, 0] = size if size < limits.max else A[0, 0]
    for x in (A, B):
        x[random.random(x.shape) < 0.4] = S.zero_in(dtype)
    A[3] = S.zero_in(dtype)
    facts = examine(S, A.dtype, [("A", A), ("B", B)])
    low = choose(S, A.dtype, facts, n, in_place=False)
    assert low.storage == storage
    oracles = oracle.ALGEBRAS[name]
    expected = oracle.matmul(oracles, oracle.from_numpy(oracles, A), oracle.from_numpy(oracles, B), 9)
    if not oracle.fits(oracles, expected, dtype):
        A[0, 0] = S.zero_in(dtype)
        expected = oracle.matmul(oracles, oracle.from_numpy(oracles, A), oracle.from_numpy(oracles, B), 9)
    oracle.assert_same(oracles, expected, product(low, A, B))
    if dtype == "i4":
        assert same_bits(product(low, A, B), product(general(S, A.dtype), A, B))


def test_integers_at_the_limits() -> None:
    """The least value of a signed dtype is −∞ in min-plus, sums past the limits are refused, and none wraps around."""
    S = sr.min_plus
    for dtype in ("i1", "i2", "i4", "i8"):
        top, low = np.iinfo(dtype).max, np.iinfo(dtype).min
        A = np.array([[low, top]], dtype)
        assert sr.matmul(A, np.array([[5], [1]], dtype), S)[0, 0] == low
        assert sr.matmul(A, np.array([[top], [1]], dtype), S)[0, 0] == top, "+∞ absorbs −∞"
        assert sr.matmul(np.array([[top - 1]], dtype), np.array([[top]], dtype), S)[0, 0] == top
        assert sr.matmul(np.array([[top - 1]], dtype), np.array([[0]], dtype), S)[0, 0] == top - 1
        with pytest.raises(sr.SemiringError, match=r"cannot hold.*astype"):
            sr.matmul(np.array([[top - 1]], dtype), np.array([[1]], dtype), S)
        with pytest.raises(sr.SemiringError, match="cannot hold"):
            sr.matmul(np.array([[low + 1]], dtype), np.array([[-1]], dtype), S)


@pytest.mark.parametrize("name", ["min_plus", "max_min", "viterbi", "plus_times"])
def test_half_precision_is_single_precision_rounded_once(name: str) -> None:
    S, random = sr.catalogue[name], np.random.default_rng(13)
    A, B = (random.integers(0, 1025, (2, 20, 20)) / 1024).astype("f2")
    single = sr.matmul(A.astype("f4"), B.astype("f4"), S)
    got = sr.matmul(A, B, S)
    assert got.dtype == np.float16
    assert same_bits(got, single.astype("f2"))


IDEMPOTENT = [
    ("boolean", "?"),
    ("boolean", "f4"),
    ("min_plus", "f8"),
    ("max_plus", "f4"),
    ("max_min", "f8"),
    ("max_min", "i1"),
    ("min_max", "u1"),
    ("viterbi", "f8"),
    ("max_times", "f8"),
    ("gcd_lcm", "i4"),
    ("bitset_may", "u1"),
    ("lukasiewicz", "f8"),
    ("min_plus", "i4"),
    ("min_plus", "f2"),
]


@pytest.mark.parametrize(("name", "dtype"), IDEMPOTENT)
def test_packed_bits(name: str, dtype: str) -> None:
    """Elements that are all 0 or 1: one bit each, and the answer as of the algebra's own arithmetic."""
    S, random = sr.catalogue[name], np.random.default_rng(14)
    zero, one = S.zero_in(dtype), S.one_in(dtype)
    A, B = (np.where(random.random((66, 66)) < 0.1, one, zero).astype(dtype) for _ in range(2))
    facts = examine(S, A.dtype, [("A", A), ("B", B)])
    low = choose(S, A.dtype, facts, 66, in_place=False)
    assert low.kind == "packed"
    plain = choose(S, A.dtype, facts, 66, in_place=False, packed=False)
    got = product(low, A, B)
    assert got.dtype == A.dtype
    assert same_bits(got, product(plain, A, B))
    assert same_bits(sr.matmul(A, B, S, accumulate=B), S.add(B, got))
    for reflexive in (True, False):
        stacked = sr.closure(A[None], S, reflexive=reflexive)  # a stack is never packed
        assert same_bits(sr.closure(A, S, reflexive=reflexive), stacked[0])


@pytest.mark.parametrize("name", ["plus_times", "counting", "log", "gf2"])
def test_what_is_not_idempotent_is_never_packed(name: str) -> None:
    S = sr.catalogue[name]
    dtype = S.default_dtype
    A = np.array([[S.zero_in(dtype), S.one_in(dtype)], [S.one_in(dtype), S.one_in(dtype)]], dtype)
    low = choose(S, dtype, examine(S, dtype, [("A", A)]), 2, in_place=False)
    assert low.kind == "numba"
    expected = oracle.ALGEBRAS[name]
    oracle.assert_same(
        expected,
        oracle.matmul(expected, oracle.from_numpy(expected, A), oracle.from_numpy(expected, A)),
        sr.matmul(A, A, S),
    )


@pytest.mark.parametrize(("name", "dtype"), [("min_plus", "f4"), ("min_plus", "f8"), ("max_plus", "f8")])
def test_fused_sums(name: str, dtype: str) -> None:
    """x · 1 + y in one instruction is x + y, also of denormals and infinities."""
    S, random = sr.catalogue[name], np.random.default_rng(15)
    values = np.array([*edge_values(dtype), *random.normal(size=30) * 10.0 ** random.integers(-30, 30, 30)], dtype)
    A, B = random.choice(values, (2, 45, 45))
    fused = general(S, np.dtype(dtype))
    assert fused.fused_sum
    plain = replace(fused, fused_sum=False)
    assert same_bits(product(fused, A, B), product(plain, A, B))
    with np.errstate(all="ignore"):
        sums = A[:, :, None] + B[None]
    sums[np.isnan(sums)] = S.zero
    assert same_bits(product(fused, A, B), sums.min(1) if name == "min_plus" else sums.max(1))


def test_what_the_data_are_decides_the_lowering() -> None:
    names = {
        (sr.min_plus, "f4", 2.0): "fused sum",
        (sr.min_plus, "i4", 2): "int16 sums",
        (sr.max_min, "f4", 2.0): "ordered integers",
        (sr.boolean, "?", True): "packed bits",
        (sr.min_plus, "f2", 2.0): "fused sum, single precision",
        (sr.plus_times, "f8", 2.0): "BLAS",
        (sr.log, "f8", -2.0): "log-sum-exp",
        (sr.counting, "f8", 2.0): "general",
    }
    for (S, dtype, value), name in names.items():
        assert sr.plan("closure", np.full((3, 3), value, dtype), S).lowering.name == name


def test_least_common_multiples_that_leave_the_dtype_are_refused() -> None:
    S = sr.gcd_lcm
    A = np.array([[97, 0], [0, 1]], "i1")
    B = np.array([[1, 0], [0, 89]], "i1")
    assert sr.matmul(A, B, S).tolist() == [[97, 0], [0, 89]]  # 97 · 89 is large, but no entry of the answer
    with pytest.raises(sr.SemiringError, match="a result is 8633, which int8 cannot hold"):
        sr.matmul(A, np.array([[89, 0], [0, 1]], "i1"), S)
    assert sr.matmul(A.astype("i2"), np.array([[89, 0], [0, 1]], "i2"), S).tolist() == [[8633, 0], [0, 1]]


TESTED = {
    "halves": sr.Semiring("halves", add=np.add, mul=lambda a, b: a * b / 2, zero=0.0, product_only=True,
                          carrier=lambda a: a >= 0),
    "plus_min": sr.plus_min, "gcd_lcm": sr.gcd_lcm,
}
FEW = st.sampled_from([0.0, -0.0, 1.0, 2.0, 7.0, inf])


@quick
@given(st.sampled_from([("halves", "f4"), ("halves", "f8"), ("gcd_lcm", "i4"), ("plus_min", "f4")]), st.data())
def test_a_zero_is_tested_for_where_there_is_one(case: tuple[str, str], data: st.DataObject) -> None:
    """With a zero in the data or without, with infinities or without, as the algebra's own arithmetic has it."""
    S, kind = TESTED[case[0]], np.dtype(case[1])
    values = FEW if kind.kind == "f" else st.integers(1, 7) | st.just(int(S.zero_in(kind)))
    m, k, n = (data.draw(st.integers(1, 5)) for _ in range(3))
    A, B = (
        np.array(data.draw(st.lists(values, min_size=p * q, max_size=p * q)), kind).reshape(p, q)
        for p, q in ((m, k), (k, n))
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "LOOKED_AT", 0)
        got = sr.matmul(A, B, S, check=False, device="cpu")
    arithmetic = S.over(kind)
    wanted = np.full((m, n), arithmetic.zero)
    for step in range(k):
        wanted = arithmetic.add(wanted, arithmetic.mul(*np.broadcast_arrays(A[:, step, None], B[None, step])))
    np.testing.assert_allclose(got, wanted, rtol=1e-6)


@given(
    st.lists(FEW, min_size=1, max_size=9), st.lists(FEW, min_size=1, max_size=9), st.sampled_from(["f4", "f8"]),
)
def test_when_the_test_is_left_out(a: list[float], b: list[float], dtype: str) -> None:
    """Where neither operand holds a zero, of either sign; the same form each time, and none for what is proven."""
    A, B = np.array([a], dtype), np.array([b], dtype)
    low = general(TESTED["halves"], A.dtype)
    assert needs_no_test(low, A, B) == (0 not in a and 0 not in b)
    assert not needs_no_test(low.without_test, A, B) and not needs_no_test(general(sr.min_plus, A.dtype), A, B)
    assert not needs_no_test(general(sr.plus_times, A.dtype), A, B), "that is for the BLAS"


def test_large_products_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan says so; a small one is not worth the look, and one with a zero in it needs the test."""
    monkeypatch.setenv("SEMIRING_COMPILE", "always")
    A, S = np.ones((130, 130), "f4"), TESTED["halves"]
    B = A.copy()
    B[7, 8] = 0
    names = [sr.plan("matmul", x, y, S).lowering.name for x, y in ((A, A), (A, B), (A[:9, :9], A[:9, :9]))]
    assert names == ["no zero", "general", "general"]


def test_the_form_with_a_test_serves_until_the_other_repays(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is there already, say from a warm-up: what its tests take adds up to a share of what compiling costs."""
    S = sr.Semiring("thirds", add=np.add, mul=lambda a, b: a * b / 3, zero=0.0, product_only=True)
    low, code = general(S, np.dtype("f4")), code_of(general(S, np.dtype("f4")))
    monkeypatch.setenv("SEMIRING_COMPILE", "auto")
    monkeypatch.setattr(price, "cache_directory", lambda: None)
    assert spared(low, 1e9) is low.without_test, "neither is there"
    monkeypatch.setattr(code, "bought", True)
    assert spared(low, 1e9) is low
    forms = [spared(low, 2e9) for _ in range(20)]
    assert forms[0] is low and forms[-1] is low.without_test
    assert spared(low, 1) is low.without_test, "it is there now"
