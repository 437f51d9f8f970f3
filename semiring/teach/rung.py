"""A rung of the ladder: one algorithm of the literature, where it comes from, what limits it, and how to run it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import LawError
from semiring.solvers.methods import resolve_method


@dataclass(frozen=True)
class Rung:
    """One algorithm of the literature, on one kind of device.

    Attributes
    ----------
    name : str
        As pages, plots and commands call it: "katz-kider".
    title : str
        Who, and what: "Katz and Kider: blocked in three phases".
    year : int
    source : str
        Authors, title, where it appeared.
    idea : str
        What it does, in a sentence or two.
    limit : str
        What limits it.
    filled_in : str
        What the source leaves open, and how it is settled here; empty where nothing is.
    device : {"cpu", "gpu"}
    module : str
        The page of code: "semiring.algorithms.history.katz_kider".
    refuses : callable
        Of an algebra, a dtype and an order: why it cannot close such a matrix; None where it can.
    close : callable
        Of an array on its device and an algebra: the closure, a new array of the same type.
    """

    name: str
    title: str
    year: int
    source: str
    idea: str
    limit: str
    filled_in: str
    device: str
    module: str
    refuses: Callable[[Semiring, np.dtype, int], str | None]
    close: Callable[[Any, Semiring], Any]


def unless_idempotent(S: Semiring) -> str | None:
    """Why repeated squaring cannot close a matrix over an algebra; None where it can."""
    try:
        resolve_method("squaring", S)
    except LawError as e:
        return str(e).removesuffix("; use method='auto'")
    return None
