"""Vertices that are called by name, and names that are nearly right."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Hashable, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from semiring.errors import GraphError

from .texts import quoted

CLOSE = 20_000  # names that are searched for a near one
LONG = 200  # characters from which a name is near to none, since a comparison takes the square of them


class Named:
    """Vertices that are called by name, or by position where they have no names."""

    n: int
    names: list[Any] | None

    @cached_property
    def _positions(self) -> dict[Hashable, int]:
        return {name: i for i, name in enumerate(self.names or ())}

    def index(self, name: Hashable) -> int:
        """Position of a vertex.

        Parameters
        ----------
        name : hashable
            A vertex's name; its position, where the vertices have no names.

        Returns
        -------
        int
            From 0 to n − 1.

        Raises
        ------
        GraphError
            There is no such vertex; the message suggests a near name.

        Examples
        --------
        >>> import semiring as sr
        >>> sr.as_graph([("home", "mill"), ("mill", "shop")]).index("shop")
        2
        """
        if self.names is not None:
            try:
                return self._positions[name]
            except (KeyError, TypeError):
                raise GraphError(f"no vertex is called {quoted(name)}{near(name, self.names)}") from None
        span = f"the vertices have no names, they are the integers {span_text(self.n)}"
        try:
            position = operator.index(name)  # type: ignore[arg-type]
        except TypeError:
            raise GraphError(f"vertex {quoted(name)}: {span}") from None
        if not 0 <= position < self.n:
            raise GraphError(f"vertex {position}: {span}")
        return position

    def _check_names(self) -> None:
        if self.names is None:
            return
        if len(self.names) != self.n:
            raise GraphError(f"{len(self.names)} names for {self.n} vertices: give one for each")
        seen: set[Hashable] = set()
        if len(set(self.names)) < self.n:
            for i, name in enumerate(self.names):
                if name in seen:
                    raise GraphError(f"two vertices are called {quoted(name)} (the second is number {i})")
                seen.add(name)


def span_text(n: int) -> str:
    """The positions of n vertices in words."""
    return f"0 to {n - 1}" if n else "of a graph without vertices"


def near(name: Any, names: Sequence[Any]) -> str:
    """The part of a message that suggests a name close to one that is unknown, empty if none is."""
    texts = {text: known for known in islice(names, CLOSE) if len(text := str(known)) <= LONG}
    text = str(name)
    # half, so that "mk" finds "km"
    close = difflib.get_close_matches(text, texts, n=1, cutoff=0.5) if len(text) <= LONG else []
    return f"; did you mean {quoted(texts[close[0]])}?" if close else ""


def is_hashable(value: Any) -> bool:
    """Whether a value can name a vertex."""
    # a tuple claims to be hashable also where what it holds is not
    try:
        hash(value)
    except TypeError:
        return False
    return True


def is_integer(name: Any) -> bool:
    """Whether a name is an integer, and no truth value."""
    return isinstance(name, (int, np.integer)) and not isinstance(name, bool)


def is_missing(value: Any) -> bool:
    """None, NaN, and what pandas writes for a value that is not there."""
    if isinstance(value, (float, np.floating)):
        return bool(value != value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")
