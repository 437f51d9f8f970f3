"""A rung of the ladder: one algorithm of the literature, its source, its limit, and its code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import LawError, SemiringError
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.solvers.cycles import look_for_cycles, may_diverge, settle
from semiring.solvers.dense.schedules import resolve_method
from semiring.solvers.forms import refuse_overflow

GROWS = ("rounding errors grow from pivot to pivot along cycles of weight one; semiring.closure finds that out and "
         "squares the matrix instead, in which they do not")


@dataclass(frozen=True)
class Rung:
    """One algorithm of the literature, on one kind of device.

    Attributes
    ----------
    name : str
        Its name in pages, plots and commands: "katz-kider".
    title : str
        The authors and the algorithm: "Katz and Kider: blocked in three phases".
    year : int
    source : str
        Authors, title, and where it appeared.
    idea : str
        The algorithm in a sentence or two.
    limit : str
        What limits it.
    filled_in : str
        What the source leaves open, and how it is settled here; empty if nothing is.
    device : {"cpu", "gpu"}
    module : str
        The module with the code: "semiring.algorithms.history.katz_kider".
    refuses : callable
        Takes an algebra, a dtype and an order; returns why it cannot close such a matrix, or None.
    close : callable
        Takes an array on its device and an algebra; returns the closure, a new array of the same type.
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


def finished(work: Any, given: Any, facts: Facts, low: Lowering) -> Any:
    """A closure in storage as data, or an error if it does not exist; `given` is the matrix."""
    if may_diverge(low):
        verdict = look_for_cycles(low, work, given, facts, None)
        if verdict.unstable and verdict.error is None:
            raise SemiringError(GROWS)
        settle(low, work, verdict)
    result = low.decode(work)
    if not low.drops_nan:
        refuse_overflow(low, result)
    return result


def unless_idempotent(S: Semiring) -> str | None:
    """Why repeated squaring cannot close a matrix over an algebra; None if it can."""
    try:
        resolve_method("squaring", S)
    except LawError as e:
        return str(e).removesuffix("; use method='auto'")
    return None
