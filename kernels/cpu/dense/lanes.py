"""Products and closures of small matrices by vectors: of an algebra's expressions in one storage type.

    row i of C ← row i of C ⊕ a_ik ⊗ row k of B       for k = 0, 1, …, with some rows of C in registers

`small` gives the compiled functions (lanes_template.py). `product` is an operation: a function of 64-bit integers that
other compiled code calls by its address, for a whole stack or for one matrix:

    from semiring.kernels.cpu.compile.raw import call
    address = small(lowering).product                           # an integer, once
    call(address, (a, a_step, a_row, a_column, b, …))           # in machine code; see the docstring in the template

`from_python` of jit.py makes a function of Python from it, which lets other threads run.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np

from semiring.algebra.evaluate import Rules
from semiring.algebra.expression import Expression, apply, constant, operand
from semiring.kernels.cpu.compile import cache
from semiring.kernels.cpu.compile.program import Program, has_fma, host_features, imports_of, program
from semiring.kernels.cpu.compile.rules import LANES, function, vectors
from semiring.kernels.cpu.compile.templated import Templated
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.contraction import fuses_in_step, hides_no_infinity, operand_ranges, whole_step

TEMPLATE = Path(__file__).with_name("lanes_template.py")
POWERS = Path(__file__).with_name("powers_template.py")
SIDE = 64  # rows and columns of the largest matrix
MOST_TERMS = 1 << 26  # of a call, between two of which an interrupt is heard


def geometry(parts: tuple[np.dtype, ...]) -> tuple[int, int, bool]:
    """Lanes of a vector, rows of C that stay in registers, and whether the processor has masks for such vectors."""
    features = host_features()
    wide = bool(features.get("avx512f") and features.get("avx512bw") and features.get("avx512vl"))
    size = 64 if wide else 32 if features.get("avx2") else 16
    registers = 32 if wide or features.get("neon") else 16
    sizes = [part.itemsize for part in parts]
    count = size // min(sizes)
    each = sum(sizes) * count // size  # registers of an element
    height = max(h for h in (8, 4, 2, 1) if h == 1 or h * each <= registers // 2)
    return count, height, wide


def scalar_and_vectors(lowering: Lowering) -> Program:
    """The Numba text of a lowering, and after it what the templates call: functions over vectors, and sizes."""
    text, parts, form = program(lowering), lowering.components, lowering.log_sum
    contracted = replace(LANES, fuses=functools.partial(hides_no_infinity, operand_ranges(lowering)))
    rules = contracted if has_fma() else replace(LANES, fused={})
    functions = [
        vectors("inside_vectors", "a", [is_inside(lowering)], parts, [np.dtype(bool)], replace(LANES, fused={})),
        function("inside", "a", [is_inside(lowering)], parts, [np.dtype(bool)]),
    ]
    if form is None:
        functions += [_combine(lowering, rules), vectors("scaled_vectors", "a, b", lowering.scale.outputs, parts,
                                                         rules=rules)]
    count, height, masked = geometry(parts)
    height = 1 if any("v.each(" in each for each in functions) else height
    names = ", ".join(f"np.{part.type.__name__}" for part in parts)
    sizes = {"COUNT": count, "HEIGHT": height, "MASKED": masked, "SIDE": SIDE, "PARTS": f"({names},)",
             "ZEROS": "ZERO" if len(parts) > 1 else "(ZERO,)"}
    if form is not None:
        sizes |= {"BINARY": form.binary, "NEGATED": form.negated, "FUSED": has_fma()}
    head = f"from semiring.kernels.cpu.compile.{'lane_powers import Powers' if form else 'lane_rows import Rows'}"
    assigned = "".join(f"{name} = {value}\n" for name, value in sizes.items())
    own = "\n".join(functions)
    prelude = f"{text.prelude if form is None else ''}{imports_of(own)}{own}\n\n{head}\n\n{assigned}\n\n"
    digest = blake2b(prelude.encode(), digest_size=4).hexdigest()
    return replace(text, name=f"lanes_{'_'.join(p.name for p in parts)}_{digest}", prelude=prelude)


def _combine(lowering: Lowering, rules: Rules) -> str:
    """x ⊕ a ⊗ b as `semiring.kernels.cpu.compile.program` has it for single elements, to the bit."""
    parts, (mul, *_) = lowering.components, lowering.mul.outputs
    step = whole_step(lowering, mul) if has_fma() else None
    if step is not None:
        fused = replace(rules, fuses=fuses_in_step(lowering, mul))
        return vectors("combine_vectors", "x, a, b, unit", [step], parts, rules=fused)
    if lowering.fused_sum and has_fma():
        times = "def times_vectors(v, a, b, unit):\n    return v.fma(b, unit, a)\n"
    else:
        times = vectors("times_vectors", "a, b, unit", lowering.mul.outputs, parts, rules=rules)
    plus = vectors("plus_vectors", "x, t", lowering.add.outputs, parts, rules=replace(rules, fused={}))
    return f"{times}\n\n{plus}\n\ndef combine_vectors(v, x, a, b, unit):\n" \
           "    return plus_vectors(v, x, times_vectors(v, a, b, unit))\n"


def is_inside(lowering: Lowering) -> Expression:
    """The condition that a number is an element: not NaN, and in the carrier if storage holds the data as they are."""
    S, dtype = lowering.algebra, lowering.dtype
    parts = lowering.components
    condition = constant(True)
    for c, part in enumerate(parts):
        if part.kind == "f":
            fine = apply("equal", operand(0, c), operand(0, c))
            condition = fine if condition is constant(True) else apply("logical_and", condition, fine)
    if lowering.is_identity and S.traced is not None:
        condition = apply("logical_and", condition, S.carrier_in(dtype))
    return condition


class Small(Templated):
    """The compiled functions of small matrices of one lowering: see lanes_template.py.

    Parameters
    ----------
    lowering : Lowering
        Of machine numbers or records of them.
    """

    def __init__(self, lowering: Lowering):
        self.program = scalar_and_vectors(lowering)
        self.template = TEMPLATE if lowering.log_sum is None else POWERS

    @functools.cached_property
    def product(self) -> int:
        """C ← A ⊗ B or C ⊕ A ⊗ B on matrices of a stack."""
        return self.address("product")

    @functools.cached_property
    def close(self) -> int:
        """D ← D* on matrices of a stack."""
        return self.address("close")


@functools.lru_cache(1024)
def small(lowering: Lowering) -> Small:
    """The functions of a lowering."""
    return Small(lowering)


class OfStacks(NamedTuple):
    """A function on stacks, as a purpose of compiled code."""

    made: Callable[[Lowering], Small]
    function: str

    def code(self, lowering: Lowering) -> list[cache.Function]:
        """What is compiled for a lowering."""
        return self.made(lowering).code(self.function)


PRODUCTS, CLOSURES = OfStacks(small, "product"), OfStacks(small, "close")


@functools.lru_cache(1024)
def fits(lowering: Lowering) -> bool:
    """Whether vectors are faster for a lowering: not where scalar functions take the time."""
    return lowering.kind == "numba" and "v.each(" not in small(lowering).program.prelude
