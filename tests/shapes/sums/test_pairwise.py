"""x ⊕ y and x ⊗ y by one function of NumPy: the same answers and refusals as by the general way."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import pytest
from bridge import same_bits
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.shapes.sums.pairwise import Told, Within, pairwise, way_of

inf = np.inf
OWN = [
    sr.Semiring("lengths", add=np.minimum, mul=np.add, zero=inf, one=0.0, carrier=lambda a: a >= 0),
    sr.Semiring("gains", add=np.maximum, mul=np.add, zero=-inf, one=0.0),
    sr.Semiring("factors", add=np.minimum, mul=np.multiply, zero=inf, one=1.0, carrier=lambda a: a >= 1),
    sr.Semiring("below four", add=np.maximum, mul=np.minimum, zero=0, one=3, carrier=lambda a: (a >= 0) & (a < 4),
                product_only=True),
    sr.Semiring("half lines", add=np.maximum, mul=np.multiply, zero=0.0, one=1.0, carrier=lambda a: a > -0.5,
                product_only=True),
    sr.Semiring("finite gains", add=np.maximum, mul=np.add, zero=0.0, one=0.0, dtypes="fi", product_only=True,
                carrier=lambda a: (a >= 0) & np.isfinite(a)),
    sr.Semiring("sums", add=np.add, mul=np.add, zero=0.0, one=0.0, product_only=True),
]
ALGEBRAS = [S for S in (*sr.catalogue.values(), *OWN) if not S.fields]
CASES = [(S, dtype) for S in ALGEBRAS for dtype in map(np.dtype, "efdbhilqBHIQ?FD")]


class Strange(np.ndarray):
    """What goes the general way."""


def numbers(dtype: np.dtype) -> list[Any]:
    """Numbers that some algebra treats apart, or may not take."""
    if dtype.kind == "b":
        return [False, True]
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        bits = 8 * dtype.itemsize
        near = [1 << k for k in (bits // 2 - 2, bits // 2 - 1, bits // 2, bits - 3, bits - 2)]
        signs = [1, -1] if dtype.kind == "i" else [1]
        far = [limits.min, limits.min + 1, limits.max - 1, limits.max]
        return [*far, *(s * (n + d) for n in (0, 2, 4, *near) for d in (0, 1) for s in signs)]
    limits = np.finfo(dtype)
    ends = [float(x) for x in (limits.max, limits.tiny, limits.smallest_subnormal)]
    return [s * x for x in (0.0, 0.25, 0.5, 1.0, 1.5, 3.0, 4.0, 255.0, inf, np.nan, *ends) for s in (1, -1)]


def outcome(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except sr.SemiringError as error:
        return str(error)


@settings(max_examples=600, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(CASES), st.sampled_from(["add", "mul"]), st.data())
def test_the_same_as_by_the_general_way(case: tuple[sr.Semiring, np.dtype], op: str, data: st.DataObject) -> None:
    S, dtype = case
    some = data.draw(st.lists(st.sampled_from(numbers(dtype)), min_size=1, max_size=3))
    shapes = [(), (1,), (3,), (2, 1), (2, 3), (4,), (0, 3)]
    x, y = (np.array([data.draw(st.sampled_from(some)) for _ in range(prod(shape))], dtype).reshape(shape)
            for shape in (data.draw(st.sampled_from(shapes)) for _ in range(2)))
    operation, given_y = getattr(S, op), data.draw(st.sampled_from([y, *(y.ravel().tolist()[:1])]))
    found = outcome(lambda: operation(x, given_y))
    wanted = outcome(lambda: operation(x.view(Strange), given_y))
    if str in map(type, (found, wanted)):
        assert found == wanted
        return
    assert isinstance(found, np.ndarray) == isinstance(wanted, np.ndarray)
    assert same_bits(found, wanted)
    if isinstance(found, np.ndarray):
        assert found.flags.writeable
        assert not np.may_share_memory(found, x)


@pytest.mark.parametrize("name", ["min_plus", "max_plus", "max_min", "min_max", "viterbi", "max_times", "plus_times",
                                  "log"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("op", ["add", "mul"])
def test_usual_arrays_take_the_short_way(name: str, dtype: str, op: str) -> None:
    S, x = getattr(sr, name), np.linspace(0, 1, 256).reshape(16, 16).astype(dtype)
    assert isinstance(way_of(S, op, x.dtype), (Told, Within))
    assert pairwise(S, op, x, x.T) is not None
    assert pairwise(S, op, x, x[0]) is not None
    assert (pairwise(S, op, x, 0.5) is not None) == (dtype == "f8")


@pytest.mark.parametrize("name", ["plus_times", "viterbi", "max_times", "counting"])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_products_with_zero_are_zero_to_the_bit(name: str, dtype: str) -> None:
    """Whatever the signs; those that only underflow keep theirs. Sums keep the sign that the general way gives."""
    S, tiny = getattr(sr, name), np.finfo(dtype).tiny
    numbers = [0.0, -0.0, 1.0, inf] if name != "viterbi" else [0.0, -0.0, 1.0, tiny]
    numbers += [-1.0, -3.0, tiny, -tiny] if name == "plus_times" else []
    x = np.array([z for z in numbers if np.isfinite(z) or name != "plus_times"], dtype)
    for y in (x, x[:, None], x[:1], x[1:2], np.array(-0.0, dtype), x[::-1]):
        for op in ("add", "mul"):
            operation = getattr(S, op)
            found, wanted = operation(x, y), operation(x.view(Strange), y)
            assert found.dtype == x.dtype and found.tobytes() == np.asarray(wanted).tobytes(), (op, y)
    some = np.array([-0.0, 1.0], dtype)
    assert not np.signbit(S.mul(some, some)).any()
    one = S.mul(some[0, ...], some[1, ...])
    assert type(one) is np.dtype(dtype).type and one.tobytes() == bytes(one.nbytes)


@pytest.mark.parametrize("dtype", ["i1", "i4", "i8", "u2", "u8"])
def test_integers_too(dtype: str) -> None:
    x = np.arange(6).astype(dtype)
    for op in ("add", "mul"):
        for S in (sr.min_plus, sr.max_min, sr.max_times, sr.counting):
            assert pairwise(S, op, x, x[::-1]) is not None, (S, op)
    most = np.array([np.iinfo(dtype).max - 1], dtype)
    with pytest.raises(sr.SemiringError, match="leaves"):
        sr.min_plus.mul(most, most)
    with pytest.raises(sr.SemiringError, match="NaN"):
        sr.min_plus.add(np.array([1.0, np.nan]), np.ones(2))


def test_what_the_general_way_has_to_see() -> None:
    x = np.ones(3)
    assert pairwise(sr.min_plus, "add", x, np.ones(4)) is None
    assert pairwise(sr.min_plus, "add", x, np.ones(3, "f4")) is None
    assert pairwise(sr.min_plus, "add", x, np.ones(0)) is None
    assert pairwise(sr.min_plus, "add", x, [1.0] * 3) is None
    many = np.ones((1,) * 40)
    for x, y in ((many, np.ones(3)), (np.ones(3), many)):
        with pytest.raises(sr.SemiringError, match="40 axes"):
            sr.min_plus.add(x, y)
    assert pairwise(sr.min_plus, "mul", np.array([inf]), np.array([-inf])) is None
    assert sr.min_plus.mul(np.array([inf]), np.array([-inf])).tolist() == [inf]
    x = np.ones(3)
    assert pairwise(sr.viterbi, "mul", x, x + 1) is None
    assert pairwise(sr.regex, "add", x, x) is None
    with np.errstate(all="raise"):
        assert sr.min_plus.mul(np.array([1e308]), np.array([1e308])).tolist() == [inf]
