"""PyTorch operators over semirings (``torch.ops.semiring``): how tensors become arrays, and products and closures.

Operators take algebras by name. They are defined by their schemas: what `torch.library.custom_op` wraps around
functions takes longer than small closures.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np
import torch

from semiring.algebra.by_name import algebra as algebra_of
from semiring.algebra.semiring import Semiring
from semiring.api import closure as plain_closure
from semiring.api import matmul as plain_matmul
from semiring.errors import NoClosureError, SemiringError
from semiring.graphs.texts import clip_repr

from .gradients import closure_gradient, differentiable, product_gradients, refuse_records

_KNOWN: dict[str, Semiring] = {}  # PyTorch operators take algebras by name; this finds the algebra
_ONCE = "second derivatives are not computed by semiring.torch: leave out create_graph=True, or call detach()"


def name_of(S: Any) -> str:
    """The name by which operators find an algebra; two algebras must not share one.

    While PyTorch traces, no algebra can be registered: call your own algebra once before you compile.
    """
    if isinstance(S, str):
        return S
    name: str | None = getattr(S, "name", None)
    if not isinstance(S, Semiring) or name is None:
        raise TypeError(f"S must be a semiring, such as semiring.log, or its name, not {clip_repr(S)}")
    if not torch.compiler.is_compiling():
        known = _KNOWN.setdefault(name, S)
        if known is not S:
            raise ValueError(f"two algebras are called {name!r}, but PyTorch operators find algebras by name: rename "
                             "one of them")
    return name


def algebra_called(name: str) -> Semiring:
    found = _KNOWN.get(name)
    if found is None:
        try:
            found = algebra_of(name)
        except SemiringError as e:
            raise ValueError(f"{e}; if it is your own algebra, call it once outside of compiled code "
                             "first") from None
        _KNOWN.setdefault(name, found)
    return found


def refuse_derivatives(name: str, dtype: torch.dtype, wanted: bool) -> None:
    """Refuse elements that tensors cannot hold, and unknown derivatives, before anything is computed."""
    if torch.compiler.is_compiling():
        return  # the operator refuses them when it runs
    S = algebra_called(name)
    refuse_records(S)
    known = _dtype(dtype)
    if known.kind not in "biufc":  # bfloat16 and the like, even if another library has registered them with NumPy
        raise TypeError(f"the algebra {S.name} cannot be computed in {dtype}: convert to one of "
                        f"{', '.join(str(d) for d in S.dtypes)}")
    if wanted and torch.is_grad_enabled():
        differentiable(S, known)


class Arrays:
    """Tensors as arrays in the same memory, and arrays as tensors, on the stream that PyTorch uses."""

    def __init__(self, tensor: torch.Tensor):
        self._on_gpu, self._device = tensor.is_cuda, tensor.device
        self._entered: list[Any] = []

    def __enter__(self) -> Arrays:
        if self._on_gpu:
            import cupy

            here, stream = self._device.index, torch.cuda.current_stream(self._device).cuda_stream
            if cupy.cuda.runtime.getDevice() != here:
                self._enter(cupy.cuda.Device(here))
            if cupy.cuda.get_current_stream().ptr != stream:
                self._enter(cupy.cuda.ExternalStream(stream, here))
        return self

    def _enter(self, context: Any) -> None:
        context.__enter__()
        self._entered.append(context)

    def __exit__(self, *how: Any) -> None:
        for context in reversed(self._entered):
            context.__exit__(*how)

    def array(self, tensor: torch.Tensor) -> Any:
        """A tensor's memory. On a GPU by its address: DLPack would ask both libraries for their streams."""
        tensor = tensor.detach().resolve_conj().resolve_neg()
        if not self._on_gpu:
            return tensor.numpy()
        import cupy

        dtype, shape, strides = _dtype(tensor.dtype), tuple(tensor.shape), tensor.stride()
        if not tensor.numel():
            return cupy.empty(shape, dtype)
        reach = 1 + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
        memory = cupy.cuda.UnownedMemory(tensor.data_ptr(), reach * dtype.itemsize, tensor, self._device.index)
        steps = tuple(step * dtype.itemsize for step in strides)
        return cupy.ndarray(shape, dtype, cupy.cuda.MemoryPointer(memory, 0), steps)

    def tensor(self, array: Any) -> torch.Tensor:
        """An array's memory, in C order."""
        if not self._on_gpu:
            array = np.require(array, requirements=("C", "W"))
            return torch.from_numpy(array.reshape(-1).reshape(array.shape))  # without steps back along an axis of one
        import cupy

        # −1: nothing waits, as both are on this stream
        return torch.from_dlpack(cupy.ascontiguousarray(array).__dlpack__(stream=-1))


@lru_cache(64)
def _dtype(dtype: torch.dtype) -> np.dtype:
    """NumPy's dtype of the same name, or one that carries nothing."""
    try:
        return np.dtype(str(dtype).removeprefix("torch."))
    except TypeError:
        return np.dtype("V1")


def computed(tensor: torch.Tensor, compute: Any) -> Any:
    """Call `compute` with arrays in place of tensors, and raise the errors that PyTorch would raise."""
    with Arrays(tensor) as arrays:
        try:
            return compute(arrays)
        except NoClosureError as e:
            raise torch.linalg.LinAlgError(str(e)) from e
        except SemiringError as e:
            if "lives in" in str(e):
                raise TypeError(str(e)) from e
            raise


def define(*schemas: str) -> None:
    """Define operators by their schemas."""
    for schema in schemas:
        torch.library.define("semiring::" + schema.partition("(")[0], "(" + schema.partition("(")[2])


define(
    "matmul(Tensor A, Tensor B, str algebra, bool check) -> Tensor",
    "closure(Tensor A, str algebra, bool check) -> Tensor",
    "matmul_backward(Tensor G, Tensor A, Tensor B, Tensor C, str algebra, bool infinite) -> (Tensor, Tensor)",
    "closure_backward(Tensor G, Tensor A, Tensor X, str algebra, bool infinite) -> Tensor",
)

DEVICES = ("cpu", "cuda")


@torch.library.impl("semiring::matmul", DEVICES)
def _matmul(A: torch.Tensor, B: torch.Tensor, algebra: str, check: bool) -> torch.Tensor:
    S = algebra_called(algebra)
    return computed(A, lambda to: to.tensor(plain_matmul(to.array(A), to.array(B), S, check=check, device=_place(A))))


@torch.library.impl("semiring::closure", DEVICES)
def _closure(A: torch.Tensor, algebra: str, check: bool) -> torch.Tensor:
    S = algebra_called(algebra)
    return computed(A, lambda to: to.tensor(plain_closure(to.array(A), S, check=check, device=_place(A))))


@torch.library.impl("semiring::matmul_backward", DEVICES)
def _matmul_backward(
    G: torch.Tensor, A: torch.Tensor, B: torch.Tensor, C: torch.Tensor, algebra: str, infinite: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    S = algebra_called(algebra)

    def compute(to: Arrays) -> tuple[torch.Tensor, torch.Tensor]:
        left, right = product_gradients(S, *(to.array(x) for x in (G, A, B, C)), infinite=infinite)
        return to.tensor(left), to.tensor(right)

    return computed(G, compute)


@torch.library.impl("semiring::closure_backward", DEVICES)
def _closure_backward(G: torch.Tensor, A: torch.Tensor, X: torch.Tensor, algebra: str, infinite: bool) -> torch.Tensor:
    S = algebra_called(algebra)

    def compute(to: Arrays) -> torch.Tensor:
        return to.tensor(closure_gradient(S, *(to.array(x) for x in (G, A, X)), infinite=infinite))

    return computed(G, compute)


def _place(A: torch.Tensor) -> str:
    return "gpu" if A.is_cuda else "cpu"


@torch.library.register_fake("semiring::matmul")
def _(A: torch.Tensor, B: torch.Tensor, algebra: str, check: bool) -> torch.Tensor:
    return A.new_empty((*A.shape[:-1], B.shape[-1]))


@torch.library.register_fake("semiring::closure")
def _(A: torch.Tensor, algebra: str, check: bool) -> torch.Tensor:
    return A.new_empty(A.shape)


@torch.library.register_fake("semiring::matmul_backward")
def _(
    G: torch.Tensor, A: torch.Tensor, B: torch.Tensor, C: torch.Tensor, algebra: str, infinite: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    return A.new_empty(A.shape), B.new_empty(B.shape)


@torch.library.register_fake("semiring::closure_backward")
def _(G: torch.Tensor, A: torch.Tensor, X: torch.Tensor, algebra: str, infinite: bool) -> torch.Tensor:
    return A.new_empty(A.shape)


class Differentiated(torch.autograd.Function):
    """Common to both operators: inputs and the output are saved, and `vmap` maps over the operators."""

    generate_vmap_rule = True

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        *tensors, ctx.algebra, check = inputs
        ctx.infinite = check or not output.is_cuda  # looking for infinities synchronizes with the GPU
        ctx.save_for_backward(*tensors, output)


class Matmul(Differentiated):
    @staticmethod
    def forward(A: torch.Tensor, B: torch.Tensor, algebra: str, check: bool) -> torch.Tensor:
        return torch.ops.semiring.matmul(A, B, algebra, check)

    @staticmethod
    def backward(ctx: Any, G: torch.Tensor) -> tuple[Any, ...]:
        derive = _MatmulBackward.apply if torch.is_grad_enabled() else torch.ops.semiring.matmul_backward
        return *derive(G, *ctx.saved_tensors, ctx.algebra, ctx.infinite), None, None


class Closure(Differentiated):
    @staticmethod
    def forward(A: torch.Tensor, algebra: str, check: bool) -> torch.Tensor:
        return torch.ops.semiring.closure(A, algebra, check)

    @staticmethod
    def backward(ctx: Any, G: torch.Tensor) -> tuple[Any, ...]:
        derive = _ClosureBackward.apply if torch.is_grad_enabled() else torch.ops.semiring.closure_backward
        return derive(G, *ctx.saved_tensors, ctx.algebra, ctx.infinite), None, None


class Once(torch.autograd.Function):
    """A derivative, which cannot be differentiated again."""

    generate_vmap_rule = True

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save nothing."""

    @staticmethod
    def backward(ctx: Any, *G: torch.Tensor) -> Any:
        raise RuntimeError(_ONCE)


class _MatmulBackward(Once):
    @staticmethod
    def forward(
        G: torch.Tensor, A: torch.Tensor, B: torch.Tensor, C: torch.Tensor, algebra: str, infinite: bool
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.ops.semiring.matmul_backward(G, A, B, C, algebra, infinite)


class _ClosureBackward(Once):
    @staticmethod
    def forward(G: torch.Tensor, A: torch.Tensor, X: torch.Tensor, algebra: str, infinite: bool) -> torch.Tensor:
        return torch.ops.semiring.closure_backward(G, A, X, algebra, infinite)


def _stacked(operator: Any, info: Any, in_dims: tuple[Any, ...], *given: Any) -> tuple[Any, Any]:
    """Apply an operator to the mapped axis as one more leading axis of the stack."""
    moved = [
        x if not isinstance(x, torch.Tensor)
        else x.expand(info.batch_size, *x.shape) if axis is None else x.movedim(axis, 0)
        for x, axis in zip(given, in_dims, strict=True)
    ]
    answer = operator(*moved)
    return answer, (0,) * len(answer) if isinstance(answer, tuple) else 0


def map_over(*names: str) -> None:
    """Let `vmap` map over operators."""
    for name in names:
        torch.library.register_vmap(f"semiring::{name}", partial(_stacked, getattr(torch.ops.semiring, name)))


map_over("matmul", "closure", "matmul_backward", "closure_backward")
