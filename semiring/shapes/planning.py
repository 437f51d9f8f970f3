"""The plan of an einsum: its steps, their work, and the largest array between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.algebra.tables import dtype_text
from semiring.graphs.texts import clip, count_text
from semiring.kernels.facts import Facts
from semiring.solvers.forms import plain_form
from semiring.solvers.plan import Plan

from .contraction import Steps, Sum
from .nested import most_bytes
from .notation import Axis

SHOWN = 12  # steps that are printed
LONGEST = 80  # characters of an expression that are printed


@dataclass(eq=False, kw_only=True)
class EinsumPlan(Plan):
    """The steps of an einsum, before anything is allocated.

    Attributes
    ----------
    expression : str
    steps : Steps
    """

    expression: Final[str] = ""
    steps: Final[Steps] = field(repr=False)

    def rows(self) -> dict[str, str]:
        """Return the printed rows, by name."""
        shape = " × ".join(map(str, self.shape)) or "one number"
        rows = super().rows() | {
            "operation": f"einsum over {self.algebra.name}, {clip(self.expression, LONGEST)}, {shape}, "
            f"{dtype_text(self.lowering.dtype)}"
        }
        return rows

    def _structure(self) -> dict[str, str]:
        """The steps, and the largest array between operands and answer."""
        steps = self.steps
        own = spelling(steps)
        lines = [_described(step, own, steps) for step in steps.steps]
        if len(lines) > SHOWN:
            most = sorted(range(len(lines)), key=lambda k: -steps.steps[k].work)[:SHOWN]
            lines = [f"the {SHOWN} with the most work of {len(lines)}:", *(lines[k] for k in sorted(most))]
        size = steps.size(steps.largest)
        bytes_each = self.lowering.dtype.itemsize
        return {
            "steps": "\n           ".join(lines) or "none",
            "largest": f"{size} elements, {size * bytes_each} bytes, of axes {own(steps.largest)}" if lines else "",
        }


def spelling(steps: Steps) -> Callable[[Sequence[Axis]], str]:
    """How axes are written: letters side by side, names with blanks between."""
    letters = all(isinstance(a, str) and len(a) == 1 for a in steps.sizes)
    return lambda axes: ("" if letters else " ").join(map(str, axes)) or "()"


def _described(step: Any, own: Callable[[Sequence[Axis]], str], steps: Steps) -> str:
    if isinstance(step, Sum):
        return f"{own(step.given)} → {own(step.axes)}: ⊕ of {step.work:.3g} elements"
    made = f"{own(step.left_axes)}, {own(step.right_axes)} → {own(step.axes)}"
    b, m, k, n = (steps.size(x) for x in (step.batch, step.left_free, step.summed, step.right_free))
    if not step.summed:
        return f"{made}: {count_text(steps.size(step.axes), 'product', 'products')} of elements"
    stack = f"{b} × " if step.batch else ""
    return f"{made}: {stack}({m} × {k}) ⊗ ({k} × {n}), {step.work:.3g} multiply-adds"


def plan_of(
    S: Semiring, dtype: np.dtype, text: str, steps: Steps, argmax: bool, runner: Callable[[Any], Any], on_gpu: bool,
    nests: bool,
) -> EinsumPlan:
    """The plan of the steps, which the host computes by nests of loops if `nests`."""
    place, low = "CPU", None
    if on_gpu:
        from semiring.kernels.cuda.choose import without_facts
        from semiring.kernels.cuda.compile.launch import device_name

        place, low = device_name(), without_facts(S, dtype)
    output = tuple(steps.sizes[a] for a in steps.fitted.output)
    how = "nests of loops" if nests else "terms in turn" if argmax and not on_gpu else "products of pairs"
    memory = steps.most * dtype.itemsize if on_gpu else most_bytes(steps, S, dtype, argmax)
    return EinsumPlan(
        operation="einsum", algebra=S, shape=output, method=how, lowering=low or plain_form(S, dtype, Facts(), 3),
        work=steps.work, memory=memory, runner=runner, place=place, expression=text, steps=steps,
        reasons={"method": "no array is transposed between the products"} if nests else {},
        needs=(f"an array of axes {spelling(steps)(steps.largest)} between the operands and the answer",
               "print sr.plan('einsum', …) for the steps; sum fewer axes at once, or use a narrower dtype"),
    )
