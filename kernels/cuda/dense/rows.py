"""Some rows of a matrix on one GPU, in and out of storage, with zeros beyond the matrix to make tiles whole.

All of it concerns the current device, and is done when a function returns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.kernels.cuda.compile.launch import synchronize, synchronize_device
from semiring.kernels.cuda.compile.staging import download, upload

from .exchange import exchange

if TYPE_CHECKING:
    from semiring.kernels.cuda.lowering import CudaLowering


def taken(matrix: Any, spans: Sequence[slice], rows: int, width: int) -> Any:
    """The rows of some spans, one below the other, at the left and top of an array that may be larger.

    Parameters
    ----------
    matrix : ndarray, in the host's memory or on any GPU
    spans : sequence of slice
    rows, width : int
        Shape of the answer; what is beyond the matrix holds anything.
    """
    import cupy

    raw, on_host = cupy.empty((rows, width), matrix.dtype), isinstance(matrix, np.ndarray)
    if not on_host:
        synchronize_device(matrix.device)  # whose stream may be any
    for span, place in _placed(spans):
        part, source = raw[place, : matrix.shape[1]], matrix[span]
        if not on_host and part.flags.c_contiguous and source.flags.c_contiguous:
            cupy.copyto(part, source)  # by the links between GPUs
        else:
            part[...] = here(source) if on_host or matrix.device != raw.device else source
    synchronize()
    return raw


def into_storage(low: CudaLowering, raw: Any, rows: int, columns: int) -> Any:
    """What `taken` gave, in storage: so many rows and columns of it, and the semiring's zero beyond.

    In its own memory where elements in storage are as large.
    """
    stored = raw.view(low.storage) if low.storage.itemsize == low.dtype.itemsize else low.empty(raw.shape)
    exchange(low).take_in(raw[:rows, :columns], stored)
    synchronize()
    return stored


def handed_out(low: CudaLowering, stored: Any, spans: Sequence[slice], result: Any, look: bool) -> bool:
    """The rows back in their places of a matrix, in the host's memory or on any GPU.

    What `stored` holds then is of no use. If `look` asks for it, whether there is a NaN among the elements.
    """
    import cupy

    kept, found = [], []
    for span, place in _placed(spans):
        rows = low.decode(stored[place, : result.shape[1]])
        if look and rows.dtype.kind == "f":
            found.append(cupy.isnan(rows).any())
        if isinstance(result, np.ndarray):
            download(rows, result[span])
        else:
            kept.append(cupy.ascontiguousarray(rows))
            cupy.copyto(result[span], kept[-1])
    synchronize()  # memory may be freed only after its last use
    return any(bool(nan) for nan in found)


def here(array: Any) -> Any:
    """An array of the host's memory, or of any GPU, as one of the current GPU."""
    if isinstance(array, np.ndarray):
        return upload(array)
    import cupy

    with array.device:
        array = cupy.ascontiguousarray(array)
        synchronize_device(array.device)
    copy = cupy.empty(array.shape, array.dtype)
    cupy.copyto(copy, array)
    synchronize()  # the array may be a copy in C order, whose memory is free now for other streams
    return copy


def put(array: Any, target: Any) -> None:
    """target ← an array of the current GPU; the target is in the host's memory, or on any GPU in C order."""
    if isinstance(target, np.ndarray):
        download(array, target)
    else:
        import cupy

        cupy.copyto(target, cupy.ascontiguousarray(array))
        synchronize()


def _placed(spans: Sequence[slice]) -> Iterator[tuple[slice, slice]]:
    """Each span with its place where the rows lie one below the other."""
    start = 0
    for span in spans:
        stop = start + span.stop - span.start
        yield span, slice(start, stop)
        start = stop
