"""Dtypes that are too narrow for an algebra's constants or laws: computed in wider ones, or refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from methods import METHODS

import semiring as sr
from semiring.algebra.dtypes import ladder

inf = np.inf


def capped() -> sr.Semiring:
    """Sums of two elements leave 8 bits, sums of elements do not."""
    return sr.Semiring("capped", add=np.minimum, mul=lambda a, b: np.minimum(a + b - 6, 68), zero=68, one=6,
                       carrier=lambda a: (a >= 6) & (a <= 68), dtypes="iu")


def tiny() -> sr.Semiring:
    return sr.Semiring("tiny", add=np.maximum, mul=lambda a, b: a * b * 1e40, zero=0.0, one=1e-40,
                       carrier=lambda a: (a >= 0) & (a <= 1e-40))


def test_ladders() -> None:
    assert [d.str[1:] for d in ladder(np.dtype("f2"))] == ["f2", "f4", "f8"]
    assert [d.str[1:] for d in ladder(np.dtype("u4"))] == ["u4", "u8"]
    assert ladder(np.dtype(bool)) == [np.dtype(bool)]
    record = np.dtype([("a", "f2"), ("b", "i4")], align=True)
    assert [[d[f].str[1:] for f in d.names] for d in ladder(record)] == [["f4", "i4"], ["f8", "i8"]]


@pytest.mark.parametrize("dtype", ["i1", "u1"])
@pytest.mark.parametrize("verb", ["closure", "sparse", "factor", "solve", "matmul", "stack", "rows"])
def test_sums_that_leave_8_bits_on_the_way(dtype: str, verb: str) -> None:
    S, rng = capped(), np.random.default_rng(5)
    assert S.working(np.dtype(dtype)) == {"i1": "i2", "u1": "u1"}[dtype]
    wide = rng.integers(6, 69, (9, 9))
    wide[rng.random((9, 9)) < 0.5] = 68
    narrow = wide.astype(dtype)

    def run(A: np.ndarray) -> Any:
        if verb == "sparse":
            return sr.closure(sp.csr_array((A[A < 68], np.nonzero(A < 68)), shape=A.shape), S, method="sparse")
        if verb == "rows":
            return sr.closure_rows(A, S, [0, 3])
        return {
            "closure": lambda: sr.closure(A, S), "factor": lambda: sr.factor(A, S).closure(),
            "solve": lambda: sr.solve(A, A[:, :3].copy(), S), "matmul": lambda: sr.matmul(A, A, S),
            "stack": lambda: sr.closure(np.stack([A, A.T]), S),
        }[verb]()

    result, expected = run(narrow), run(wide)
    assert result.dtype == dtype
    np.testing.assert_array_equal(result, expected)


def test_constants_beyond_single_precision() -> None:
    S = tiny()
    A = np.array([[0, 5e-41, 0], [0, 0, 2e-41], [0, 0, 0]])
    result = sr.closure(A.astype("f4"), S)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result.astype("f8"), sr.closure(A, S), rtol=1e-4)
    assert "computed in float64" in sr.plan("closure", A.astype("f4"), S).lowering.reason


def test_a_result_that_the_data_cannot_hold_is_refused() -> None:
    S = sr.Semiring("mod 300", add=lambda a, b: (a + b) % 300, mul=lambda a, b: a * b % 300, zero=0, one=1,
                    carrier=lambda a: (a >= 0) & (a < 300), dtypes="u")
    assert sr.matmul(np.array([[20]], "u1"), np.array([[21]], "u1"), S).tolist() == [[120]]
    with pytest.raises(sr.SemiringError, match="a result is 280, which uint8 cannot hold"):
        sr.matmul(np.array([[20]], "u1"), np.array([[14]], "u1"), S)
    with pytest.raises(sr.SemiringError, match="a result leaves uint8"):
        S.mul(np.uint8(20), np.uint8(14))


def test_unsigned_numbers_that_wrap() -> None:
    """1 − x and x − y in unsigned numbers: right in signed ones, refused where no wider dtype helps."""
    S = sr.Semiring("differences", add=np.maximum, mul=lambda a, b: np.maximum(a + b - 100, 0), zero=0, one=100,
                    carrier=lambda a: (a >= 0) & (a <= 100), dtypes="iu")
    A = np.array([[0, 70], [60, 0]])
    expected = sr.closure(A, S)
    assert expected.tolist() == [[100, 70], [60, 100]]
    assert sr.closure(A.astype("i1"), S).tolist() == expected.tolist()
    with pytest.raises(sr.SemiringError, match=r"differences cannot live in uint8: in it .* not .* With a = "):
        sr.closure(A.astype("u1"), S)


@pytest.mark.parametrize("carrier", [
    lambda a: a > -inf, lambda a: -inf < a, lambda a: a != -inf, lambda a: ~(a == -inf), lambda a: ~(a <= -inf),
    lambda a: ~(-inf >= a),
])
@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8"])
def test_no_unsigned_number_is_minus_infinity(dtype: str, carrier: Callable[[Any], Any]) -> None:
    S = sr.Semiring("shortest", add=np.minimum, mul=np.add, zero=inf, one=0, carrier=carrier)
    top = np.iinfo(dtype).max
    A = np.array([[top, 0, top], [top, top, 5], [top, top, 0]], dtype)
    assert sr.closure(A, S).tolist() == [[0, 0, 5], [top, 0, 5], [top, top, 0]]
    with pytest.raises(sr.SemiringError, match="outside the carrier"):
        sr.closure(np.array([[0, -np.inf], [0, 0]]), S)


@pytest.mark.parametrize("one", [np.e, np.pi, 0.1, 1 / 3])
def test_halves_meet_constants_that_are_halves(one: float) -> None:
    S = sr.Semiring("scaled", add=np.maximum, mul=lambda a, b: a * b / one, zero=0.0, one=one,
                    carrier=lambda a: (a >= 0) & (a <= one))
    rng = np.random.default_rng(1)
    A = (rng.random((64, 64)) * one).astype("f2")
    A[rng.random((64, 64)) < 0.3] = S.one_in("f2")
    A = np.minimum(A, S.one_in("f2"))
    for method in METHODS:
        result = sr.closure(A, S, method=method, tile=16)
        assert (result <= S.one_in("f2")).all() and (result.diagonal() == S.one_in("f2")).all()


@pytest.mark.parametrize("count", [1, 2, 5, 16])
@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "f2", "f4", ">f8"])
def test_records_of_any_fields(count: int, dtype: str) -> None:
    """A component of each dtype, whose algebra is max-min between 0 and 1, and shortest paths beside it."""
    fields = {f"p{k}": dtype for k in range(count)} | {"cost": "f8"}
    S = sr.Semiring(
        "mixed", fields=fields, zero=(*[0] * count, inf), one=(*[1] * count, 0),
        add=lambda x, y: (*(np.maximum(x[k], y[k]) for k in range(count)), np.minimum(x.cost, y.cost)),
        mul=lambda x, y: (*(np.minimum(x[k], y[k]) for k in range(count)), x.cost + y.cost),
        carrier=lambda a: reduce(np.logical_and, [(a[k] >= 0) & (a[k] <= 1) for k in range(count)], a.cost >= 0),
        samples=[(*[1] * count, 2.5), (*[0] * count, 1), (*[1] * count, 0)], commutative=True,
    )
    if count > 5:  # declared in well under a second; compiling so many takes its time and shows no more
        return
    A = S.array([[S.zero, (*[1] * count, 2), S.zero], [S.zero, S.zero, (*[1] * count, 3)], [S.zero] * 3])
    closed = sr.closure(A, S)
    assert closed[0, 2].item() == (*[1] * count, 5)
    assert closed[1, 0].item() == (*[0] * count, inf)


@pytest.mark.parametrize(("field", "why"), [
    ("f16", "floats of 64 bits at most"), ("c16", "floats of 64 bits at most"), ("O", "dtype=object"),
    ("U5", "floats of 64 bits at most"), ("M8[s]", "floats of 64 bits at most"), ("no such", "not names with dtypes"),
])
def test_fields_that_cannot_be(field: str, why: str) -> None:
    with pytest.raises(sr.SemiringError, match=why):
        sr.Semiring("r", fields={"p": field}, zero=(0,), one=(1,), add=lambda x, y: (np.maximum(x.p, y.p),),
                    mul=lambda x, y: (np.minimum(x.p, y.p),))


def test_records_with_infinities_are_refused_with_what_helps() -> None:
    with pytest.raises(sr.LawError, match=r"leaves the carrier.* exclude infinities, for example by carrier="):
        sr.Semiring("expectation", fields={"p": "f8", "v": "f8"}, zero=(0, 0), one=(1, 0),
                    add=lambda x, y: (x.p + y.p, x.v + y.v), mul=lambda x, y: (x.p * y.p, x.p * y.v + y.p * x.v))


@pytest.mark.parametrize("mul", [np.multiply, lambda a, b: abs(a - b)], ids=["zero absorbs", "zero does not absorb"])
def test_sums_cannot_begin_with_a_zero_that_is_not_neutral(mul: Callable[..., Any]) -> None:
    """Whether a product begins with zero or with its first term depends on size, layout and mask: all are refused."""
    S = sr.Semiring("least", add=np.minimum, mul=mul, zero=0.0, product_only=True, carrier=lambda a: a >= 0)
    assert not S.has_neutral_zero and sr.min_plus.has_neutral_zero and sr.plus_min.has_neutral_zero
    A, large, stack = np.array([[0.0, 3.0], [4.0, 5.0]]), np.ones((70, 70)), np.ones((3, 2, 2))
    sparse, mask = sp.csr_array(A), np.array([[True, False], [False, True]])
    for asked in (
        lambda: sr.matmul(A, A, S), lambda: sr.matmul(large, large, S), lambda: sr.matmul(stack, stack, S),
        lambda: sr.matmul(A, A[0], S), lambda: sr.matmul(A, A, S, accumulate=A), lambda: sr.matmul(sparse, A, S),
        lambda: sr.matmul(sparse, sparse, S), lambda: sr.matmul(A, A, S, mask=mask), lambda: sr.plan("matmul", A, A, S),
        lambda: sr.matmul(A, A, S, argmax=True), lambda: sr.Matrix(A, S) @ sr.Matrix(A, S),
        lambda: sr.einsum("ij,jk->ik", A, A, S=S), lambda: sr.scan(stack, S), lambda: sr.chain([A, A, A], S),
        lambda: sr.chain(stack, S), lambda: sr.forward(A[0], stack, S), lambda: sr.convolve(A[0], A[1], S),
    ):
        with pytest.raises(sr.LawError, match=r"^least: 0 is not neutral for ⊕\. .* declare the neutral element of ⊕"):
            asked()
    with pytest.raises(sr.LawError, match=r"0 is not neutral for ⊕.* sparse storage"):
        S.sum(sparse, 0)
    assert S.sum(A, 0).tolist() == [0.0, 3.0] and S.mul(3.0, 4.0) == mul(3.0, 4.0)


def test_a_zero_that_is_neutral_for_products_will_do() -> None:
    """The largest difference is never negative, so its maximum may begin with 0, which is not neutral for −1."""
    S = sr.Semiring("farthest", add=np.maximum, mul=lambda a, b: abs(a - b), zero=0.0, product_only=True)
    assert not S.has_neutral_zero and S.has_zero_for_products
    rng = np.random.default_rng(0)
    for m, k, n in ((3, 4, 5), (70, 80, 90), (1, 300, 2), (2, 0, 3)):
        A, B = rng.normal(size=(m, k)), rng.normal(size=(k, n))
        wanted = abs(A[:, :, None] - B).max(1, initial=0)
        for found in (sr.matmul(A, B, S), sr.einsum("ij,jk->ik", A, B, S=S), sr.einsum("jk,ij->ki", B, A, S=S).T):
            np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(sr.matmul(A[:, :0], B, S), 0)
    assert sr.convolve([1.0, 5.0], [2.0], S).tolist() == [1.0, 3.0]
    C = np.full((2, 3), -1.0)
    for asked in (lambda: sr.matmul(A, B, S, accumulate=C), lambda: sr.einsum("ij->i", A, S=S)):
        with pytest.raises(sr.LawError, match=r"0 is not neutral for ⊕.* by carrier= the elements"):
            asked()
