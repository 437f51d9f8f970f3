"""The question that an algebra answers about a graph, in words, and weights for it made from lengths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from semiring.algebra.objects import letter
from semiring.algebra.semiring import Semiring

Edges = Sequence[tuple[int, int]]
LETTERS = "pqrstuvwxyzabcdefghijklmnoABCDEFGHIJKLMNOPQRSTUVWXYZαβγδζηθικλμνξοπρστυφχψω"

QUESTIONS = {
    "boolean": "Is there a walk?",
    "min-plus": "How long is the shortest walk?",
    "max-plus": "How long is the longest walk?",
    "max-min": "How wide is the widest walk, at its narrowest edge?",
    "min-max": "How small can the largest edge of a walk be?",
    "plus-times": "What do all walks add up to?",
    "viterbi": "How likely is the likeliest walk?",
    "max-times": "How large is the largest product along a walk?",
    "counting": "How many walks are there?",
    "log": "How likely are all walks together, as a logarithm?",
    "regex": "Which words do the walks spell?",
    "shortest-count": "How long is the shortest walk, and how many are that short?",
    "shortest-hops": "How long is the shortest walk, and how few edges has it?",
    "3-best": "How long are the three shortest walks?",
    "widest-shortest": "How long is the shortest walk, and how wide?",
    "pareto": "Which trade-offs between two costs are best?",
    "why": "Which sets of edges suffice?",
}


def question(S: Semiring) -> str:
    """Return the question that the closure of an algebra answers, in words.

    >>> import semiring as sr
    >>> question(sr.boolean)
    'Is there a walk?'
    """
    if S.name in QUESTIONS:
        return QUESTIONS[S.name]
    if S.description:
        return f"{S.description[0].upper()}{S.description[1:]}, from each vertex to every other one"
    if S.selective:
        return f"{S.name}: what is the value of the best walk?"
    return f"{S.name}: what do the values of all walks combine to?"


def _lengths(lengths: Sequence[float], edges: Edges) -> list[Any]:
    return list(lengths)


def _ones(lengths: Sequence[float], edges: Edges) -> list[Any]:
    return [1] * len(edges)


def chances(lengths: Sequence[float], edges: Edges) -> list[Any]:
    """Short edges are likely: 1 minus the length, scaled so that the longest stays below 1."""
    largest = max(map(abs, lengths), default=0) + 1
    return [min(max(round(1 - abs(x) / largest, 2), 0.05), 0.95) for x in lengths]


def _shares(lengths: Sequence[float], edges: Edges) -> list[Any]:
    """Nine tenths of a vertex, shared equally by the edges that leave it, so that sums over walks converge."""
    leaving = [sum(u == v for v, _ in edges) for u, _ in edges]
    return [round(0.9 / k, 2) if k > 1 else 0.9 for k in leaving]


def _letters(lengths: Sequence[float], edges: Edges) -> list[Any] | None:
    return [letter(x) for x in LETTERS[: len(edges)]] if len(edges) <= len(LETTERS) else None


# The algebras that a page offers in addition to its own, by their Python names.
OFFERED: dict[str, Callable[[Sequence[float], Edges], list[Any] | None]] = {
    "boolean": _ones, "min_plus": _lengths, "max_min": _lengths, "viterbi": chances, "plus_times": _shares,
    "counting": _ones, "shortest_count": _lengths, "k_best": _lengths, "regex": _letters,
}
