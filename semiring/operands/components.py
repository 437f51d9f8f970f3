"""Matrices of records given by components: a tuple of matrices of numbers, one for each component."""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.graphs.foreign import unpadded
from semiring.kernels.blocks.rows import Rows

from .dense import read_array
from .devices import is_on_gpu, to_host
from .entries import COLUMN, OFFSET
from .operand import Operand
from .sparse import Sparse


def is_components(A: Any, S: Semiring) -> bool:
    """Whether this is a tuple of arrays or of SciPy sparse matrices, for an algebra of records."""
    return isinstance(A, tuple) and S.is_record and len(A) > 0 and all(
        ((isinstance(part, np.ndarray) or is_on_gpu(part)) and part.ndim > 1) or hasattr(part, "tocsr") for part in A
    )


def read_components(A: tuple[Any, ...], S: Semiring, what: str) -> Operand:
    """A matrix of records with these matrices as components, in order, in the host's memory.

    Raises
    ------
    SemiringError
        If there is not one for each component, or shapes or the stored entries differ.
    """
    names = S.default_dtype.names or ()
    if len(A) != len(names):
        raise SemiringError(f"{what} is a tuple of {len(A)} matrices, but an element of {S.name} has the {len(names)} "
                            f"components {', '.join(names)}: pass one matrix for each")
    for k, part in enumerate(A):
        if part.dtype.kind not in "biuf":
            raise SemiringError(f"{what}[{k}] has elements of dtype {part.dtype}, but a component is a real number")
        if part.shape != A[0].shape:
            raise SemiringError(f"{what}[0] has shape {A[0].shape} and {what}[{k}] {part.shape}: they must be equal")
        if hasattr(part, "tocsr") != hasattr(A[0], "tocsr"):
            raise SemiringError(f"{what} mixes arrays and sparse matrices: pass matrices of one kind")
    A = tuple(map(to_host, A))
    record = np.dtype([(f, part.dtype.newbyteorder("=")) for f, part in zip(names, A, strict=True)], align=True)
    if isinstance(A[0], np.ndarray):
        return read_array(_joined(list(A), record), S, what)
    return _read_sparse(A, S, what, record)


def _joined(parts: list[np.ndarray], record: np.dtype) -> np.ndarray:
    made = np.empty(parts[0].shape, record)
    for f, part in zip(record.names or (), parts, strict=True):
        made[f] = part
    return made


def _read_sparse(A: tuple[Any, ...], S: Semiring, what: str, record: np.dtype) -> Sparse:
    if len(A[0].shape) != 2:
        raise SemiringError(f"a sparse matrix has two axes, and {what}[0] has shape {A[0].shape}")
    parts = []
    for k, part in enumerate(A):
        part = unpadded(part)
        rows = part.tocsr(copy=True)
        rows.sort_indices()
        if part.nnz != rows.nnz or not rows.has_canonical_format:
            raise SemiringError(f"{what}[{k}] has several entries in one place, which cannot be combined: "
                                f"call {what}[{k}].sum_duplicates(), or pass a graph of records")
        parts.append(rows)
        if not (np.array_equal(rows.indptr, parts[0].indptr) and np.array_equal(rows.indices, parts[0].indices)):
            places = [set(zip(*map(np.ndarray.tolist, p.nonzero()), strict=True)) for p in (parts[0], rows)]
            differ = min(places[0] ^ places[1], default=None)
            where = f", such as {differ}" if differ is not None else ""
            raise SemiringError(f"{what}[0] and {what}[{k}] store entries in different places{where}: store all "
                                "components of an edge, even if one of them is 0")
    first = parts[0]
    values = _joined([p.data for p in parts], record)
    values = read_array(values, S, what).array
    rows_ = Rows(first.indptr.astype(OFFSET), first.indices.astype(COLUMN), np.ascontiguousarray(values), A[0].shape[1])
    return Sparse(rows_, S, what, examined=False)

