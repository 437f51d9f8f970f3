"""The plan of an einsum: its steps, their work, which way runs each, and the largest array between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from semiring.algebra.semiring import Semiring
from semiring.algebra.tables import dtype_text
from semiring.graphs.texts import clip, count_text
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.solvers.forms import plain_form
from semiring.solvers.plan import Plan

from .contraction import Product, Steps, Sum
from .nested import is_due, most_bytes, suited
from .nests import Contraction
from .notation import Axis
from .reading import Operands

SHOWN = 12  # steps that are printed
LONGEST = 80  # characters of an expression that are printed


@dataclass(eq=False, kw_only=True)
class EinsumPlan(Plan):
    """The steps of an einsum, before anything is allocated.

    Attributes
    ----------
    expression : str
    steps : Steps
    contraction : Contraction, optional
        The nests of loops that run the products; without it they run one after the other.
    """

    expression: Final[str] = ""
    steps: Final[Steps] = field(repr=False)
    contraction: Final[Contraction | None] = field(default=None, repr=False)

    def rows(self) -> dict[str, str]:
        """Return the printed rows, by name."""
        shape = " × ".join(map(str, self.shape)) or "one element"
        rows = super().rows() | {
            "operation": f"einsum over {self.algebra.name}, {clip(self.expression, LONGEST)}, {shape}, "
            f"{dtype_text(self.lowering.dtype)}"
        }
        return rows

    def _structure(self) -> dict[str, str]:
        """The steps, and the largest array between operands and answer."""
        steps = self.steps
        own = spelling(steps)
        nests = iter(self.contraction.shapes if self.contraction else ())
        lines = [_described(step, own, steps, next(nests, None) if isinstance(step, Product) else None)
                 for step in steps.steps]
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


def _described(
    step: Sum | Product, own: Callable[[Sequence[Axis]], str], steps: Steps, nest: tuple[int, int, int, int] | None
) -> str:
    """A step with its work, and which way it runs."""
    if isinstance(step, Sum):
        return f"{own(step.given)} → {own(step.axes)}: ⊕ of {step.work:.3g} elements, one pass"
    made = f"{own(step.left_axes)}, {own(step.right_axes)} → {own(step.axes)}"
    b, m, k, n = (steps.size(x) for x in (step.batch, step.left_free, step.summed, step.right_free))
    if not step.summed:
        work, way = f"{count_text(steps.size(step.axes), 'product', 'products')} of elements", "by element"
    else:
        stack = f"{b} × " if step.batch else ""
        work, way = f"{stack}({m} × {k}) ⊗ ({k} × {n}), {step.work:.3g} multiply-adds", "matmul"
    if nest:
        count, m, k, n = nest
        way = f"loops around {count} × ({m} × {k}) ⊗ ({k} × {n})"
    return f"{made}: {work}, {way}"


def plan_of(
    S: Semiring, given: Operands, text: str, steps: Steps, argmax: bool, check: bool, runner: Callable[[Any], Any]
) -> EinsumPlan:
    """The plan of the steps on operands."""
    dtype, place, contraction = given.dtype, "CPU", None
    low: Lowering
    how, reason = "terms in turn" if argmax and not given.on_gpu else "products of pairs", ""
    if given.on_gpu:
        from semiring.kernels.cuda.choose import without_facts
        from semiring.kernels.cuda.compile.launch import device_name

        place, low, memory = device_name(), without_facts(S, dtype), steps.bytes(dtype.itemsize, argmax)
    elif (nests := suited(steps, S, given, argmax, check)) is None:
        low, memory = plain_form(S, dtype, Facts(), 3), most_bytes(steps, S, dtype, argmax)
    elif is_due(*nests):
        low, contraction = nests
        how, reason = "nests of loops", "no array is transposed between the products"
        memory = contraction.bytes + (steps.places if argmax else 0)
    else:
        low, memory = nests[0], most_bytes(steps, S, dtype, argmax)
        reason = "nests of loops are predicted to be faster, and are not compiled"
    return EinsumPlan(
        operation="einsum", algebra=S, shape=tuple(steps.sizes[a] for a in steps.fitted.output), method=how,
        lowering=low, work=steps.work, memory=memory, runner=runner, place=place, expression=text, steps=steps,
        contraction=contraction, reasons={"method": reason},
        needs=(f"an array of axes {spelling(steps)(steps.largest)} between the operands and the answer",
               "print sr.plan('einsum', …) for the steps; sum fewer axes at once, or use a narrower dtype"),
    )
