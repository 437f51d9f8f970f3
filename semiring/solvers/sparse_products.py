"""Products with sparse matrices over any semiring."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.algebra.by_name import algebra
from semiring.algebra.semiring import Semiring
from semiring.errors import LawError, SemiringError
from semiring.kernels.choose import choose
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.general import general
from semiring.machine.memory import require
from semiring.operands.devices import is_on_gpu
from semiring.operands.operand import examine, operand
from semiring.operands.sparse import Compressed, compressed, is_sparse
from semiring.solvers.shapes import inner_shape, one_dtype

from .schedules import LARGE

if TYPE_CHECKING:
    from semiring.kernels.cpu.sparse.product import Rows


def sparse_matmul(
    A: Any,
    B: Any,
    S: Semiring | str,
    *,
    accumulate: Any = None,
    out: np.ndarray | None = None,
    device: str | None = None,
) -> Any:
    """The matrix product A ⊗ B where A or B, or both, are SciPy sparse matrices.

    An entry that is not stored is the algebra's zero, one that is stored is an element, also if it is the number 0;
    entries of one place combine with ⊕. Neither operand is changed.

    Parameters
    ----------
    A, B : sparse matrix, or array_like of shape (m, k), (k, n), (k,)
        One at least is sparse, of any SciPy format; the other may be dense, a vector, or sparse too. Of the same
        dtype. On a GPU a sparse A, of SciPy's or a `cupyx.scipy.sparse.csr_matrix`, times a dense B.
    S : Semiring or str
    accumulate : array_like, optional
        C of the answer's shape; the answer is then C ⊕ A ⊗ B. Where the answer is dense only.
    out : ndarray, optional
        Where to put the answer, if it is dense.
    device : {None, "cpu", "gpu"}
        Where to compute; ``None``: where B is.

    Returns
    -------
    ndarray (of CuPy, if B is), or scipy.sparse.csr_array where both operands are sparse
        The sparse answer has sorted columns, and no entry that is the algebra's zero: what is not stored is zero.

    Raises
    ------
    SemiringError
        When shapes or dtypes do not fit, an entry is not an element, or elements are records or Python objects, which
        SciPy's sparse matrices cannot hold.
    LawError
        When 0 ⊗ a is not 0 (in a bare product): then what is not stored would count.

    Notes
    -----
    Sparse times sparse is Gustavson's algorithm (1978) in two phases: first the places, then the values.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> import semiring as sr
    >>> from semiring.solvers.sparse_products import sparse_matmul
    >>> roads = sp.csr_array(([3.0, 4.0], ([0, 1], [1, 2])), shape=(3, 3))
    >>> sparse_matmul(roads, np.array([9.0, 9.0, 0.0]), sr.min_plus)
    array([12.,  4., inf])
    >>> two = sparse_matmul(roads, roads, sr.min_plus)
    >>> two.nnz, float(two[0, 2])
    (1, 7.0)
    """
    S = algebra(S)
    if not S.absorbs:
        refuted = next(v for v in S._law_report.axioms if "absorbs" in v.law.name and not v.holds)
        raise LawError(f"{S.name}: what a sparse matrix does not store is zero, and {refuted}; pass dense arrays")
    if wants_gpu(A, B, device):
        from .sparse_products_gpu import sparse_times_dense

        return sparse_times_dense(A, B, S, accumulate, out)
    left = compressed(A, S, "A") if is_sparse(A) else None
    right = compressed(B, S, "B") if is_sparse(B) else None
    if left is not None and right is not None:
        if accumulate is not None or out is not None:
            raise SemiringError(
                "the product of two sparse matrices is sparse: accumulate and out need a dense operand; "
                "pass A.toarray() with the algebra's zero filled in"
            )
        return _sparse(S, left, right)
    return _dense(S, left, right, A, B, accumulate, out)


def wants_gpu(A: Any, B: Any, device: str | None) -> bool:
    """Whether the GPU is asked for, by name or by where the operands are."""
    if device not in (None, "cpu", "gpu", "cuda"):
        raise SemiringError(f"unknown device {device!r}: it is 'cpu', 'gpu', or None for the best of them")
    if device is None:
        return any(is_on_gpu(X) or type(X).__module__.startswith("cupyx.") for X in (A, B))
    return device != "cpu"


def _dense(
    S: Semiring, left: Compressed | None, right: Compressed | None, A: Any, B: Any, accumulate: Any, out: Any
) -> np.ndarray:
    given = operand(B if right is None else A, S, "B" if right is None else "A").array
    if given.ndim not in (1, 2):
        raise SemiringError(f"a sparse matrix times an array of shape {given.shape}: the array must be 1-D or 2-D")
    vector = given.ndim == 1
    dense = given if not vector else given[:, None] if right is None else given[None]
    shapes = [left.shape if left is not None else dense.shape, right.shape if right is not None else dense.shape]
    sparse = left if left is not None else right
    assert sparse is not None
    dtype = one_dtype(("A", sparse.dtype if right is None else dense.dtype),
                       ("B", dense.dtype if right is None else sparse.dtype))
    full = inner_shape(*shapes)
    shape = full if not vector else (full[0],) if right is None else (full[1],)
    what = ("A", "B") if right is None else ("B", "A")
    arrays = [(what[0], sparse.rows.values), (what[1], given)]
    start = None
    if accumulate is not None:
        start = operand(accumulate, S, "accumulate").array
        one_dtype(("A", dtype), ("accumulate", start.dtype))
        if start.shape != shape:
            raise SemiringError(f"accumulate has shape {start.shape}, the product {shape}")
        arrays.append(("accumulate", start))
    if out is not None and not (isinstance(out, np.ndarray) and out.shape == shape and out.dtype == dtype
                                and out.flags.writeable and not isinstance(out, np.ma.MaskedArray)):
        raise SemiringError(f"out must be a writable {dtype} array of shape {shape}, and none with a mask")
    if full[0] * full[1] * dtype.itemsize > LARGE:
        require(full[0] * full[1] * dtype.itemsize, f"the {full[0]} × {full[1]} product")
    low = _lowering(S, dtype, examine(S, dtype, arrays))
    C = low.encode(start, True).reshape(full) if start is not None else np.empty(full, low.storage)
    rows, other = _encoded(low, sparse.rows), dense if low.is_identity else low.encode(dense, True)
    kernel = _kernel(low)
    if right is None:
        kernel.times_dense(C, rows, other, accumulate=start is not None)
    else:
        kernel.dense_times(C, other, rows, accumulate=start is not None)
    result = low.decode(C).reshape(shape)
    if out is None:
        return result
    out[...] = result
    return out


def _sparse(S: Semiring, left: Compressed, right: Compressed) -> Any:
    from scipy.sparse import csr_array

    dtype = one_dtype(("A", left.dtype), ("B", right.dtype))
    shape = inner_shape(left.shape, right.shape)
    low = _lowering(S, dtype, examine(S, dtype, [("A", left.rows.values), ("B", right.rows.values)]))
    C = _kernel(low).times_sparse(_encoded(low, left.rows), _encoded(low, right.rows))
    values, columns, offsets = low.decode(C.values), C.columns, C.offsets
    stored = np.asarray(values != S.zero_in(dtype))
    if not stored.all():
        before = np.concatenate([[0], np.cumsum(stored)])
        values, columns, offsets = values[stored], columns[stored], before[offsets]
    result = csr_array((values, columns, offsets), shape=shape)
    result.has_canonical_format = True
    return result


def _lowering(S: Semiring, dtype: np.dtype, facts: Facts) -> Lowering:
    """The fastest form for a few terms an entry: a pass over the dense operand costs more than it saves."""
    low = choose(S, dtype, facts, 3, in_place=False, packed=False)
    plain = general(S, dtype) if low.kind == "numba" and dtype in (np.float32, np.float64) else low
    return plain if plain.is_identity else low


def _encoded(low: Lowering, rows: Rows) -> Rows:
    return rows if low.is_identity else replace(rows, values=low.encode(rows.values, True))


def _kernel(low: Lowering) -> Any:
    if low.kind == "objects":
        from semiring.kernels.cpu.sparse.objects import SparseObjectKernel

        return SparseObjectKernel(low)
    from semiring.kernels.cpu.sparse.product import sparse_kernel

    return sparse_kernel(low)
