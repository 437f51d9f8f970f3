"""`planned`: makes a function of one that says what to compute, so that `semiring.plan` shows how."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar

from semiring.graphs.dims import labelled
from semiring.machine.memory import require
from semiring.solvers.plan import Plan
from semiring.solvers.task import UNCHECKED_BYTES

P = ParamSpec("P")
R = TypeVar("R")


class Computation(Protocol):
    """What a function of `planned` returns."""

    def plan(self) -> Plan:
        """Return the plan that gives the answer."""


SHAPES: dict[str, Callable[..., Computation]] = {}  # functions that say what to compute, by the name of the verb


def planned(build: Callable[P, R]) -> Callable[P, R]:
    """Make a verb: it runs the plan of what `build` returns, after a look whether there is memory for it.

    The function is annotated with the type of the answer, for its callers.
    """
    SHAPES[build.__name__] = build  # type: ignore[assignment]

    @wraps(build)
    def computed(*operands: P.args, **options: P.kwargs) -> R:
        plan: Plan = build(*operands, **options).plan()  # type: ignore[attr-defined]
        if plan.memory > UNCHECKED_BYTES:
            require(plan.memory, *plan.shortage, on_gpu=plan.lowering.on_gpu)
        answer: Any = plan.run()
        if any(hasattr(type(x), "coords") for x in (*operands, *options.values())):  # as arrays of xarray have
            answer = labelled(build, operands, options, answer)
        return answer

    return computed
