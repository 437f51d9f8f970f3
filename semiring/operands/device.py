"""Read arrays in the memory of a GPU: CuPy arrays, and arrays of other libraries by DLPack."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.graphs.foreign import CUDA, HOST, device_of, imported, is_sparse_tensor, kind_of, refuse_marked
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering

from .dense import Dense, Wrap, carried_by
from .devices import to_host, upload
from .examine import examine
from .operand import Operand

PACKED_SIDE = 512  # rows and columns from which packing truth values on a GPU is worth its time


class Device(Dense):
    """A CuPy array."""

    kind = "device"
    on_gpu = True

    def lowering(self, facts: Facts, length: int, *, in_place: bool = False, packed: bool = False) -> Lowering:
        """The form in which to compute on it; see `semiring.kernels.cuda.choose.choose`."""
        from semiring.kernels.cuda.choose import choose

        packed = packed and min(self.shape) >= PACKED_SIDE
        return choose(self.S, self.dtype, facts, length, in_place=in_place, packed=packed)

    def form(
        self, length: int, *, beside: Sequence[Operand] = (), check: bool = True, in_place: bool = False,
        packed: bool | None = None,
    ) -> tuple[Facts, Lowering]:
        """Facts about the elements, and the form in which to compute; without `check` the elements are not read."""
        packed = len(self.shape) == 2 if packed is None else packed
        if not check:
            return Facts(), self.unchecked_lowering(packed)
        facts = self._facts_with(beside)
        return facts, self.lowering(facts, length, in_place=in_place, packed=packed)

    def _facts_with(self, beside: Sequence[Operand]) -> Facts:
        """Facts about all elements together; two looks at parts would gather less than one look at all."""
        if not beside:
            return self.facts
        return examine(self.S, self.dtype, [(x.what, x.array) for x in (self, *beside)])  # type: ignore[attr-defined]

    @cached_property
    def bounded(self) -> bool:
        """Whether no edge is better than one."""
        import cupy

        from semiring.kernels.cuda.sparse.trees import CudaTreeKernel, lowering_for

        low = lowering_for(self.S, self.dtype, self.facts, 3)
        elements = low.encode(cupy.ascontiguousarray(self.array), not low.is_identity)
        return not CudaTreeKernel(low, False).improves(elements)

    def unchecked_lowering(self, packed: bool) -> Lowering:
        """The form that is right for any data."""
        from semiring.kernels.cuda.choose import without_facts

        if packed and self.dtype.kind == "b":
            return self.lowering(Facts(two_valued=True), 1, packed=True)
        return without_facts(self.S, self.dtype)


def read_cupy(A: Any, S: Semiring, what: str) -> Device:
    """Read a CuPy array."""
    if S.lift is not None and S.lift.takes(A.dtype):
        A = lifted_on_device(A, S)
    return Device(carried_by(A, S, what), S, what)


def lifted_on_device(weights: Any, S: Semiring) -> Any:
    """Records for numbers on a GPU, made there if the lift takes such arrays, else by the host."""
    assert S.lift is not None
    found = S.lift.on_device(weights)
    return upload(S.lift(to_host(weights)).view(S.default_dtype)) if found is None else found


def read_dlpack(A: Any, S: Semiring, what: str) -> Dense:
    """Read an array of another library, on the host or on a GPU; answers are returned in that library's type.

    Raises
    ------
    SemiringError
        For a tensor that records derivatives, which would be lost; for a dtype that NumPy lacks; for an array that its
        library does not export; and for memory that is neither the host's nor a CUDA GPU's.
    """
    refuse_marked(A, what)
    device = device_of(A, what)
    if device == CUDA:
        import cupy

        array = imported(cupy, A, what)
        if S.lift is not None and S.lift.takes(array.dtype):
            array = lifted_on_device(array, S)
        return Device(carried_by(array, S, what), S, what, importer(A))
    if device != HOST:
        raise SemiringError(
            f"{what} lives on a device (DLPack type {device}) that is not a CUDA GPU; copy it to the host"
        )
    array = imported(np, A, what)
    if S.lift is not None and S.lift.takes(array.dtype):
        array = S.lift(array)
    return Dense(carried_by(array, S, what), S, what, importer(A))


def importer(A: Any) -> Wrap:
    """Convert an array to the type of another library, in the machine's byte order, the only one there."""
    library = type(A).__module__.partition(".")[0]
    if library in ("jax", "jaxlib"):
        from jax import dlpack

        take: Wrap | None = dlpack.from_dlpack
    elif kind_of(A, "torch", "Tensor"):
        tensors = sys.modules["torch"].from_dlpack
        take = (lambda array: tensors(array).to(A.device)) if is_sparse_tensor(A) else tensors
    else:
        take = getattr(sys.modules.get(library), "from_dlpack", None)

    def given_back(array: Any) -> Any:
        if take is None or array.dtype.kind not in "biufc":  # tensors cannot hold records and objects
            return array
        return take(array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("=")))

    return given_back
