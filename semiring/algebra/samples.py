"""Elements for testing laws: notable ones, which are combined in all ways, and random ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .constants import cast_constant
from .elements import is_nan, sequence
from .expression import postorder

if TYPE_CHECKING:
    from .arithmetic import Arithmetic

POOL = (0, 1, 2, 3, 0.5, 0.25, 0.75, 7, -1, -2.5, 5, 12, np.inf, -np.inf)
ORDINARY = (2, 3, 5, -1, 0.5, 7, 0.25, 0.75, -2, -3)  # for counterexamples
RECORD_POOL = (0, 1, 2.5, -1, np.inf)
SHOWN = 27  # elements of which counterexamples are made
GRID = 256  # the most records for which all combinations of the pool's numbers are taken
RANDOM_ELEMENTS = 64  # of each algebra
DRAWN = 512  # candidates per round; those outside the carrier are dropped
ROUNDS = 5


class Elements(NamedTuple):
    """Elements of an algebra in one dtype.

    Attributes
    ----------
    notable : ndarray
        0 and 1 first, then declared elements or special values.
    random : ndarray
        Different elements other than 0 and 1; empty for Python objects.
    complete : bool
        Whether these are all elements of the algebra.
    """

    notable: np.ndarray
    random: np.ndarray
    complete: bool


def elements(A: Arithmetic, declared: Sequence[Any] | None, *, ends: bool = True) -> Elements:
    """Choose elements of the carrier.

    Parameters
    ----------
    A : Arithmetic
    declared : sequence, optional
        Elements with which the algebra was declared; they replace the general pool.
    ends : bool
        Whether numbers near an integer dtype's limits are ordinary elements.
    """
    notable = notable_elements(A, declared)
    if A.dtype.kind == "O":
        return Elements(notable, notable[:0], False)
    rng = np.random.default_rng(0)
    found = _inside(A, _fresh(A, rng, ends))
    for _ in range(ROUNDS):
        if len(found) >= RANDOM_ELEMENTS or _is_exhausted(A.dtype):
            break
        known = np.concatenate([notable, found])
        found = _distinct(np.concatenate([found, _inside(A, _near(A, rng, known, ends))]))
    complete = _is_exhausted(A.dtype) or _is_listed(A, notable)
    return Elements(notable, rng.permutation(found)[:RANDOM_ELEMENTS], complete)


def notable_elements(A: Arithmetic, declared: Sequence[Any] | None) -> np.ndarray:
    """0, 1, and the declared elements or a general pool, without those outside the carrier."""
    S = A.semiring
    if declared is not None:
        values = list(declared)
    elif S.fields:
        values = _record_pool(A)
    elif A.dtype.kind == "O":
        values = []
    else:
        # In integers the limits are not ordinary elements; if 0 or 1 is a limit, it is included above.
        values = [x for x in (*POOL, *_anchors(A)) if A.dtype.kind == "f" or np.isfinite(x)]
    values = [S.zero, *([] if S.one is None else [S.one]), *values]
    if A.dtype.kind != "O":
        values = [cast for cast in (_cast(A, v) for v in values) if cast is not None]
    array = sequence(values, A.dtype)
    first = 1 if S.one is None else 2
    inside = A.contains(array)
    return np.concatenate([array[:first], array[first:][inside[first:]]])


def ordinary_elements(A: Arithmetic) -> np.ndarray:
    """Numbers and records of which counterexamples are made: simple ones other than 0, 1 and ∞.

    Examples
    --------
    >>> import semiring as sr
    >>> ordinary_elements(sr.viterbi.over("f8")).tolist()
    [0.5, 0.25, 0.75]
    """
    columns = [[x for x in ORDINARY if _fits(x, d) and (d.kind in "fc" or x == int(x))] for d in A.components]
    if math.prod(map(len, columns)) <= DRAWN:
        places = np.array([*product(*(range(len(c)) for c in columns))]).reshape(-1, len(columns))
    else:
        places = np.random.default_rng(0).integers(0, [len(c) for c in columns], (DRAWN, len(columns)))
    order = np.lexsort([places.sum(axis=1), places.max(axis=1)])
    records = [tuple(c[i] for c, i in zip(columns, row, strict=True)) for row in places[order].tolist()]
    made = np.array(records if A.dtype.names else [x for x, in records], A.dtype)
    return made[A.contains(made)][:SHOWN]


def _cast(A: Arithmetic, value: Any) -> Any:
    try:
        return A.element(value)
    except OverflowError:
        return None


def _record_pool(A: Arithmetic) -> list[tuple[Any, ...]]:
    """Records of notable numbers: all of them if there are few, else some."""
    width = len(A.components)
    columns = [[x for x in RECORD_POOL if _fits(x, d)] for d in A.components]
    if np.prod([float(len(c)) for c in columns]) <= GRID:
        return list(zip(*(g.ravel().tolist() for g in np.meshgrid(*columns, indexing="ij")), strict=True))
    rng = np.random.default_rng(1)
    picks = [rng.integers(0, len(c), GRID).tolist() for c in columns]
    rows = [tuple(columns[k][picks[k][i]] for k in range(width)) for i in range(GRID)]
    return [*((x,) * width for x in RECORD_POOL if all(x in c for c in columns)), *rows]


def _fits(x: float, dtype: np.dtype) -> bool:
    try:
        cast_constant(x, dtype)
    except OverflowError:
        return False
    return dtype.kind in "fcb" or bool(np.isfinite(x))


def _anchors(A: Arithmetic) -> list[float]:
    """The finite numbers in the declaration: the carrier or an operation may change its form there."""
    S = A.semiring
    assert S.traced
    t = S.traced
    nodes = postorder((*t.add.outputs, *t.raw_mul.outputs, *t.star.outputs, t.carrier))
    numbers = [e.value for e in nodes if e.op == "constant" and not isinstance(e.value, bool)]
    for part in (S.zero, S.one):
        numbers += S.components_of(part) if part is not None else ()
    found = {complex(x).real for x in numbers if x == x} | {complex(x).imag for x in numbers if x == x}
    return sorted(x for x in found if np.isfinite(x)) or [0.0]


def _fresh(A: Arithmetic, rng: np.random.Generator, ends: bool) -> np.ndarray:
    """Candidates chosen without knowing any elements."""
    anchors = np.array(_anchors(A))
    columns = [_numbers(rng, d, anchors, ends) for d in A.components]
    if not A.dtype.names:
        return columns[0]
    length = max(map(len, columns))
    out = np.empty(length, A.dtype)
    for f, column in zip(A.dtype.names, columns, strict=True):
        out[f] = rng.permutation(np.resize(column, length))
    return out


def _numbers(rng: np.random.Generator, dtype: np.dtype, anchors: np.ndarray, ends: bool) -> np.ndarray:
    """Numbers of all magnitudes, around the anchors, between them, and near a dtype's ends."""
    if dtype.kind == "b":
        return np.arange(DRAWN) % 2 == 0
    if dtype.kind in "iu" and dtype.itemsize == 1 and ends:
        return np.arange(np.iinfo(dtype).min, np.iinfo(dtype).max + 1).astype(dtype)
    if dtype.kind == "c":
        parts = [_numbers(rng, np.dtype(f"f{dtype.itemsize // 2}"), anchors, ends) for _ in range(2)]
        return (parts[0] + 1j * parts[1]).astype(dtype)
    count = DRAWN // 8
    size = 10.0 ** rng.uniform(-4, 4, count) * rng.choice((-1, 1), count)
    c, d = rng.choice(anchors, count), rng.choice(anchors, count)
    parts = [
        rng.integers(-9, 30, count).astype("f8"),
        size,
        rng.uniform(-2, 2, count),
        c + size,
        c + rng.integers(-9, 10, count),
        c * rng.uniform(0, 2, count),
        c + (d - c) * rng.uniform(0, 1, count),
        c * 10.0 ** rng.uniform(-3, 3, count),
    ]
    numbers = np.concatenate(parts)
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            result = numbers.astype(dtype)
        return result[np.isfinite(result)]
    limits = np.iinfo(dtype)
    # Rounded to doubles, the limits of 64 bits are outside them.
    whole = np.rint(numbers[(numbers > float(limits.min)) & (numbers < float(limits.max))]).astype(dtype)
    if not ends:
        return whole[np.abs(whole.astype("f8")) < float(limits.max) / 16]
    near = rng.integers(0, 4, count // 4).astype(dtype)
    low, high = (limits.min + near).astype(dtype), (limits.max - near).astype(dtype)
    return np.concatenate([whole, low, high, rng.integers(limits.min, limits.max, count, dtype)])


def _near(A: Arithmetic, rng: np.random.Generator, known: np.ndarray, ends: bool) -> np.ndarray:
    """Candidates made from known elements: perturbed, mixed, and their ⊕ and ⊗."""
    x, y = (known[rng.integers(0, len(known), DRAWN)] for _ in range(2))
    fresh = np.resize(_fresh(A, rng, ends), DRAWN)
    moved = np.empty(DRAWN, A.dtype)
    with np.errstate(all="ignore"):
        for d, (out, a, b, c) in zip(A.components, zip(*map(A.split, (moved, x, y, fresh)), strict=True), strict=True):
            what = rng.integers(0, 5, DRAWN)
            if d.kind in "fc":
                step = 10.0 ** rng.uniform(-9, 0, DRAWN) * rng.choice((-1, 1), DRAWN)
                out[...] = np.select([what == 0, what == 1, what == 2, what == 3],
                                     [a * (1 + step), a + step, a + (b - a) * rng.random(DRAWN), b], c).astype(d)
            else:
                out[...] = np.select([what == 0, what == 1], [a, b], c)
        return np.concatenate([moved, A.add(x, y), A.mul(x, y)])


def _inside(A: Arithmetic, candidates: np.ndarray) -> np.ndarray:
    """The candidates that are elements other than 0 and 1, each once; infinite scalars are notable, not random."""
    keep = A.contains(candidates) & ~is_nan(candidates)
    for e in (A.zero, A.one):
        if e is not None:
            keep &= candidates != e
    if A.dtype.kind in "fc":
        keep &= np.isfinite(candidates)
    return _distinct(candidates[keep])


def _distinct(array: np.ndarray) -> np.ndarray:
    """The distinct values of a vector without NaN, in order: `numpy.unique` would import masked arrays first."""
    ordered = np.sort(array)
    return ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])] if len(ordered) else ordered


def _is_exhausted(dtype: np.dtype) -> bool:
    """Whether a draw goes through every element of the dtype."""
    return dtype.kind == "b" or (dtype.kind in "iu" and dtype.itemsize == 1)


def _is_listed(A: Arithmetic, notable: np.ndarray) -> bool:
    """Whether the carrier is a list of numbers, (a = 0) or (a = 1) or …, all among the notable elements."""
    if A.dtype.names:
        return False
    assert A.semiring.traced
    stack = [A.semiring.traced.carrier]
    while stack:
        e = stack.pop()
        if e.op == "logical_or":
            stack += e.args
            continue
        values = [a.value for a in e.args if a.op == "constant"]
        if e.op != "equal" or len(values) != 1 or not (notable == values[0]).any():
            return False
    return True
