"""The facts of `scan` against NumPy, on every scalar type, with the special values planted, in every layout."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.kernels.cpu.dense import scan as module
from semiring.kernels.cpu.dense.scan import Facts, scan

TYPES = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", ">f4", ">i2"]


def facts(array: np.ndarray) -> Facts:
    """The same from NumPy, one property at a time."""
    dtype = array.dtype
    if dtype.kind == "f":
        nan = np.argwhere(np.isnan(array))
        top, bottom = np.inf, -np.inf
        inside = array[np.isfinite(array)]
        negative_zero = bool(((array == 0) & np.signbit(array)).any())
        integral = bool((inside == np.rint(inside)).all())
    else:
        nan, negative_zero, integral = np.empty((0, array.ndim)), False, True
        top, bottom = (1, 0) if dtype.kind == "b" else (np.iinfo(dtype).max, np.iinfo(dtype).min)
        inside = array[(array != top) & (array != bottom)]
    return Facts(
        tuple(map(int, nan[0])) if len(nan) else None,
        bool((array == top).any()),
        bool((array == bottom).any()),
        inside.min().item() if inside.size else None,
        inside.max().item() if inside.size else None,
        negative_zero,
        integral,
    )


def special(dtype: np.dtype) -> list:
    if dtype.kind == "f":
        info = np.finfo(dtype)
        return [np.inf, -np.inf, np.nan, -np.nan, -0.0, 0.0, info.max, info.min, info.tiny, 0.5, -2.0]
    if dtype.kind == "b":
        return [True, False]
    info = np.iinfo(dtype)
    return [info.max, info.min, info.max - 1, info.min + 1, 0, 1]


@given(
    st.sampled_from(TYPES),
    st.one_of(st.tuples(*[st.integers(0, 40)] * 2), st.tuples(*[st.integers(0, 12)] * 3)),
    st.sampled_from(["c", "fortran", "reversed", "sliced", "field"]),
    st.integers(0, 2**32 - 1),
    st.integers(0, 3),
)
@settings(max_examples=400)
def test_facts(name: str, shape: tuple[int, ...], layout: str, seed: int, planted: int) -> None:
    rng, dtype = np.random.default_rng(seed), np.dtype(name)
    array = np.asarray(rng.integers(0, 2 if dtype.kind == "b" else 50, shape), dtype)
    if array.size:
        values = np.array(special(dtype), dtype)
        array.reshape(-1)[rng.integers(0, array.size, planted)] = values[rng.integers(0, len(values), planted)]
    if layout == "fortran":
        array = np.asfortranarray(array)
    elif layout == "reversed":
        array = array[::-1, ::-1]
    elif layout == "sliced":
        array = np.repeat(np.repeat(array, 2, axis=-1), 3, axis=0)[1::3, ..., ::2]
    elif layout == "field":  # strides that are not a multiple of the size
        record = np.zeros(shape, np.dtype([("before", "u1"), ("it", dtype)]))
        record["it"] = array
        array = record["it"]
    array.flags.writeable = False
    found, wanted = scan(array), facts(array)
    assert found == wanted
    if wanted.minimum == 0 and dtype.kind == "f":
        zeros = array[array == 0]
        assert np.signbit(found.minimum) == np.signbit(zeros).any()


@pytest.mark.parametrize("value", [np.nan, -np.nan, np.inf, -np.inf, -0.0, 1e30, -1e30, 0.5])
@pytest.mark.parametrize("place", [(0, 0), (299, 400), (150, 7)])
def test_threads_find_what_one_finds(
    value: float, place: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PARALLEL", 1000)
    monkeypatch.setattr(module, "BLOCK", 2000)
    array = np.ones((300, 401), "f4")
    array[place] = value
    wanted = facts(array)
    for count in (1, 2, 4):
        assert scan(array, count) == wanted
        assert scan(array.T, count) == facts(array.T)
        assert scan(array.reshape(1, -1), count) == facts(array.reshape(1, -1))
        assert scan(array[:, ::2], count) == facts(array[:, ::2])


def test_first_nan_in_c_order_whatever_the_layout() -> None:
    array = np.zeros((5, 6), order="F")
    array[3, 1] = array[1, 4] = np.nan
    assert scan(array).nan == (1, 4)


@pytest.mark.parametrize("dtype", ["c16", "O", "U3", "f4,f4"])
def test_other_types_are_refused(dtype: str) -> None:
    with pytest.raises(TypeError, match="cannot scan"):
        scan(np.zeros((2, 2), dtype))
