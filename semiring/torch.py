"""Products and closures of PyTorch tensors, with derivatives: `from semiring import torch as srt`.

Both are PyTorch operators (``torch.ops.semiring``), which PyTorch can differentiate, trace and map over. Tensors are
computed on the device where they are: nothing is copied between CPU and GPU.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np

from .algebra.by_name import algebra as algebra_of
from .algebra.semiring import Semiring
from .api import closure as plain_closure
from .api import matmul as plain_matmul
from .errors import NoClosureError, SemiringError
from .gradients import closure_gradient, differentiable, product_gradients, refuse_records
from .graphs.texts import clip_repr

try:
    import torch
except ImportError as missing:
    raise ImportError("semiring.torch needs PyTorch: pip install 'semiring[torch]'") from missing

__all__ = ["closure", "matmul"]

_KNOWN: dict[str, Semiring] = {}  # PyTorch operators take algebras by name; this finds the algebra
_ONCE = "second derivatives are not computed by semiring.torch: leave out create_graph=True, or call detach()"


def matmul(A: torch.Tensor, B: torch.Tensor, S: Semiring | str, *, check: bool = True) -> torch.Tensor:
    """Return the matrix product A ⊗ B over a semiring, with derivatives.

    Parameters
    ----------
    A, B : Tensor, shape (…, m, k) and (…, k, n)
        Of one dtype, on one device. Leading axes are broadcast.
    S : Semiring or str
        Derivatives exist over the reals (plus_times), over log-sum-exp (log), and if ⊕ selects and ⊗ is +, ×, min or
        max. If ⊕ selects, the whole derivative goes to the term that was chosen, the first of equal terms: a
        subgradient.
    check : bool
        Refuse entries that are not elements. On a GPU this check is the only synchronization; without it infinite
        log-sum-exps have the derivative 0 there.

    Returns
    -------
    Tensor, shape (…, m, n)
        Of the same dtype, on the same device.

    Raises
    ------
    TypeError
        If A or B is not a tensor, or of a dtype that cannot carry the algebra.
    RuntimeError
        If shapes, dtypes or devices do not fit together, or a second derivative is needed.
    ValueError
        If the algebra is unknown, an entry is not an element, or the algebra has no derivatives and they are needed.

    Examples
    --------
    >>> import torch
    >>> from semiring import torch as srt
    >>> A = torch.tensor([[1.0, 2.0]], requires_grad=True)
    >>> B = torch.tensor([[5.0], [3.0]])
    >>> srt.matmul(A, B, "min-plus")
    tensor([[5.]], grad_fn=<...>)
    >>> srt.matmul(A, B, "min-plus").sum().backward()
    >>> A.grad
    tensor([[0., 1.]])
    """
    for what, x in (("A", A), ("B", B)):
        _refuse_other(what, x)
    if A.shape[-1] != B.shape[-2]:
        raise RuntimeError(f"A is {tuple(A.shape)} and B is {tuple(B.shape)}: A's last axis must be as long as B's "
                           "last but one")
    if A.dtype != B.dtype or A.device != B.device:
        raise RuntimeError(f"A is {A.dtype} on {A.device}, and B is {B.dtype} on {B.device}: convert one with .to()")
    stack = torch.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    name = _name(S)
    _refuse_derivatives(name, A.dtype, A.requires_grad or B.requires_grad)
    A, B = A.expand(*stack, *A.shape[-2:]), B.expand(*stack, *B.shape[-2:])
    return _Matmul.apply(A, B, name, check)


def closure(A: torch.Tensor, S: Semiring | str, *, check: bool = True) -> torch.Tensor:
    """Return the closure A* = 1 ⊕ A ⊕ A² ⊕ … of each matrix, with derivatives.

    Parameters
    ----------
    A : Tensor, shape (…, n, n)
        An absent edge is the algebra's zero.
    S : Semiring or str
        As for `matmul`. If ⊕ selects, the derivative of a value goes to the edges of a best walk: the walk that
        `semiring.paths` gives by its predecessors, a subgradient. Over the reals ∂A* = A* ∂A A*.
    check : bool
        Refuse entries that are not elements, and closures that do not exist. On a GPU, if ⊕ does not select, this check
        is the only synchronization; without it infinite log-sum-exps have the derivative 0 there.

    Returns
    -------
    Tensor, of A's shape
        Of the same dtype, on the same device.

    Raises
    ------
    TypeError
        If A is not a tensor, or of a dtype that cannot carry the algebra.
    RuntimeError
        If A is not square, a closure does not exist (`torch.linalg.LinAlgError`), or a second derivative is needed.
    ValueError
        If the algebra is unknown, an entry is not an element, or the algebra has no derivatives and they are needed.

    Examples
    --------
    >>> import torch
    >>> from semiring import torch as srt
    >>> none = torch.inf
    >>> A = torch.tensor([[none, 3, 10], [none, none, 4], [none, none, none]], requires_grad=True)
    >>> X = srt.closure(A, "min-plus")
    >>> X[0, 2].backward()
    >>> A.grad
    tensor([[0., 1., 0.],
            [0., 0., 1.],
            [0., 0., 0.]])
    """
    _refuse_other("A", A)
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError(f"A must be square matrices, of shape (…, n, n), and is {tuple(A.shape)}")
    name = _name(S)
    _refuse_derivatives(name, A.dtype, A.requires_grad)
    return _Closure.apply(A, name, check)


def _refuse_other(what: str, x: Any) -> None:
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"{what} must be a Tensor, not {clip_repr(x)}; semiring.matmul and semiring.closure take "
                        "arrays")
    if x.layout != torch.strided:
        raise TypeError(f"{what} must be a dense Tensor, not {x.layout}: call .to_dense()")
    if x.ndim < 2:
        raise RuntimeError(f"{what} must have two axes or more, and is {tuple(x.shape)}")
    if x.device.type not in ("cpu", "cuda"):
        raise RuntimeError(f"{what} is on {x.device}: pass a tensor on the CPU or on a CUDA GPU")


def _name(S: Any) -> str:
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


def _algebra(name: str) -> Semiring:
    found = _KNOWN.get(name)
    if found is None:
        try:
            found = algebra_of(name)
        except SemiringError as e:
            raise ValueError(f"{e}; if it is your own algebra, call it once outside of compiled code "
                             "first") from None
        _KNOWN.setdefault(name, found)
    return found


def _refuse_derivatives(name: str, dtype: torch.dtype, wanted: bool) -> None:
    """Refuse elements that tensors cannot hold, and unknown derivatives, before anything is computed."""
    if torch.compiler.is_compiling():
        return  # the operator refuses them when it runs
    S = _algebra(name)
    refuse_records(S)
    known = _dtype(dtype)
    if known.kind not in "biufc":  # bfloat16 and the like, even if another library has registered them with NumPy
        raise TypeError(f"the algebra {S.name} cannot be computed in {dtype}: convert to one of "
                        f"{', '.join(str(d) for d in S.dtypes)}")
    if wanted and torch.is_grad_enabled():
        differentiable(S, known)


class _Arrays:
    """Tensors as arrays in the same memory, and arrays as tensors, on the stream that PyTorch uses."""

    def __init__(self, tensor: torch.Tensor):
        self._on_gpu, self._device = tensor.is_cuda, tensor.device
        self._entered: list[Any] = []

    def __enter__(self) -> _Arrays:
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
            return torch.from_numpy(np.require(array, requirements=("C", "W")))
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


def _computed(tensor: torch.Tensor, compute: Any) -> Any:
    """Call `compute` with arrays in place of tensors, and raise the errors that PyTorch would raise."""
    with _Arrays(tensor) as arrays:
        try:
            return compute(arrays)
        except NoClosureError as e:
            raise torch.linalg.LinAlgError(str(e)) from e
        except SemiringError as e:
            if "lives in" in str(e):
                raise TypeError(str(e)) from e
            raise


# Defined by their schemas: what `torch.library.custom_op` wraps around functions takes longer than small closures.
for _schema in (
    "matmul(Tensor A, Tensor B, str algebra, bool check) -> Tensor",
    "closure(Tensor A, str algebra, bool check) -> Tensor",
    "matmul_backward(Tensor G, Tensor A, Tensor B, Tensor C, str algebra, bool infinite) -> (Tensor, Tensor)",
    "closure_backward(Tensor G, Tensor A, Tensor X, str algebra, bool infinite) -> Tensor",
):
    torch.library.define("semiring::" + _schema.partition("(")[0], "(" + _schema.partition("(")[2])

_DEVICES = ("cpu", "cuda")


@torch.library.impl("semiring::matmul", _DEVICES)
def _matmul(A: torch.Tensor, B: torch.Tensor, algebra: str, check: bool) -> torch.Tensor:
    S = _algebra(algebra)
    return _computed(A, lambda to: to.tensor(plain_matmul(to.array(A), to.array(B), S, check=check, device=_place(A))))


@torch.library.impl("semiring::closure", _DEVICES)
def _closure(A: torch.Tensor, algebra: str, check: bool) -> torch.Tensor:
    S = _algebra(algebra)
    return _computed(A, lambda to: to.tensor(plain_closure(to.array(A), S, check=check, device=_place(A))))


@torch.library.impl("semiring::matmul_backward", _DEVICES)
def _matmul_backward(
    G: torch.Tensor, A: torch.Tensor, B: torch.Tensor, C: torch.Tensor, algebra: str, infinite: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    S = _algebra(algebra)

    def compute(to: _Arrays) -> tuple[torch.Tensor, torch.Tensor]:
        left, right = product_gradients(S, *(to.array(x) for x in (G, A, B, C)), infinite=infinite)
        return to.tensor(left), to.tensor(right)

    return _computed(G, compute)


@torch.library.impl("semiring::closure_backward", _DEVICES)
def _closure_backward(G: torch.Tensor, A: torch.Tensor, X: torch.Tensor, algebra: str, infinite: bool) -> torch.Tensor:
    S = _algebra(algebra)

    def compute(to: _Arrays) -> torch.Tensor:
        return to.tensor(closure_gradient(S, *(to.array(x) for x in (G, A, X)), infinite=infinite))

    return _computed(G, compute)


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


class _Differentiated(torch.autograd.Function):
    """Common to both operators: inputs and the output are saved, and `vmap` maps over the operators."""

    generate_vmap_rule = True

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        *tensors, ctx.algebra, check = inputs
        ctx.infinite = check or not output.is_cuda  # looking for infinities synchronizes with the GPU
        ctx.save_for_backward(*tensors, output)


class _Matmul(_Differentiated):
    @staticmethod
    def forward(A: torch.Tensor, B: torch.Tensor, algebra: str, check: bool) -> torch.Tensor:
        return torch.ops.semiring.matmul(A, B, algebra, check)

    @staticmethod
    def backward(ctx: Any, G: torch.Tensor) -> tuple[Any, ...]:
        derive = _MatmulBackward.apply if torch.is_grad_enabled() else torch.ops.semiring.matmul_backward
        return *derive(G, *ctx.saved_tensors, ctx.algebra, ctx.infinite), None, None


class _Closure(_Differentiated):
    @staticmethod
    def forward(A: torch.Tensor, algebra: str, check: bool) -> torch.Tensor:
        return torch.ops.semiring.closure(A, algebra, check)

    @staticmethod
    def backward(ctx: Any, G: torch.Tensor) -> tuple[Any, ...]:
        derive = _ClosureBackward.apply if torch.is_grad_enabled() else torch.ops.semiring.closure_backward
        return derive(G, *ctx.saved_tensors, ctx.algebra, ctx.infinite), None, None


class _Once(torch.autograd.Function):
    """A derivative, which cannot be differentiated again."""

    generate_vmap_rule = True

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save nothing."""

    @staticmethod
    def backward(ctx: Any, *G: torch.Tensor) -> Any:
        raise RuntimeError(_ONCE)


class _MatmulBackward(_Once):
    @staticmethod
    def forward(
        G: torch.Tensor, A: torch.Tensor, B: torch.Tensor, C: torch.Tensor, algebra: str, infinite: bool
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.ops.semiring.matmul_backward(G, A, B, C, algebra, infinite)


class _ClosureBackward(_Once):
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
    return answer, (0, 0) if isinstance(answer, tuple) else 0


for _name_of in ("matmul", "closure", "matmul_backward", "closure_backward"):
    torch.library.register_vmap(f"semiring::{_name_of}", partial(_stacked, getattr(torch.ops.semiring, _name_of)))
