"""Which holder keeps the elements of a `Matrix`: for what came in, for two that meet, and as a caller asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.algebra.catalogue import boolean
from semiring.algebra.verbs import verb
from semiring.errors import GraphError, SemiringError
from semiring.kernels.blocks.rows import Rows

from .exports import as_declared
from .foreign import is_sparse, kind_of
from .held import Array, Held
from .held_entries import Entries
from .names import as_names
from .texts import clip_repr

if TYPE_CHECKING:
    from semiring.algebra.semiring import Semiring

BITS = "graphs.held_bits.Bits"  # loaded with the first packed matrix
KINDS = ("packed", "sparse", "dense")  # from the least memory to the most
PACKED = ("semiring.kernels.cpu.bits.matrix", "PackedMatrix")
CLASSES = (("semiring.graphs.graph", "Graph"), ("networkx", "Graph"), ("scipy.sparse", "sparray"),
           ("scipy.sparse", "spmatrix"), ("cupyx.scipy.sparse", "spmatrix"), PACKED)


def comes_by_entries(data: Any) -> bool:
    """Whether this is a graph, a sparse matrix or a packed one, of whatever library.

    >>> import numpy as np
    >>> import semiring as sr
    >>> comes_by_entries(sr.as_graph([(0, 1)])), comes_by_entries(np.eye(2))
    (True, False)
    """
    return any(kind_of(data, *kind) for kind in CLASSES) or is_sparse(data)


def read_entries(data: Any, S: Semiring, what: str) -> tuple[Held, list[Any] | None, str | None]:
    """A graph, a sparse matrix or a packed one as it is held, the names of its vertices, and their library.

    Raises
    ------
    SemiringError
        For what is not over the algebra, and for what is on a GPU.
    """
    given = verb("operands.read.read")(data, S, what)
    if given.on_gpu:
        raise SemiringError(f"{what} is on a GPU, and a Matrix is in the host's memory: pass {what}.get()")
    if given.kind == "packed":
        return verb(BITS)(given.matrix, S), None, None
    if given.kind == "dense":  # a stack, or a vector, of a library of sparse arrays
        return Array(given.array, S), None, None
    held = held_of(given.rows, S)
    assert held is not None
    return held, as_names(given.names), given.library


def marked(mask: Any) -> tuple[Held, list[Any] | None, list[Any] | None]:
    """The places that a graph, a sparse matrix or a packed one stores, as truth values, and the names of both axes."""
    wanted = verb("operands.wanted.read_mask")(verb("operands.wanted.mask_of")(mask, False))
    if isinstance(wanted.marks, tuple):
        offsets, columns = wanted.marks
        held: Held = Entries(Rows(offsets, columns, np.ones(len(columns), bool), wanted.shape[1]), boolean)
    else:
        held = verb(BITS)(wanted.marks, boolean)
    return held, as_names(wanted.names), as_names(wanted.columns)


def held_of(found: Any, S: Semiring) -> Held | None:
    """Compressed rows, packed bits, or an array of two axes, as they are held; None for anything else."""
    if isinstance(found, Rows):
        held = Entries.of(found, S)
        return held.filled(held.values, S) if S.is_record else held
    if kind_of(found, *PACKED):
        bits: Held = verb(BITS)(found, S)
        return bits
    return Array(found, S) if isinstance(found, np.ndarray) and found.ndim == 2 else None


def converted(held: Held, kind: str) -> Held:
    """The same elements in another holder.

    Raises
    ------
    GraphError
        For an unknown kind.
    SemiringError
        For bits of an algebra whose elements are not truth values, and if all elements do not fit in memory.
    """
    if kind == held.kind:
        return held
    if kind == "dense":
        return Array(held.all(), held.S)
    if kind == "sparse":
        return Entries(held.rows(), held.S)
    if kind != "packed":
        raise GraphError(f"a Matrix is held dense, sparse or packed, and not {clip_repr(kind)}")
    verb("operands.packed.check_boolean")(held.S)
    if held.dtype != bool:
        raise GraphError(f"only a Matrix of bool is packed, and this one is {held.dtype}: M.astype(bool)")
    found: Held = verb(BITS).of(held)
    return found


def _declared(held: Held) -> Held:
    """The same elements in native byte order, and records with their fields as declared."""
    if held.kind == "packed":
        return held
    elements = as_declared(held.elements, held.S)
    return Array(elements, held.S) if held.kind == "dense" else held.entries().filled(elements, held.S)


def together(A: Held, B: Held, largest: bool) -> tuple[Any, Any]:
    """Two matrices in one holder: the one that takes the most memory of the two, or the one that takes the least.

    If their dtypes differ, both get native byte order, and fields as declared, which may be all that differs.
    """
    if A.dtype != B.dtype and bool(A.dtype.names) == bool(B.dtype.names):
        A, B = _declared(A), _declared(B)
    kinds = {A.kind, B.kind}
    if len(kinds) == 1:
        return A, B
    kind = max(kinds, key=KINDS.index) if largest else "sparse"
    return converted(A, kind), converted(B, kind)
