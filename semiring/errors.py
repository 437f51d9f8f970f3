"""Every error the library raises on purpose; all are ``ValueError`` so that callers need not know the tree."""

from __future__ import annotations

from typing import Any


class SemiringError(ValueError):
    """Something the caller asked for cannot be done; the message says what, where, and what to do."""


class TraceError(SemiringError):
    """An operation of an algebra could not be turned into an expression."""


class LawError(SemiringError):
    """An algebra lacks a law that was declared or is needed; the message carries a witness."""


class NoClosureError(SemiringError):
    """The closure does not exist: an improving cycle, or a star that is undefined at a pivot.

    Attributes
    ----------
    vertex : int or hashable
        A vertex at which the closure fails.
    cycle : list or None
        Vertices of an improving cycle through it, first vertex repeated at the end;
        ``None`` where the algebra has no paths (⊕ is not selective).
    weight : object or None
        The ⊗-product along that cycle.
    """

    def __init__(self, message: str, *, vertex: Any = None, cycle: list[Any] | None = None, weight: Any = None):
        super().__init__(message)
        self.vertex = vertex
        self.cycle = cycle
        self.weight = weight


class GraphError(SemiringError):
    """A graph or a file that cannot be read as one; the message names the line or the entry."""


class SemiringWarning(UserWarning):
    """Something works, but not in the way the caller may expect."""
