"""Closures that depend on reachability alone, of sparse matrices and graphs: components and bit sets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.algebra.by_name import algebra
from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.kernels.lowering.boolean import is_boolean as holds_boolean
from semiring.machine.memory import require
from semiring.operands.operand import check_square
from semiring.operands.sparse import Compressed, compressed, is_sparse

from .schedules import LARGE

if TYPE_CHECKING:
    from semiring.kernels.cpu.bits.matrix import PackedMatrix


def reachability_closure(
    A: Any, S: Semiring | str, *, reflexive: bool = True, packed: bool = False
) -> np.ndarray | PackedMatrix | Any:
    """The closure of a sparse matrix or a graph all of whose edges weigh one, where 1 ⊕ 1 = 1* = 1.

    Then an entry of the closure is one if there is a walk, else zero: strongly connected components are found, and bit
    sets united along the condensation in topological order. No n × n matrix is made but the answer.

    Parameters
    ----------
    A : sparse matrix, Graph, or what `closure` takes
    S : Semiring or str
    reflexive : bool
        Whether the empty walk counts.
    packed : bool
        Whether to leave the answer packed, a bit a pair.

    Returns
    -------
    ndarray of A's dtype, Matrix where A has names, or PackedMatrix

    Raises
    ------
    SemiringError
        When an edge weighs something else, or the algebra has no Boolean part; see `depends_on_reachability`.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> import semiring as sr
    >>> from semiring.solvers.components import reachability_closure
    >>> A = sp.csr_array(([True, True], ([0, 1], [1, 2])), shape=(3, 3))
    >>> reachability_closure(A, sr.boolean).astype(int)
    array([[1, 1, 1],
           [0, 1, 1],
           [0, 0, 1]])
    >>> reachability_closure(A, sr.boolean, packed=True).count()
    6
    """
    S = algebra(S)
    given = compressed(A, S)
    if not depends_on_reachability(S, given):
        raise SemiringError(
            f"the closure over {S.name} of these weights is more than reachability: it needs 1 ⊕ 1 = 1* = 1, and every "
            "edge to weigh one"
        )
    return close_reachability(S, given, reflexive=reflexive, packed=packed)


def reachability_if_alone(A: Any, S: Semiring, *, reflexive: bool = True, packed: bool = False) -> Any:
    """`reachability_closure` of a sparse matrix or graph where that is the closure; None elsewhere, soon."""
    weights = getattr(A, "data", None) if is_sparse(A) else getattr(A, "weights", None)
    if isinstance(weights, np.ndarray) and weights.dtype.kind in "biuf" and S.default_dtype.kind != "b":
        dtype = weights.dtype
        if dtype not in S.dtypes or not holds_boolean(S, dtype) or not _two_valued(S, weights):
            return None
    given = compressed(A, S)
    if not depends_on_reachability(S, given):
        return None
    return close_reachability(S, given, reflexive=reflexive, packed=packed)


def depends_on_reachability(S: Semiring, given: Compressed) -> bool:
    """Whether the closure of this matrix holds only zero and one, by whether there is a walk."""
    values = given.rows.values
    return not S.product_only and holds_boolean(S, values.dtype) and _two_valued(S, values)


def _two_valued(S: Semiring, values: np.ndarray) -> bool:
    A = S.over(values.dtype)
    return bool(((values == A.one) | (values == A.zero)).all())


def close_reachability(
    S: Semiring, given: Compressed, *, reflexive: bool = True, packed: bool = False
) -> np.ndarray | PackedMatrix | Any:
    """`reachability_closure` of a matrix for which `depends_on_reachability` holds."""
    from semiring.kernels.cpu.bits.components import reach
    from semiring.kernels.cpu.bits.matrix import PackedMatrix

    rows, dtype = given.rows, given.dtype
    n = check_square(np.broadcast_to(False, given.shape))
    size = n * n // 8 if packed else n * n * dtype.itemsize
    if size + n * n // 4 > LARGE:
        require(size + n * n // 4, f"the closure of {n} × {n} {'bits' if packed else dtype}")
    A = S.over(dtype)
    stored = rows.values == A.one
    if not stored.all():  # a zero that is stored is not an edge
        before = np.concatenate([[0], np.cumsum(stored)])
        rows = replace(rows, offsets=before[rows.offsets], columns=rows.columns[stored], values=rows.values[stored])
    found = reach(rows.offsets, rows.columns)
    if packed:
        return PackedMatrix(found.packed(reflexive).words, n)
    array = found.dense(A.zero, A.one, dtype, reflexive)
    if given.names is None:
        return array
    from semiring.graphs.matrix import Matrix

    return Matrix(array, S, given.names)
