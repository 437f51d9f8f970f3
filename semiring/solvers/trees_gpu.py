"""Trees of best walks for values on the GPU: the arrays there and back, and the matrix by its edges."""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.kernels.cpu.sparse.structure import transpose
from semiring.operands.dense import Dense
from semiring.operands.operand import Operand
from semiring.operands.sparse import Sparse

from .fronts import analysis_of, is_analysed


def trees_on_gpu(
    given: Dense | Sparse, X: Any, roots: np.ndarray, backwards: bool, monotone: bool
) -> tuple[Any, np.ndarray, np.ndarray]:
    """The vertex before each on a best walk from each root; the vertex after it on one to the root, if `backwards`.

    Parameters
    ----------
    given : Device or Sparse
        The matrix: an array on the GPU, or compressed rows on the host, whose edges are copied there.
    X : array, shape (k, n)
        Values, on the GPU.
    roots : ndarray of int64, shape (k,)
    backwards : bool
        Whether X holds columns of the closure, and walks lead to the roots.
    monotone : bool
        Whether products that round are no better for a worse factor, so that bad edges can be left out.

    Returns
    -------
    P : array of int32, shape (k, n)
        On the GPU: −1 at the root, and where no walk leads.
    lost : ndarray of int64, shape (k,)
        Of each line the first vertex whose value is zero though one before it is not; −1 where there is none.
    guessed : ndarray of int64
        Lines in which rounding left no best edge to some vertices, where an edge is better than one.
    """
    import cupy

    from semiring.kernels.cuda.sparse.trees import CudaTreeKernel, lowering_for

    S, n = given.S, given.shape[0]
    if not X.size:
        return cupy.empty(X.shape, np.int32), np.full(len(roots), -1), np.empty(0, np.int64)
    low = lowering_for(S, given.dtype, given.facts, n + 1)
    kernel = CudaTreeKernel(low, backwards)
    x = cupy.ascontiguousarray(X.T)
    if not low.is_identity:
        x = low.encode(x, True)
    order = None
    if isinstance(given, Sparse):
        edges, bounded = _entering(given, low, backwards), given.bounded
        if is_analysed(given):
            order = cupy.asarray(analysis_of(given).order.astype(np.int32))
    else:
        A = cupy.ascontiguousarray(given.array if backwards else given.array.T)
        if not low.is_identity:
            A = low.encode(A, True)
        bounded = not kernel.improves(A)
        keeps = bounded and monotone
        edges = kernel.edges(A, x, keeps, keeps and S.is_tropical and np.array_equal(roots, np.arange(n)))
    P, lost, guessed = kernel.predecessors(edges, x, cupy.asarray(roots, np.int64), bounded, order)
    return P.T, lost, np.flatnonzero(guessed & (not bounded))


def _entering(given: Sparse, low: Any, backwards: bool) -> Any:
    """The edges into each vertex on the GPU; those out of it, if `backwards`.

    The kernels take every entry for an edge, and a walk along one that is zero would look lost; so those are left out.
    """
    import cupy

    from semiring.kernels.cuda.sparse.product import DeviceRows

    rows = given.without_zeros().rows
    rows = rows if backwards else transpose(rows)
    offsets, tails, weights = map(cupy.asarray, (rows.offsets, rows.columns, rows.values))
    return DeviceRows(offsets, tails, weights if low.is_identity else low.encode(weights, True), rows.width)


def cut_off_on_gpu(given: Operand, X: Any, tree: Any, limit: np.ndarray) -> Any:
    """X without the walks that are worse than a limit, an array of one element; nothing comes before them in the tree.

    `tree` is overwritten.
    """
    import cupy

    from semiring.kernels.cuda.sparse.trees import CudaTreeKernel, lowering_for

    low = lowering_for(given.S, given.dtype, given.facts, 3)
    x, p = low.encode(cupy.ascontiguousarray(X), True), cupy.ascontiguousarray(tree)
    CudaTreeKernel(low, False).cut_off(x, p, low.encode(cupy.asarray(limit), True))
    if p is not tree:
        tree[...] = p
    return low.decode(x)


def improves_on_gpu(given: Dense) -> bool:
    """Whether an edge of a matrix is better than one."""
    import cupy

    from semiring.kernels.cuda.sparse.trees import CudaTreeKernel, lowering_for

    low = lowering_for(given.S, given.dtype, given.facts, 3)
    return CudaTreeKernel(low, False).improves(low.encode(cupy.ascontiguousarray(given.array), not low.is_identity))
