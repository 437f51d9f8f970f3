"""Elements, counts and types as text for people, in tables and messages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.algebra.constants import cast_constant
from semiring.algebra.elements import show
from semiring.algebra.tables import Cut
from semiring.algebra.vectors import flat_field

if TYPE_CHECKING:
    from semiring.algebra.semiring import Semiring

QUOTED = 120  # the most characters of a file's contents that a message repeats
LABEL = 16  # the most characters of a name or an element that a table shows
OBJECT = 32  # the same for records and Python objects
EXACT = 2**53  # the size up to which floats hold all integers
NONE: Mapping[Any, Any] = MappingProxyType({})  # no integers stand for infinities

# Characters that a terminal obeys, or that change how their neighbours look: control characters, line ends, marks that
# change the direction of writing, halves of surrogate pairs. Joiners and wide blanks, used in many languages, stay.
OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufff9-\ufffb]")


def shown(name: Any) -> str:
    r"""A name, or a text with names, made safe for a terminal: control characters are escaped as in Python.

    >>> print(shown("red\x1b[31m"))
    red\x1b[31m
    """
    text = str(name)
    return text if text.isprintable() else OBEYED.sub(lambda found: repr(found[0])[1:-1], text)


def infinities(S: Semiring, dtype: np.dtype) -> dict[Any, Any]:
    """The integers that stand for infinities of an algebra: limits of the dtype; none if it has no infinity.

    For records those of each integer component, by its name: the values of zero, one and the star of one. The numbers
    of a vector share them.

    >>> import semiring as sr
    >>> infinities(sr.min_plus, np.dtype("i2")), infinities(sr.mod_p(7), np.dtype("i2"))
    ({32767: inf, -32768: -inf}, {})
    """
    if dtype.names is not None:
        neutral = [S.components_of(e) for e in (S.zero, S.one) if e is not None]
        if S.one is not None and not S.product_only:
            A, one = S.over(S.default_dtype), np.array([tuple(S.components_of(S.one))], S.default_dtype)
            if A.defined(one).all():
                neutral.append(A.star(one)[0].tolist())  # the value of infinitely many walks
        constants = dict(zip(S.default_dtype.names or (), zip(*neutral, strict=True), strict=True))
        found = {}
        for field in dtype.names:
            part, numbers = dtype[field].base, [name for name, _ in flat_field(field, dtype[field])]
            if part.kind in "iu":
                ends = {x for name in numbers for x in constants[name] if x in (np.inf, -np.inf)}
                found[field] = {int(cast_constant(x, part)): x for x in ends}
        return found
    if dtype.kind not in "iu":
        return {}
    floats = [d for d in S.dtypes if d.kind == "f"]
    has = {x for x in (np.inf, -np.inf) for d in floats[:1] if S.over(d).contains(np.array([x], d))[0]}
    if dtype.kind == "u":
        has.discard(-np.inf)  # 0 is a number
    if "∞" in S.notation:  # in sets of bits only declarations call the full set ∞
        has |= {x for x in (S.zero, S.one) if x in (np.inf, -np.inf)}
    return {int(S.over(dtype).element(x)): x for x in (np.inf, -np.inf) if x in has}


def with_infinities(array: np.ndarray, S: Semiring) -> np.ndarray:
    """Elements as people read them: integers that stand for ∞ become floats, or Python numbers if floats would round.

    Parameters
    ----------
    array : ndarray
        Returned as it is if no integer stands for ∞.
    S : Semiring

    Returns
    -------
    ndarray
        Of the same shape; in records only components with an ∞ change.

    Examples
    --------
    >>> import semiring as sr
    >>> with_infinities(np.array([3, 127], "i1"), sr.min_plus), with_infinities(np.array([3, 4], "i1"), sr.min_plus)
    (array([ 3., inf]), array([3, 4], dtype=int8))
    """
    if array.dtype.names is None:
        return _numbers(array, shown_infinities(S, array.dtype)) if array.dtype.kind in "iu" else array
    if not any(array.dtype[f].base.kind in "iu" for f in array.dtype.names):
        return array
    meant = infinities(S, array.dtype)
    parts = {f: _numbers(array[f], {limit: x for limit, x in meant.get(f, NONE).items() if limit})
             for f in array.dtype.names}
    if all(part.dtype == array.dtype[f].base for f, part in parts.items()):
        return array
    made = np.empty(array.shape, [(f, part.dtype, array.dtype[f].shape) for f, part in parts.items()])
    for f, part in parts.items():
        made[f] = part
    return made


def as_stored(array: np.ndarray, S: Semiring, dtype: np.dtype) -> np.ndarray | None:
    """Undo `with_infinities`: the elements in their dtype; None for any other array.

    >>> import semiring as sr
    >>> as_stored(np.array([3.0, np.inf]), sr.min_plus, np.dtype("i1"))
    array([  3, 127], dtype=int8)
    """
    if dtype.names is None:
        return _limits(array, dtype, shown_infinities(S, dtype)) if dtype.kind in "iu" else None
    if array.dtype == dtype or array.dtype.names != dtype.names:
        return None
    meant, made = infinities(S, dtype), np.empty(array.shape, dtype)
    for f in dtype.names:
        part: np.ndarray | None = array[f]
        if array.dtype[f].base != dtype[f].base:
            part = _limits(array[f], dtype[f].base, {limit: x for limit, x in meant.get(f, NONE).items() if limit})
        if part is None or part.shape != made[f].shape:
            return None
        made[f] = part
    return made


def shown_infinities(S: Semiring, dtype: np.dtype) -> dict[int, float]:
    """The integers that are shown as ±∞: those of `infinities`, except the 0 of unsigned dtypes, which is a number.

    >>> import semiring as sr
    >>> shown_infinities(sr.max_min, np.dtype("i1")), shown_infinities(sr.max_min, np.dtype("u1"))
    ({127: inf, -128: -inf}, {255: inf})
    """
    return {limit: x for limit, x in infinities(S, dtype).items() if dtype.kind != "u" or limit}


def _numbers(array: np.ndarray, meant: Mapping[Any, Any]) -> np.ndarray:
    """Integers, some of which stand for infinities; see `with_infinities`."""
    endless = {x: array == limit for limit, x in meant.items()}
    if not any(where.any() for where in endless.values()):
        return array
    finite = np.where(np.logical_or.reduce(list(endless.values())), array.dtype.type(0), array)
    exact = not finite.size or max(int(finite.max()), -int(finite.min())) <= EXACT
    made = finite.astype(np.float64 if exact else object)
    for x, where in endless.items():
        made[where] = x
    return made


def _limits(array: np.ndarray, dtype: np.dtype, meant: Mapping[Any, Any]) -> np.ndarray | None:
    """The integers from which `_numbers` made these, or None if they are others."""
    if array.dtype not in (np.dtype(np.float64), np.dtype(object)) or not meant:
        return None
    if array.dtype == object and not all(type(x) is int or x in (np.inf, -np.inf) for x in array.flat):
        return None
    endless = {limit: array == x for limit, x in meant.items()}
    some = np.logical_or.reduce(list(endless.values()))
    finite = np.where(some, 0, array)
    if not some.any() or (array.dtype != object and not np.all((np.trunc(finite) == finite) & (abs(finite) <= EXACT))):
        return None
    if finite.min() < np.iinfo(dtype).min or finite.max() > np.iinfo(dtype).max or np.isin(finite, list(meant)).any():
        return None
    made = finite.astype(dtype)
    for limit, where in endless.items():
        made[where] = limit
    return made


def element_text(value: Any, zero: Any, absent: str, infinite: Mapping[Any, Any] = NONE, minus: str = "-") -> str:
    """An element for a table: `absent` if it is the algebra's zero, ∞ for infinities, long texts cut.

    `infinite` says which integers stand for infinities, see `infinities`; `minus` is the sign of negative numbers.

    >>> element_text(frozenset({(9.0, 0.0), (3.0, 5.0)}), frozenset(), "·"), element_text(-2.5, 0, "·", minus="−")
    ('{(3, 5), (9, 0)}', '−2.5')
    """
    return absent if is_same(value, zero) else plain_text(value, infinite, minus)


def plain_text(value: Any, infinite: Mapping[Any, Any] = NONE, minus: str = "-") -> str:
    """An element for a table in which zero is not special; see `element_text`."""
    number = isinstance(value, (np.number, np.bool_, int, float, complex))
    return clip(_plain(value, infinite, minus), LABEL if number else OBJECT)


def readable(value: Any, infinite: Mapping[Any, Any] = NONE) -> Any:
    """An element for a file: the shortest text of a float that reads back unchanged, inf for infinities, 0 and 1.

    `infinite` says which integers stand for infinities; see `infinities`. Numbers that Python can write stay numbers,
    records become tuples, and objects stay.

    >>> readable(np.float32(0.1)), readable(np.int8(127), {127: np.inf}), readable(np.True_)
    ('0.1', inf, 1)
    """
    if isinstance(value, np.void) and value.dtype.names:
        return tuple(readable(value[field], infinite.get(field, NONE)) for field in value.dtype.names)
    if isinstance(value, np.ndarray):
        return [readable(part, infinite) for part in value]
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    if isinstance(value, (np.float16, np.float32)):
        return str(value)
    plain = value.item() if isinstance(value, np.generic) else value
    return infinite.get(plain, plain) if infinite else plain


def aligned(texts: Sequence[str]) -> list[str]:
    """Align numbers at their decimal points, and to one width.

    >>> aligned(["2.5", "10", "∞", "0.125"])
    [' 2.5  ', '10    ', ' ∞    ', ' 0.125']
    """
    points = [min((at for mark in ".e" if (at := text.find(mark)) >= 0), default=len(text)) for text in texts]
    before = max(points, default=0)
    placed = [" " * (before - point) + text for text, point in zip(texts, points, strict=True)]
    width = max(map(len, placed), default=0)
    return [text.ljust(width) for text in placed]


def is_same(value: Any, other: Any) -> bool:
    """Whether two elements are equal, records and records of arrays included."""
    return bool(np.all(value == other))


def _plain(value: Any, infinite: Mapping[Any, Any], minus: str) -> str:
    if isinstance(value, np.void) and value.dtype.names:
        parts = (_plain(value[field], infinite.get(field, NONE), minus) for field in value.dtype.names)
        return "(" + ", ".join(parts) + ")"
    if isinstance(value, np.ndarray):
        return "[" + ", ".join(_plain(part, infinite, minus) for part in value) + "]"
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, (int, np.integer)) and not isinstance(value, np.timedelta64):
        value = infinite.get(int(value), value)
    if isinstance(value, (float, np.floating)) and np.isinf(value):
        return "∞" if value > 0 else f"{minus}∞"
    return shown(show(value, minus))


def clip(text: str, most: int = LABEL) -> str:
    """A text cut to some characters; a page shows the whole of it when a pointer is over it.

    >>> clip("a wheelbarrow"), clip("a very old wheelbarrow"), clip("a very old wheelbarrow").whole
    ('a wheelbarrow', 'a very old whee…', 'a very old wheelbarrow')
    """
    return text if len(text) <= most else Cut(text[: most - 1] + "…", getattr(text, "whole", text))


def quoted(found: Any) -> str:
    """The contents of a file or an argument, as code for a message, cut if it is long."""
    text = shown(_code(found))
    return text if len(text) <= QUOTED else text[:QUOTED] + "…"


def clip_repr(name: Any) -> str:
    """A name, or any other value, as code, cut if it is long."""
    return clip(shown(_code(name)))


def _code(found: Any) -> str:
    try:
        return repr(found)
    except ValueError:  # Python refuses to write integers of more than 4300 digits
        return hex(found) if isinstance(found, int) else object.__repr__(found)


def count_text(number: int, one: str, many: str) -> str:
    """A number with its noun."""
    return f"{number} {one if number == 1 else many}"
