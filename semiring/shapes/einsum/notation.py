"""The notation of `einsum`: which axes each operand has, and which ones the answer has.

    "bij,jk->bik"                     letters, one for each axis
    "batch i j, j k -> batch i k"     names, with blanks between them
    A, [0, 1], B, [1, 2], [0, 2]      lists of integers, names or other labels, one after each operand

`parse` reads such a text, `read_lists` such lists; `fit` matches them with the shapes of the operands.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from semiring.errors import SemiringError
from semiring.graphs.names import is_hashable, is_missing
from semiring.graphs.texts import clip_repr, count_text, quoted

Axis = Hashable
DOTS = "..."


class Broadcast(NamedTuple):
    """An axis that an ellipsis stands for; the last one is number −1, as in NumPy's broadcasting."""

    number: int

    def __str__(self) -> str:
        return f"{DOTS}[{self.number}]"


class Terms(NamedTuple):
    """An expression: the axes of each operand and of the answer, with `DOTS` for an ellipsis."""

    text: str
    operands: tuple[tuple[Axis, ...], ...]
    output: tuple[Axis, ...] | None  # None: the axes that occur once


class Fitted(NamedTuple):
    """An expression that fits the shapes of its operands.

    Attributes
    ----------
    operands : tuple of tuple
        The axes of each operand; None for an axis of one element that is broadcast, and is dropped.
    output : tuple
        The axes of the answer.
    sizes : dict
        The size of each axis.
    """

    operands: tuple[tuple[Axis | None, ...], ...]
    output: tuple[Axis, ...]
    sizes: Mapping[Axis, int]


@lru_cache(1024)
def parse(expression: str) -> Terms:
    """Read an expression as text.

    Axes are letters, unless some term has a blank between two of its parts, a digit or an underscore: then the axes of
    all terms are names.

    Raises
    ------
    SemiringError
        For a text that cannot be read as an expression.

    Examples
    --------
    >>> parse("bij,jk->bik").operands, parse("i j, j time -> time").output
    ((('b', 'i', 'j'), ('j', 'k')), ('time',))
    >>> parse("ij ->").output, parse("ij,jk").output
    ((), None)
    """
    left, arrow, right = expression.partition("->")
    for part in (left, right):
        if any(c in part.replace(DOTS, "") for c in "->.") or ("," in right):
            raise SemiringError(f"einsum cannot read {quoted(expression)}: write terms with ',' between operands, "
                                "and one '->' before the axes of the answer, as in 'ij,jk->ik'; '...' has three dots")
    terms = [*left.split(","), *([right] if arrow else [])]
    words = [term.replace(DOTS, f" {DOTS} ").split() for term in terms]
    axes = [word for term in words for word in term if word != DOTS]
    named = any(len(term.split()) > 1 for term in terms) or not all(map(str.isalpha, axes))
    for axis in axes:
        if named and not axis.isidentifier():
            raise SemiringError(f"einsum cannot read the axis {axis!r} in {quoted(expression)}: an axis is a letter "
                                "as in 'ij,jk->ik', or a name as in 'batch i, i state -> batch state'")
    split = [tuple(x for word in term for x in ([word] if named or word == DOTS else word)) for term in words]
    output = split.pop() if arrow else None
    return _checked(Terms(expression, tuple(split), output))


def read_lists(arguments: Sequence[Any]) -> tuple[list[Any], Terms]:
    """Read operands with a list of labels after each, and perhaps a last list for the answer.

    Raises
    ------
    SemiringError
        For arguments that are not such pairs.

    Examples
    --------
    >>> read_lists(["A", [0, 1], "B", [1, ...], [0, ...]])[1].operands
    ((0, 1), (1, '...'))
    """
    output = _labels(arguments[-1], "for the answer") if len(arguments) % 2 else None
    pairs = arguments[: len(arguments) // 2 * 2]
    found = tuple(_labels(x, f"after operand {i}") for i, x in enumerate(pairs[1::2]))
    if not found:
        raise SemiringError("einsum takes an expression first, as in einsum('ij,jk->ik', A, B, S=sr.min_plus), or a "
                            "list of axes after each operand, as in einsum(A, [0, 1], B, [1, 2], [0, 2], S=…)")
    text = ", ".join(map(_spelled, found)) + ("" if output is None else f" -> {_spelled(output)}")
    return list(pairs[::2]), _checked(Terms(text, found, output))


def _labels(given: Any, where: str) -> tuple[Axis, ...]:
    if not isinstance(given, (list, tuple)):
        raise SemiringError(f"einsum needs a list of axes {where}, and got {clip_repr(given)}: write an expression "
                            "first, einsum('ij,jk->ik', A, B, S=…), or einsum(A, [0, 1], B, [1, 2], [0, 2], S=…)")
    made = tuple(DOTS if x is ... else x for x in given)
    for label in made:
        if is_missing(label) or not is_hashable(label):
            raise SemiringError(f"einsum cannot use {clip_repr(label)} as the name of an axis {where}: it must be a "
                                "number, a string or a tuple of them")
    return made


def _spelled(axes: Sequence[Axis | None]) -> str:
    return " ".join(map(str, axes))


def _checked(terms: Terms) -> Terms:
    """Refuse what no shapes could fit."""
    known = {axis for term in terms.operands for axis in term}
    of = f"of {quoted(terms.text)}"
    for i, term in enumerate((*terms.operands, terms.output or ())):
        if term.count(DOTS) > 1:
            where = f"operand {i}" if i < len(terms.operands) else "the answer"
            raise SemiringError(f"{where} {of} has two ellipses: one '...' stands for all axes without a name")
    for axis in terms.output or ():
        if axis not in known and axis != DOTS:
            raise SemiringError(f"axis {axis} of the answer {of} is in no operand: take it out of the answer, or give "
                                "it to an operand")
        if terms.output and terms.output.count(axis) > 1:
            raise SemiringError(f"axis {axis} is twice in the answer {of}: take the answer without the second one, and "
                                "put it on a diagonal yourself")
    return terms


def fit(terms: Terms, shapes: Sequence[tuple[int, ...]]) -> Fitted:
    """Match an expression with the shapes of its operands.

    Raises
    ------
    SemiringError
        If they do not fit: it says which operand and which axis.

    Examples
    --------
    >>> fit(parse("ij,jk"), [(2, 3), (3, 4)]).output
    ('i', 'k')
    >>> fit(parse("ij,jk"), [(2, 3), (4, 4)])
    Traceback (most recent call last):
    semiring.errors.SemiringError: axis j of 'ij,jk' has 3 elements in operand 0, of shape (2, 3), and 4 in operand 1, \
of shape (4, 4); an axis has one size: pass operands that agree, or give one of the two axes another name
    """
    refuse_count(terms, len(shapes))
    expanded = [_expanded(terms, i, shape) for i, shape in enumerate(shapes)]
    sizes: dict[Axis, int] = {}
    owner: dict[Axis, int] = {}
    for i, (axes, shape) in enumerate(zip(expanded, shapes, strict=True)):
        for axis, size in zip(axes, shape, strict=True):
            if isinstance(axis, Broadcast) and sizes.get(axis, 1) == 1:
                sizes[axis], owner[axis] = size, i
            elif sizes.setdefault(axis, size) != size and not (isinstance(axis, Broadcast) and size == 1):
                _refuse_sizes(terms, axis, owner.get(axis, i), i, shapes)
            owner.setdefault(axis, i)
    dropped = [tuple(None if isinstance(axis, Broadcast) and size != sizes[axis] else axis
                     for axis, size in zip(axes, shape, strict=True))
               for axes, shape in zip(expanded, shapes, strict=True)]
    return Fitted(tuple(dropped), _output(terms, expanded), sizes)


def refuse_count(terms: Terms, count: int) -> None:
    """Refuse an expression unless it has one term for each operand.

    Raises
    ------
    SemiringError
    """
    if count != len(terms.operands):
        raise SemiringError(f"{quoted(terms.text)} has {count_text(len(terms.operands), 'term', 'terms')}, one for "
                            f"each operand, and einsum got {count_text(count, 'operand', 'operands')}")


def _expanded(terms: Terms, i: int, shape: tuple[int, ...]) -> tuple[Axis, ...]:
    """The axes of an operand, with those that its ellipsis stands for."""
    term = terms.operands[i]
    named = len(term) - (DOTS in term)
    if len(shape) < named or (len(shape) > named and DOTS not in term):
        hint = "; '...' stands for axes without a name"
        if len(shape) < named:
            letters = all(isinstance(a, str) and (len(a) == 1 or a == DOTS) for a in term)
            hint = "; each letter is an axis, unless some term has a blank" if letters and named > 1 else ""
        raise SemiringError(f"operand {i} of {quoted(terms.text)} has {count_text(len(shape), 'axis', 'axes')}, "
                            f"shape {shape}, but its term {_spelled(term)!r} names "
                            f"{count_text(named, 'axis', 'axes')}{hint}")
    if DOTS not in term:
        return term
    at, more = term.index(DOTS), len(shape) - named
    return (*term[:at], *(Broadcast(k - more) for k in range(more)), *term[at + 1 :])


def _refuse_sizes(terms: Terms, axis: Axis, i: int, j: int, shapes: Sequence[tuple[int, ...]]) -> None:
    def size_in(number: int) -> int:
        axes = _expanded(terms, number, shapes[number])
        return shapes[number][len(axes) - 1 - axes[::-1].index(axis)]

    if i == j:
        raise SemiringError(f"axis {axis} is twice in operand {i} of {quoted(terms.text)}, which takes a diagonal, "
                            f"but the shape {shapes[i]} has different sizes there: give the two axes different names")
    hint = "; an axis has one size: pass operands that agree, or give one of the two axes another name"
    if isinstance(axis, Broadcast):
        hint = "; axes of '...' are matched from the last one, and need equal sizes, or one element"
    elif 1 in (size_in(i), size_in(j)):
        one = i if size_in(i) == 1 else j
        hint = f"; to repeat the one element of operand {one}, take that axis out of it, or write '...'"
    raise SemiringError(f"axis {axis} of {quoted(terms.text)} has {count_text(size_in(i), 'element', 'elements')} "
                        f"in operand {i}, of shape {shapes[i]}, and {size_in(j)} in operand {j}, of shape {shapes[j]}"
                        f"{hint}")


def _output(terms: Terms, expanded: Sequence[tuple[Axis, ...]]) -> tuple[Axis, ...]:
    """The axes of the answer; by default those of an ellipsis, then those that occur once, sorted."""
    every = [axis for axes in expanded for axis in axes]
    dots = sorted({axis for axis in every if isinstance(axis, Broadcast)})
    if terms.output is not None:
        if dots and DOTS not in terms.output:
            raise SemiringError(f"'...' of {quoted(terms.text)} stands for {count_text(len(dots), 'axis', 'axes')}, "
                                "and the answer has no '...': write it there, or name these axes to sum over them")
        return tuple(a for axis in terms.output for a in (dots if axis == DOTS else [axis]))
    once: list[Any] = [a for a in dict.fromkeys(every) if not isinstance(a, Broadcast) and every.count(a) == 1]
    try:
        once.sort()
    except TypeError:
        raise SemiringError(f"the axes of {quoted(terms.text)} cannot be sorted, so write those of the answer"
                            ) from None
    return (*dots, *once)
