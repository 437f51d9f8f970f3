"""Small calls: the short way gives what the general way gives, bit for bit, and each of its errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import bases
import families
import numpy as np
import pytest
from engines import slow_but

import semiring as sr
from semiring import small
from semiring.matrices import BUILDERS
from semiring.solvers.dense.derived import Closures

INT_DTYPES = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
CASES: list[tuple[Any, Any]] = [
    (S, dtype) for S in sr.catalogue.values() for dtype in ("?", *INT_DTYPES, "f4", "f8", "c8", "c16")
    if small.form(S, np.dtype(dtype)) is not None]
CASES += [(S, S.element_dtype) for S in sr.catalogue.values() if S.is_record]
IDS = [f"{S.name}, {'records' if S.is_record else dtype}" for S, dtype in CASES]
FAST = [i for i, name in enumerate(IDS) if name in (
    "min-plus, f8", "min-plus, i4", "max-min, f4", "plus-times, c16", "viterbi, f8", "counting, u1", "min-plus, u8",
    "shortest-hops, records")]


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test begins without ufuncs, and a call says by itself whether it compiles."""
    for name in ("PRODUCTS", "SUMS", "CLOSURES"):
        monkeypatch.setattr(small, name, {})
    monkeypatch.setattr(small, "WAYS", {"product": small.PRODUCTS, "sum": small.SUMS, "closure": small.CLOSURES})


def generally(verb: Callable[..., Any], *operands: Any, **options: Any) -> Any:
    """The same by the general way."""
    return BUILDERS[verb.__name__](*operands, **options).answer()


def outcome(function: Callable[..., Any], *operands: Any, **options: Any) -> Any:
    try:
        return function(*operands, **options)
    except sr.SemiringError as e:
        return type(e), str(e)


def is_same(x: Any, y: Any, *, exact: bool, within: tuple[float, float] | None = None) -> bool:
    """Whether two outcomes agree: to the bit, or within a relative and an absolute bound."""
    if isinstance(x, Closures) and isinstance(y, Closures):
        there = type(x.exists) is type(y.exists) and np.array_equal(x.exists, y.exists)
        return there and is_same(x.values, y.values, exact=exact, within=within)
    if isinstance(x, tuple) or isinstance(y, tuple):
        return type(x) is type(y) and x == y
    if (type(x), x.dtype, x.shape) != (type(y), y.dtype, y.shape):
        return False
    if x.dtype.names:  # between whose fields there may be anything
        return all(x[name].tobytes() == y[name].tobytes() for name in x.dtype.names)
    if exact or x.dtype.kind not in "fc":
        return bool(x.tobytes() == y.tobytes())
    eps = float(np.finfo(x.dtype).eps)
    rtol, atol = within or (200 * eps, 200 * eps * float(np.abs(y[np.isfinite(y)]).max(initial=0.0)))
    return bool(np.allclose(x, y, rtol=rtol, atol=atol))


def without_signs_of_zeros(x: Any) -> Any:
    """An outcome with 0 for −0: the methods of the general way differ where a declared star gives −0 and one is 0."""
    if isinstance(x, Closures):
        return Closures(without_signs_of_zeros(x.values), x.exists)
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "fV":
        return x
    found = x.copy()
    for part in [found[name] for name in found.dtype.names] if found.dtype.names else [found[...]]:
        part += 0
    return found


def selects(S: Any) -> bool:
    """Whether ⊕ and ⊗ both give one of their operands, so that nothing rounds, in whatever order pivots come."""
    return S in (sr.max_min, sr.min_max)


def is_exact(S: Any, D: np.ndarray, closed: Any) -> bool:
    """Whether no best walk of a closure rounds, nor any sum of counts: all are whole numbers that the dtype has.

    A walk that rounds weighs more than these, or as much as best ones only where those round too.
    """
    if S is sr.log or not isinstance(closed, np.ndarray) or D.dtype.kind != "f" or np.isnan(D).any():
        return False
    finite, most = D[np.isfinite(D)], 1 / float(np.finfo(D.dtype).eps)
    whole = not np.signbit(finite[finite == 0]).any() and bool(np.all(finite == finite.round()))
    return whole and bool(np.all(np.abs(finite) < 99)) and bool(np.all(np.abs(closed[np.isfinite(closed)]) < most))


def closure_bound(S: Any, D: np.ndarray) -> tuple[float, float] | None:
    """How far two closures may differ: each has walks of at most n edges, which round as the reference says.

    A sum of counts passes at most 3 n roundings. None for logarithms, whose closures have no stated bound.
    """
    if D.dtype.kind != "f" or S is sr.log:
        return None
    n, limits = D.shape[-1], np.finfo(D.dtype)
    eps, tiny = float(limits.eps), n * float(limits.tiny)
    if S in (sr.min_plus, sr.max_plus):
        return 0.0, n * eps * n * float(np.abs(D[np.isfinite(D)]).max(initial=0.0))
    if S is sr.lukasiewicz:  # of sums up to 2
        return 0.0, 3 * n * eps
    return (3 * n if S is sr.counting else n) * eps, tiny


def unusual(dtype: np.dtype) -> np.ndarray:
    """Numbers that a small call may not know how to take."""
    if dtype.kind in "fc":
        large = min(1e30, float(np.finfo(dtype).max))
        return np.array([np.nan, np.inf, -np.inf, -0.0, -3.0, large, 0.5, 1.0]).astype(dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.names:
        found = np.zeros(8, dtype)
        for i, name in enumerate(dtype.names):
            found[name] = np.resize(np.roll(unusual(dtype[name]), i), 8)
        return found
    limits = np.iinfo(dtype)
    return np.array([limits.min, limits.min + 1, limits.min + 2, limits.max, limits.max - 1, limits.max // 2, 0], dtype)


def matrices(S: Any, dtype: np.dtype, rng: np.random.Generator) -> Iterator[Callable[..., np.ndarray]]:
    """Functions that make arrays of a shape, of any layout: of a few elements, of all, of what is unusual.

    Most of the few are notable ones, whose products most integers hold.
    """
    native = dtype.newbyteorder("=")
    known = S.elements_in(native)
    zero = np.full(2, S.zero_in(native), dtype)
    good = np.concatenate([known.notable, known.random, zero]).astype(dtype)
    while True:
        few = known.notable.astype(dtype) if rng.random() < 0.6 else good
        pool = good if rng.random() < 0.3 else rng.choice(few, 4)
        strange = rng.random() < 0.3

        def make(*shape: int, pool: np.ndarray = pool, strange: bool = strange) -> np.ndarray:
            A: np.ndarray = rng.choice(pool, shape)
            if strange and A.size and rng.random() < 0.5:
                A[tuple(rng.integers(0, length) for length in shape)] = rng.choice(unusual(dtype))
            layout = rng.integers(5)
            if layout == 0 and A.ndim > 1:
                A = np.ascontiguousarray(A.swapaxes(-1, -2)).swapaxes(-1, -2)
            elif layout == 1:
                A = np.repeat(A, 2, axis=-1)[..., ::2]
            elif layout == 2:
                A = A[..., ::-1].copy()[..., ::-1]
            elif layout == 3:
                A.setflags(write=False)
            return A

        yield make


def rounded(A: np.ndarray) -> np.ndarray:
    """Records of whole numbers: rounding may change all that comes after the first one."""
    A = A.copy()
    for name in A.dtype.names or ():
        A[name] = np.round(A[name])
    return A


def compare(S: Any, dtype: np.dtype, rounds: int, *, exact: bool) -> int:
    """How many calls of random shapes went the short way; all that differs from the general way is an error."""
    rng = np.random.default_rng(rounds)
    taken = 0
    for make, _ in zip(matrices(S, dtype, rng), range(rounds), strict=False):
        m, k, n = rng.integers(0, 34 if rng.random() < 0.7 else 5, 3)
        leading, other = ((), (2,), (3, 1))[rng.integers(3)], ((), (2,), (1, 2))[rng.integers(3)]
        A = make(*leading, m, k) if rng.random() < 0.8 else make(k)
        B = make(*other, k + (rng.random() < 0.05), n) if rng.random() < 0.8 else make(k)
        asked = USUAL[rng.integers(len(USUAL))]
        added = {}
        if A.ndim < 3 > B.ndim and A.ndim + B.ndim > 2 and rng.random() < 0.4:
            added = {"accumulate": make(*(side + (rng.random() < 0.02) for side in (*A.shape[:-1], *B.shape[1:])))}
            taken += small.product((A, B, S), added) is not None
            added |= {"out": added["accumulate"].copy()} if rng.random() < 0.3 else {}
        found = outcome(sr.matmul, A, B, S, **asked, **added)
        found = found.copy() if "out" in added and isinstance(found, np.ndarray) else found
        wanted = outcome(generally, sr.matmul, A, B, S, **asked, **added)
        assert is_same(found, wanted, exact=exact), (A, B, found, wanted)
        taken += small.product((A, B, S), {}) is not None
        if not S.product_only:
            D = make(*leading, m, m)
            D = rounded(D) if dtype.names and D.ndim > 2 else D
            flags = asked | ({"on_divergence": "mask"} if rng.random() < 0.3 and "check" not in asked else {})
            found, wanted = outcome(sr.closure, D, S, **flags), outcome(generally, sr.closure, D, S, **flags)
            values = wanted.values if isinstance(wanted, Closures) else wanted
            alike = exact and (D.ndim == 2 or selects(S) or is_exact(S, D, values))
            assert is_same(found, wanted, exact=alike, within=closure_bound(S, D)), (D, found, wanted)
            taken += small.closure((D, S), flags) is not None
    return taken


USUAL: list[dict[str, Any]] = [{}, {}, {"check": False}, {"check": True, "device": None}, {"device": "cpu"}]


def compare_solutions(S: Any, dtype: np.dtype, rounds: int, *, exact: bool) -> int:
    """The same of equations and powers; left sides are summed in another order."""
    rng = np.random.default_rng(rounds)
    taken = 0
    for make, _ in zip(matrices(S, dtype, rng), range(rounds), strict=False):
        n, m = rng.integers(0, 34 if rng.random() < 0.7 else 5, 2)
        A, left = make(n, n), bool(rng.random() < 0.3)
        B = make(n) if rng.random() < 0.4 else make(m, n) if left else make(n + (rng.random() < 0.05), m)
        if dtype.names and left:
            A, B = (rounded(X) for X in (A, B))
        asked = USUAL[rng.integers(len(USUAL))] | ({"left": left} if left or rng.random() < 0.5 else {})
        found, wanted = outcome(sr.solve, A, B, S, **asked), outcome(generally, sr.solve, A, B, S, **asked)
        alike = exact and (not left or selects(S) or is_exact(S, A, wanted))
        largest = np.concatenate([A.ravel(), B.ravel()]).reshape(1, -1).repeat(n + 1, 0)
        within = closure_bound(S, largest) if n else None
        if dtype.names:  # of equal zeros the one that comes first, and blocks come in another order
            found, wanted = without_signs_of_zeros(found), without_signs_of_zeros(wanted)
        assert is_same(found, wanted, exact=alike, within=within), (A, B, found, wanted)
        taken += small.solve((A, B, S), asked) is not None
        k = int(rng.integers(0, 9))
        found, wanted = outcome(sr.power, A, S, k), outcome(generally, sr.power, A, S, k)
        assert is_same(found, wanted, exact=exact), (A, k, found, wanted)
        taken += small.power((A, S, k), {}) is not None
    return taken


@pytest.mark.usefixtures("machine_code")
@pytest.mark.parametrize(("S", "dtype"), slow_but(CASES, *FAST), ids=IDS)
def test_compiled_answers_and_errors_are_those_of_the_general_way(S: Any, dtype: str) -> None:
    """Engines share ⊕ and ⊗, so that what rounds does so alike; BLAS and powers add in an order of their own.

    The general way closes stacks pivot by pivot, so that only what does not round is the same bits there.
    """
    low = small.form(S, np.dtype(dtype))
    assert low is not None
    taken = compare(S, np.dtype(dtype), 40, exact=not low.by_library)
    assert taken > 5 or not small.small.fits(low)


CLOSED = [(S, dtype) for S, dtype in CASES if not S.product_only]


@pytest.mark.usefixtures("machine_code")
@pytest.mark.parametrize(("S", "dtype"), slow_but(CLOSED, *(CLOSED.index(CASES[i]) for i in FAST)),
                         ids=lambda value: getattr(value, "name", value))
def test_compiled_solutions_and_powers_are_those_of_the_general_way(S: Any, dtype: str) -> None:
    low = small.form(S, np.dtype(dtype))
    assert low is not None
    taken = compare_solutions(S, np.dtype(dtype), 80, exact=not low.by_library)
    assert taken > 5 or not small.small.fits(low)


@pytest.mark.usefixtures("by_numpy")
@pytest.mark.parametrize(("S", "dtype"), CLOSED, ids=lambda value: getattr(value, "name", value))
def test_solutions_and_powers_of_numpy_are_those_of_the_general_way(S: Any, dtype: str) -> None:
    compare_solutions(S, np.dtype(dtype), 12, exact=np.dtype(dtype).kind in "iub")


@pytest.mark.parametrize("S", [sr.plus_min, "plus-min"])
def test_powers_that_depend_on_the_parentheses_are_refused(S: Any) -> None:
    with pytest.raises(sr.LawError, match="has products but no closure"):
        sr.power(np.ones((2, 2)), S, 3)


def inner(dtype: str) -> np.dtype:
    """The dtype in which others are computed."""
    return np.dtype("f4") if dtype[-2:] == "f2" else np.dtype(dtype).newbyteorder("=")


OTHERS = [(S, dtype) for S in sr.catalogue.values() for dtype in ("f2", ">f2", ">i2", ">u8", ">f4", ">f8", ">c16")
          if small.converted(S, np.dtype(dtype)) is not None and small.form(S, inner(dtype)) is not None]
OTHER_IDS = [f"{S.name}, {dtype}" for S, dtype in OTHERS]
OTHER_FAST = [i for i, name in enumerate(OTHER_IDS) if name in ("min-plus, f2", "viterbi, >f8", "min-plus, >i2")]


def compare_others(S: Any, dtype: str, rounds: int, *, exact: bool) -> int:
    taken = compare(S, np.dtype(dtype), rounds, exact=exact)
    return taken if S.product_only else taken + compare_solutions(S, np.dtype(dtype), rounds, exact=exact)


@pytest.mark.usefixtures("machine_code")
@pytest.mark.parametrize(("S", "dtype"), slow_but(OTHERS, *OTHER_FAST), ids=OTHER_IDS)
def test_halves_and_other_byte_orders_are_answered_as_by_the_general_way(S: Any, dtype: str) -> None:
    low = small.form(S, inner(dtype))
    assert low is not None
    assert compare_others(S, dtype, 20, exact=not low.by_library) > 5 or not small.small.fits(low)


@pytest.mark.usefixtures("by_numpy")
@pytest.mark.parametrize(("S", "dtype"), OTHERS, ids=OTHER_IDS)
def test_halves_and_other_byte_orders_of_numpy_are_answered_as_by_the_general_way(S: Any, dtype: str) -> None:
    compare_others(S, dtype, 10, exact=np.dtype(dtype).kind in "iub")


FAMILIES = families.families()
SOME = ["min-plus, x + 100", "viterbi, 3 − 2 x", "non-negative plus-times, x²", "semiring 17 of 4 elements",
        "shortest paths counted, −x, x + 100", "tuples (1, 1) in order, as it is, as it is, f8 f8",
        "tuples (1, 1, -1) in order, as it is, as it is, as it is, i2 i4 i8", "min-plus up to 60, as it is"]


@pytest.mark.usefixtures("machine_code")
@pytest.mark.parametrize("name", slow_but([[name] for name in FAMILIES], *map([*FAMILIES].index, SOME[::3])))
def test_generated_algebras_are_computed_as_by_the_general_way(name: str) -> None:
    """Bit for bit, where one computes in the order of the other: products, sums, closures, solutions and powers."""
    g = FAMILIES[name]
    S: Any = g.declare(sr)
    dtype = g.record_dtypes[0] if g.record_dtypes else np.dtype("i8" if g.base.dtype == bases.WHOLE else "f8")
    low, rng = small.form(S, dtype), np.random.default_rng(1)
    exact = low is None or not low.by_library
    for n in (1, 2, 3, 5, 8, 16, 31, 33):
        for A, B, C in zip(*(g.draw(rng, 3, n, dtype) for _ in range(3)), strict=True):
            for verb, operands, asked in (
                (sr.matmul, (A, B, S), {}), (sr.matmul, (A, B[:, 0], S), {"check": False}), (sr.closure, (A, S), {}),
                (sr.matmul, (A, B[:, :1], S), {"accumulate": C[:, :1]}), (sr.matmul, (A, B, S), {"accumulate": C}),
                (sr.closure, (A, S), {"on_divergence": "mask"}), (sr.solve, (A, B, S), {}),
                (sr.solve, (A, B[0], S), {}), (sr.power, (A, S, 5), {}),
            ):
                found, wanted = outcome(verb, *operands, **asked), outcome(generally, verb, *operands, **asked)
                found, wanted = without_signs_of_zeros(found), without_signs_of_zeros(wanted)
                assert is_same(found, wanted, exact=exact), (verb, operands, asked, found, wanted)


SOFT = [
    sr.log, sr.Semiring("soft minimum", add=lambda a, b: -np.logaddexp(-a, -b), mul=np.add, zero=np.inf, one=0.0),
    sr.Semiring("to base 2", add=np.logaddexp2, mul=np.add, zero=-np.inf, one=0.0),
]


@pytest.mark.parametrize("engine", ["by_numpy", "machine_code"])
@pytest.mark.parametrize(("S", "dtype"), [(SOFT[0], "f8"), (SOFT[1], "f4"), (SOFT[2], "f8"), (SOFT[1], "f8")],
                         ids=lambda value: getattr(value, "name", value))
def test_log_sums_are_within_their_bound(
    S: sr.Semiring, dtype: str, engine: str, request: pytest.FixtureRequest
) -> None:
    """ε (k + 16 + 4 |log G| + |c|), on data with any range, and with many zeros."""
    request.getfixturevalue(engine)
    rng, eps = np.random.default_rng(0), float(np.finfo(dtype).eps)
    sign, unit = (-1 if S.zero == np.inf else 1), (np.log(2.0) if S is SOFT[2] else 1.0)
    for size in (1, 10, 80, 300 if dtype == "f4" else 3000) * 6:
        m, k, n = rng.integers(1, 40, 3)
        m, n = rng.choice([m, 1]), rng.choice([n, 1])
        A, B = (size * rng.normal(size=shape).astype(dtype) for shape in ((m, k), (k, n)))
        if size != 10:
            A[rng.random(A.shape) < 0.6], B[rng.random(B.shape) < 0.6] = S.zero, S.zero
        a, b = (sign * unit * X.astype(np.longdouble) for X in (A, B))
        terms = a[:, :, None] + b[None]
        top = terms.max(1)
        with np.errstate(all="ignore"):
            exact = top + np.log(np.exp(terms - np.where(top == -np.inf, 0, top)[:, None]).sum(1))
            far = np.abs(exact - a.max(1, keepdims=True) - b.max(0))
        left, right = A[0] if m == 1 else A, B[:, 0] if n == 1 else B
        found = small.product((left, right, S), {})
        assert found is not None and found.shape == left.shape[:-1] + right.shape[1:]
        found = found.reshape(m, n)
        assert np.array_equal(found == S.zero, exact == -np.inf)
        here = exact > -np.inf
        error = np.abs(sign * unit * found[here].astype(np.longdouble) - exact[here])
        assert np.all(error <= eps * (k + 16 + 4 * far[here] + np.abs(exact[here])))


@pytest.mark.usefixtures("by_numpy")
@pytest.mark.parametrize(("S", "dtype"), CASES, ids=IDS)
def test_answers_and_errors_of_numpy_are_those_of_the_general_way(S: Any, dtype: str) -> None:
    low = small.form(S, np.dtype(dtype))
    assert low is not None
    exact = np.dtype(dtype).kind in "iub" or selects(S)
    compare(S, np.dtype(dtype), 12, exact=exact and np.dtype(dtype).kind != "f")


@pytest.mark.parametrize("engine", ["by_numpy", "machine_code"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("entry", [np.inf, -np.inf, np.nan])
def test_one_entry_that_is_no_real_is_found_among_zeros(
    engine: str, dtype: str, entry: float, request: pytest.FixtureRequest
) -> None:
    """A test of the answer alone finds it, since zero times it is NaN, in all kernels of BLAS."""
    request.getfixturevalue(engine)
    for m, k, n in [(1, 1, 1), (1, 7, 1), (5, 3, 1), (1, 4, 6), (16, 16, 16), (33, 9, 20), (3, 40, 2), (64, 64, 64)]:
        for side in range(2):
            operands = [np.zeros((m, k), dtype), np.zeros((k, n), dtype)]
            operands[side][(0, -1) if side == 0 else (-1, 0)] = entry
            for A in {m: operands[0], 1: operands[0][0]}.values():
                for B in {n: operands[1], 1: operands[1][:, 0]}.values():
                    found = outcome(sr.matmul, A, B, sr.plus_times)
                    assert found == outcome(generally, sr.matmul, A, B, sr.plus_times) and isinstance(found, tuple)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
@pytest.mark.parametrize("entry", [np.inf, -np.inf, np.nan])
def test_one_entry_that_is_no_real_is_found_in_equations(dtype: str, entry: float) -> None:
    """Wherever it is among zeros."""
    for n in (1, 2, 5, 33):
        for i, j in {(0, 0), (0, n - 1), (n - 1, 0), (n // 2, n // 2)}:
            wrong, zeros = np.zeros((n, n), dtype), np.zeros((n, n), dtype)
            wrong[i, j] = entry
            for verb, *operands in ((sr.closure, wrong), (sr.solve, wrong, zeros), (sr.solve, zeros, wrong),
                                    (sr.solve, zeros, wrong[:, j]), (sr.solve, wrong, zeros[0])):
                found = outcome(verb, *operands, sr.plus_times)
                assert found == outcome(generally, verb, *operands, sr.plus_times) and isinstance(found, tuple)


def test_what_is_no_semiring_is_refused_as_by_the_general_way() -> None:
    for add, mul, zero in [(np.minimum, lambda a, b: a, np.inf), (np.add, np.multiply, 0.0),
                           (lambda a, b: a - b, np.add, np.inf)]:
        S = sr.Semiring("products only", add=add, mul=mul, zero=zero, product_only=True)
        A = np.eye(3)
        asked: dict[str, Any]
        for verb, operands, asked in ((sr.matmul, (A, A, S), {"accumulate": A}), (sr.closure, (A, S), {}),
                                      (sr.solve, (A, A, S), {}), (sr.power, (A, S, 3), {}), (sr.matmul, (A, A, S), {})):
            for _ in range(2):
                found, wanted = outcome(verb, *operands, **asked), outcome(generally, verb, *operands, **asked)
                assert is_same(found, wanted, exact=False), (S, verb, asked)


HIDING = {
    "first": (np.minimum, lambda a, b: a), "second": (np.minimum, lambda a, b: b),
    "larger": (np.minimum, lambda a, b: np.where(a > b, a, b)), "one": (np.maximum, lambda a, b: 1.0),
    "alike": (np.add, lambda a, b: np.where(a == b, 1.0, 0.0)), "lesser": (np.minimum, np.fmin),
}


@pytest.mark.parametrize("engine", ["by_numpy", "machine_code"])
@pytest.mark.parametrize("name", HIDING)
def test_nan_is_found_where_products_do_not_show_it(name: str, engine: str, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue(engine)
    add, mul = HIDING[name]
    S = sr.Semiring(name, add=add, mul=mul, zero=0.0 if add is np.add else np.inf if add is np.minimum else -np.inf,
                    product_only=True)
    for side in range(2):
        operands = [np.ones((3, 4)), np.ones((4, 2))]
        assert isinstance(outcome(sr.matmul, *operands, S), np.ndarray)
        operands[side][1, 1] = np.nan
        for A in (operands[0], operands[0][1]):
            for B in (operands[1], operands[1][:, 1]):
                found = outcome(sr.matmul, A, B, S)
                assert isinstance(found, tuple) and found == outcome(generally, sr.matmul, A, B, S)


@pytest.mark.parametrize("engine", ["by_numpy", "machine_code"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_sum_of_infinities_of_both_signs_is_refused(engine: str, dtype: str, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue(engine)
    S = sr.Semiring("sums of least", add=np.add, mul=np.minimum, zero=0.0, product_only=True)
    A, B = np.array([[np.inf, -np.inf], [1.0, 2.0]], dtype), np.array([[np.inf], [3.0]], dtype)
    for left, right in ((A, B), (A[0], B), (A, B[:, 0]), (np.stack([A[1:], A[:1]]), B)):
        found = outcome(sr.matmul, left, right, S)
        assert isinstance(found, tuple) and found == outcome(generally, sr.matmul, left, right, S)


@pytest.mark.parametrize("engine", ["by_numpy", "machine_code"])
def test_what_is_refused_is_refused_in_the_same_words(engine: str, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue(engine)
    A, nan, half = np.eye(3), np.eye(3), np.full((3, 3), 0.5)
    nan[1, 2] = np.nan
    bytes_, far, hops = np.full((3, 3), 100, "i1"), np.full((3, 3), 2**62), sr.shortest_hops.eye(3)
    hops[1, 2] = np.nan, 3
    for verb, operands in [
        (sr.matmul, (nan, A, sr.min_plus)), (sr.matmul, (A, nan, sr.min_plus)), (sr.matmul, (A[:, :2], A, sr.min_plus)),
        (sr.matmul, (2 * A, A, sr.viterbi)), (sr.matmul, (half, half, sr.boolean)), (sr.matmul, (A, A.astype("f4"),
        sr.min_plus)), (sr.matmul, (bytes_, bytes_, sr.min_plus)), (sr.matmul, (far, far, sr.min_plus)),
        (sr.matmul, (bytes_, bytes_, sr.counting)), (sr.matmul, (np.float64(1.0), A, sr.min_plus)),
        (sr.matmul, (np.array(1.0), A, sr.min_plus)), (sr.matmul, (np.full((2, 2), np.inf), np.eye(2), sr.plus_times)),
        (sr.matmul, (np.full((2, 2), 1e200), np.full((2, 2), -1e200), sr.plus_times)),
        (sr.matmul, (A, A, "nothing")), (sr.matmul, (A, A)), (sr.matmul, (A, A, [1])), (sr.closure, (A,)),
        (sr.closure, (nan, sr.min_plus)), (sr.closure, (-A, sr.min_plus)), (sr.closure, (2 * A, sr.max_times)),
        (sr.closure, (A[:2], sr.min_plus)), (sr.closure, (A[0], sr.min_plus)), (sr.closure, (A, sr.plus_times)),
        (sr.closure, (np.stack([A, -A]), sr.min_plus)), (sr.closure, (A, sr.plus_min)),
        (sr.closure, (-bytes_, sr.min_plus)), (sr.closure, (np.full((3, 3), 5, "i8"), sr.counting)),
        (sr.matmul, (hops, hops, sr.shortest_hops)), (sr.matmul, (sr.shortest_hops.eye(3), hops, sr.shortest_hops)),
        (sr.closure, (hops, sr.shortest_hops)), (sr.solve, (sr.shortest_hops.eye(3), hops, sr.shortest_hops)),
        (sr.solve, (-A, A, sr.min_plus)), (sr.solve, (A, nan, sr.min_plus)), (sr.solve, (A, A[:2], sr.min_plus)),
        (sr.solve, (A, A, sr.plus_times)), (sr.solve, (half / 3, nan, sr.plus_times)), (sr.solve, (A[0], A, "log")),
        (sr.solve, (half / 3, np.full(3, np.inf), sr.plus_times)), (sr.solve, (half, np.full(3, 1e308), sr.plus_times)),
        (sr.power, (bytes_, sr.min_plus, 4)), (sr.power, (nan, sr.min_plus, 2)), (sr.power, (A[:2], sr.min_plus, 2)),
        (sr.power, (A, sr.min_plus, -1)), (sr.power, (A, sr.min_plus, True)), (sr.power, (far, sr.counting, 3)),
    ]:
        ways: list[dict[str, Any]] = [{}, {"check": False}, {"device": "cpu"}, {"check": None}]
        ways += [{"on_divergence": "mask"}, {"on_divergence": "?"}] if verb is sr.closure else []
        ways += [{"left": True}, {"left": "yes"}] if verb is sr.solve else []
        ways += [{"accumulate": x} for x in (A, nan, bytes_, -hops["cost"], hops)] if verb is sr.matmul else []
        for asked in ways:
            found, wanted = outcome(verb, *operands, **asked), outcome(generally, verb, *operands, **asked)
            assert is_same(found, wanted, exact=False), (verb, operands, asked, found, wanted)


def test_names_of_algebras_go_the_short_way() -> None:
    A, one = np.arange(9.0).reshape(3, 3), sr.why.eye(2)
    for name in ("min-plus", "min_plus"):
        assert np.array_equal(small.product((A, A, name), {}), sr.matmul(A, A, sr.min_plus))
        assert np.array_equal(small.closure((A, name), {}), sr.closure(A, sr.min_plus))
    assert np.array_equal(small.solve((one, one, "why"), {}), generally(sr.solve, one, one, sr.why))
    for other in ("MIN plus", "k_best(2)", "nothing", ["min-plus"], None):  # which the general way knows, or refuses
        assert small.product((A, A, other), {}) is None and small.closure((A, other), {}) is None
    assert np.array_equal(sr.matmul(A, A, "MIN plus"), sr.matmul(A, A, "min-plus"))


def test_objects_that_are_refused_are_refused_in_the_same_words() -> None:
    """Integers that are too large for a float, operations that are not defined, also where zero spares them."""
    longest = sr.Semiring("longest", add=lambda a, b: max(a, b), mul=lambda a, b: a + b, zero=-np.inf, one=0,
                          dtype=object)
    large, near, half = 6 * 10**25, np.int64(4), Fraction(7, 2)
    refused = 0
    for verb, S, *operands in [
        (sr.matmul, longest, [[large, large]], [[large], [near]]), (sr.closure, longest, [[0, large], [near, 0]]),
        (sr.solve, longest, [[-near, large], [near, large]], [near, large]), (sr.matmul, longest, [[near]], [[2]]),
        (sr.matmul, sr.bitset_may, [[half]], [[0]]), (sr.matmul, sr.bitset_may, [0], [[half, 3]]),
        (sr.matmul, sr.bitset_may, [5], [[6, 3]]), (sr.matmul, sr.min_plus, [[half]], [[half + 1]]),
        (sr.closure, sr.bitset_may, [[0, half], [0, 0]]), (sr.solve, sr.bitset_may, [[0, 0], [0, 0]], [half, half]),
        (sr.matmul, sr.max_times, [[half, 2]], [["a"], [1]]), (sr.matmul, sr.max_times, [[None, 2]], [[1], [1]]),
    ]:
        given = [np.array(x, object) for x in operands]
        found, wanted = outcome(verb, *given, S), outcome(generally, verb, *given, S)
        if isinstance(wanted, tuple):
            refused += 1
            assert found == wanted, (S, operands)
        else:
            assert found.tolist() == wanted.tolist(), (S, operands)
    assert refused >= 6
    assert small.product((np.array([[half]]), np.array([[half]]), sr.min_plus), {}) is not None


@pytest.mark.parametrize("engine", ["by_numpy", "machine_code"])
def test_only_plain_arrays_go_the_short_way(engine: str, request: pytest.FixtureRequest) -> None:
    """All others are answered as before: other types, byte orders, dtypes, options, and what is large or empty."""
    request.getfixturevalue(engine)
    A = np.arange(9.0).reshape(3, 3)
    masked = np.ma.masked_array(A, mask=np.eye(3, dtype=bool))
    named = sr.Matrix(A, sr.min_plus, names=list("abc"))
    for operands in [
        (np.asmatrix(A), A), (masked, A), (A, masked), (A.tolist(), A), (named, named), (A.astype(">f8"), A),
        (A.astype(object), A.astype(object)), (A[:0], A), (A, A[:, :0]),
        (np.zeros((65, 65)), np.zeros((65, 65))),
    ]:
        assert type(operands[0]) is not np.ndarray or small.product((*operands, sr.min_plus), {}) is None
        found, wanted = sr.matmul(*operands, sr.min_plus), generally(sr.matmul, *operands, sr.min_plus)
        assert type(found) is type(wanted) and np.array_equal(found, wanted)
    asked: dict[str, Any]
    for asked in ({"device": "gpu"}, {"check": 0}, {"accumulate": [[0.0]]}, {"argmax": True}, {"left": False}):
        assert small.product((A, A, sr.min_plus), asked) is None
    for C in (A[0], A[:2], np.stack([A, A]), A.astype("f4"), A.astype(object)):
        assert small.product((A, A, sr.min_plus), {"accumulate": C}) is None
        assert outcome(sr.matmul, A, A, sr.min_plus, accumulate=C) == outcome(
            generally, sr.matmul, A, A, sr.min_plus, accumulate=C)
    for asked in ({"reflexive": False}, {"overwrite": True}, {"on_divergence": "flag"}, {"on_divergence": A}):
        assert small.closure((A, sr.min_plus), asked) is None
    for asked in ({"tol": 0.1}, {"left": 1}, {"method": "iterative"}):
        assert small.solve((A, A, sr.min_plus), asked) is None
    assert small.solve((np.stack([A, A]), A, sr.min_plus), {}) is None
    assert small.power((A, sr.min_plus, 3.0), {}) is None and small.power((A[0], sr.min_plus, 3), {}) is None


def test_what_is_asked_by_name_goes_the_short_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """The algebra, operands behind it, and options that ask for what small calls do."""
    A = np.arange(9.0).reshape(3, 3)
    wanted = {sr.matmul: (A, A), sr.closure: (A,), sr.solve: (A, A), sr.power: (A,)}
    expected = {verb: generally(verb, *operands, sr.min_plus, *([3] if verb is sr.power else ()))
                for verb, operands in wanted.items()}

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("the general way")

    monkeypatch.setattr("semiring.matrices.Task", refuse)
    monkeypatch.setattr("semiring.walks.Task", refuse)
    monkeypatch.setattr("semiring.equations.Task", refuse)
    options: dict[str, Any]
    for options in ({}, {"check": False}, {"device": "cpu", "check": True}):
        assert np.array_equal(sr.matmul(A, B=A, S=sr.min_plus, **options), expected[sr.matmul])
        assert np.array_equal(sr.closure(A, S="min-plus", **options), expected[sr.closure])
        assert np.array_equal(sr.solve(A, A, S=sr.min_plus, left=False, **options), expected[sr.solve])
        assert np.array_equal(sr.power(A, k=3, S=sr.min_plus, **options), expected[sr.power])
    with pytest.raises(AssertionError, match="general"):
        sr.power(A, k=3)
    with pytest.raises(TypeError):
        sr.closure(A, k="min-plus")  # type: ignore[call-overload]


@pytest.mark.parametrize("engine", ["by_numpy", "machine_code"])
def test_a_matrix_goes_the_short_way_with_its_names(engine: str, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue(engine)
    array, names = np.arange(9.0).reshape(3, 3), list("abc")
    for A in (sr.Matrix(array, sr.min_plus), sr.Matrix(array, sr.min_plus, names=names)):
        B = sr.Matrix(array[::-1].copy(), sr.min_plus, names=list(A.names) if A.names else None,
                      library="pandas")
        ways = {sr.matmul: small.product, sr.closure: small.closure, sr.solve: small.solve, sr.power: small.power}
        operands: tuple[Any, ...]
        for verb, *operands in (
            (sr.matmul, A, B), (sr.matmul, B, A), (sr.matmul, A, A, sr.min_plus), (sr.matmul, A, array),
            (sr.matmul, A, array[0]), (sr.closure, A), (sr.closure, A, sr.min_plus),
            (sr.solve, A, array[0]), (sr.solve, A, B, None), (sr.solve, B, A),
            (sr.solve, A, array, sr.min_plus), (sr.power, A, sr.min_plus, 3), (sr.power, A, None, 3),
        ):
            short, wanted = small.of_matrix(ways[verb], tuple(operands), {}), generally(verb, *operands)
            assert type(short) is type(wanted) is type(verb(*operands))
            if isinstance(wanted, sr.Matrix):
                assert short.names == wanted.names and short.equals(wanted) and short.semiring is wanted.semiring
                assert short.library == wanted.library
                assert verb(*operands).equals(wanted)
            else:
                assert np.array_equal(short, wanted)
    named, other = sr.Matrix(array, sr.min_plus, names=names), sr.Matrix(array, sr.min_plus, names=list("bca"))
    wide = sr.Matrix(array, sr.min_plus, names=names, columns=list("xyz"))
    for operands in ((named, other), (wide, array), (named, wide), (named, sr.Matrix(array, sr.max_plus, names=names)),
                     (named, array, sr.max_plus), (named.hold("sparse"), named), (named, "min-plus")):
        assert small.of_matrix(small.product, operands, {}) is None
        assert repr(outcome(sr.matmul, *operands)) == repr(outcome(generally, sr.matmul, *operands))
    bad = sr.Matrix(np.full((3, 3), -1.0), sr.min_plus, names=names)
    for verb, *operands in ((sr.closure, bad), (sr.solve, bad, array[0]), (sr.matmul, named, array[:2])):
        found, wanted = outcome(verb, *operands), outcome(generally, verb, *operands)
        assert isinstance(found, tuple) and found == wanted


@pytest.mark.parametrize("engine", ["by_numpy", "machine_code"])
def test_out_is_written_once_the_answer_is_known(engine: str, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue(engine)
    A = np.arange(16.0).reshape(4, 4)
    product = sr.matmul(A, A, sr.min_plus)
    out = np.empty((4, 4))
    assert sr.matmul(A, A, sr.min_plus, out=out) is out and np.array_equal(out, product)
    turned = np.empty((4, 4), order="F")
    assert sr.matmul(A, A, sr.min_plus, out=turned) is turned and np.array_equal(turned, product)
    other = np.empty((4, 4), ">f8")
    assert sr.matmul(A, A, sr.min_plus, out=other) is other and np.array_equal(other, product)
    same = A.copy()
    assert sr.matmul(same, same.T, sr.min_plus, out=same) is same
    assert np.array_equal(same, sr.matmul(A, A.T, sr.min_plus))
    assert sr.matmul(A, A, sr.min_plus, out=None) is not None
    same = np.tile(np.arange(4.0), (4, 1))
    total = generally(sr.matmul, same.T, same, sr.min_plus, accumulate=same)
    assert sr.matmul(same.T, same, sr.min_plus, accumulate=same, out=same) is same and np.array_equal(same, total)
    fixed = np.empty((4, 4))
    fixed.setflags(write=False)
    for wrong in (fixed, np.empty((4, 3)), np.empty((1, 4, 4)), np.empty((4, 4), "f4"), [[0.0]]):
        with pytest.raises(sr.SemiringError, match="out must be a writable"):
            sr.matmul(A, A, sr.min_plus, out=wrong)
    A[1, 1] = np.nan
    kept = out.copy()
    with pytest.raises(sr.SemiringError, match="NaN"):
        sr.matmul(A, A, sr.min_plus, out=out)
    assert np.array_equal(out, kept)


def test_compiling_is_bought_when_it_repays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """NumPy computes, and its time is the rent; once that is the price the ufunc is made."""
    monkeypatch.setenv("SEMIRING_COMPILE", "auto")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    A = np.eye(3)
    S = sr.Semiring("rented", add=np.minimum, mul=lambda a, b: a + b + 0.125, zero=np.inf, product_only=True)
    sr.matmul(A, A, S)
    (before,) = small.PRODUCTS.values()
    assert isinstance(before, small.Before) and before._code.spent > 0
    monkeypatch.setattr(before._code, "spent", 1e9)
    for _ in range(small.ASKED):
        sr.matmul(A, A, S)
    assert isinstance(small.PRODUCTS[S, A.dtype], np.ufunc)
    S = sr.Semiring("rented sums", add=np.minimum, mul=lambda a, b: a + b + 0.25 * a * b, zero=np.inf, one=0.0,
                    carrier=lambda a: a >= 0)
    wanted = generally(sr.matmul, A, A, S, accumulate=A)
    sr.matmul(A, A, S, accumulate=A)
    monkeypatch.setattr(small.SUMS[S, A.dtype]._code, "spent", 1e9)
    for _ in range(small.ASKED):
        assert np.array_equal(sr.matmul(A, A, S, accumulate=A), wanted)
    assert isinstance(small.SUMS[S, A.dtype], np.ufunc)


@pytest.mark.parametrize("engine", ["by_numpy", "machine_code"])
def test_no_warning_is_given(
    engine: str, request: pytest.FixtureRequest, recwarn: pytest.WarningsRecorder
) -> None:
    request.getfixturevalue(engine)
    tiny, large = np.full((3, 3), 1e-200), np.full((3, 3), 3e38, "f4")
    with np.errstate(all="raise"):
        for S in (sr.min_plus, sr.plus_times, sr.max_min, sr.viterbi, sr.log):
            outcome(sr.matmul, tiny, tiny, S)
            outcome(sr.matmul, large, large, S)
            outcome(sr.closure, tiny, S)
    far = np.array([[np.inf, -np.inf], [1e308, -1e308]])
    sr.matmul(far, far, sr.max_min)
    assert outcome(sr.matmul, far, far, sr.min_plus) is not None
    outcome(sr.matmul, np.full((2, 2), 1e308), np.full((2, 2), -1e308), sr.plus_times)
    assert not recwarn.list
