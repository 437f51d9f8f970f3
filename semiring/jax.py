"""Products, closures, chains and scans of JAX arrays, with derivatives: `from semiring import jax as srj`.

They are computed on the host by callbacks; JAX copies arrays from a GPU and back. Under `jax.jit`, `jax.grad` and
`jax.vmap` each is one operation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .algebra.arguments import truth_value
from .algebra.by_name import algebra
from .algebra.semiring import Semiring
from .api import closure as plain_closure
from .api import matmul as plain_matmul
from .graphs.texts import clip_repr
from .shapes.sequences.scan import axis_of
from .tensors.gradients import closure_gradient, differentiable, product_gradients, refuse_records
from .tensors.sequence_gradients import scan_gradients
from .tensors.sequence_operands import (
    Chains,
    chains_of,
    initial_with_axes,
    last_product,
    last_product_gradient,
    products,
    with_axes,
)

try:
    import jax
    import jax.numpy as jnp
except ImportError as missing:
    raise ImportError("semiring.jax needs JAX: pip install 'semiring[jax]'") from missing

__all__ = ["chain", "closure", "forward", "matmul", "scan"]

_ONCE = "second derivatives are not computed by semiring.jax: use jax.lax.stop_gradient on the first"


def matmul(A: jax.Array, B: jax.Array, S: Semiring | str) -> jax.Array:
    """Return the matrix product A ⊗ B over a semiring, with derivatives.

    Parameters
    ----------
    A, B : Array, shape (…, m, k) and (…, k, n)
        Of one dtype. Leading axes are broadcast.
    S : Semiring or str
        Derivatives exist over the reals (plus_times), over log-sum-exp (log), and if ⊕ selects and ⊗ is +, ×, min or
        max. If ⊕ selects, the whole derivative goes to the term that was chosen, the first of equal terms: a
        subgradient.

    Returns
    -------
    Array, shape (…, m, n)
        Of the same dtype.

    Raises
    ------
    TypeError
        If A or B is not a JAX array, or shapes or dtypes do not fit together.
    SemiringError
        If the algebra is unknown. For entries that are not elements JAX raises its own error, with the same message.
    LawError
        If derivatives are needed and the algebra has none.

    Examples
    --------
    >>> import jax
    >>> import jax.numpy as jnp
    >>> from semiring import jax as srj
    >>> A, B = jnp.array([[1.0, 2.0]]), jnp.array([[5.0], [3.0]])
    >>> jax.grad(lambda a: srj.matmul(a, B, "min-plus").sum())(A)
    Array([[0., 1.]], dtype=float32)
    """
    S = algebra(S)
    refuse_records(S)
    _refuse_other("A", A)
    _refuse_other("B", B)
    if A.shape[-1] != B.shape[-2] or A.dtype != B.dtype:
        raise TypeError(f"A is {A.shape} of {A.dtype} and B is {B.shape} of {B.dtype}: A's last axis must be as long "
                        "as B's last but one, and their dtype the same")
    stack = jnp.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    A, B = (jnp.broadcast_to(x, (*stack, *x.shape[-2:])) for x in (A, B))
    return _matmul(A, B, S)


def closure(A: jax.Array, S: Semiring | str) -> jax.Array:
    """Return the closure A* = 1 ⊕ A ⊕ A² ⊕ … of each matrix, with derivatives.

    Parameters
    ----------
    A : Array, shape (…, n, n)
        An absent edge is the algebra's zero.
    S : Semiring or str
        As for `matmul`. If ⊕ selects, the derivative of a value goes to the edges of a best walk: the walk that
        `semiring.paths` gives by its predecessors, a subgradient. Over the reals ∂A* = A* ∂A A*.

    Returns
    -------
    Array, of A's shape
        Of the same dtype.

    Raises
    ------
    TypeError
        If A is not a JAX array, or not square.
    SemiringError
        If the algebra is unknown. For entries that are not elements, and closures that do not exist, JAX raises its
        own error, with the same message.
    LawError
        If derivatives are needed and the algebra has none.

    Examples
    --------
    >>> import jax
    >>> import jax.numpy as jnp
    >>> from semiring import jax as srj
    >>> A = jnp.array([[jnp.inf, 3, 10], [jnp.inf, jnp.inf, 4], [jnp.inf, jnp.inf, jnp.inf]])
    >>> jax.grad(lambda a: srj.closure(a, "min-plus")[0, 2])(A)
    Array([[0., 1., 0.],
           [0., 0., 1.],
           [0., 0., 0.]], dtype=float32)
    """
    S = algebra(S)
    refuse_records(S)
    _refuse_other("A", A)
    if A.shape[-1] != A.shape[-2]:
        raise TypeError(f"A must be square matrices, of shape (…, n, n), and is {A.shape}")
    return _closure(A, S)


def forward(
    x: jax.Array, stack: jax.Array, S: Semiring | str, *, emissions: jax.Array | None = None, lengths: Any = None,
    steps: int | None = None, reverse: bool = False,
) -> jax.Array:
    """Return x ⊗ A₁ ⊗ … ⊗ A_t for all t, with derivatives: a hidden Markov model or a linear-chain CRF.

    Parameters
    ----------
    x : Array, shape (n,) or (…, n)
        The row at the beginning, or one for each sequence. With `reverse` the column at the end.
    stack : Array, shape (n, n) or (…, T − 1, n, n)
        One matrix for all steps, or the matrices between T rows.
    S : Semiring or str
        As for `matmul`. Over log-sum-exp the derivatives of the logarithm of the sum of the last row are posterior
        probabilities: for `emissions` those of states, for `stack` those of pairs of states. If ⊕ selects, the
        derivative goes to the best sequence of states, a subgradient.
    emissions : Array, shape (…, T, n), optional
        A row for each step, by which rows are multiplied element by element.
    lengths : array_like of int, optional
        How many rows each sequence has, as for `semiring.forward`: of padded sequences, or of sequences that come one
        after the other in emissions with two axes.
    steps : int, optional
        How many steps one matrix serves, if there are no emissions.
    reverse : bool
        Compute backward variables, from the end.

    Returns
    -------
    Array, shape (…, T, n), or of emissions' shape
        A row for each t. Rows after the end of a shorter sequence are the algebra's zero.

    Raises
    ------
    TypeError
        If an operand is not a JAX array, or their dtypes differ.
    SemiringError
        If the algebra is unknown, or shapes do not fit together. For lengths that do not fit, and entries that are not
        elements, JAX raises its own error, with the same message.
    LawError
        If derivatives are needed and the algebra has none.

    Examples
    --------
    >>> import jax
    >>> import jax.numpy as jnp
    >>> from semiring import jax as srj
    >>> x, A = jnp.log(jnp.array([0.5, 0.5])), jnp.log(jnp.array([[0.8, 0.2], [0.2, 0.8]]))
    >>> seen = jnp.log(jnp.array([[0.9, 0.1], [0.1, 0.9]]))
    >>> total = lambda e: jax.nn.logsumexp(srj.forward(x, A, "log", emissions=e)[-1])
    >>> jax.grad(total)(seen).round(2)  # the posterior probability of each state
    Array([[0.76, 0.24],
           [0.24, 0.76]], dtype=float32)
    """
    S = _sequences({"x": x, "stack": stack} | ({} if emissions is None else {"emissions": emissions}), S)
    chains = chains_of(x, stack, emissions, lengths, steps, reverse)
    given = with_axes(chains, x, stack, emissions)
    rest = (None if emissions is None else given[2], None if lengths is None else jnp.asarray(lengths))
    return _forward(*given[:2], *rest, S, chains)


def scan(
    stack: jax.Array, S: Semiring | str, *, axis: int = 0, reverse: bool = False, initial: jax.Array | None = None
) -> jax.Array:
    """Return all products A₀ ⊗ A₁ ⊗ … ⊗ A_t of a sequence of square matrices, with derivatives.

    Parameters
    ----------
    stack : Array, shape (T, …, n, n)
        The matrices. Other leading axes are sequences of their own.
    S : Semiring or str
        As for `matmul`.
    axis : int
        Which axis of the stack counts the matrices of a sequence.
    reverse : bool
        Return the products from each place to the end.
    initial : Array, shape (m, n) or (…, m, n), optional
        A matrix before all others. With `reverse` it comes after them, with shape (…, n, m).

    Returns
    -------
    Array, of the shape of the stack
        With `initial` of its rows, or with `reverse` of its columns.

    Raises
    ------
    TypeError
        If an operand is not a JAX array, or their dtypes differ.
    SemiringError
        If the algebra is unknown, or the stack has no square matrices. For an initial matrix that does not fit, and
        entries that are not elements, JAX raises its own error, with the same message.
    LawError
        If derivatives are needed and the algebra has none.

    Examples
    --------
    >>> import jax
    >>> import jax.numpy as jnp
    >>> from semiring import jax as srj
    >>> hours = jnp.array([[[1.0, 4.0], [2.0, 3.0]], [[5.0, 0.0], [1.0, 6.0]]])
    >>> jax.grad(lambda a: srj.scan(a, "min-plus")[-1, 0, 1])(hours).tolist()  # the best walk goes through 0
    [[[1.0, 0.0], [0.0, 0.0]], [[0.0, 1.0], [0.0, 0.0]]]
    """
    S = _sequences({"stack": stack} | ({} if initial is None else {"initial": initial}), S)
    axis = axis_of(tuple(stack.shape), axis)
    stack = jnp.moveaxis(stack, axis, -3)
    initial = initial_with_axes(stack, initial, reverse)
    return jnp.moveaxis(_scan(stack, initial, S, truth_value(reverse, "reverse")), -3, axis)


def chain(stack: jax.Array, S: Semiring | str) -> jax.Array:
    """Return the product A₁ ⊗ A₂ ⊗ … ⊗ A_T of a sequence of square matrices, with derivatives.

    Parameters
    ----------
    stack : Array, shape (T, …, n, n)
        The matrices. Other leading axes are sequences of their own.
    S : Semiring or str
        As for `matmul`.

    Returns
    -------
    Array, shape (…, n, n)

    Raises
    ------
    TypeError
        If the stack is not a JAX array.
    SemiringError
        If the algebra is unknown, or the stack has no square matrices. For entries that are not elements JAX raises its
        own error, with the same message.
    LawError
        If derivatives are needed and the algebra has none.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from semiring import jax as srj
    >>> srj.chain(jnp.array([[[1.0, 4.0], [2.0, 3.0]], [[5.0, 0.0], [1.0, 6.0]]]), "min-plus")
    Array([[5., 1.],
           [4., 2.]], dtype=float32)
    """
    S = _sequences({"stack": stack}, S)
    axis_of(tuple(stack.shape), 0)
    return _chain(jnp.moveaxis(stack, 0, -3), S)


def _sequences(given: dict[str, Any], S: Any) -> Semiring:
    """The algebra; refuses operands that are not arrays of JAX of one dtype."""
    S = algebra(S)
    refuse_records(S)
    (first, one), *others = given.items()
    for what, x in given.items():
        _refuse_other(what, x, 1 if what == "x" else 2)
    for what, x in others:
        if x.dtype != one.dtype:
            raise TypeError(f"{first} is {one.dtype} and {what} is {x.dtype}: convert one with .astype(…)")
    return S


def _refuse_other(what: str, x: Any, axes: int = 2) -> None:
    if not isinstance(x, jax.Array):
        raise TypeError(f"{what} must be a JAX array, not {clip_repr(x)}; semiring.matmul, semiring.closure and the "
                        "like take other arrays")
    if x.ndim < axes:
        raise TypeError(f"{what} must have {'one axis' if axes == 1 else 'two axes'} or more, and is {x.shape}")


def _on_host(compute: Callable[..., Any], shapes: Any, *arrays: Any) -> Any:
    """The result of `compute` on NumPy arrays; mapped axes become leading axes of a stack."""
    return jax.pure_callback(lambda *given: compute(*map(np.asarray, given)), shapes, *arrays,
                             vmap_method="broadcast_all")


def _like(x: Any, *shape: int) -> Any:
    return jax.ShapeDtypeStruct(shape or x.shape, x.dtype)


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def _matmul(A: Any, B: Any, S: Semiring) -> Any:
    return _on_host(lambda a, b: plain_matmul(a, b, S, device="cpu"), _like(A, *A.shape[:-1], B.shape[-1]), A, B)


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def _closure(A: Any, S: Semiring) -> Any:
    return _on_host(lambda a: plain_closure(a, S, device="cpu"), _like(A), A)


@partial(jax.custom_jvp, nondiff_argnums=(4,))
def _matmul_backward(G: Any, A: Any, B: Any, C: Any, S: Semiring) -> Any:
    return _on_host(partial(product_gradients, S), (_like(A), _like(B)), G, A, B, C)


@partial(jax.custom_jvp, nondiff_argnums=(3,))
def _closure_backward(G: Any, A: Any, X: Any, S: Semiring) -> Any:
    return _on_host(partial(closure_gradient, S), _like(A), G, A, X)


def _refuse_second(*given: Any) -> Any:
    raise NotImplementedError(_ONCE)


_matmul_backward.defjvp(_refuse_second)
_closure_backward.defjvp(_refuse_second)


def _keep_matmul(A: Any, B: Any, S: Semiring) -> Any:
    differentiable(S, A.dtype)
    C = _matmul(A, B, S)
    return C, (A, B, C)


def _keep_closure(A: Any, S: Semiring) -> Any:
    differentiable(S, A.dtype)
    X = _closure(A, S)
    return X, (A, X)


_matmul.defvjp(_keep_matmul, lambda S, kept, G: _matmul_backward(G, *kept, S))
_closure.defvjp(_keep_closure, lambda S, kept, G: (_closure_backward(G, *kept, S),))


# Operands that are missing are None, which JAX takes for no array at all.


@partial(jax.custom_vjp, nondiff_argnums=(4, 5))
def _forward(x: Any, stack: Any, emissions: Any, lengths: Any, S: Semiring, chains: Chains) -> Any:
    leading = jnp.broadcast_shapes(x.shape[:-1], stack.shape[:-3], () if emissions is None else emissions.shape[:-2])
    shape = emissions.shape if chains.joined else (*leading, chains.rows, x.shape[-1])
    return _on_host(partial(chains.values, S), jax.ShapeDtypeStruct(shape, x.dtype),
                    *_given(x, stack, emissions, lengths))


@partial(jax.custom_jvp, nondiff_argnums=(6, 7))
def _forward_backward(
    G: Any, values: Any, x: Any, stack: Any, emissions: Any, lengths: Any, S: Semiring, chains: Chains
) -> Any:
    found = _on_host(partial(chains.gradients, S), tuple(map(_like, _given(x, stack, emissions))), G, values,
                     *_given(x, stack, emissions, lengths))
    return found if chains.emits else (*found, None)


def _given(*arrays: Any) -> list[Any]:
    return [x for x in arrays if x is not None]


@partial(jax.custom_vjp, nondiff_argnums=(2, 3))
def _scan(stack: Any, initial: Any, S: Semiring, reverse: bool) -> Any:
    if initial is None:
        shape = stack.shape
    elif reverse:
        shape = (*stack.shape[:-1], initial.shape[-1])
    else:
        shape = (*stack.shape[:-2], initial.shape[-2], stack.shape[-1])
    return _on_host(lambda a, x=None: products(S, a, x, reverse), jax.ShapeDtypeStruct(shape, stack.dtype),
                    *_given(stack, initial))


@partial(jax.custom_jvp, nondiff_argnums=(4, 5))
def _scan_backward(G: Any, values: Any, stack: Any, initial: Any, S: Semiring, reverse: bool) -> Any:
    found = _on_host(lambda *given: tuple(_given(*scan_gradients(S, *given, reverse=reverse))),
                     tuple(map(_like, _given(stack, initial))), G, values, *_given(stack, initial))
    return found if initial is not None else (*found, None)


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def _chain(stack: Any, S: Semiring) -> Any:
    return _on_host(partial(last_product, S), _like(stack, *stack.shape[:-3], *stack.shape[-2:]), stack)


@partial(jax.custom_jvp, nondiff_argnums=(2,))
def _chain_backward(G: Any, stack: Any, S: Semiring) -> Any:
    return _on_host(partial(last_product_gradient, S), _like(stack), G, stack)


for _backward in (_forward_backward, _scan_backward, _chain_backward):
    _backward.defjvp(_refuse_second)


def _keep_forward(x: Any, stack: Any, emissions: Any, lengths: Any, S: Semiring, chains: Chains) -> Any:
    differentiable(S, x.dtype)
    values = _forward(x, stack, emissions, lengths, S, chains)
    return values, (values, x, stack, emissions, lengths)


def _keep_scan(stack: Any, initial: Any, S: Semiring, reverse: bool) -> Any:
    differentiable(S, stack.dtype)
    values = _scan(stack, initial, S, reverse)
    return values, (values, stack, initial)


def _keep_chain(stack: Any, S: Semiring) -> Any:
    differentiable(S, stack.dtype)
    return _chain(stack, S), (stack,)


_forward.defvjp(_keep_forward, lambda S, chains, kept, G: (*_forward_backward(G, *kept, S, chains), None))
_scan.defvjp(_keep_scan, lambda S, reverse, kept, G: _scan_backward(G, *kept, S, reverse))
_chain.defvjp(_keep_chain, lambda S, kept, G: (_chain_backward(G, *kept, S),))
