"""From a lowering to the engine that runs it. Engines with the same expressions share their compiled code."""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np

from .lowering import Lowering


def kernel(lowering: Lowering) -> Any:
    """The kernel (`semiring.kernels.interface.Kernel`) of a lowering."""
    made = lowering.__dict__.get("_kernel")
    if made is None:
        # Kept on the lowering, which is itself kept: finding it again costs no hashing of expressions.
        made = _on_gpu(lowering) if lowering.on_gpu else _kernel(_Keyed(lowering))
        lowering.__dict__["_kernel"] = made
    return made


def _on_gpu(lowering: Any) -> Any:
    from .cuda.engine import kernel as cuda_kernel

    return cuda_kernel(lowering)


class _Keyed:
    """A lowering that equals another when the code for both is the same."""

    def __init__(self, lowering: Lowering):
        self.lowering, self.key = lowering, lowering.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Keyed) and self.key == other.key


@lru_cache(256)
def _kernel(keyed: _Keyed) -> Any:
    lowering = keyed.lowering
    if lowering.kind == "objects":
        from .cpu.objects import ObjectKernel

        return ObjectKernel(lowering)
    if lowering.kind == "packed":
        from .cpu.boolean import BooleanKernel

        return BooleanKernel()
    if lowering.kind == "planes":
        from .cpu.planes import PlanesKernel

        return PlanesKernel()
    from .cpu.dense import BlasKernel, DenseKernel

    return (BlasKernel if lowering.blas else DenseKernel)(lowering, program(lowering))


def program(lowering: Lowering) -> Any:
    """The Numba text of a lowering."""
    from .cpu.engine import Program, has_fma
    from .cpu.rules import HELPERS, function

    components = lowering.components
    mul = function("times", "a, b, unit", lowering.mul.outputs, components)
    if lowering.fused_sum and has_fma():
        mul = "@inline\ndef times(a, b, unit):\n    return fma(b, unit, a)\n"
    functions = [
        mul,
        function("scaled", "a, b", lowering.scale.outputs, components),
        function("plus", "x, t", lowering.add.outputs, components),
        function("star", "a", lowering.star.outputs, components),
        function("defined", "a", [lowering.defined], components, [np.dtype(bool)]),
    ]
    text = "\n\n".join(functions)
    helpers = [name for name in HELPERS if re.search(rf"\b(?<!\.){name}\(", text)]
    imports = f"from semiring.kernels.cpu.scalar import {', '.join(helpers)}\n\n\n" if helpers else ""
    prelude = f"{imports}{text}\n\n"
    digest = blake2b(prelude.encode(), digest_size=4).hexdigest()
    kinds = "_".join(d.name for d in components)
    return Program(f"{kinds}_{digest}", components, lowering.zero, lowering.one, prelude)
