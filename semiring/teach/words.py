"""The description of each step: a title, the equation over blocks, and the rule of the entry; pages use it, too.

In a rule, {t} is the entry that is written, {s} the pivot's own entry, and {p} the names of the pivots.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from semiring.algebra.expression import Traced
from semiring.algebra.semiring import Semiring

from .elements import Elements
from .replay import Step
from .walks import Walks

BRACKETS = re.compile(r"\([^()]*\)|\{.*\}|∅")  # a text that is in brackets, and one sign
FULL = 4  # terms that a rule names one by one
LONG = 80  # characters of a list of walks
ADDING = ("pivot", "product")  # kinds of steps that add to the old value


class Words(NamedTuple):
    """The words for a kind of step."""

    title: str
    blocks: str
    rule: str = ""


KINDS = {
    "star": Words("All walks from {p} back to {p}", "D ← D*", "{t} ← {t}*"),
    "row": Words("Walks that leave {p}: loops there come first", "R ← D ⊗ R", "{t} ← {s}* ⊗ {t}"),
    "pivot": Words("Let walks pass through {p}", "X ← X ⊕ C ⊗ R"),
    "column": Words("Walks that arrive at {p}: loops there come last", "C ← C ⊗ D", "{t} ← {t} ⊗ {s}*"),
    "left": Words("Walks that leave the block {p}: walks within it come first", "R ← D ⊗ R"),
    "product": Words("Let walks pass through the block {p}", "X ← X ⊕ C ⊗ R"),
    "right": Words("Walks that arrive in the block {p}: walks within it come last", "C ← C ⊗ D"),
    "square": Words("Join two walks: twice as many edges", "B ← A ⊗ A"),
    "one": Words("Staying is a walk too, without edges", "A ← 1 ⊕ A", "{t} ← 1 ⊕ {t}"),
    "copy": Words("The new entries take the place of the old", "A ← B", "all of them at once"),
}

LETTERS = "D is the block of pivots, R the rest of its rows, C the rest of its columns, X the other entries"

# The place of ⊕ and ⊗ in equations of numbers: between operands, or before them in brackets.
SIGNS = {
    "minimum": ("before", "min"), "maximum": ("before", "max"), "add": ("between", "+"), "multiply": ("between", "×"),
    "saturating_add": ("between", "+"), "saturating_multiply": ("between", "×"), "logical_or": ("between", "or"),
    "logical_and": ("between", "and"), "logaddexp": ("before", "logaddexp"), "bitwise_or": ("between", "|"),
    "bitwise_and": ("between", "&"), "bitwise_xor": ("between", "xor"), "gcd": ("before", "gcd"),
    "lcm": ("before", "lcm"),
}
OBJECT_SIGNS = {"regex": (("between", "|"), ("between", ""))}


def signs(S: Semiring) -> tuple[tuple[str, str], tuple[str, str]]:
    """The signs of ⊕ and ⊗ of an algebra between numbers, and their places.

    >>> import semiring as sr
    >>> signs(sr.min_plus), signs(sr.shortest_count)
    ((('before', 'min'), ('between', '+')), (('between', '⊕'), ('between', '⊗')))
    """
    if S.name in OBJECT_SIGNS:
        return OBJECT_SIGNS[S.name]
    if S.traced is None:
        return ("between", "⊕"), ("between", "⊗")
    return _sign(S, S.traced.add, "⊕"), _sign(S, S.traced.raw_mul, "⊗")


def _sign(S: Semiring, operation: Traced, other: str) -> tuple[str, str]:
    if not S.is_record:
        for name, sign in SIGNS.items():
            if operation.is_plain(name):
                return sign
    return "between", other


def joined(sign: tuple[str, str], parts: Sequence[str]) -> str:
    """⊕ or ⊗ of texts.

    >>> joined(("before", "min"), ["3", "4"]), joined(("between", "+"), ["3", "4"])
    ('min(3, 4)', '3 + 4')
    """
    place, text = sign
    if len(parts) == 1:
        return parts[0]
    if place == "before":
        return f"{text}({', '.join(parts)})"
    return (f" {text} " if text else "").join(parts)


def walk_text(walk: Sequence[int], names: Sequence[str], stay: str = "staying") -> str:
    """A walk by the names of its vertices."""
    return f"{stay} at {names[walk[0]]}" if len(walk) == 1 else " → ".join(names[v] for v in walk)


def walks_text(walks: Walks, names: Sequence[str], selects: bool) -> str:
    """The walk of a value if ⊕ selects, else all walks that it combines."""
    if not walks.shortest:
        return "no walk"
    if selects:
        return walk_text(walks.shortest[0], names)
    several = len(walks.shortest) > 1 or walks.more
    texts = [walk_text(walk, names, "stay" if several else "staying") for walk in walks.shortest]
    over = "combines: " if several else ""
    fitting = next((i for i in range(1, len(texts)) if len("; ".join(texts[: i + 1])) > LONG), len(texts))
    return over + "; ".join(texts[:fitting]) + ("; …" if walks.more or fitting < len(texts) else "")


class Line(NamedTuple):
    """A step in words."""

    title: str
    blocks: str
    rule: str
    numbers: str
    walks: str


def line(step: Step, names: Sequence[str], elements: Elements) -> Line:
    """A step in words: its title, the equations, and the walks of the new value."""
    words, (plus, times) = KINDS[step.kind], signs(elements.S)
    title = words.title.format(p=", ".join(names[v] for v in step.pivots))
    if step.kind == "copy":
        return Line(title, words.blocks, words.rule, "", "")
    target, was = _entry(step.matrix, names[step.row], names[step.column]), elements.text(step.old)
    if step.terms:
        present = [t for t in step.terms
                   if not elements.same(t.first, elements.zero) and not elements.same(t.second, elements.zero)]
        rule = f"{target} ← {_rule(step, target, [names[t.through] for t in present], names)}"
        parts = [joined(times, [elements.text(t.first), elements.text(t.second)]) for t in present]
        if plus[0] == times[0] == "between" and times[1] not in ("×", ""):
            parts = [f"({text})" for text in parts]
        if step.kind in ADDING:
            parts = [was, *parts]
        numbers = joined(plus, parts) if parts else elements.text(elements.zero)
    else:
        pivot = names[step.pivots[0] if step.pivots else step.row]
        rule = words.rule.format(t=target, s=_entry(step.matrix, pivot, pivot))
        factor = [elements.text(step.factor), was]
        numbers = {
            "star": f"{was}*" if BRACKETS.fullmatch(was) else f"({was})*",
            "one": joined(plus, [elements.text(elements.one), was]),
            "row": joined(times, factor), "column": joined(times, factor[::-1]),
        }[step.kind]
    return Line(title, words.blocks, rule, f"= {numbers} = {elements.text(step.new)}",
                walks_text(step.walks, names, elements.S.selective))


def _entry(matrix: str, row: str, column: str) -> str:
    return f"{'d' if matrix == 'A' else 'new d'}({row}, {column})"


def _rule(step: Step, target: str, present: Sequence[str], names: Sequence[str]) -> str:
    """The sum that is written; if there are many terms, with a letter for the vertex in the middle."""
    # A panel is multiplied in place: its old values are read.
    old = {"left": ("", "old "), "right": ("old ", "")}.get(step.kind, ("", ""))
    sources = step.reads[0][0], step.reads[1][0]

    def product(k: str) -> str:
        first = _entry(sources[0], names[step.row], k)
        return f"{old[0]}{first} ⊗ {old[1]}{_entry(sources[1], k, names[step.column])}"

    own = [target] if step.kind in ADDING else []
    if len(step.terms) <= FULL:
        return " ⊕ ".join([*own, *(product(names[t.through]) for t in step.terms)])
    return " ⊕ ".join([*own, f"⊕ₖ {product('k')}"]) + (f", k = {', '.join(present)}" if present else "")
