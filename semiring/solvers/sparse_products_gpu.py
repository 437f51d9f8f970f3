"""A sparse matrix times a dense one on the GPU: operands taken to the device, and the answer to where B came from."""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.operands.devices import gpu_name, is_on_gpu
from semiring.operands.operand import examine, operand
from semiring.operands.sparse import compressed, is_sparse
from semiring.solvers.shapes import inner_shape, one_dtype


def sparse_times_dense(A: Any, B: Any, S: Semiring, accumulate: Any, out: Any) -> Any:
    """A ⊗ B, or C ⊕ A ⊗ B; see `semiring.solvers.sparse_products.sparse_matmul`."""
    here = type(A).__module__.startswith("cupyx.scipy.sparse")
    if not (here or is_sparse(A)) or is_sparse(B) or type(B).__module__.startswith("cupyx."):
        raise SemiringError("the GPU multiplies a sparse A with a dense B; other products take host operands")
    if gpu_name() is None:
        raise SemiringError("no GPU was found; install semiring[cu12] or semiring[cu13], or use device='cpu'")
    import cupy

    from semiring.kernels.cuda.sparse.product import DeviceRows, lowering_for, times_dense

    if here:
        rows = _on_device(A)
    else:
        host = compressed(A, S).rows
        offsets, columns, values = map(cupy.asarray, (host.offsets, host.columns, host.values))
        rows = DeviceRows(offsets, columns, values, host.width)
    given = operand(B, S, "B").array
    if given.ndim not in (1, 2):
        raise SemiringError(f"a sparse matrix times an array of shape {given.shape}: the array must be 1-D or 2-D")
    dtype = one_dtype(("A", S.resolve_dtype(rows.values.dtype)), ("B", given.dtype))
    shape = inner_shape(rows.shape, given.shape if given.ndim == 2 else (len(given), 1))
    arrays = {"A": rows.values, "B": cupy.asarray(given)}
    final = shape if given.ndim == 2 else shape[:1]
    if accumulate is not None:
        arrays["accumulate"] = cupy.asarray(operand(accumulate, S, "accumulate").array)
        one_dtype(("A", dtype), ("accumulate", arrays["accumulate"].dtype))
        if arrays["accumulate"].shape != final:
            raise SemiringError(f"accumulate has shape {arrays['accumulate'].shape}, the product {final}")
    if out is not None and (getattr(out, "shape", None), getattr(out, "dtype", None)) != (final, dtype):
        raise SemiringError(f"out must be a writable {dtype} array of shape {final}")
    facts = examine(S, dtype, list(arrays.items()))
    start = arrays["accumulate"].reshape(shape) if accumulate is not None else None
    dense = arrays["B"].reshape(len(given), -1) if given.ndim == 1 else arrays["B"]
    result = times_dense(lowering_for(S, dtype, facts), rows, dense, start).reshape(final)
    if out is not None:
        out[...] = result if is_on_gpu(out) else result.get()
        return out
    return result if is_on_gpu(B) else result.get()


def _on_device(A: Any) -> Any:
    """A CuPy matrix as rows; those of one place need not be combined, since ⊗ distributes over ⊕."""
    from semiring.kernels.cuda.sparse.product import DeviceRows

    if A.format != "csr":
        raise SemiringError(f"a sparse matrix on the GPU must have the format csr, not {A.format}: pass A.tocsr()")
    if len(A.indices) and not bool(((A.indices >= 0) & (A.indices < A.shape[1])).all()):
        raise SemiringError(f"A is {A.shape[0]} × {A.shape[1]} and has entries outside")
    return DeviceRows(A.indptr.astype(np.int64), A.indices.astype(np.int32, copy=False), A.data, A.shape[1])
