"""Trees of best walks for values on the GPU: the arrays there and back, and the matrix by its edges."""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.operands.dense import Dense


def trees_on_gpu(
    given: Dense, X: Any, roots: np.ndarray, backwards: bool, monotone: bool
) -> tuple[Any, np.ndarray, np.ndarray]:
    """The vertex before each on a best walk from each root; the vertex after it on one to the root, if `backwards`.

    Parameters
    ----------
    given : Device
        The matrix, on the GPU.
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

    S, n = given.S, len(given.array)
    if not X.size:
        return cupy.empty(X.shape, np.int32), np.full(len(roots), -1), np.empty(0, np.int64)
    low = lowering_for(S, given.dtype, given.facts, 3 * n + 3)
    kernel = CudaTreeKernel(low, backwards)
    A = cupy.ascontiguousarray(given.array if backwards else given.array.T)
    x = cupy.ascontiguousarray(X.T)
    if not low.is_identity:
        A, x = low.encode(A, True), low.encode(x, True)
    bounded = not kernel.improves(A)
    keeps = bounded and monotone
    edges = kernel.edges(A, x, keeps, keeps and S.is_tropical and np.array_equal(roots, np.arange(n)))
    P, lost, guessed = kernel.predecessors(edges, x, cupy.asarray(roots, np.int64), bounded)
    return P.T, lost, np.flatnonzero(guessed & (not bounded))


def cut_off_on_gpu(given: Dense, X: Any, tree: Any, limit: np.ndarray) -> Any:
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
