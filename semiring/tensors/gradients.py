"""Derivatives of products and closures, on arrays of NumPy and CuPy, for automatic differentiation.

G is the derivative of a number L with respect to the answer. For ⊗ = × and ⊕ = +, with C = A B and X = A*:

    ∂L/∂A = G Bᵀ,  ∂L/∂B = Aᵀ G;        dX = X dA X,  so  P = Xᵀ G  and  ∂L/∂A = P Xᵀ

For the log-sum-exp these are the same for the powers, with respect to the logarithms:

    ∂L/∂a_ik = Σ_j G_ij exp(a_ik + b_kj − c_ij),  ∂L/∂b_kj = Σ_i G_ij exp(a_ik + b_kj − c_ij)

No power here exceeds 1, as c is the sum of such terms. A closure takes two of these sums. P_kj is what comes through k
on all walks that end in j, and an edge has its share of what comes through its tail:

    P_kj = Σ_i G_ij exp(x_ik + x_kj − x_ij),  ∂L/∂a_kl = Σ_j P_kj exp(a_kl + x_lj − x_kj)

The powers of the second sum never exceed 1, and those of the first never exceed the power of x_kk: walks are counted as
often as they pass k. An infinite c_ij is shared equally by its infinite terms, as torch.logaddexp does. If ⊕ selects,
L changes with the term that was chosen, and with the edges of the walk that was chosen:
along the tree of best walks from each source, with x_j = x_p ⊗ a_pj where p is before j,

    adjoint of x_p += adjoint of x_j · ∂(x_p ⊗ a_pj)/∂x_p,   ∂L/∂a_pj += adjoint of x_j · ∂(x_p ⊗ a_pj)/∂a_pj

from the leaves up, so n² values are enough for the walks of all pairs.
"""

from __future__ import annotations

from functools import lru_cache
from math import log as natural
from math import prod
from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.api import closure, matmul
from semiring.errors import LawError, SemiringError
from semiring.kernels.lowering.logsum import LogSum, log_sum
from semiring.operands.dense import Dense
from semiring.operands.devices import is_on_gpu, to_host
from semiring.operands.read import read
from semiring.solvers.paths.trees import best_trees

DTYPES = (np.dtype(np.float32), np.dtype(np.float64))
FIELD = "field"
LOOKED = 1 << 20  # terms of infinite sums that are held at once
# Each ⊗ with known derivatives, and its form; floats never reach the limit at which saturating operations stop
CHOSEN = {
    "add": "add", "saturating_add": "add", "multiply": "multiply", "saturating_multiply": "multiply",
    "minimum": "minimum", "maximum": "maximum",
}


@lru_cache(1024)
def differentiable(S: Semiring, dtype: np.dtype) -> str | LogSum:
    """Choose the form of the derivatives: "field", a `LogSum`, or the ⊗ of an algebra whose ⊕ selects.

    Parameters
    ----------
    S : Semiring
    dtype : dtype
        The dtype of the elements.

    Raises
    ------
    LawError
        If no derivatives are known.
    SemiringError
        If the dtype is neither float32 nor float64.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> differentiable(sr.viterbi, np.dtype("f4")), differentiable(sr.plus_times, np.dtype("f8"))
    ('multiply', 'field')
    """
    if dtype not in DTYPES:
        raise SemiringError(f"derivatives need float32 or float64, and this is {dtype}: convert A, or compute "
                            "without derivatives")
    if S.traced is not None and not S.is_record:
        add, mul = S.traced.add, S.traced.raw_mul
        if add.is_plain("add") and mul.is_plain("multiply"):
            return FIELD
        if (form := log_sum(S.traced, S.zero, dtype)) is not None:
            return form
        if S.selective and mul.is_plain(*CHOSEN):
            return CHOSEN[mul.outputs[0].op]
    raise LawError(
        f"{S.name} has no derivatives here: they exist over the reals (plus-times), over log-sum-exp, and if ⊕ "
        "selects one of its operands and ⊗ is +, ×, min or max of plain numbers"
    )


def refuse_records(S: Semiring) -> None:
    """Refuse algebras whose elements tensors cannot hold.

    Raises
    ------
    TypeError
        For records and Python objects.
    """
    if S.is_record or S.is_object:
        elements = "records" if S.is_record else "Python objects"
        raise TypeError(f"elements of {S.name} are {elements}, which tensors cannot hold: use semiring.closure and "
                        "semiring.matmul on NumPy arrays")


def product_gradients(S: Semiring, G: Any, A: Any, B: Any, C: Any, *, infinite: bool = True) -> tuple[Any, Any]:
    """Return the derivatives for A and B of a number whose derivative for C = A ⊗ B is G.

    If ⊕ selects, the whole derivative goes to the term that was chosen, the first of equal terms.

    Parameters
    ----------
    S : Semiring
    G, C : array, shape (…, m, n)
    A : array, shape (…, m, k)
    B : array, shape (…, k, n)
        NumPy or CuPy, all on one device and of one dtype, float32 or float64; the leading axes are the same.
    infinite : bool
        Look for infinite log-sum-exps, which synchronizes with a GPU; otherwise their derivatives are 0.

    Returns
    -------
    tuple of array
        Of the shapes of A and B. Absent entries (the algebra's zero) have the derivative 0.

    Raises
    ------
    LawError
        If the algebra has no derivatives here.
    SemiringError
        For another dtype.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> A, B = np.array([[1.0, 2.0]]), np.array([[5.0], [3.0]])
    >>> product_gradients(sr.min_plus, np.ones((1, 1)), A, B, sr.matmul(A, B, sr.min_plus))
    (array([[0., 1.]]), array([[0.],
           [1.]]))
    """
    form = differentiable(S, A.dtype)
    if form == FIELD:
        return G @ B.swapaxes(-1, -2), A.swapaxes(-1, -2) @ G
    if isinstance(form, LogSum):
        right = _weighted(S, form, *(x.swapaxes(-1, -2) for x in (G, B, A, C)), infinite=infinite)
        return _weighted(S, form, G, A, B, C, infinite=infinite), right.swapaxes(-1, -2)
    return _chosen(S, form, G, A, B, C)


def closure_gradient(S: Semiring, G: Any, A: Any, X: Any, *, infinite: bool = True) -> Any:
    """Return the derivative for A of a number whose derivative for X = A* is G.

    If ⊕ selects, the derivative of x_ij goes to the edges of a best walk from i to j, the one that `Paths.predecessors`
    gives; the empty walk from i to i has no edges.

    Parameters
    ----------
    S : Semiring
    G, A, X : array, shape (…, n, n)
        NumPy or CuPy, all on one device and of one dtype, float32 or float64.
    infinite : bool
        Look for infinite log-sum-exps, which synchronizes with a GPU; otherwise their derivatives are 0.

    Returns
    -------
    array, shape (…, n, n)
        Absent edges (the algebra's zero) have the derivative 0, except over the reals.

    Raises
    ------
    LawError
        If the algebra has no derivatives here, or best walks repeat a cycle.
    SemiringError
        For another dtype.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> A = np.array([[np.inf, 3, 10], [np.inf, np.inf, 4], [np.inf, np.inf, np.inf]])
    >>> closure_gradient(sr.min_plus, np.ones((3, 3)), A, sr.closure(A, sr.min_plus))
    array([[0., 2., 0.],
           [0., 0., 2.],
           [0., 0., 0.]])
    """
    form = differentiable(S, A.dtype)
    if form == FIELD:
        turned = X.swapaxes(-1, -2)
        return turned @ G @ turned
    if isinstance(form, LogSum):
        total, endless = _along_walks(S, form, G, A, X), -float(S.over(A.dtype).zero) == X
        if infinite and bool(endless.any()):
            total += _through_infinity(S, form, _library(A).where(endless, G, G.dtype.type(0)), A, X)
        return total
    return _along_trees(S, form, G, A, X)


def _weighted(S: Semiring, form: LogSum, G: Any, A: Any, B: Any, C: Any, *, infinite: bool) -> Any:
    """Σ_j G_ij exp(a_ik + b_kj − c_ij); an infinite c_ij is shared equally by its infinite terms."""
    xp, zero = _library(A), float(S.over(A.dtype).zero)
    endless = -zero == C
    # Infinite elements are not part of any finite sum.
    total = _powers(S, form, G, *(xp.where(-zero == x, zero, x) for x in (A, B, C)))
    if infinite and bool(endless.any()):
        total += _infinite_terms(xp, zero, xp.where(endless, G, G.dtype.type(0)), A, B)
    return total


def _powers(S: Semiring, form: LogSum, G: Any, A: Any, B: Any, C: Any) -> Any:
    """Σ_j G_ij exp(a_ik + b_kj − c_ij), by kernels on a GPU, else by two products over the log-sum-exp."""
    scale = scale_of(form)
    if is_on_gpu(A):
        from semiring.kernels.cuda.choose import general_on_device
        from semiring.kernels.cuda.dense.gradients import weighted

        low = general_on_device(S, A.dtype)
        count = prod(A.shape[:-2])
        stacks = (x.reshape(count, *x.shape[-2:]) for x in (G, A, B, C))
        return weighted(low, scale, *stacks).reshape(A.shape)
    zero = S.over(A.dtype).zero
    there = zero != C
    total = np.zeros(A.shape, A.dtype)
    for sign in (1, -1):
        part = there & (sign * G > 0)
        if part.any():
            # log G − c, and 0 where G has the other sign; the products of their powers with exp(b) are ordinary sums.
            shares = np.full(G.shape, zero, A.dtype)
            shares[part] = np.log(sign * G[part]) / A.dtype.type(scale) - C[part]
            exponents = A + matmul(shares, B.swapaxes(-1, -2), S)
            known = (zero != A) & ~np.isnan(exponents)
            total[known] += sign * np.exp(A.dtype.type(scale) * exponents[known])
    return total


def _infinite_terms(xp: Any, zero: Any, G: Any, A: Any, B: Any) -> Any:
    """Σ_j G_ij for each of the infinite terms a_ik + b_kj of an infinite sum, in equal shares."""
    total = xp.zeros(A.shape, A.dtype)
    step = max(1, LOOKED // max(1, prod(B.shape[-2:])))
    for s in np.ndindex(*A.shape[:-2]):
        rows = np.flatnonzero(to_host((G[s] != 0).any(-1)))
        for some in (rows[i : i + step] for i in range(0, len(rows), step)):
            x, y = A[s][some][:, :, None], B[s][None]
            with np.errstate(all="ignore"):
                found = (x != zero) & (y != zero) & (x + y == -zero)
            share = G[s][some] / xp.maximum(found.sum(1), 1).astype(G.dtype)
            total[(*s, some)] = xp.where(found, share[:, None, :], G.dtype.type(0)).sum(-1)
    return total


def _along_walks(S: Semiring, form: LogSum, G: Any, A: Any, X: Any) -> Any:
    """The derivatives of the finite values of a closure over log-sum-exp."""
    xp, zero = _library(A), float(S.over(A.dtype).zero)
    G = xp.where(-zero == X, G.dtype.type(0), G)
    A, X = (xp.where(-zero == x, zero, x) for x in (A, X))  # no finite value has an infinite part
    through = _powers(S, form, *(x.swapaxes(-1, -2) for x in (G, X, X, X))).swapaxes(-1, -2)
    return _powers(S, form, through, A, X, X)


def _through_infinity(S: Semiring, form: LogSum, G: Any, A: Any, X: Any) -> Any:
    """The derivatives of the infinite values of a closure over log-sum-exp.

    Some are infinite only in single precision: these are computed in double, where they are finite. The others belong
    to walks through vertices whose cycles diverge, or along infinite edges. Edges within such cycles have the
    derivative 0, because infinite stars stay infinite; finite weights stand for them. Let N be the closure without all
    of these. Then H = N ⊗ (edges to such vertices, and infinite edges) ⊕ (1 at such vertices) holds the walks that end
    with the first of these, and the values are H ⊗ F, where F is the closure of the finite weights.
    """
    if A.dtype == np.float32:
        wide = A.astype(np.float64)
        return closure_gradient(S, G.astype(np.float64), wide, closure(wide, S)).astype(np.float32)
    xp, n, zero = _library(A), A.shape[-1], float(S.over(A.dtype).zero)
    at = X.diagonal(0, -2, -1) == -zero
    tail, head, one = at[..., :, None], at[..., None, :], xp.eye(n, dtype=bool)
    within = tail & head & (zero != X) & (zero != X.swapaxes(-1, -2))
    small = -natural(2 * n) / scale_of(form)  # so that their cycles converge
    finite = xp.where(within, xp.where(zero == A, zero, small), xp.where(-zero == A, A.dtype.type(0), A))
    before = xp.where(tail | head | (-zero == A), zero, A)
    first = xp.where(~tail & (head | (-zero == A)), finite, zero)
    F, N = closure(finite, S), closure(before, S)
    N_ = xp.where(tail | head, zero, N)
    ends = matmul(N_, first, S)
    H = xp.where(one & tail, A.dtype.type(0), ends)
    of_H, of_F = product_gradients(S, G, H, F, matmul(H, F, S))
    of_N, of_first = product_gradients(S, of_H, N_, first, ends)
    total = of_first + _along_walks(S, form, of_F, finite, F) + _along_walks(S, form, of_N, before, N)
    return xp.where(within | (zero == A), A.dtype.type(0), total)


def _library(A: Any) -> Any:
    """NumPy, or CuPy for CuPy arrays."""
    if not is_on_gpu(A):
        return np
    import cupy

    return cupy


def scale_of(form: LogSum) -> float:
    """The factor that makes an element a natural logarithm of the summed number."""
    return (natural(2) if form.binary else 1.0) * (-1.0 if form.negated else 1.0)


def shares(xp: Any, form: str, amount: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """∂(a ⊗ b)/∂a and ∂(a ⊗ b)/∂b, times an amount; if operands of min or max are equal, the first counts."""
    if form == "add":
        return amount, amount
    if form == "multiply":  # 0 · ∞ is NaN, and an unused element may be infinite
        a, b = (xp.where(amount == 0, amount, x) for x in (a, b))
        return amount * b, amount * a
    first = a <= b if form == "minimum" else a >= b
    return amount * first, amount * ~first


def _chosen(S: Semiring, form: str, G: Any, A: Any, B: Any, C: Any) -> tuple[Any, Any]:
    """Give each derivative to the term that was chosen."""
    stack, (m, k), n = A.shape[:-2], A.shape[-2:], B.shape[-1]
    if not (G.size and k):
        return A * 0, B * 0
    if is_on_gpu(A):
        import cupy as xp

        from semiring.kernels.cuda.choose import general_on_device
        from semiring.kernels.cuda.dense.gradients import winners

        low = general_on_device(S, A.dtype)
        won = winners(low, *(x.reshape(-1, *x.shape[-2:]) for x in (A, B, C))).reshape(C.shape)
    else:
        xp = np
        won = matmul(A, B, S, argmax=True)[1]
    term = xp.maximum(won, 0).astype(np.int64)
    share = xp.where(won >= 0, G, G.dtype.type(0))
    left, right = shares(xp, form, share, xp.take_along_axis(A, term, -1), xp.take_along_axis(B, term, -2))
    place = xp.arange(prod(stack)).reshape(*stack, 1, 1)
    rows, columns = xp.arange(m)[:, None], xp.arange(n)
    dA, dB = xp.zeros(A.shape, A.dtype), xp.zeros(B.shape, B.dtype)
    xp.add.at(dA.reshape(-1), ((place * m + rows) * k + term).reshape(-1), left.reshape(-1))
    xp.add.at(dB.reshape(-1), ((place * k + term) * n + columns).reshape(-1), right.reshape(-1))
    return dA, dB


def _along_trees(S: Semiring, form: str, G: Any, A: Any, X: Any) -> Any:
    """Give derivatives to the edges of the trees of best walks, for all sources at once, one depth at a time."""
    xp, n = _library(A), A.shape[-1]
    stack = prod(A.shape[:-2])
    given = read(A.reshape(stack, n, n), S)
    assert isinstance(given, Dense)
    if not A.size:
        return A * 0
    roots = np.arange(n)
    values = X.reshape(stack, n, n)
    before = xp.stack([best_trees(given.matrix((s,)), values[s], roots) for s in range(stack)]).astype(np.int64)
    depth = _depths(xp, before).reshape(-1)
    order = xp.argsort(depth, kind="stable") if xp is np else xp.argsort(depth)
    ends = np.cumsum(to_host(xp.bincount(depth)))
    line = (xp.arange(stack * n) * n)[:, None]  # where the values from a source begin
    heads = xp.broadcast_to(xp.arange(n), before.shape).reshape(-1)
    parents = (line + before.reshape(-1, n)).reshape(-1)
    edges = (xp.arange(stack)[:, None, None] * (n * n) + before * n).reshape(-1) + heads
    flat, weights = values.reshape(-1), A.reshape(-1)
    adjoint, result = G.reshape(-1).copy(), xp.zeros(A.size, A.dtype)
    for level in range(len(ends) - 1, 0, -1):
        at = order[int(ends[level - 1]) : int(ends[level])]
        to, edge = parents[at], edges[at]
        along, across = shares(xp, form, adjoint[at], flat[to], weights[edge])
        xp.add.at(result, edge, across)
        xp.add.at(adjoint, to, along)
    return result.reshape(A.shape)


def _depths(xp: Any, before: Any) -> Any:
    """Edges from the root, by pointer jumping: 0 at roots, and for unreached vertices."""
    depth = (before >= 0).astype(np.int64)
    jump = xp.where(before >= 0, before, xp.arange(before.shape[-1]))
    for _ in range(int(before.shape[-1]).bit_length()):
        depth = depth + xp.take_along_axis(depth, jump, -1)
        jump = xp.take_along_axis(jump, jump, -1)
    return depth
