"""Hypothesis strategies for matrices over the algebras of the oracle, as NumPy arrays.

The numbers are small dyadic fractions and small integers with many ties, so that sums and products are exact in
every dtype; among them are zero-weight edges, infinities, and the values next to an integer dtype's limits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from oracle import Algebra, Matrix, for_dtype, inf, minimal, to_numpy, undominated

FLOATS = ("float16", "float32", "float64")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")


# Every dtype that an algebra can live in; for records, a few lists of the dtypes of the fields.
DTYPES: dict[str, tuple[str, ...]] = {
    "boolean": ("bool",),
    "min_plus": FLOATS + SIGNED + UNSIGNED,
    "max_plus": FLOATS + SIGNED,
    "max_min": FLOATS + SIGNED + UNSIGNED,
    "min_max": FLOATS + SIGNED + UNSIGNED,
    "viterbi": FLOATS,
    "max_times": FLOATS + SIGNED + UNSIGNED,
    "min_times": FLOATS + SIGNED + UNSIGNED,
    "plus_times": FLOATS,  # integers too, for products and for graphs without cycles
    "counting": FLOATS + SIGNED + UNSIGNED,
    "log": FLOATS,
    "gf2": ("bool", "uint8"),
    "mod_p": SIGNED + UNSIGNED,
    "lukasiewicz": FLOATS,
    "bitset_may": UNSIGNED,
    "bitset_must": UNSIGNED,
    "gcd_lcm": SIGNED + UNSIGNED,
    "saturating_min_plus": ("uint8", "uint16", "int16", "int32"),
    "shortest_count": ("f8 f8", "f4 i8", "i4 i4"),
    "shortest_hops": ("f8 i8", "f4 i4", "i4 i2"),
    "widest_shortest": ("f8 f8", "f4 i4", "i8 u1"),
    "k_best": ("f8", "f4", "i4"),
    "expectation": ("f8 f8", "f4 f4"),
    "pareto": ("object",),
    "why": ("object",),
    "regex": ("object",),
}


def dtypes(algebra: Algebra) -> tuple[np.dtype, ...]:
    """The dtypes to test an algebra in."""
    if algebra.fields:
        copies = len(algebra.fields) if algebra.base == "k_best" else 1
        kinds = [text.split() * copies for text in DTYPES[algebra.base]]
        return tuple(np.dtype(list(zip(algebra.fields, kind, strict=True))) for kind in kinds)
    found = tuple(map(np.dtype, DTYPES[algebra.base]))
    if algebra.base == "saturating_min_plus":
        return tuple(dtype for dtype in found if np.iinfo(dtype).max >= algebra.zero)
    return found


def is_integer(dtype: np.dtype) -> bool:
    return dtype.kind in "iu"


def largest(dtype: np.dtype) -> Any:
    """The largest finite number of a dtype, where an integer dtype's own largest stands for +∞."""
    return int(np.iinfo(dtype).max) - 1 if is_integer(dtype) else float(np.finfo(dtype).max)


def smallest(dtype: np.dtype) -> Any:
    """The smallest finite number likewise."""
    return int(np.iinfo(dtype).min) + 1 if is_integer(dtype) else float(np.finfo(dtype).min)


def distances(dtype: np.dtype) -> list:
    """Finite numbers ≥ 0 with ties and zeros, which a walk of 16 edges can add up exactly in every dtype."""
    return [0, 1, 1, 2, 3, 7] if is_integer(dtype) else [0, 0.25, 0.5, 1, 1, 2, 3, 16]


def ordered(dtype: np.dtype) -> st.SearchStrategy:
    """Numbers to compare only: all of the line, its ends and what is next to them."""
    high, low = largest(dtype), smallest(dtype)
    some = [0, 1, 2, 3, inf, -inf, high] if dtype.kind == "u" else [-2, -1, 0, 1, 2, inf, -inf, low, high]
    if is_integer(dtype):
        some += [high - 1, high - 4, low, low + 1]
    else:
        some += [0.25, -0.5, 1.5]
    return st.sampled_from(some)


def elements(algebra: Algebra, dtype: Any, safe: bool = True, limits: bool = True) -> st.SearchStrategy:
    """Elements of an algebra that a dtype can hold.

    Safe ones keep every closed walk from being worth more than 1 and every series summable, up to 9 vertices, so
    that a closure exists (except over gf2 and mod_p). The others are any elements that products can hold exactly.
    Without `limits`, sums stay away from the limits of an integer dtype. In arrays, a regular expression is its text.
    """
    dtype = np.dtype(dtype)
    whole = is_integer(dtype)
    name = algebra.base
    if name in ("boolean", "gf2"):
        return st.sampled_from([False, True] if name == "boolean" else [0, 1])
    if name in ("min_plus", "max_plus"):
        sign = 1 if name == "min_plus" else -1
        good = distances(dtype)
        if not safe and dtype.kind != "u":
            good += [-1, -2, -3, -inf]
        elif whole and limits:
            # Next to the infinity: sums of these may reach it, and must then be it. Together with negative numbers
            # it would depend on the order of the summands, so safe ones only.
            end = int(np.iinfo(dtype).max) if sign == 1 else -int(np.iinfo(dtype).min)
            good += [end - 1, end - 2, end - 6]
        return st.sampled_from([sign * x for x in good])
    if name in ("max_min", "min_max"):
        return ordered(dtype)
    if name == "viterbi":
        return st.sampled_from([1, 0.5, 0.25])
    if name == "max_times":
        if safe:
            return st.sampled_from([0, 1] if whole else [1, 0.5, 0.25])
        return st.sampled_from([0, 1, 2, 3, inf] if whole else [0.25, 0.5, 1, 2, inf])
    if name == "min_times":
        return st.sampled_from([1, 1, 2, 3] if whole else [1, 1, 2, 4])
    if name == "plus_times":
        return st.integers(-2, 2) if whole else st.integers(-4, 4).map(lambda x: x / 64 if safe else x / 2)
    if name == "counting":
        return st.sampled_from([1, 1, 2, inf] if not safe else [1, 1, 2])
    if name == "log":
        return st.sampled_from([-3.0, -3.5, -5.0, -8.25] if safe else [-3.0, -0.5, 0.0, 0.5, 2.0, inf])
    if name == "mod_p":
        return st.sampled_from(algebra.samples)
    if name == "lukasiewicz":
        return st.integers(0, 8).map(lambda x: x / 8)
    if name in ("bitset_may", "bitset_must"):
        full = max(for_dtype(algebra, dtype).samples)
        return st.sampled_from([0, full, 1, full - 1, full ^ (full >> 1)]) | st.integers(0, full)
    if name == "gcd_lcm":
        return st.sampled_from([1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60])  # their lcm fits in 8 bits
    if name == "saturating_min_plus":
        limit = algebra.zero
        return st.sampled_from([0, 1, 1, 2, limit // 2, limit - 1])
    if name == "shortest_count":
        counts = st.sampled_from([1, 1, 2] if safe else [1, 2, 3, inf])
        return st.tuples(st.sampled_from(distances(dtype["dist"])), counts)
    if name == "shortest_hops":
        hops = st.sampled_from([0, 1, 1, 2] if safe else [1, 2, inf])
        return st.tuples(st.sampled_from(distances(dtype["cost"])), hops)
    if name == "widest_shortest":
        return st.tuples(st.sampled_from(distances(dtype["dist"])), ordered(dtype["width"]))
    if name == "k_best":
        pad = (inf,) * len(algebra.fields)
        some = st.lists(st.sampled_from(distances(dtype["d0"])), min_size=1, max_size=len(pad))
        return some.map(lambda values: (*sorted(values), *pad)[: len(pad)])
    if name == "expectation":
        size = 64 if safe else 2
        return st.tuples(st.integers(-4, 4).map(lambda x: x / size), st.integers(-8, 8).map(lambda x: x / 4))
    if name == "pareto":
        criteria = st.tuples(st.integers(0, 4), st.sampled_from([0, 0.5, 1, 2, 3]))
        return st.sets(criteria, min_size=1, max_size=3).map(undominated)
    if name == "why":
        labels = st.frozensets(st.sampled_from("wxyz"), max_size=2)
        return st.sets(labels, min_size=1, max_size=2).map(minimal)
    if name == "regex":
        return st.frozensets(st.sampled_from(["", "a", "b", "ab"]), min_size=1, max_size=2)
    raise ValueError(f"no elements for {algebra}")


def most_vertices(algebra: Algebra) -> int:
    """Objects are slow, and languages grow with every vertex."""
    if algebra.base == "regex":
        return 3
    return 5 if algebra.objects else 9


@st.composite
def rows(draw: st.DrawFn, algebra: Algebra, dtype: Any, m: int, n: int, safe: bool, limits: bool = True) -> Matrix:
    """m×n elements, from none to all of them other than zero."""

    def half() -> int:
        """A bit a place, half of them set."""
        size = (m * n + 7) // 8
        return int.from_bytes(draw(st.binary(min_size=size, max_size=size)))

    match draw(st.sampled_from(["half", "quarter", "full", "empty", "three quarters"])):
        case "empty":
            edges = 0
        case "quarter":
            edges = half() & half()
        case "half":
            edges = half()
        case "three quarters":
            edges = half() | half()
        case _:
            edges = -1
    A = [[algebra.zero] * n for _ in range(m)]
    places = [divmod(place, n) for place in range(m * n) if edges >> place & 1]
    weights = draw(st.lists(elements(algebra, dtype, safe, limits), min_size=len(places), max_size=len(places)))
    for (i, j), weight in zip(places, weights, strict=True):
        A[i][j] = weight
    return A


@st.composite
def matrices(
    draw: st.DrawFn, algebra: Algebra, dtype: Any, shape: int | tuple[int, int] | None = None, safe: bool = True
) -> np.ndarray:
    """A matrix over an algebra: `shape` as given, n×n for a number, square with n from 0 to 9 if None.

    A safe square matrix has a closure and no cycle that is worth more than 1, even if it has edges that are: they
    come from a potential of the vertices. Over gf2 and mod_p a closure may still not exist. See `elements`.
    """
    dtype = np.dtype(dtype)
    if shape is None:
        shape = draw(st.integers(0, most_vertices(algebra)))
    m, n = (shape, shape) if isinstance(shape, int) else shape
    shifted = safe and m == n and has_potentials(algebra, dtype) and draw(st.booleans())
    A = draw(rows(algebra, dtype, m, n, safe, limits=not shifted))
    if shifted:
        # Multiplied by the potential of its tail and divided by that of its head, an edge keeps the weight of cycles.
        high = 2 if algebra.base == "max_times" else 8
        potential = draw(st.lists(st.integers(-high, high), min_size=n, max_size=n))
        for i, j in np.ndindex(n, n):
            by = potential[i] - potential[j]
            if A[i][j] != algebra.zero:
                A[i][j] = A[i][j] * 2.0**by if algebra.base == "max_times" else A[i][j] + by
    if safe and algebra.base == "log" and m == n:
        # A loop of weight ≥ 0 makes the series of its whole component diverge, whatever the rounding.
        for i in draw(st.sets(st.integers(0, n - 1), max_size=1)) if n else ():
            A[i][i] = draw(st.sampled_from([0.0, inf]))
    return to_numpy(algebra, A, dtype, (m, n))


def has_potentials(algebra: Algebra, dtype: np.dtype) -> bool:
    """Is there an inverse of ⊗ in the dtype, so that edges may be weighted anew without a change of any cycle?"""
    if algebra.base in ("min_plus", "max_plus"):
        return dtype.kind != "u"
    return algebra.base == "max_times" and dtype.kind == "f"


@st.composite
def acyclic(draw: st.DrawFn, algebra: Algebra, dtype: Any, n: int | None = None) -> np.ndarray:
    """The matrix of a graph without cycles, its vertices in any order, so that any weights have a closure."""
    dtype = np.dtype(dtype)
    if n is None:
        n = draw(st.integers(0, most_vertices(algebra)))
    A = draw(rows(algebra, dtype, n, n, safe=draw(st.booleans())))
    place = draw(st.permutations(range(n)))
    for i in range(n):
        for j in range(n):
            if place[i] >= place[j]:
                A[i][j] = algebra.zero
    return to_numpy(algebra, A, dtype, (n, n))


def nearly_consistent(n: int, seed: int) -> np.ndarray:
    """Differences of potentials, off by less than 0.0005: cycles add to nearly 0, many of them to less.

    Sums are exact, so that all ways to add agree on whether there is a closure without a tolerance.
    """
    potential = np.random.default_rng(seed).normal(size=n)
    return np.round((potential[:, None] - potential) * 1024) / 1024


def views_of(array: np.ndarray) -> dict[str, np.ndarray]:
    """The same values in other memory layouts, by name."""
    m, n = array.shape
    read_only = array.copy()
    read_only.flags.writeable = False
    # What lies between and around the entries is an edge, so that reading it shows.
    strided = np.ones((2 * m, 3 * n + 1), array.dtype)[::2, 1::3]
    strided[...] = array
    inside = np.ones((m + 2, n + 3), array.dtype)[1:-1, 1:-2]
    inside[...] = array
    return {
        "C": array.copy(order="C"),
        "Fortran": array.copy(order="F"),
        "strided": strided,
        "reversed": array[::-1, ::-1].copy()[::-1, ::-1],
        "rows reversed": array[::-1].copy(order="F")[::-1],
        "part of a larger": inside,
        "read-only": read_only,
    }


def views(array: np.ndarray) -> st.SearchStrategy:
    """One of the views of an array: C and Fortran order, strided, reversed, part of a larger one, read-only."""
    return st.sampled_from(sorted(views_of(array))).map(lambda name: views_of(array)[name])
