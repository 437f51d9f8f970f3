"""A task, the offers to compute it, and computing it by the first offer that does not decline.

    a verb and its operands → Task → offers(task), best first → Plan.run() → the answer

A solver is a module of this folder with a function `offer(task)`, which returns a `Plan` or None; the rows of `SOLVERS`
say which are asked, and in which order. What `semiring.plan` prints is the plan that would run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, cached_property, lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.algorithms.blocks import UndefinedStar
from semiring.errors import NoClosureError, SemiringError
from semiring.graphs.texts import clip_repr
from semiring.kernels.build import kernel
from semiring.kernels.lowering.base import Lowering
from semiring.machine.memory import in_words, require
from semiring.operands.devices import LEAST_WORK
from semiring.operands.operand import Operand
from semiring.operands.place import place

LARGE = 1 << 26  # bytes; larger allocations are checked against free memory
DEVICES = ("cpu", "gpu", "cuda")
ORDERS = ("auto", "metis", "levels", "natural")

# For each verb and kind of operand the solvers that are asked, one module each. A matrix by its entries, or packed,
# decides where operands are of several kinds.
SOLVERS: dict[str, dict[str, tuple[str, ...]]] = {
    "closure": {
        "dense": ("schedules",),
        "device": ("speculation", "sixteen_bits", "schedules"),
        "sparse": ("components", "elimination", "schedules"),
        "packed": ("schedules",),
    },
    "matmul": {
        "dense": ("products",),
        "device": ("speculation", "sixteen_bits", "products"),
        "sparse": ("sparse_products",),
        "packed": ("products",),
    },
    "factor": {
        "dense": ("factors",),
        "device": ("factors",),
        "sparse": ("elimination",),
        "packed": ("factors",),
    },
    "solve": {
        "dense": ("factors",),
        "device": ("factors",),
        "sparse": ("elimination", "factors"),
        "packed": ("factors",),
    },
    "rows": dict.fromkeys(("dense", "device", "sparse", "packed"), ("search",)),
    "path": dict.fromkeys(("dense", "device", "sparse", "packed"), ("search",)),
}


@dataclass(frozen=True)
class Options:
    """What a caller may ask for; each verb documents those that it has."""

    method: str = "auto"
    reflexive: bool = True
    overwrite: bool = False
    device: str | None = None
    tile: int | None = None
    check: bool = True
    packed: bool = False
    progress: bool | Callable[[float], None] = False
    order: str = "auto"
    predecessors: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.method, str):
            raise SemiringError(f"method must be the name of one, such as 'auto', and is {clip_repr(self.method)}")
        if self.device is not None and not (isinstance(self.device, str) and self.device in DEVICES):
            raise SemiringError(
                f"unknown device {clip_repr(self.device)}: it is 'cpu', 'gpu', or None for the best of them"
            )
        if self.order not in ORDERS:
            raise SemiringError(f"order must be 'auto', 'metis', 'levels' or 'natural', and is {self.order!r}")
        tile = self.tile
        if tile is not None and (not isinstance(tile, (int, np.integer)) or isinstance(tile, bool) or tile < 1):
            raise SemiringError(f"tile must be a positive whole number, and is {clip_repr(tile)}")
        if self.progress is not False and self.progress is not True and not callable(self.progress):
            raise SemiringError(f"progress must be True, False or a function of a number, and is "
                                f"{clip_repr(self.progress)}")
        for name in ("reflexive", "overwrite", "check", "packed", "predecessors"):
            value = getattr(self, name)
            if value is not True and value is not False and not isinstance(value, (np.bool_, int)):
                raise SemiringError(f"{name} must be True or False, and is {clip_repr(value)}")

    @cached_property
    def usual(self) -> bool:
        """Whether all is left as it is, but for the device."""
        return all(getattr(self, f.name) == f.default for f in fields(self) if f.name != "device")


DEFAULTS = Options()


@lru_cache(256, typed=True)
def _options(*given: Any) -> Options:
    return Options(*given)


def options(
    method: str = "auto", reflexive: bool = True, overwrite: bool = False, device: str | None = None,
    tile: int | None = None, check: bool = True, packed: bool = False,
    progress: bool | Callable[[float], None] = False, order: str = "auto", predecessors: bool = False,
) -> Options:
    """Checked options; those of an earlier call again."""
    given = (method, reflexive, overwrite, device, tile, check, packed, progress, order, predecessors)
    if callable(progress):  # which nobody holds longer than the call
        return Options(*given)
    try:
        return _options(*given)
    except TypeError:  # what cannot be hashed is no option, and is refused by name
        return Options(*given)


@dataclass(eq=False)
class Plan:
    """What will be done, and why; `print` it.

    Attributes
    ----------
    operation : str
        "closure", "matmul", "factor", "solve", "rows" or "path".
    algebra : Semiring
    shape : tuple of int
        Of the answer.
    method : str
        The solver's name for what it does: a schedule, "sparse elimination", "components", …
    lowering : Lowering
        How elements are stored and computed.
    place : str
        The device; empty for that of the lowering's engine.
    work : float
        Multiply-adds: one ⊗ and one ⊕ each.
    memory : int
        Bytes beyond the operands.
    reasons : dict
        Why, by row of the printed plan.
    tile : int
        Rows of a pivot block, or of the blocks that are closed directly; 0 where there are none.
    """

    operation: str
    algebra: Semiring
    shape: tuple[int, ...]
    method: str
    lowering: Lowering
    place: str
    work: float
    memory: int
    runner: Callable[[Any], Any] = field(repr=False, compare=False)  # of the plan
    needs: tuple[str, str] | None = None  # what is short of memory, and what helps, if it can be said better
    reasons: dict[str, str] = field(default_factory=dict)
    tile: int = 0

    def run(self) -> Any:
        """Do it."""
        return self.runner(self)

    @property
    def device(self) -> str:
        """Where it is done."""
        return self.place or kernel(self.lowering).place

    @property
    def shortage(self) -> tuple[str, str]:
        """What is short of memory where there is not enough, and what helps."""
        shape = " × ".join(map(str, self.shape))
        dtype = "bits" if self.lowering.kind == "packed" else self.lowering.dtype
        what = f"the {shape} product" if self.operation == "matmul" else f"the {self.operation} of {shape} {dtype}"
        return self.needs or (what, "use a narrower dtype or fewer vertices")

    def rows(self) -> dict[str, str]:
        """What is printed, by name."""
        low, shape = self.lowering, " × ".join(map(str, self.shape))
        dtype = low.dtype
        shown = ", ".join(f"{f} {dtype[f].name}" for f in dtype.names) if dtype.names else str(dtype.name)
        rows = {
            "operation": f"{self.operation} over {self.algebra.name}, {shape}, {shown}",
            "method": self.method,
            "tile": str(self.tile),
            "lowering": f"{low.name}, stored as {'bits' if low.kind == 'packed' else low.storage}",
            "device": self.device,
            "work": f"{self.work:.3g} multiply-adds",
            "memory": f"{in_words(self.memory)} beyond the operands",
        }
        return {name: text for name, text in rows.items() if name != "tile" or self.tile}

    def __str__(self) -> str:
        reasons = {"lowering": self.lowering.reason, **self.reasons}
        return "\n".join(
            f"{name:<10} {text}" + (f"  ({reasons[name]})" if reasons.get(name) else "")
            for name, text in self.rows().items()
        )

    __repr__ = __str__


def nothing(plan: Any) -> None:
    """Stands in a plan that is not run."""


class Declined(Exception):
    """A solver found while running that another has to do it: a wrong guess, too few bits, another order needed."""


class Task:
    """A verb, an algebra, operands and options.

    Attributes
    ----------
    verb : str
    S : Semiring
    given : sequence of Operand
        As they came in.
    operands : sequence of Operand
        Where they will be computed on.
    options : Options
    arguments : tuple
        Of the verb, besides: sources, targets.
    observers : list of callable
        Who wants to know which plan was run.
    """

    __slots__ = ("S", "arguments", "given", "kind", "observers", "operands", "options", "verb")

    def __init__(
        self, verb: str, S: Semiring, operands: Sequence[Operand], options: Options, arguments: tuple[Any, ...] = (),
        work: float = 0.0,
    ):
        self.verb, self.S, self.options, self.arguments = verb, S, options, arguments
        self.observers: list[Callable[[Plan], None]] = []
        self.given = self.operands = operands
        kinds = {given.kind for given in operands}
        # These solvers place their operands, and the host's need no placing where nobody asks for a GPU.
        stays = verb in ("rows", "path") or (verb == "matmul" and "sparse" in kinds and "packed" not in kinds)
        here = (kinds == {"device"} and options.device != "cpu") or (
            kinds == {"dense"} and (options.device == "cpu" or (options.device is None and work < LEAST_WORK))
        )
        if not here and not stays:
            self.operands = place(operands, options.device, work)
            kinds = {given.kind for given in self.operands}
        self.kind = next(k for k in ("packed", "sparse", "device", "dense") if k in kinds)

    @property
    def names(self) -> Any:
        """Of the vertices."""
        return self.operands[0].names


@cache
def solver(name: str) -> Callable[[Task], Plan | None]:
    """The function of a solver; its module is loaded when it is first asked."""
    offer: Callable[[Task], Plan | None] = import_module(f"semiring.solvers.{name}").offer
    return offer


def offers(task: Task) -> Iterator[Plan]:
    """Offers to compute a task, best first, each made when the one before has declined."""
    for name in SOLVERS[task.verb][task.kind]:
        plan = solver(name)(task)
        if plan is not None:
            yield plan


def compute(task: Task) -> Any:
    """The answer to a task; every verb ends here."""
    refused: Exception | None = None
    for plan in offers(task):
        if plan.memory > LARGE:
            require(plan.memory, *plan.shortage, on_gpu=plan.lowering.on_gpu)
        try:
            answer = plan.run()
            for told in task.observers:
                told(plan)
            return answer
        except Declined as e:
            refused = e.__cause__  # type: ignore[assignment]
        except UndefinedStar as e:
            raise undefined_star(task.S, task.names, e.pivot) from None
    assert refused is not None
    raise refused


def undefined_star(S: Semiring, names: Any, pivot: int) -> NoClosureError:
    """The refusal where a pivot has no star."""
    vertex = names[pivot] if names is not None else pivot
    return NoClosureError(
        f"the closure over {S.name} does not exist: eliminating vertex {vertex!r} needs the star of an element that "
        "has none (a cycle through it has no limit, or its weight leaves the dtype's range). The input is unchanged "
        "unless overwrite=True",
        vertex=vertex,
    )
