"""Products and closures of JAX arrays, with derivatives: `from semiring import jax as srj`.

They are computed on the host by callbacks; JAX copies arrays from a GPU and back. Under `jax.jit`, `jax.grad` and
`jax.vmap` each is one operation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .algebra.by_name import algebra
from .algebra.semiring import Semiring
from .api import closure as plain_closure
from .api import matmul as plain_matmul
from .gradients import closure_gradient, differentiable, product_gradients, refuse_records
from .graphs.texts import clip_repr

try:
    import jax
    import jax.numpy as jnp
except ImportError as missing:
    raise ImportError("semiring.jax needs JAX: pip install 'semiring[jax]'") from missing

__all__ = ["closure", "matmul"]

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


def _refuse_other(what: str, x: Any) -> None:
    if not isinstance(x, jax.Array):
        raise TypeError(f"{what} must be a JAX array, not {clip_repr(x)}; semiring.matmul and semiring.closure "
                        "take other arrays")
    if x.ndim < 2:
        raise TypeError(f"{what} must have two axes or more, and is {x.shape}")


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
