"""Products, closures, chains and scans of PyTorch tensors, with derivatives: `from semiring import torch as srt`.

All are PyTorch operators (``torch.ops.semiring``), which PyTorch can differentiate, trace and map over. Tensors are
computed on the device where they are: nothing is copied between CPU and GPU.
"""

from __future__ import annotations

from typing import Any

from .algebra.arguments import truth_value
from .algebra.semiring import Semiring
from .graphs.texts import clip_repr
from .shapes.sequences.scan import axis_of
from .tensors.sequence_operands import Chains, chains_of, initial_with_axes, with_axes

try:
    import torch
except ImportError as missing:
    raise ImportError("semiring.torch needs PyTorch: pip install 'semiring[torch]'") from missing

from .tensors.torch_operators import Closure, Matmul, name_of, refuse_derivatives
from .tensors.torch_sequences import Chain, Forward, Scan

__all__ = ["chain", "closure", "forward", "matmul", "scan"]


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
    name = name_of(S)
    refuse_derivatives(name, A.dtype, A.requires_grad or B.requires_grad)
    A, B = A.expand(*stack, *A.shape[-2:]), B.expand(*stack, *B.shape[-2:])
    return Matmul.apply(A, B, name, check)


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
    name = name_of(S)
    refuse_derivatives(name, A.dtype, A.requires_grad)
    return Closure.apply(A, name, check)


def forward(
    x: torch.Tensor, stack: torch.Tensor, S: Semiring | str, *, emissions: torch.Tensor | None = None,
    lengths: Any = None, steps: int | None = None, reverse: bool = False,
) -> torch.Tensor:
    """Return x ⊗ A₁ ⊗ … ⊗ A_t for all t, with derivatives: a hidden Markov model or a linear-chain CRF.

    Parameters
    ----------
    x : Tensor, shape (n,) or (…, n)
        The row at the beginning, or one for each sequence. With `reverse` the column at the end.
    stack : Tensor, shape (n, n) or (…, T − 1, n, n)
        One matrix for all steps, or the matrices between T rows.
    S : Semiring or str
        As for `matmul`. Over log-sum-exp the derivatives of the logarithm of the sum of the last row are posterior
        probabilities: for `emissions` those of states, for `stack` those of pairs of states. If ⊕ selects, the
        derivative goes to the best sequence of states, a subgradient.
    emissions : Tensor, shape (…, T, n), optional
        A row for each step, by which rows are multiplied element by element.
    lengths : Tensor or sequence of int, optional
        How many rows each sequence has, as for `semiring.forward`: of padded sequences, or of sequences that come one
        after the other in emissions with two axes.
    steps : int, optional
        How many steps one matrix serves, if there are no emissions.
    reverse : bool
        Compute backward variables, from the end.

    Returns
    -------
    Tensor, shape (…, T, n), or of emissions' shape
        A row for each t. Rows after the end of a shorter sequence are the algebra's zero.

    Raises
    ------
    TypeError
        If an operand is not a tensor, or of a dtype that cannot carry the algebra.
    RuntimeError
        If dtypes or devices differ, or a second derivative is needed.
    ValueError
        If shapes or lengths do not fit together, the algebra is unknown, an entry is not an element, or the algebra has
        no derivatives and they are needed.

    Examples
    --------
    >>> import torch
    >>> from semiring import torch as srt
    >>> x, A = torch.tensor([0.5, 0.5]).log(), torch.tensor([[0.8, 0.2], [0.2, 0.8]]).log()
    >>> seen = torch.tensor([[0.9, 0.1], [0.1, 0.9]]).log().requires_grad_()
    >>> srt.forward(x, A, "log", emissions=seen)[-1].logsumexp(0).backward()
    >>> seen.grad  # the posterior probability of each state
    tensor([[0.7597, 0.2403],
            [0.2403, 0.7597]])
    """
    given = {"x": x, "stack": stack} | ({} if emissions is None else {"emissions": emissions})
    name = _sequences(given, S)
    if torch.compiler.is_compiling():  # shapes are examined when the operator runs
        joined = emissions is not None and lengths is not None and emissions.ndim == 2
        rows = (emissions.shape[-2] if emissions is not None else stack.shape[-3] + 1 if steps is None else steps + 1)
        chains = Chains(rows, joined, emissions is not None, reverse)
    else:
        chains = chains_of(x, stack, emissions, lengths, steps, reverse)
    operands = with_axes(chains, x, stack, emissions)
    given_lengths = None if lengths is None else torch.as_tensor(lengths)
    return Forward.apply(*operands[:2], operands[2] if chains.emits else None, given_lengths, name, chains.rows,
                         chains.joined, chains.reverse)


def scan(
    stack: torch.Tensor, S: Semiring | str, *, axis: int = 0, reverse: bool = False,
    initial: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return all products A₀ ⊗ A₁ ⊗ … ⊗ A_t of a sequence of square matrices, with derivatives.

    Parameters
    ----------
    stack : Tensor, shape (T, …, n, n)
        The matrices. Other leading axes are sequences of their own.
    S : Semiring or str
        As for `matmul`.
    axis : int
        Which axis of the stack counts the matrices of a sequence.
    reverse : bool
        Return the products from each place to the end.
    initial : Tensor, shape (m, n) or (…, m, n), optional
        A matrix before all others. With `reverse` it comes after them, with shape (…, n, m).

    Returns
    -------
    Tensor, of the shape of the stack
        With `initial` of its rows, or with `reverse` of its columns.

    Raises
    ------
    TypeError
        If an operand is not a tensor, or of a dtype that cannot carry the algebra.
    RuntimeError
        If dtypes or devices differ, or a second derivative is needed.
    ValueError
        If shapes do not fit together, the algebra is unknown, an entry is not an element, or the algebra has no
        derivatives and they are needed.

    Examples
    --------
    >>> import torch
    >>> from semiring import torch as srt
    >>> hours = torch.tensor([[[1.0, 4.0], [2.0, 3.0]], [[5.0, 0.0], [1.0, 6.0]]], requires_grad=True)
    >>> srt.scan(hours, "min-plus")[-1, 0, 1].backward()
    >>> hours.grad.tolist()  # the best walk from 0 to 1 goes through 0
    [[[1.0, 0.0], [0.0, 0.0]], [[0.0, 1.0], [0.0, 0.0]]]
    """
    name = _sequences({"stack": stack} | ({} if initial is None else {"initial": initial}), S)
    axis = axis_of(tuple(stack.shape), axis)
    stack = stack.movedim(axis, -3)
    initial = initial_with_axes(stack, initial, reverse)
    return Scan.apply(stack, initial, name, truth_value(reverse, "reverse")).movedim(-3, axis)


def chain(stack: torch.Tensor, S: Semiring | str) -> torch.Tensor:
    """Return the product A₁ ⊗ A₂ ⊗ … ⊗ A_T of a sequence of square matrices, with derivatives.

    Parameters
    ----------
    stack : Tensor, shape (T, …, n, n)
        The matrices. Other leading axes are sequences of their own.
    S : Semiring or str
        As for `matmul`.

    Returns
    -------
    Tensor, shape (…, n, n)

    Raises
    ------
    TypeError
        If the stack is not a tensor, or of a dtype that cannot carry the algebra.
    RuntimeError
        If a second derivative is needed.
    ValueError
        If the stack has no matrices, the algebra is unknown, an entry is not an element, or the algebra has no
        derivatives and they are needed.

    Examples
    --------
    >>> import torch
    >>> from semiring import torch as srt
    >>> A = torch.tensor([[[1.0, 4.0], [2.0, 3.0]], [[5.0, 0.0], [1.0, 6.0]]])
    >>> srt.chain(A, "min-plus")
    tensor([[5., 1.],
            [4., 2.]])
    """
    name = _sequences({"stack": stack}, S)
    axis_of(tuple(stack.shape), 0)
    return Chain.apply(stack.movedim(0, -3), name)


def _sequences(given: dict[str, Any], S: Any) -> str:
    """The name of the algebra; refuses operands other than tensors of one dtype on one device."""
    for what, x in given.items():
        _refuse_other(what, x, 1 if what == "x" else 2)
    (first, one), *others = given.items()
    for what, x in others:
        if x.dtype != one.dtype or x.device != one.device:
            raise RuntimeError(f"{first} is {one.dtype} on {one.device}, and {what} is {x.dtype} on {x.device}: "
                               "convert one with .to()")
    name = name_of(S)
    refuse_derivatives(name, one.dtype, any(x.requires_grad for x in given.values()))
    return name


def _refuse_other(what: str, x: Any, axes: int = 2) -> None:
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"{what} must be a Tensor, not {clip_repr(x)}; semiring.matmul, semiring.closure and the like "
                        "take arrays")
    if x.layout != torch.strided:
        raise TypeError(f"{what} must be a dense Tensor, not {x.layout}: call .to_dense()")
    if x.ndim < axes:
        raise RuntimeError(f"{what} must have {'one axis' if axes == 1 else 'two axes'} or more, and is "
                           f"{tuple(x.shape)}")
    if x.device.type not in ("cpu", "cuda"):
        raise RuntimeError(f"{what} is on {x.device}: pass a tensor on the CPU or on a CUDA GPU")
