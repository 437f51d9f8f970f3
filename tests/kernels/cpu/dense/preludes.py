"""Programs written by hand, one of each kind, with what their operations mean in NumPy and random elements for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from semiring.kernels.cpu.compile.program import Program

Parts = tuple[Any, ...]  # an element by components: scalars, or arrays of them


@dataclass(frozen=True)
class Case:
    """A program, and the same operations on tuples of component arrays."""

    program: Program
    times: Callable[[Parts, Parts], Parts]
    plus: Callable[[Parts, Parts], Parts]
    star: Callable[[Parts], Parts]
    draw: Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]

    def __repr__(self) -> str:
        return f"{self.program.name}-{'-'.join(c.name for c in self.program.components)}"

    @property
    def exact(self) -> bool:
        """Whether ⊗ and ⊕ round nothing, so that any order of the same terms gives the same bits."""
        return all(component.kind != "f" for component in self.program.components)


def split(array: np.ndarray) -> Parts:
    """The components of an array of elements."""
    return tuple(array[name] for name in array.dtype.names) if array.dtype.names else (array,)


def join(parts: Parts, dtype: np.dtype) -> np.ndarray:
    """An array of elements from its components."""
    if dtype.names is None:
        return np.asarray(parts[0], dtype)
    out = np.empty(np.shape(parts[0]), dtype)
    for name, part in zip(dtype.names, parts, strict=True):
        out[name] = part
    return out


def _program(name: str, components: Any, zero: Parts, one: Parts, *bodies: str) -> Program:
    heads = ("times(a, b, unit)", "plus(x, t)", "star(a)", "defined(a)")
    functions = [
        f"@inline\ndef {head}:\n    " + body.replace("\n", "\n    ") + "\n\n\n"
        for head, body in zip(heads, bodies, strict=True)
    ]
    # No test closes a matrix in which 0 ⊗ a is NaN.
    functions.append(f"@inline\ndef scaled(a, b):\n    return times(a, b, np.{np.dtype(components[0])}(1))\n\n\n")
    return Program(name, tuple(np.dtype(c) for c in components), zero, one, "".join(functions))


def _weights(dtype: str, zero: Any, low: float, high: float) -> Any:
    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        values = rng.integers(low, high, shape) if np.dtype(dtype).kind in "iu" else rng.uniform(low, high, shape)
        values = np.asarray(values, dtype)
        values[rng.random(shape) < 0.3] = zero
        return values

    return draw


def _constant(*values: Any) -> Any:
    return lambda a: tuple(np.full_like(part, value) for part, value in zip(a, values, strict=True))


def _minimum(x: Parts, t: Parts) -> Parts:
    return (np.where(t[0] < x[0], t[0], x[0]),)


def min_plus(dtype: str, fma: bool = False) -> Case:
    program = _program(
        "min-plus-fma" if fma else "min-plus",
        [dtype],
        (np.inf,),
        (0,),
        "return fma(b, unit, a)" if fma else "return a + b",
        "return t if t < x else x",
        "return ONE",
        "return a >= ONE",
    )
    return Case(program, lambda a, b: (a[0] + b[0],), _minimum, _constant(0), _weights(dtype, np.inf, 0.1, 9))


def min_plus_integer(dtype: str) -> Case:
    top = int(np.iinfo(dtype).max)
    program = _program(
        "min-plus",
        [dtype],
        (top,),
        (0,),
        f"return ZERO if a == ZERO or b == ZERO else {dtype}(a + b)",
        "return t if t < x else x",
        "return ONE",
        "return a >= ONE",
    )

    def times(a: Parts, b: Parts) -> Parts:
        return (np.where((a[0] == top) | (b[0] == top), np.asarray(top, dtype), a[0] + b[0]),)

    return Case(program, times, _minimum, _constant(0), _weights(dtype, top, 0, 9))


def max_times(dtype: str = "float32") -> Case:
    program = _program(
        "max-times",
        [dtype],
        (0,),
        (1,),
        "return a * b",
        "return t if t > x else x",
        "return ONE",
        "return a <= ONE",
    )
    return Case(
        program,
        lambda a, b: (a[0] * b[0],),
        lambda x, t: (np.where(t[0] > x[0], t[0], x[0]),),
        _constant(1),
        _weights(dtype, 0, 0.1, 1),
    )


def plus_times(dtype: str = "float64") -> Case:
    program = _program(
        "plus-times",
        [dtype],
        (0,),
        (1,),
        "return a * b",
        "return x + t",
        "return ONE / (ONE - a)",
        "return a != ONE",
    )

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        return np.asarray(rng.uniform(0, 1, shape) / (2 * max(shape[-1], 1)), dtype)

    one = np.dtype(dtype).type(1)
    return Case(
        program,
        lambda a, b: (a[0] * b[0],),
        lambda x, t: (x[0] + t[0],),
        lambda a: (one / (one - a[0]),),
        draw,
    )


def or_and(dtype: str = "uint64") -> Case:
    ones = int(np.iinfo(dtype).max)
    program = _program(
        "or-and", [dtype], (0,), (ones,), "return a & b", "return x | t", "return ONE", "return True"
    )

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        one, two, three = (rng.integers(0, ones, shape, dtype, endpoint=True) for _ in range(3))
        return one & two & three

    return Case(program, lambda a, b: (a[0] & b[0],), lambda x, t: (x[0] | t[0],), _constant(ones), draw)


def boolean() -> Case:
    program = _program(
        "boolean",
        ["bool"],
        (False,),
        (True,),
        "return a and b",
        "return x or t",
        "return ONE",
        "return True",
    )
    return Case(
        program,
        lambda a, b: (a[0] & b[0],),
        lambda x, t: (x[0] | t[0],),
        _constant(True),
        lambda rng, shape: rng.random(shape) < 0.05,
    )


def cost_hops() -> Case:
    """Shortest paths, and of those the ones with the fewest edges."""
    program = _program(
        "cost-hops",
        ["f4", "i4"],
        (np.inf, 0),
        (0.0, 0),
        "return a[0] + b[0], int32(a[1] + b[1])",
        "better = t[0] < x[0] or (t[0] == x[0] and t[1] < x[1])\n"
        "return select(better, t[0], x[0]), select(better, t[1], x[1])",
        "return ONE",
        "return a[0] >= float32(0)",
    )

    def plus(x: Parts, t: Parts) -> Parts:
        better = (t[0] < x[0]) | ((t[0] == x[0]) & (t[1] < x[1]))
        return np.where(better, t[0], x[0]), np.where(better, t[1], x[1])

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        cost = rng.integers(1, 5, shape).astype("f4")
        cost[rng.random(shape) < 0.3] = np.inf
        return join((cost, np.where(np.isinf(cost), 0, 1)), program.dtype)

    return Case(program, lambda a, b: (a[0] + b[0], a[1] + b[1]), plus, _constant(0, 0), draw)


def triangular() -> Case:
    """Matrices [[p, q], [0, r]] of integers that wrap: ⊗ does not commute, ⊕ is not idempotent, three sizes.

    q has the narrowest type: then every component is computed modulo what its terms are known to.
    """
    program = _program(
        "triangular",
        ["i8", "u1", "u2"],
        (0, 0, 0),
        (1, 0, 1),
        "return a[0] * b[0], int64(a[0]) * int64(b[1]) + int64(a[1]) * int64(b[2]), a[2] * b[2]",
        "return x[0] + t[0], x[1] + t[1], x[2] + t[2]",
        "return ONE[0], a[1], ONE[2]",
        "return a[0] == 0 and a[2] == 0",
    )

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        columns = [rng.integers(0, 9, shape).astype(component) for component in program.components]
        if len(shape) > 1 and shape[-1] == shape[-2]:  # strictly upper in p and r, so that every star exists
            above = np.arange(shape[-1])[:, None] < np.arange(shape[-1])
            columns[0], columns[2] = columns[0] * above, columns[2] * above
        return join(tuple(columns), program.dtype)

    def times(a: Parts, b: Parts) -> Parts:
        return a[0] * b[0], a[0].astype("u1") * b[1] + a[1] * b[2].astype("u1"), a[2] * b[2]

    def plus(x: Parts, t: Parts) -> Parts:
        return tuple(left + right for left, right in zip(x, t, strict=True))

    return Case(
        program, times, plus, lambda a: (np.ones_like(a[0]), a[1], np.ones_like(a[2])), draw
    )


CASES = {
    repr(case): case
    for case in (
        min_plus("float32", fma=True),
        min_plus("float32"),
        min_plus("float64"),
        min_plus_integer("int16"),
        min_plus_integer("int32"),
        max_times(),
        plus_times(),
        or_and("uint64"),
        or_and("uint8"),
        boolean(),
        cost_hops(),
        triangular(),
    )
}
