"""Convert matrices of other libraries to NumPy and SciPy: sparse ones by their entries, tensors resolved.

Sparse ones come from PyData's sparse, GraphBLAS, PyTorch, JAX and CuPy. Only libraries that are loaded are tried,
because an object cannot exist before the module of its class.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from semiring.errors import GraphError, SemiringError

from .texts import quoted

PADDED = ("bsr", "dia")  # SciPy's formats whose blocks and diagonals cannot distinguish a 0 from padding
LACKING = re.compile(r"bfloat|float[48]_|float6_|q?u?int[1-7]\b|q.?int|complex32|bits\d")  # dtypes that NumPy lacks

UNEXPORTED = (BufferError, RuntimeError, TypeError, ValueError)  # raised by libraries for what they do not export
HOST, CUDA = 1, 2  # DLPack's numbers for the host's memory, and for that of CUDA devices


class Stored(NamedTuple):
    """The entries of a sparse array, and its value elsewhere; None if no value is meant."""

    places: tuple[np.ndarray, ...]  # for each axis the index of each entry
    values: np.ndarray
    shape: tuple[int, ...]
    fill: Any = None


def kind_of(A: Any, module: str, name: str) -> bool:
    """Whether this is an object of a class of a library that is loaded."""
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and isinstance(A, kind)


def unpadded(matrix: Any) -> Any:
    """A SciPy sparse matrix without padding: in formats that store blocks or diagonals a 0 is removed.

    >>> import scipy.sparse as sp
    >>> unpadded(sp.bsr_array([[0, 3], [0, 0]], blocksize=(2, 2))).nnz
    1
    """
    if matrix.format not in PADDED:
        return matrix
    entries = matrix.tocoo()
    kept = entries.data != 0
    rows, columns = entries.row[kept], entries.col[kept]
    return type(entries)((entries.data[kept], (rows, columns)), shape=matrix.shape)


def with_entries(matrix: Any, kept: np.ndarray) -> Any:
    """SciPy's compressed rows with some of their entries, in the same order.

    >>> import scipy.sparse as sp
    >>> with_entries(sp.csr_array([[1, 2], [0, 3]]), np.array([True, False, True])).toarray().tolist()
    [[1, 0], [0, 3]]
    """
    if kept.all():
        return matrix
    offsets = np.concatenate([[0], np.cumsum(kept)])[matrix.indptr].astype(matrix.indptr.dtype)
    return type(matrix)((matrix.data[kept], matrix.indices[kept], offsets), shape=matrix.shape)


def stored_in(A: Any, what: str) -> Stored | None:
    """The entries of a sparse array of a library other than SciPy; None for anything else.

    Raises
    ------
    GraphError
        If NumPy lacks such elements, or the library does not say what is stored.
    """
    reader = next((reader for is_one, reader in SPARSE if is_one(A)), None)
    if reader is None:
        return None
    try:
        found: Stored = reader(A, what)
    except SemiringError:
        raise
    except (AttributeError, *UNEXPORTED) as e:
        raise GraphError(f"{what} is of type {type(A).__name__}, and its entries cannot be read ({_line(e)}): convert "
                         "it to a SciPy sparse matrix") from None
    if found.values.ndim != 1 or found.values.dtype.kind not in "biufc":
        raise GraphError(f"{what} stores {found.values.dtype} in arrays of shape {found.values.shape[1:]}, but an "
                         "entry must be a number")
    return found


def as_scipy(A: Any, what: str, is_absent: Callable[[Any], bool] = lambda fill: False) -> Any:
    """A sparse matrix of another library as a SciPy one with the same entries; None for anything else.

    Raises
    ------
    GraphError
        If it does not have two axes, or has a fill value that `refuse_fill` refuses.
    """
    found = stored_in(A, what)
    if found is None:
        return None
    refuse_fill(found, what, is_absent)
    if len(found.shape) != 2:
        raise GraphError(f"{what} must be a matrix, but this {type(A).__name__} has shape {found.shape}")
    from scipy.sparse import coo_array

    return coo_array((found.values, found.places), shape=found.shape)


def refuse_fill(found: Stored, what: str, is_absent: Callable[[Any], bool]) -> None:
    """Refuse a fill value that is a weight.

    Raises
    ------
    GraphError
        If it is neither 0 nor NaN, which usually mean "absent", and `is_absent` returns False.
    """
    fill = found.fill
    if fill is None or fill == 0 or fill != fill or is_absent(fill):
        return
    value = quoted(fill.item() if isinstance(fill, np.generic) else fill)
    raise GraphError(f"{what} has the fill value {value}, a weight of all entries that are not stored: pass a dense "
                     f"array, {what}.todense(), or a sparse one whose fill value means that there is no edge")


def _of_pydata(A: Any, what: str) -> Stored:
    entries = A.asformat("coo")
    return Stored(tuple(np.asarray(entries.coords)), np.asarray(entries.data), A.shape, A.fill_value)


def _of_graphblas(A: Any, what: str) -> Stored:
    if not hasattr(A, "to_coo"):
        raise GraphError(f"{what} is a {type(A).__name__} of GraphBLAS: pass a Matrix, such as its .new()")
    *places, values = (A if hasattr(A, "nvals") else A.new()).to_coo()
    return Stored(tuple(np.asarray(place).astype(np.int64) for place in places), np.asarray(values), tuple(A.shape))


def _of_torch(A: Any, what: str) -> Stored:
    refuse_marked(A, what)
    blocks = "bsr" in str(A.layout) or "bsc" in str(A.layout)
    entries = A if "coo" in str(A.layout) else A.to_sparse_coo()
    places, values = entries._indices().cpu().numpy(), as_array(entries._values(), what)
    kept = values != 0 if blocks and values.ndim == 1 else slice(None)
    return Stored(tuple(places[:, kept]), values[kept], tuple(A.shape))


def _of_jax(A: Any, what: str) -> Stored:
    entries = A.to_bcoo() if hasattr(A, "to_bcoo") else A
    places, values = np.asarray(entries.indices), as_array(entries.data, what)
    inside = (places < np.array(A.shape)).all(axis=-1)  # the rest is padding
    return Stored(tuple(places[inside].T), values[inside], tuple(A.shape))


def _of_cupy(A: Any, what: str) -> Stored:
    entries = unpadded(A.get()).tocoo()
    return Stored((entries.row, entries.col), entries.data, entries.shape)


def is_sparse_tensor(A: Any) -> bool:
    """Whether this is a PyTorch tensor in a sparse layout."""
    return kind_of(A, "torch", "Tensor") and "sparse" in str(A.layout)


def is_sparse(A: Any) -> bool:
    """Whether this is a sparse array of a library other than SciPy."""
    return any(is_one(A) for is_one, _ in SPARSE)


SPARSE: tuple[tuple[Callable[[Any], bool], Callable[[Any, str], Stored]], ...] = (
    (lambda A: kind_of(A, "sparse", "SparseArray"), _of_pydata),
    (lambda A: type(A).__module__.startswith("graphblas.core."), _of_graphblas),
    (is_sparse_tensor, _of_torch),
    (lambda A: kind_of(A, "jax.experimental.sparse", "JAXSparse"), _of_jax),
    (lambda A: kind_of(A, "cupyx.scipy.sparse", "spmatrix"), _of_cupy),
)


# Arrays


def is_foreign(A: Any) -> bool:
    """Whether this is an array or a number of a library other than NumPy, on the host or on a GPU."""
    return hasattr(A, "__dlpack__") and hasattr(A, "__dlpack_device__") and not isinstance(A, (np.ndarray, np.generic))


def refuse_marked(A: Any, what: str) -> None:
    """Refuse a tensor that records derivatives, which would be lost, and a dtype that NumPy lacks.

    Raises
    ------
    SemiringError
    """
    if getattr(A, "requires_grad", False):
        raise SemiringError(f"{what}: this tensor requires grad, and derivatives would be lost here: use matmul and "
                            "closure of semiring.torch, or pass its .detach()")
    if LACKING.search(str(getattr(A, "dtype", ""))):
        raise SemiringError(f"{what}: the dtype is {A.dtype}, which NumPy lacks; convert to float32 or another dtype "
                            "that it has")


def resolved(A: Any) -> Any:
    """A tensor with its elements as stored: conjugates and negatives, which PyTorch only marks, are resolved."""
    for mark in ("resolve_conj", "resolve_neg"):
        A = getattr(A, mark)() if hasattr(A, mark) else A
    return A


def imported(library: Any, A: Any, what: str) -> Any:
    """Convert an array by a library's `from_dlpack`.

    Raises
    ------
    SemiringError
        If the library of the array does not export it.
    """
    try:
        return library.from_dlpack(resolved(A))
    except UNEXPORTED as e:
        raise SemiringError(f"{what} is a {type(A).__name__} that its library does not export ({_line(e)}): convert it "
                            "to a NumPy array") from None


def device_of(A: Any, what: str) -> int:
    """DLPack's number for the kind of memory of an array.

    Raises
    ------
    SemiringError
        If it is not in memory, like a tensor of PyTorch's device "meta".
    """
    try:
        return int(A.__dlpack_device__()[0])
    except UNEXPORTED as e:
        raise SemiringError(f"{what} is a {type(A).__name__} without elements in memory ({_line(e)}): convert it to a "
                            "NumPy array") from None


def as_array(A: Any, what: str) -> np.ndarray:
    """Convert an array of any library to a NumPy array, in the host's memory.

    Raises
    ------
    SemiringError
        For what `refuse_marked` refuses, and for an array that its library does not export.
    """
    if not is_foreign(A):
        return np.asarray(A)
    refuse_marked(A, what)
    if kind_of(A, "torch", "Tensor"):
        A = A if device_of(A, what) == HOST else A.cpu()
    elif type(A).__module__.partition(".")[0] == "cupy":
        return np.asarray(A.get())
    elif type(A).__module__.partition(".")[0] in ("jax", "jaxlib"):
        return np.asarray(A)
    elif device_of(A, what) != HOST:
        import cupy

        return np.asarray(imported(cupy, A, what).get())
    return np.asarray(imported(np, A, what))


def _line(e: Exception) -> str:
    return (str(e).splitlines() or [type(e).__name__])[0].rstrip(".")
