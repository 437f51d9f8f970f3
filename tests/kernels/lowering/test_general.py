"""The general form over the catalogue: its operations in storage are those of the algebra on the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.algebra.evaluate import numpy_function
from semiring.algebra.overflow import ends, may_leave
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.general import general

F8 = np.dtype("f8")
CASES = [
    (name, dtype)
    for name in sr.catalogue
    for dtype in (sr.catalogue[name].dtypes[:: 3 if len(sr.catalogue[name].dtypes) > 3 else 1])
    if sr.catalogue[name].traced
]


def evaluated(low: Lowering, outputs: Any, *operands: np.ndarray, wanted: Any = None) -> np.ndarray:
    """Expressions on arrays in storage, by NumPy."""
    parts = [tuple(a[f] for f in a.dtype.names) if a.dtype.names else (a,) for a in operands]
    wanted = wanted or low.components
    results = numpy_function(tuple(outputs), len(operands), low.components, wanted)(*parts)
    if len(results) == 1:
        return np.broadcast_to(results[0], operands[0].shape).copy()
    out = np.empty(operands[0].shape, low.storage)
    for field, result in zip(out.dtype.names, results, strict=True):
        out[field] = result
    return out


@pytest.mark.parametrize(("name", "dtype"), CASES, ids=str)
def test_operations_are_the_algebras(name: str, dtype: np.dtype) -> None:
    S, low = sr.catalogue[name], general(sr.catalogue[name], dtype)
    some = S.elements_in(dtype).notable
    if dtype.kind in "iu" and S.is_tropical:
        some = some[np.abs(some.astype(float)) < 60]  # sums that stay in the dtype; see `sums`
    x, y = (a.ravel() for a in np.meshgrid(some, some))
    if may_leave(S, dtype) and not S.is_tropical:  # what leaves the dtype is refused; see tests/algebra/test_overflow
        stays = np.array([fits(S, u, v) for u, v in zip(x, y, strict=True)])
        x, y = x[stays], y[stays]
    a, b = low.encode(x, True), low.encode(y, True)
    assert a.dtype == low.storage
    with np.errstate(all="ignore"):
        for traced, expected in ((low.add, S.add(x, y)), (low.scale, S.mul(x, y))):
            found = low.decode(evaluated(low, traced.outputs, a, b))
            assert found.dtype == dtype and same(found, np.asarray(expected, dtype))
    assert (low.decode(low.encode(x, True)) == x).all()
    assert same(low.decode(np.array([low.zero if low.storage.names else low.zero[0]], low.storage)), S.zero_in(dtype))
    assert same(low.decode(np.array([low.one if low.storage.names else low.one[0]], low.storage)), S.one_in(dtype))


def fits(S: sr.Semiring, x: Any, y: Any) -> bool:
    try:
        S.add(x, y), S.mul(x, y)
    except sr.SemiringError:
        return False
    return True


def same(found: np.ndarray, wanted: Any) -> bool:
    """Equal, where halves were not rounded yet but for their last place."""
    wanted = np.broadcast_to(wanted, found.shape)
    if found.dtype != np.float16:
        return bool(np.all((found == wanted) | ((found != found) & (wanted != wanted))))
    with np.errstate(all="ignore"):
        return bool(np.isclose(found, wanted, rtol=2e-3, atol=1e-7, equal_nan=True).all())


def test_one_object_for_an_algebra_and_a_dtype() -> None:
    assert general(sr.min_plus, F8) is general(sr.min_plus, F8) is not general(sr.min_plus, np.dtype("f4"))


class TestWhatIsSaidOfTheExpressions:
    @pytest.mark.parametrize(("name", "dtype", "form"), [
        ("min_plus", "f4", "fused sum"), ("max_plus", "f8", "fused sum"), ("min_plus", "i4", "general"),
        ("plus_times", "f4", "BLAS"), ("plus_times", "f8", "BLAS"), ("plus_times", "f2", "general"),
        ("counting", "f8", "general"), ("viterbi", "f8", "general"), ("log", "f8", "log-sum-exp"),
    ])
    def test_names(self, name: str, dtype: str, form: str) -> None:
        low = general(sr.catalogue[name], np.dtype(dtype))
        assert (low.name, low.fused_sum, low.blas) == (form, form == "fused sum", form == "BLAS")

    def test_a_minimum_takes_its_operands_in_order(self) -> None:
        """x ⊕ t drops a NaN that comes as t, and only there: ⊕ may be written with the operands either way."""
        swapped = sr.Semiring("swapped", add=lambda a, b: np.minimum(b, a), mul=np.add, zero=np.inf, one=0)
        assert general(swapped, F8).add == general(sr.min_plus, F8).add

    def test_zero_absorbs_where_it_would_not_by_itself(self) -> None:
        for name in ("plus_times", "log", "min_plus"):
            S = sr.catalogue[name]
            low = general(S, F8)
            z, unruly = np.full(2, low.zero[0]), np.array([np.inf, -np.inf])
            assert (evaluated(low, low.scale.outputs, z, unruly) == S.zero).all()
            assert (evaluated(low, low.scale.outputs, unruly, z) == S.zero).all()

    def test_zero_is_not_tested_for_where_the_sum_drops_what_comes_of_it(self) -> None:
        assert general(sr.min_plus, F8).mul.is_plain("add")
        assert not general(sr.min_plus, F8).scale.is_plain("add")
        assert not general(sr.min_plus, np.dtype("i8")).mul.is_plain("add")
        assert general(sr.max_min, F8).scale.is_plain("minimum")
        assert general(sr.bitset_may, np.dtype("u8")).scale.is_plain("bitwise_and")
        assert not general(sr.plus_times, F8).mul.is_plain("multiply")


class TestStars:
    def defined(self, S: sr.Semiring, *values: float) -> list[bool]:
        low = general(S, F8)
        return evaluated(low, (low.defined,), np.array(values), wanted=(np.dtype(bool),)).tolist()

    def test_there_is_none_where_a_number_overflowed(self) -> None:
        assert self.defined(sr.plus_times, 0, 0.5, 1, 2, np.inf, -np.inf, np.nan) == [True, True, False, True] + [
            False
        ] * 3

    def test_infinity_may_be_an_element(self) -> None:
        assert self.defined(sr.counting, 0, 1, np.inf) == [True] * 3
        assert self.defined(sr.log, -np.inf, 3, np.inf) == [True] * 3

    def test_everywhere_where_all_are_one(self) -> None:
        for S in (sr.viterbi, sr.max_min, sr.min_plus):
            assert self.defined(S, 0.5, np.inf, np.nan) == [True] * 3

    def test_a_cycle_that_improves_shows_on_the_diagonal(self) -> None:
        low = general(sr.min_plus, F8)
        assert evaluated(low, low.star.outputs, np.array([3.0, 0, -2, np.inf])).tolist() == [0, 0, -2, 0]
        low = general(sr.max_times, F8)
        assert evaluated(low, low.star.outputs, np.array([0.5, 1, 3, np.inf])).tolist() == [1, 1, 3, np.inf]


class TestComplexNumbers:
    low = general(sr.plus_times, np.dtype("c16"))

    def test_parts_lie_in_the_same_memory(self) -> None:
        z = np.array([[1 + 2j, -3j]])
        stored = self.low.encode(z, False)
        assert np.shares_memory(stored, z) and stored.tolist() == [[(1, 2), (0, -3)]]
        assert not np.shares_memory(self.low.encode(z, True), z)
        assert np.shares_memory(self.low.decode(stored), z) and (self.low.decode(stored) == z).all()

    def test_arithmetic(self) -> None:
        random = np.random.default_rng(0)
        z, w = random.normal(size=(2, 50, 2)).view(complex)[..., 0]
        a, b = self.low.encode(z, True), self.low.encode(w, True)
        for outputs, expected in ((self.low.add.outputs, z + w), (self.low.mul.outputs, z * w)):
            np.testing.assert_allclose(self.low.decode(evaluated(self.low, outputs, a, b)), expected, rtol=1e-12)
        star = self.low.decode(evaluated(self.low, self.low.star.outputs, a))
        np.testing.assert_allclose(star, 1 / (1 - z), rtol=1e-12)

    def test_a_star_that_is_missing(self) -> None:
        z = np.array([1, 1j, complex(np.inf, 0), complex(0, np.nan), 0])
        found = evaluated(self.low, (self.low.defined,), self.low.encode(z, True), wanted=(np.dtype(bool),))
        assert found.tolist() == [False, True, False, False, True]


class TestWidened:
    """Remainders by 200, of sums and products that leave eight bits on the way."""

    S = sr.Semiring("remainders", add=lambda a, b: (a + b) % 200, mul=lambda a, b: (a * b) % 200, zero=0, one=1,
                    dtypes="u", carrier=lambda a: a < 200, samples=[0, 1, 2, 3, 100, 150, 199])
    low = general(S, np.dtype("u1"))

    def test_all_elements(self) -> None:
        assert (self.low.dtype, self.low.storage) == (np.dtype("u1"), np.dtype("u2"))
        assert self.low.name == "general, widened" and not self.low.blas and not self.low.fused_sum
        assert self.low.reason == "uint8 is too narrow for its constants or laws, so it is computed in uint16"
        x, y = (a.ravel() for a in np.meshgrid(*[np.arange(200, dtype="u1")] * 2))
        a, b = self.low.encode(x, False), self.low.encode(y, False)
        for outputs, expected in ((self.low.add.outputs, x.astype(int) + y), (self.low.mul.outputs, x.astype(int) * y)):
            found = self.low.decode(evaluated(self.low, outputs, a, b))
            assert found.dtype == np.uint8 and (found == expected % 200).all()

    def test_what_the_data_cannot_hold_is_refused(self) -> None:
        assert self.low.decode(np.array([0, 255], "u2")).tolist() == [0, 255]
        with pytest.raises(sr.SemiringError, match=r"remainders: a result is 256, which uint8 cannot hold; convert"):
            self.low.decode(np.array([[1, 256]], "u2"))

    def test_infinity_is_the_limit_of_the_data(self) -> None:
        capped = sr.Semiring(
            "capped", add=np.minimum, zero=np.inf, one=0, dtypes="u", carrier=lambda a: (a <= 200) | (a == np.inf),
            mul=lambda a, b: np.where((a == np.inf) | (b == np.inf), np.inf, np.minimum(a + b, 200)),
        )
        low, A = general(capped, np.dtype("u1")), np.array([0, 7, 255], "u1")
        assert low.storage == np.dtype("u2") and low.zero == (65535,)
        assert low.encode(A, False).tolist() == [0, 7, 65535]
        assert A.tolist() == [0, 7, 255]


def test_an_infinite_constant_of_a_narrow_dtype_is_that_of_the_wide_one() -> None:
    def capped(a: Any, b: Any) -> Any:
        return np.where((a == np.inf) | (b == np.inf), np.inf, np.minimum(a + b, 200))

    S = sr.Semiring(
        "capped sums", add=np.minimum, mul=capped, zero=np.inf, one=0, dtypes="u",
        carrier=lambda a: (a <= 200) | (a == np.inf),
    )
    assert S.working(np.dtype("u1")) != np.uint8  # 150 + 150 leaves it
    A = np.array([[0, 150, 255], [255, 0, 150], [255, 255, 0]], "u1")
    assert sr.closure(A, S).tolist() == [[0, 150, 200], [255, 0, 150], [255, 255, 0]]
    assert sr.matmul(A, A, S).tolist() == [[0, 150, 200], [255, 0, 150], [255, 255, 0]]
    with pytest.raises(sr.SemiringError, match="is 201"):
        sr.closure(np.array([[201]], "u1"), S)


def test_a_selective_product_needs_no_one() -> None:
    """A bare product has no star: zero stands in its place."""
    S = sr.Semiring("eighths", add=np.minimum, mul=lambda a, b: a + b + a * b / 8, zero=np.inf, product_only=True)
    low = general(S, np.dtype("f4"))
    assert str(low.star) == "∞" and str(low.mul) == "(a + b) + ((a · b) · 0.125)"


@pytest.mark.parametrize(
    ("S", "dtype", "mul"),
    [
        (sr.counting, "i8", "where(max(a, b) = ∞, a · b, min(a · b, 9223372036854775806))"),
        (sr.counting, "f8", "where((a = 0) or (b = 0), 0, a · b)"),  # 0 · ∞ is NaN
        (sr.Semiring("common", add=np.add, mul=np.minimum, zero=0.0, product_only=True, carrier=lambda a: a >= 0),
         "f4", "min(a, b)"),
    ],
)
def test_products_that_are_zero_by_themselves_have_no_test(S: sr.Semiring, dtype: str, mul: str) -> None:
    assert str(general(S, np.dtype(dtype)).mul) == mul


SIGNED = sr.Semiring("signed", add=np.add, mul=np.multiply, zero=0, one=1, dtypes="i")


@pytest.mark.parametrize(("S", "dtype"), [
    *((sr.counting, dtype) for dtype in ("i1", "i4", "i8", "u1", "u8")), *((SIGNED, d) for d in ("i1", "i4", "i8")),
], ids=lambda x: getattr(x, "name", x))
def test_the_last_number_that_fits_is_told_from_the_next(S: sr.Semiring, dtype: str) -> None:
    d = np.dtype(dtype)
    low, (near,) = general(S, d), ends(S, d)
    assert near is not None
    wide, (least, most), reserved = low.storage != d, near.finite(d), near.reserved(low.storage)

    def decoded(x: int) -> list[int]:
        found: list[int] = low.decode(np.array([1, x], low.storage)).tolist()
        return found

    fine = [most] if wide else [reserved[0] - 1]
    wrong = [most + 1, reserved[0]] if wide else [*reserved]
    if near.negative:
        fine, wrong = [*fine, least if wide else reserved[1] + 1], [*wrong, least - 1 if wide else reserved[1]]
    assert [decoded(x) for x in fine] == [[1, x] for x in fine]
    for x in wrong:
        with pytest.raises(sr.SemiringError, match="cannot hold"):
            decoded(x)
    if near.infinite:
        top, infinity = int(np.iinfo(low.storage).max), int(np.iinfo(d).max)
        assert decoded(top) == [1, infinity]
        assert low.encode(np.array([1, infinity], d), True).tolist() == [1, top]
