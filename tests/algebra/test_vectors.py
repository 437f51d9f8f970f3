"""Records whose components are vectors."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from methods import METHODS

import semiring as sr
from semiring.algebra.vectors import Vector, convert, flattened
from semiring.errors import TraceError

inf = np.inf


def several(count: int = 3, dtype: str = "f8", **options: Any) -> sr.Semiring:
    """So many shortest-path problems at once, with what they are counted by beside them."""
    declared = {
        "fields": {"d": (dtype, count), "hops": "f8"}, "zero": ([inf] * count, inf), "one": ([0] * count, 0),
        "add": lambda x, y: (np.minimum(x.d, y.d), np.minimum(x.hops, y.hops)),
        "mul": lambda x, y: (x.d + y.d, x.hops + y.hops),
        "carrier": lambda a: (a.d >= 0).all() & (a.hops >= 0),
    }
    return sr.Semiring("several", **(declared | options))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
def test_a_closure_for_each_number_of_a_vector(method: str, dtype: str) -> None:
    S, rng = several(dtype=dtype), np.random.default_rng(2)
    A = np.empty((9, 9), S.element_dtype)
    A["d"] = np.where(rng.random((9, 9, 3)) < 0.5, inf, rng.integers(1, 9, (9, 9, 3)))
    A["hops"] = np.where(np.isinf(A["d"]).all(-1), inf, 1)
    closed = sr.closure(A, S, method=method, tile=4)
    assert closed.dtype == A.dtype and S.idempotent and S.bounded and S.commutative
    for k in range(3):
        expected = sr.closure(A["d"][..., k].astype("f8"), sr.min_plus)
        np.testing.assert_array_equal(closed["d"][..., k], expected)
    np.testing.assert_array_equal(closed["hops"], sr.closure(A["hops"], sr.min_plus))


def test_layouts_and_verbs() -> None:
    S = several()
    A = S.array([[S.zero, ([1, 2, 3], 1)], [([4, 5, 6], 1), S.zero]])
    assert A.dtype == S.element_dtype and A["d"].shape == (2, 2, 3)
    expected = sr.closure(A, S)
    assert expected[0, 0]["d"].tolist() == [0, 0, 0] and expected[1, 0]["d"].tolist() == [4, 5, 6]
    packed = A.astype(np.dtype([("d", "f8", 3), ("hops", "f8")]))
    turned = np.empty((2, 2), np.dtype([("hops", ">f8"), ("d", "f8", 3)]))
    turned["d"], turned["hops"] = A["d"], A["hops"]
    wide = np.empty((2, 4), A.dtype)
    wide[:, ::2] = A
    for view in (packed, turned, np.asfortranarray(A), wide[:, ::2], A.copy()[::-1, ::-1][::-1, ::-1]):
        closed = sr.closure(view, S)
        assert closed.dtype == view.dtype
        assert (closed["d"] == expected["d"]).all() and (closed["hops"] == expected["hops"]).all()
    twice = sr.matmul(A, A, S)
    assert twice[0, 0].item()[0].tolist() == [5, 7, 9]
    assert sr.factor(A, S).closure()["d"].tolist() == expected["d"].tolist()
    assert sr.solve(A, A[:, 0].copy(), S)["d"].tolist() == sr.matmul(expected, A[:, 0], S)["d"].tolist()
    assert sr.closure(np.stack([A, A]), S)["d"][1].tolist() == expected["d"].tolist()
    M = sr.adjacency([("a", "b", ([1, 2, 3], 1)), ("b", "a", ([4, 5, 6], 1))], S)
    assert sr.closure(M, S)["a", "b"]["d"].tolist() == [1, 2, 3]


def test_elements() -> None:
    S = several()
    assert S.add(([1, 5, 2], 1), ([3, 4, 2], 2))["d"].tolist() == [1, 4, 2]
    assert S.mul([([1, 5, 2], 1)], [([3, 4, 2], 2)])["d"].tolist() == [[4, 9, 4]]
    assert S.eye(2)["d"].tolist() == [[[0] * 3, [inf] * 3], [[inf] * 3, [0] * 3]]
    with pytest.raises(sr.SemiringError, match="the wrong length"):
        several(zero=([inf] * 2, inf))
    with pytest.raises(sr.SemiringError, match="has one axis"):
        sr.Semiring("m", fields={"m": ("f8", (2, 2))}, add=max, mul=max, zero=(0,), one=(1,))
    with pytest.raises(sr.SemiringError, match="works on records"):
        sr.closure(np.zeros((2, 2), [("d", "f8", 4), ("hops", "f8")]), S)


def test_matrices_of_two_rows_as_elements() -> None:
    """2 × 2 matrices over the reals as vectors of four numbers: ⊗ does not commute."""
    S = sr.Semiring(
        "matrices", fields={"m": ("f8", 4)}, zero=([0, 0, 0, 0],), one=([1, 0, 0, 1],),
        add=lambda x, y: {"m": x.m + y.m},
        mul=lambda x, y: ([x.m[i] * y.m[j] + x.m[i + 1] * y.m[j + 2] for i in (0, 2) for j in (0, 1)],),
        carrier=lambda a: np.all(np.isfinite(a.m)),
    )
    rng = np.random.default_rng(0)
    parts = rng.random((3, 3, 2, 2))
    A = np.empty((3, 3), S.element_dtype)
    A["m"] = parts.reshape(3, 3, 4)
    whole = parts.transpose(0, 2, 1, 3).reshape(6, 6)
    product = sr.matmul(A, A, S)["m"].reshape(3, 3, 2, 2).transpose(0, 2, 1, 3).reshape(6, 6)
    np.testing.assert_allclose(product, whole @ whole)
    assert not S.commutative


def test_what_a_vector_does_while_it_is_traced() -> None:
    v, w = Vector([1, 2, 3]), Vector([3, 2, 1])
    assert list(v + w) == [4, 4, 4] and list(2 * v - 1) == [1, 3, 5] and list(-v) == [-1, -2, -3]
    assert list(np.minimum(v, w)) == [1, 2, 1] and list(np.maximum(v, 2)) == [2, 2, 3]
    assert list(np.where(v < w, v, 0)) == [1, 0, 0] and (v == w).any() and not (v == w).all()
    assert np.sum(v) == v.sum() == 6 and np.max(v) == v.max() == 3 and np.minimum.reduce(v) == v.min() == 1
    assert list(v[1:]) == [2, 3] and v[-1] == 3 and len(v) == 3
    with pytest.raises(TraceError, match="vectors of 2 and 3 numbers"):
        v + Vector([1, 2])
    with pytest.raises(TraceError, match="no truth value"):
        bool(v)


AS_ARRAYS: dict[str, Any] = {
    "a number by a vector": lambda x, y: x.w[0] * y.w,
    "a vector by a number": lambda x, y: y.w * x.w[0],
    "a sum by a vector": lambda x, y: np.sum(x.w) * y.w - x.w.sum(),
    "a mean": lambda x, y: np.mean(x.w) + y.w.mean() + y.w,
    "constants": lambda x, y: x.w * np.array([1.0, 2, 3]) + np.array([0.5, 0, 1]) * y.w,
    "constants by a number": lambda x, y: x.w[0] * np.array([1.0, 2, 3]) - np.array([1, 2, 3]) / y.w[1],
    "a list": lambda x, y: x.w * [1, 2, 3] + [4, 5, 6] * y.w,
    "a vector of one": lambda x, y: x.w[:1] * y.w + np.array([2.0]),
    "ufuncs": lambda x, y: np.minimum(x.w[0], y.w) + np.maximum(y.w, x.w[1]) + np.logaddexp(x.w[2], y.w),
    "comparisons": lambda x, y: np.where(x.w[0] < y.w, x.w, y.w[1]) + np.where(x.w >= y.w[2], 1, np.array([2, 3, 4.0])),
    "choices of constants": lambda x, y: np.where(x.w[0] < 2, np.array([1, 2, 3.0]), 0) * y.w,
    "clipped": lambda x, y: np.clip(x.w, y.w[0] - 3, 2.5),
    "powers": lambda x, y: x.w[0] ** y.w + x.w ** y.w[0] + 2 ** y.w,
    "scalar products": lambda x, y: np.dot(x.w, y.w) * y.w + x.w @ y.w + x.w.dot(y.w) + np.ones(3) @ x.w,
    "signs": lambda x, y: -(x.w - y.w[0]) + +abs(x.w[0] - y.w),
    "saturating": lambda x, y: sr.saturating_add(x.w[0], y.w) + sr.saturating_multiply(x.w, y.w),
    "selected": lambda x, y: np.select([x.w[0] < 0, x.w < 2], [y.w, x.w], y.w[0]),
    "an array of numbers": lambda x, y: np.array([x.w[0], y.w[1], 2.0]) * y.w,
}


@pytest.mark.parametrize("mul", AS_ARRAYS.values(), ids=AS_ARRAYS)
def test_vectors_broadcast_as_arrays_do(mul: Any) -> None:
    S = sr.Semiring("vectors", fields={"w": ("f8", 3)}, zero=([0] * 3,), one=([1] * 3,), add=lambda x, y: (x.w + y.w,),
                    mul=lambda x, y: (mul(x, y),), product_only=True)
    for a, b in (([1, 2, 3], [4, 5, 6]), ([0.5, 4, 1], [2, 1.25, 3])):
        expected = mul(*(SimpleNamespace(w=np.array(v, "f8")) for v in (a, b)))
        np.testing.assert_allclose(S.mul((a,), (b,))["w"], expected, rtol=1e-15)


@pytest.mark.parametrize(("mul", "message"), [
    (lambda x, y: x.w[:2] * y.w, "vectors of 2 and 3 numbers are combined"),
    (lambda x, y: x.w * np.ones(4), "vectors of 3 and 4 numbers are combined"),
    (lambda x, y: x.w[0] * np.ones(4), "w of 3, not 4"),
    (lambda x, y: x.w * np.ones((2, 3)), r"an array of shape \(2, 3\)"),
    (lambda x, y: x.w[:2] @ y.w, "two vectors of the same length, not 2 and 3"),
    (lambda x, y: x.w[0] @ y.w, "two vectors of the same length, not no vector and 3"),
    (lambda x, y: [x.w, y.w[0], 1], "a vector of 3 numbers is used as one number"),
    (lambda x, y: x.w[0], "w of 3, not one number"),
])
def test_vectors_that_do_not_fit_say_how_long_they_are(mul: Any, message: str) -> None:
    with pytest.raises(sr.TraceError, match=message):
        sr.Semiring("vectors", fields={"w": ("f8", 3)}, zero=([0] * 3,), one=([1] * 3,), product_only=True,
                    add=lambda x, y: (x.w + y.w,), mul=lambda x, y: (mul(x, y),))


def test_flattened_dtypes_lie_at_the_same_places() -> None:
    given = np.dtype([("a", "i1"), ("v", "f4", 3), ("b", "u2", 2), ("c", "f8")], align=True)
    flat = flattened(given)
    assert flat.itemsize == given.itemsize
    assert [flat.fields[f"v.{k}"][1] for k in range(3)] == [given.fields["v"][1] + 4 * k for k in range(3)]


RECORDS: list[Any] = [("cost", "f8"), ("hops", "i4")]


def test_records_are_converted_field_by_field_in_whatever_order() -> None:
    A = np.array([(1.5, 2), (3.0, 4)], RECORDS)
    for wanted in (
        [("hops", "i8"), ("cost", "f4")], [("hops", ">i4"), ("cost", ">f8")],
        {"names": ["cost", "hops"], "formats": ["f8", "i4"], "offsets": [8, 0], "itemsize": 32},
    ):
        got = convert(A, np.dtype(wanted))
        assert got.dtype == np.dtype(wanted)
        assert got["cost"].tolist() == [1.5, 3] and got["hops"].tolist() == [2, 4]
        assert convert(got, A.dtype).tolist() == A.tolist()
    assert convert(A[::-1], A.dtype).tolist() == [(3.0, 4), (1.5, 2)] and A["hops"].tolist() == [2, 4]


@pytest.mark.parametrize("base", ["f8", "f4", ">f8"])
@pytest.mark.parametrize("align", [False, True])
def test_vectors_are_their_numbers_side_by_side(base: str, align: bool) -> None:
    vectors = np.dtype([("n", "i2"), ("v", base, 3)], align=align)
    numbers = np.dtype([("n", "i4"), ("v.0", "f8"), ("v.1", "f8"), ("v.2", "f8")], align=True)
    A = np.array([[(1, [2, 3, 4]), (5, [6, 7, 8])]], vectors)
    flat = convert(A, numbers)
    assert flat.dtype == numbers and flat.tolist() == [[(1, 2, 3, 4), (5, 6, 7, 8)]]
    back = convert(flat, vectors)
    assert back.dtype == vectors and back["n"].tolist() == [[1, 5]] and back["v"].tolist() == A["v"].tolist()
    turned = np.dtype([("v.2", "f8"), ("v.0", "f8"), ("n", "i8"), ("v.1", "f8")])
    assert convert(A, turned).tolist() == [[(4, 2, 1, 3), (8, 6, 5, 7)]]


def test_numbers_are_converted_as_numpy_does() -> None:
    A = np.array([[1, 2], [3, 4]])
    for dtype in ("f8", ">i4", "u1", "O"):
        got = convert(A, np.dtype(dtype))
        assert got.dtype == np.dtype(dtype) and got.tolist() == A.tolist() and not np.shares_memory(got, A)


def test_a_dtype_with_its_vectors_lies_at_the_same_places() -> None:
    S = several()
    for dtype in (S.element_dtype, np.dtype([("hops", ">f4"), ("d", "f4", 3)])):
        flat = S.resolve_dtype(dtype)
        wide = S.with_vectors(flat)
        assert wide.names == ("d", "hops") and flattened(wide) == flat and S.with_vectors(wide) == wide
    assert S.with_vectors(S.default_dtype) == S.element_dtype
    assert sr.shortest_hops.with_vectors(sr.shortest_hops.default_dtype) is sr.shortest_hops.default_dtype
    assert sr.min_plus.with_vectors(np.dtype("f4")) == np.dtype("f4")
