"""Log-sum-exp of small matrices by powers against long double, within the bound that is stated in docs/design.md."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit

import semiring as sr
from semiring.kernels.cpu.compile import program
from semiring.kernels.cpu.compile.lane_powers import Powers
from semiring.kernels.cpu.compile.lane_rows import intrinsic_of
from semiring.kernels.cpu.compile.lanes import I64, Lanes
from semiring.kernels.cpu.dense import lanes, stacks
from semiring.kernels.lowering.general import general

BINARY = sr.Semiring("of-powers-of-two", add=np.logaddexp2, mul=np.add, zero=-np.inf, one=0.0)
SOFT = sr.Semiring("soft-minimum", add=lambda a, b: -np.logaddexp(-a, -b), mul=np.add, zero=np.inf, one=0.0)
FORMS = {"log": sr.log, "binary": BINARY, "negated": SOFT}
LONG = np.longdouble


def exact(S: sr.Semiring, A: np.ndarray, B: np.ndarray, C: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The product by its terms in long double, and the sums of powers relative to the maxima of rows and columns."""
    sign = -1 if S is SOFT else 1
    a, b = sign * A.astype(LONG), sign * B.astype(LONG)
    exp, log = (np.exp2, np.log2) if S is BINARY else (np.exp, np.log)
    terms = a[..., :, :, None] + b[..., None, :, :]
    with np.errstate(all="ignore"):
        top = a.max(-1, initial=-np.inf)[..., None] + b.max(-2, initial=-np.inf)[..., None, :]
        if C is not None:
            terms = np.concatenate([terms, (sign * C.astype(LONG))[..., None, :]], axis=-2)
        most = terms.max(-2, initial=-np.inf)
        shift = np.where(np.isfinite(most), most, 0)
        result = np.where(np.isinf(most), most, shift + log(exp(terms - shift[..., None, :]).sum(-2)))
    return sign * result, sign * result - top


def check(S: sr.Semiring, A: np.ndarray, B: np.ndarray, C: np.ndarray | None) -> None:
    """Compare with the bound: ε (k + 16 + 4 |log G| + |c|), and ε (2 + |c|) for what is added to."""
    low = general(S, A.dtype)
    found = np.empty((*A.shape[:2], B.shape[2]), A.dtype) if C is None else C.copy()
    assert stacks.multiply_stack(low, found, A, B, C is not None, True)
    wanted, distance = exact(S, A, B, C)
    finite = np.isfinite(wanted)
    assert (np.isfinite(found) == finite).all() and (found[~finite] == wanted[~finite]).all()
    error = np.abs(found[finite] - wanted[finite])
    k, eps = A.shape[2], LONG(np.finfo(A.dtype).eps)
    distance = np.where(np.isfinite(distance), np.abs(distance), 0)
    bound = (k + 16 + 4 * np.minimum(distance, 2000) + np.abs(wanted)) + (0 if C is None else 2 + np.abs(wanted))
    assert (error <= eps / (np.log(LONG(2)) if S is BINARY else 1) * bound[finite]).all()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("narrow", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_products_are_within_the_bound(
    form: str, dtype: str, narrow: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the range of the numbers: rows without an edge, pairs that never meet, terms far below both maxima."""
    if narrow:
        monkeypatch.setattr(lanes, "host_features", dict)
        monkeypatch.setattr(lanes, "has_fma", lambda: False)
        monkeypatch.setattr(program, "has_fma", lambda: False)
        lanes.small.cache_clear()
    S, rng = FORMS[form], np.random.default_rng(0)
    sign = -1 if S is SOFT else 1
    largest = float(np.finfo(dtype).max)
    for m, k, n in [(1, 1, 1), (4, 4, 4), (5, 3, 7), (16, 16, 16), (9, 17, 33), (33, 2, 40), (3, 0, 2), (64, 64, 64)]:
        for spread in (1.0, 60.0, 300.0, 3000.0, largest / 8, largest / 3):
            def matrices(*shape: int, spread: float = spread) -> np.ndarray:
                X = rng.uniform(-1, 1, shape) * spread
                X[rng.random(shape) < 0.3 * (spread > 1)] = -np.inf
                return (sign * X).astype(dtype)

            A, B, C = matrices(3, m, k), matrices(3, k, n), matrices(3, m, n)
            for c in (None, C):
                check(S, A, B, c)
            check(S, np.asfortranarray(A), B[:, ::-1].copy()[:, ::-1], np.asfortranarray(C))
    lanes.small.cache_clear()


def test_infinities_and_what_is_no_number() -> None:
    """+∞ is taken in by a sum; −∞ absorbs it; NaN is seen wherever it stands."""
    low = general(sr.log, np.dtype("f8"))
    A, B = np.zeros((1, 2, 3)), np.zeros((1, 3, 2))
    A[0, 0, 1], B[0, 1, 1], B[0, 2, 0] = np.inf, -np.inf, 700.0
    C = np.empty((1, 2, 2))
    assert stacks.multiply_stack(low, C, A, B, False, False)
    assert C[0, 0, 0] == np.inf and C[0, 0, 1] == np.log(2) and C[0, 1, 0] == 700
    A[0, 1, 2] = np.nan
    assert not stacks.multiply_stack(low, C, A, B, False, True)


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_powers_and_logarithms_are_within_two_units(dtype: str, binary: bool) -> None:
    kind = np.dtype(dtype)
    by = Powers(kind.type, 4, 1, False, binary, False, program.has_fma(), None)

    def generate(context: Any, b: Any, x: Any, powers: Any, logarithms: Any, count: Any) -> None:
        v = Lanes(context, b, 4, False)
        with v.rows(I64(0), count, 4) as i:
            at = b.mul(i, I64(kind.itemsize))
            given = v.load(b.add(x, at), kind, None, v.constant(kind.type(0)))
            v.store(by.exp(v, given, 0), b.add(powers, at), None)
            v.store(by.log(v, v.negative(given), 0), b.add(logarithms, at), None)

    both = intrinsic_of(generate)

    @njit
    def run(x: int, powers: int, logarithms: int, count: int) -> None:
        both((x, powers, logarithms, count))

    limits = np.finfo(kind)
    least = float(limits.minexp) * (1 if binary else np.log(2))
    x = np.concatenate([-np.geomspace(float(limits.tiny), float(limits.max), 4000), np.linspace(least, 0, 4000),
                        [0, -1, -0.5, -2]]).astype(kind)
    powers, logarithms = np.empty_like(x), np.empty_like(x)
    run(x.ctypes.data, powers.ctypes.data, logarithms.ctypes.data, len(x) // 4 * 4)
    exp, log = (np.exp2, np.log2) if binary else (np.exp, np.log)
    with np.errstate(all="ignore"):
        wanted = exp(x.astype(LONG))
        large = wanted >= 4 * float(limits.tiny)
        assert (np.abs(powers[large] / wanted[large] - 1) <= 2 * float(limits.eps)).all()
        assert (powers[wanted < float(limits.tiny) / 2] == 0).all()
        normal = -x >= limits.tiny
        wanted = log(-x[normal].astype(LONG))
        assert (np.abs(logarithms[normal] - wanted) <= 2 * float(limits.eps) * (np.abs(wanted) + 0.1)).all()
