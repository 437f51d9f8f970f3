"""Every operation on vectors against the same one on single numbers, to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit

from semiring.algebra.expression import Expression, apply, operand, typed
from semiring.algebra.operations import ARITY, PREDICATES
from semiring.kernels.cpu.compile import lane_rows, scalar
from semiring.kernels.cpu.compile.lanes import I64, Lanes
from semiring.kernels.cpu.compile.raw import floor, fma, select
from semiring.kernels.cpu.compile.rules import function, vectors

COUNT = 4
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, -2.5, 3.0, 1e30, -7.0]


def samples(dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of numbers, so many that they fill vectors."""
    if dtype.kind == "f":
        values = np.array(SPECIAL, dtype)
    elif dtype.kind == "b":
        values = np.array([False, True])
    else:
        limits = np.iinfo(dtype)
        values = np.array([0, 1, 2, 3, 7, limits.max, limits.max - 1, limits.min], dtype)
    a, b = (x.ravel() for x in np.meshgrid(values, values))
    return a.copy(), b.copy()


def operations(dtype: np.dtype) -> list[Expression]:
    """All that may be written with one or two numbers of a dtype, the result of which is in this dtype or a truth."""
    found = []
    for op, arity in ARITY.items():
        if op in ("where", "cast"):
            continue
        e = apply(op, *(operand(i) for i in range(arity)))
        try:
            writes = typed([e], [dtype])[-1].writes if e.op != "input" else dtype
        except TypeError:
            continue
        if writes in (dtype, np.dtype(bool)):
            found.append(e)
    return [*found, apply("where", apply("less", operand(0), operand(1)), apply("negative", operand(1)), operand(0))] \
        if dtype.kind == "f" else found


def run(dtype: np.dtype, e: Expression, single: bool) -> np.ndarray:
    a, b = samples(dtype)
    wanted = np.dtype(bool) if e.op in PREDICATES else dtype
    out = np.empty(len(a), wanted)
    if single:
        names = vars(scalar) | {"inline": njit(error_model="numpy"), "select": select, "fma": fma, "floor": floor,
                                "np": np, "inf": np.inf, "nan": np.nan} | {
            kind: getattr(__import__("numba"), kind)
            for kind in ("float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
        }
        exec(function("f", "a, b", [e], [dtype], [wanted]), names)
        for i in range(len(a)):
            out[i] = names["f"](a[i], b[i])
        return out
    scope: dict[str, Any] = {"np": np}
    exec(vectors("f", "a, b", [e], [dtype], [wanted]), scope)

    def generate(context: Any, builder: Any, x: Any, y: Any, target: Any, count: Any) -> None:
        v = Lanes(context, builder, COUNT, False)
        none = v.constant(dtype.type(0))
        with v.rows(I64(0), count, COUNT) as i:
            place = builder.mul(i, I64(dtype.itemsize))
            p, q = (v.load(builder.add(side, place), dtype, None, none) for side in (x, y))
            v.store(scope["f"](v, p, q), builder.add(target, builder.mul(i, I64(wanted.itemsize))), None)

    row = lane_rows.intrinsic_of(generate)

    @njit
    def all_rows(x: int, y: int, target: int, count: int) -> None:
        row((x, y, target, count))

    all_rows(a.ctypes.data, b.ctypes.data, out.ctypes.data, len(a))
    return out


@pytest.mark.parametrize("dtype", [
    "f4", "b1", pytest.param("f8", marks=pytest.mark.slow), pytest.param("i2", marks=pytest.mark.slow),
    pytest.param("u4", marks=pytest.mark.slow), pytest.param("i8", marks=pytest.mark.slow),
])
def test_vectors_have_the_numbers_of_scalars(dtype: str) -> None:
    kind = np.dtype(dtype)
    found = operations(kind)
    assert len(found) > 8
    for e in found:
        with np.errstate(all="ignore"):
            alone, together = (run(kind, e, single) for single in (True, False))
        assert np.array_equal(alone, together, equal_nan=kind.kind == "f" and alone.dtype == kind), (e, alone, together)
        if alone.dtype.kind == "f":
            number = ~np.isnan(alone)
            assert np.array_equal(np.signbit(alone[number]), np.signbit(together[number])), e
