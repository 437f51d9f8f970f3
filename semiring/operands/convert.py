"""Conversions between representations, for solvers that take only one."""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.algebra.constants import outside
from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.graphs.texts import EXACT, with_infinities
from semiring.kernels.cpu.bits.matrix import PackedMatrix

from .dense import Dense, Lifted, carried_by
from .device import Device, lifted_on_device
from .devices import to_host, upload
from .entries import compressed_rows
from .operand import Operand
from .packed import Packed, Sent, check_boolean
from .read import operand
from .sparse import DeviceSparse, Sparse, entries_in, read_scipy


def as_dense(given: Operand) -> Dense:
    """Convert to an array: on the GPU if it is there, else on the host."""
    if isinstance(given, Dense):
        return given
    if isinstance(given, Sparse):
        return Dense(given.array(), given.S, given.what, given.wrap, given.names).of_library(given.library)
    if isinstance(given, DeviceSparse):
        return as_dense(on_device(as_dense(on_host(given))))
    assert isinstance(given, Packed)
    if given.on_gpu:
        return Device(given.matrix.to_dense(), given.S, given.what)
    return Dense(given.matrix.to_dense(), given.S, given.what, given.wrap, given.names)


def as_sparse(given: Operand) -> Sparse:
    """Convert to the entries that are not zero."""
    if isinstance(given, DeviceSparse):
        given = on_host(given)
    if isinstance(given, Sparse):
        return given
    if isinstance(given, Packed):
        rows, columns = given.here().to_sparse().nonzero()
        return _from_places(given, rows, columns)
    dense = as_dense(given)
    _ = dense.facts  # refuses anything that is not an element, with its place in the array
    return entries_in(to_host(dense.array), given.S, given.what, given.names).of_library(given.library)


def of_floats(given: Operand) -> Operand:
    """Convert a graph's integers to float64, as NumPy does if floats meet them; unchanged if one would be rounded."""
    if not isinstance(given, (Dense, Sparse)) or not given.of_graph or given.dtype.kind not in "iu":
        return given
    values = with_infinities(given.elements, given.S)
    if values.dtype.kind in "iu" and not outside(values, -EXACT, EXACT).any():
        values = values.astype(np.float64)
    if values.dtype != np.float64:
        return given
    return given.with_elements(values).changed(labels=given.labels)


def _from_places(given: Packed, rows: np.ndarray, columns: np.ndarray) -> Sparse:
    ones = np.full(len(rows), given.S.one_in(bool))
    return Sparse(compressed_rows(given.S, rows, columns, ones, (given.shape[0], given.shape[1])), given.S, given.what)


def as_packed(given: Operand) -> Packed:
    """Convert to one bit per element; refuse elements other than 0 and 1."""
    if isinstance(given, Packed):
        return given
    S = given.S
    check_boolean(S)
    if isinstance(given, Sparse):
        stored = given.values == S.one_in(given.dtype)
        rows = np.repeat(np.arange(given.shape[0]), np.diff(given.indptr))[stored]
        matrix = PackedMatrix.from_edges(rows, given.rows.columns[stored], given.rows.shape)
        return Packed(matrix, S, given.what, mine=True)
    dense = as_dense(given)
    if len(dense.shape) != 2:
        raise SemiringError(f"{given.what} must be one matrix, and has shape {dense.shape}")
    if dense.array.size and not dense.facts.two_valued:
        raise SemiringError(
            f"{given.what} has entries other than the 0 and 1 of {S.name}, which do not fit in one bit"
        )
    return Packed(PackedMatrix.from_dense(dense.array), S, given.what, mine=True)


def as_bits(A: Any, S: Semiring, what: str = "A") -> Operand:
    """An operand of a Boolean algebra with one bit per element, or still by its entries."""
    check_boolean(S, "packed=True: ")
    given = operand(A, S, what)
    return given if isinstance(given, Sparse) else as_packed(given)


def on_device(given: Operand) -> Operand:
    """Copy to the GPU's memory; answers go back to where the operand came from."""
    if given.on_gpu:
        return given
    if isinstance(given, Packed):
        return Sent(given)
    dense = as_dense(given)
    wrap = dense.wrap
    if isinstance(dense, Lifted) and "array" not in vars(dense):  # fewer bytes, and made faster there
        array = carried_by(lifted_on_device(upload(dense.weights), given.S), given.S)
        return Device(array, given.S, given.what, lambda a: wrap(to_host(a)))
    made = Device(upload(dense.array), given.S, given.what, lambda a: wrap(to_host(a)), given.names)
    return made.of_library(given.library)


def on_host(given: Operand) -> Operand:
    """Copy to the host's memory; answers go back to where the operand came from."""
    if not given.on_gpu:
        return given
    if isinstance(given, DeviceSparse):
        return read_scipy(given.matrix.get(), given.S, given.what)
    if isinstance(given, Sent):
        return Packed(given.host, given.S, given.what, mine=given.hosts_own)
    if isinstance(given, Packed):
        return Packed(given.matrix.get(), given.S, given.what, mine=True, answers=lambda work: work.to_device("gpu"))
    assert isinstance(given, Dense)
    wrap = given.wrap
    here = Dense(to_host(given.array), given.S, given.what, lambda a: wrap(upload(a)), given.names)
    return here.of_library(given.library)
