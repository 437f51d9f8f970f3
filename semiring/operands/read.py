"""What may come in, and who reads it: the one table of representations.

A row is a module, the name of a class of its, and the reader. Only modules that are loaded are asked, since an object
of a class cannot be there before its module; subclasses are taken as their parents are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.graphs.frames import is_square
from semiring.graphs.matrix import Matrix

from .components import is_components, read_components
from .dense import read_array, read_matrix, read_nested
from .device import read_cupy, read_cupyx, read_dlpack
from .operand import Operand
from .packed import read_packed, read_packed_on_gpu
from .sparse import read_graph, read_scipy

Reader = Callable[[Any, Semiring, str], Operand]


def read_frame(A: Any, S: Semiring, what: str) -> Operand:
    """A data frame of pandas: a matrix where its index and its columns are vertices, else edges."""
    return read_matrix(Matrix(A, S), S, what) if is_square(A) else read_graph(A, S, what)


def read_series(A: Any, S: Semiring, what: str) -> Operand:
    """A series of pandas: a vector whose labels are vertices, where it meets a matrix over vertices."""
    given = read(A.to_numpy(), S, what)
    given.labels = A.index.tolist()
    return given


def read_factors(A: Any, S: Semiring, what: str) -> Operand:
    """Factors: the matrix that was eliminated, and how."""
    given: Operand = operand(A._edges, S, what)
    return given.changed(factors=A)


READERS: tuple[tuple[str, str, Reader], ...] = (
    ("cupy", "ndarray", read_cupy),
    ("semiring.kernels.cpu.bits.matrix", "PackedMatrix", read_packed),
    ("semiring.kernels.cuda.bits.matrix", "DevicePackedMatrix", read_packed_on_gpu),
    ("semiring.graphs.graph", "Graph", read_graph),
    ("semiring.solvers.factored", "Factored", read_factors),
    ("scipy.sparse", "sparray", read_scipy),
    ("scipy.sparse", "spmatrix", read_scipy),
    ("cupyx.scipy.sparse", "spmatrix", read_cupyx),
    ("networkx", "Graph", read_graph),
    ("pandas", "DataFrame", read_frame),
    ("pandas", "Series", read_series),
    ("polars", "DataFrame", read_graph),
    ("pyarrow", "Table", read_graph),
)


def operand(A: Any, S: Semiring, what: str = "A") -> Operand:
    """What a caller passed, as an operand that messages call `what`: read, or as it was prepared.

    Raises
    ------
    SemiringError
        When it is no matrix over S, or was prepared for another algebra.
    """
    if not isinstance(A, Operand):
        return read(A, S, what)
    if A.S is not S:
        raise SemiringError(f"{what} was prepared for {A.S.name}, and is used with {S.name}; prepare it anew")
    return A if A.what == what else A.changed(what=what)


def read(A: Any, S: Semiring, what: str = "A") -> Operand:
    """Whatever stands for a matrix, as an operand.

    Raises
    ------
    SemiringError
        When it stands for none, or its dtype cannot carry the algebra.
    """
    if isinstance(A, np.ndarray):
        return read_array(A, S, what)
    if isinstance(A, Matrix):
        return read_matrix(A, S, what)
    if isinstance(A, tuple) and is_components(A, S):
        return read_components(A, S, what)
    for module, name, reader in READERS:
        kind = getattr(sys.modules.get(module), name, None)
        if kind is not None and isinstance(A, kind):
            return reader(A, S, what)
    if hasattr(A, "__dlpack__") and hasattr(A, "__dlpack_device__"):
        return read_dlpack(A, S, what)
    return read_nested(A, S, what)
