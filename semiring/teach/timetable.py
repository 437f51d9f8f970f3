"""`explain_timetable`: events that wait for each other, as a page with a slider for each duration."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from semiring.algebra.catalogue import catalogue
from semiring.algebra.notation import written
from semiring.api import cycle_mean
from semiring.errors import SemiringError
from semiring.graphs.graph import as_graph
from semiring.operands.operand import order_of_one
from semiring.operands.read import operand

from .elements import Elements
from .explanation import MOST_VERTICES, entries_of
from .layout import Place, placed
from .page import assembled, script
from .shown import Shown

MOST_DECIMALS, LONGEST = 3, 10**6
RAILWAY = [("Ayr", "Bute", 5), ("Bute", "Ayr", 4), ("Bute", "Coll", 3), ("Coll", "Ayr", 5), ("Coll", "Dale", 4),
           ("Dale", "Bute", 6), ("Dale", "Elie", 2), ("Elie", "Dale", 3), ("Elie", "Elie", 3)]
STATIONS = {"Ayr": (0.0, 1.0), "Bute": (1.0, 1.0), "Coll": (0.4, 0.0), "Dale": (1.5, 0.2), "Elie": (2.2, 0.8)}


class TimetableExplanation(Shown):
    """A timetable over max-plus; `semiring.explain_timetable` makes it.

    It prints its cycle time. A notebook shows it as the page that `save` writes.

    Attributes
    ----------
    names : list of str
        The events.
    edges : list of (int, int)
        Which event waits for which: the second for the first.
    durations : list of Fraction
        How long it waits, for each edge.
    title : str
        The title of the page.
    height : int
        The height of a notebook's frame in pixels, where the page cannot choose it.

    Examples
    --------
    >>> import semiring as sr
    >>> print(sr.explain_timetable())
    5 events, 9 durations
    The cycle time is 9/2: Ayr → Bute → Ayr
    """

    height = 1200

    def __init__(
        self, names: list[str], durations: dict[tuple[int, int], Fraction], positions: list[Place], title: str
    ):
        self.names, self.positions, self.title = names, positions, title
        self.edges, self.durations = list(durations), list(durations.values())

    def __repr__(self) -> str:
        return f"<TimetableExplanation: {self._summary()}>"

    def __str__(self) -> str:
        A = np.full((len(self.names),) * 2, -np.inf)
        for edge, duration in zip(self.edges, self.durations, strict=True):
            A[edge] = float(duration)
        cycle = cycle_mean(A, catalogue["max_plus"])[1]
        if cycle is None:
            return f"{self._summary()}\nIt has no cycle, and so no cycle time"
        of = dict(zip(self.edges, self.durations, strict=True))
        steps = list(pairwise(cycle))
        mean = sum((of[edge] for edge in steps), Fraction()) / len(steps)
        return f"{self._summary()}\nThe cycle time is {mean}: {' → '.join(self.names[v] for v in cycle)}"

    def _summary(self) -> str:
        def many(n: int, one: str) -> str:
            return f"{n} {one}" if n == 1 else f"{n} {one}s"

        return f"{many(len(self.names), 'event')}, {many(len(self.edges), 'duration')}"

    def _page(self) -> str:
        decimals = max((_decimals(d) for d in self.durations), default=0)
        data = {
            "title": self.title, "names": self.names, "positions": self.positions, "edges": self.edges,
            "step": 10.0**-decimals, "unit": 10**MOST_DECIMALS,
            "durations": [int(d * 10**MOST_DECIMALS) for d in self.durations],
        }
        scripts = map(script, ("values", "maxplus", "frame", "player", "graph", "timetable"))
        return assembled("timetable", self.title, data, list(scripts), ("page", "timetable"))


def explain_timetable(A: Any = None, *, positions: Any = None, title: str | None = None) -> TimetableExplanation:
    """Show a network of events that wait for each other, and its cycle time.

    The page has a slider for each duration. It shows when events take place in each round, from which round on their
    times repeat, the cycle time, the critical cycles, and how much longer each duration may be before anything changes.

    Parameters
    ----------
    A : array_like, sparse matrix or graph, shape (n, n), optional
        The durations, as for `closure` over max-plus, of 1 to 12 vertices: an edge from u to v says that each event of
        v waits for the event of u in the round before. Default: a small railway.
    positions : mapping or sequence of pairs, optional
        Coordinates of the vertices, with y pointing up. Default: on a circle with few crossings.
    title : str, optional
        The title of the page.

    Returns
    -------
    TimetableExplanation
        It prints the cycle time; notebooks show the page, and `save` writes it.

    Raises
    ------
    SemiringError
        If there are more than 12 vertices or none, a duration has more than three decimals or more than a million,
        or a vertex of `positions` is unknown.

    Notes
    -----
    The times are x(t + 1) = x(t) ⊗ A over max-plus, in exact arithmetic; as columns, Aᵀ ⊗ x(t). The greatest mean
    weight of a cycle is computed by R. M. Karp's theorem: A characterization of the minimum cycle mean in a digraph
    (1978).

    Examples
    --------
    >>> import semiring as sr
    >>> E = sr.explain_timetable([[2.0, 5.0], [3.0, 3.0]])
    >>> print(E)
    2 events, 4 durations
    The cycle time is 4: 0 → 1 → 0
    """
    if A is None:
        A, positions = as_graph(RAILWAY), STATIONS if positions is None else positions
    S = catalogue["max_plus"]
    given = operand(A, S)
    n = order_of_one(given.shape)
    if not 0 < n <= MOST_VERTICES:
        raise SemiringError(f"explain_timetable shows networks of 1 to {MOST_VERTICES} vertices, but this one has {n}")
    durations = {edge: _duration(x) for edge, x in sorted(entries_of(given, Elements(S)).items())}
    names = [str(v) for v in (range(n) if given.names is None else given.names)]
    drawn = placed(positions, n, list(durations), given.names)
    return TimetableExplanation(names, durations, drawn, title or "A timetable that breathes")


def _duration(x: Any) -> Fraction:
    """A weight as an exact number with few decimals."""
    if not np.isfinite(x) or abs(x) > LONGEST:
        raise SemiringError(f"a duration is a number up to {LONGEST:,}, not {written(x)}")
    found = Fraction(repr(float(x)))
    if _decimals(found) > MOST_DECIMALS:
        raise SemiringError(f"a duration has at most {MOST_DECIMALS} decimals, but {x!s} has more: round it")
    return found


def _decimals(x: Fraction) -> int:
    return next((d for d in range(MOST_DECIMALS + 1) if (x * 10**d).denominator == 1), MOST_DECIMALS + 1)
