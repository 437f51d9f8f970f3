"""Closures and products of packed Boolean matrices: what `closure` and `matmul` do where a bit a pair is wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semiring.algebra.by_name import algebra
from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.graphs.graph import Graph
from semiring.graphs.matrix import Matrix
from semiring.kernels.blocks.bits import WORD, check_writable
from semiring.kernels.build import bit_kernel
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.kernels.lowering.boolean import is_boolean
from semiring.operands.devices import is_on_gpu, settle
from semiring.operands.operand import examine, is_sparse, operand
from semiring.operands.pack import is_packed_on_gpu, pack_named

from .components import reachability_closure
from .schedules import close_matrix, plan_closure, reporting
from .task import Plan


def packed_closure(
    A: Any,
    S: Semiring | str,
    *,
    method: str = "auto",
    reflexive: bool = True,
    overwrite: bool = False,
    device: str | None = None,
    tile: int | None = None,
    progress: bool | Callable[[float], None] = False,
) -> Any:
    """The transitive closure, a bit for each pair: what ``closure(..., packed=True)`` does.

    The parameters are those of `closure`; A may also be a `PackedMatrix`, which is overwritten where that is asked for.
    Sparse matrices and graphs are closed from their edges.

    Returns
    -------
    PackedMatrix
        Or its twin on the GPU, where A is there.

    Raises
    ------
    SemiringError
        When the algebra has more than two elements, A is not square, or memory is short.
    """
    S = algebra(S)
    _check_boolean(S)
    if device != "cpu" and (is_on_gpu(A) or is_packed_on_gpu(A)):
        return _closed_on_gpu(A if is_packed_on_gpu(A) else _truths(A, S), reflexive, overwrite)
    if device not in ("gpu", "cuda") and method == "auto" and tile is None and _is_edges(A):
        return reachability_closure(A, S, reflexive=reflexive, packed=True)
    if device is not None:
        settle(S, [np.empty(0, bool)], device, 0)  # refuses a device that is unknown or absent
    if device in ("gpu", "cuda"):
        # An array is packed piece by piece while it is sent.
        given = _truths(A, S) if isinstance(A, np.ndarray) else packed_operand(A, S)[0]
        return _closed_on_gpu(given, reflexive, True).get()
    matrix, mine = packed_operand(A, S)
    rows, columns = matrix.shape
    if rows != columns:
        raise SemiringError(f"A must be a square matrix, and is {rows} × {columns}")
    planned = _plan(S, rows, method, reflexive, tile)
    work = matrix if (mine or overwrite) and matrix.words.flags.writeable else matrix.copy()
    if planned.method == "floyd-warshall" and progress is False:  # the engine closes it whole, with or without one
        kernel = bit_kernel(planned.lowering)
        (kernel.close if reflexive else kernel.close_plus)(work)
        return work
    original = None if reflexive else work.copy()
    with reporting(progress, planned) as kernel:
        close_matrix(work, original, kernel, planned)
    return work


def _closed_on_gpu(A: Any, reflexive: bool, overwrite: bool) -> Any:
    from semiring.kernels.cuda.bits.engine import BooleanKernel
    from semiring.kernels.cuda.bits.matrix import DevicePackedMatrix

    given = A if is_packed_on_gpu(A) else DevicePackedMatrix.from_dense(A)
    work = given.copy() if given is A and not overwrite else given
    kernel = BooleanKernel()
    (kernel.close if reflexive else kernel.close_plus)(work)
    return work


def _product_on_gpu(S: Semiring, A: Any, B: Any, accumulate: Any) -> Any:
    from semiring.kernels.cuda.bits.engine import BooleanKernel
    from semiring.kernels.cuda.bits.matrix import DevicePackedMatrix

    def there(M: Any) -> Any:
        if is_packed_on_gpu(M):
            return M
        return DevicePackedMatrix.from_dense(_truths(M, S) if is_on_gpu(M) else packed_operand(M, S)[0])

    left, right = there(A), there(B)
    given = None if accumulate is None else there(accumulate)
    _check_shapes(left, right, given)
    if given is None:
        result = DevicePackedMatrix.zeros(left.shape[0], right.shape[1])
    else:
        result = given.copy() if given is accumulate else given
    BooleanKernel().multiply_add(result, left, right)
    return result


def _check_shapes(left: Any, right: Any, accumulate: Any) -> None:
    if left.shape[1] != right.shape[0]:
        raise SemiringError(f"A of shape {left.shape} and B of shape {right.shape} do not fit: "
                            f"A has {left.shape[1]} columns, B has {right.shape[0]} rows")
    shape = left.shape[0], right.shape[1]
    if accumulate is not None and accumulate.shape != shape:
        raise SemiringError(f"accumulate has shape {accumulate.shape}, the product {shape}")


def _is_edges(A: Any) -> bool:
    return isinstance(A, Graph) or is_sparse(A) or type(A).__module__.startswith("networkx.")


def packed_product(A: Any, B: Any, S: Semiring | str, *, accumulate: Any = None, out: Any = None) -> Any:
    """A ⊗ B of packed matrices, or C ⊕ A ⊗ B: what `matmul` does where an operand is packed.

    Returns
    -------
    PackedMatrix
        `out`, where that is given: a packed matrix of the answer's shape. On the GPU, where an operand is packed there.
    """
    S = algebra(S)
    _check_boolean(S)
    on_gpu = any(map(is_packed_on_gpu, (A, B, accumulate)))
    result = (_product_on_gpu if on_gpu else _product)(S, A, B, accumulate)
    if out is None:
        return result
    if type(out) is not type(result) or out.shape != result.shape:
        raise SemiringError(f"out must be a {type(result).__name__} of shape {result.shape}")
    if not on_gpu:
        check_writable(out)
    used = -(-out.shape[1] // WORD)
    out.words[:, :used] = result.words[:, :used]
    return out


def _product(S: Semiring, A: Any, B: Any, accumulate: Any) -> PackedMatrix:
    kernel = bit_kernel(_plan(S, 0, "auto", True, None).lowering)
    left, right = (packed_operand(M, S)[0] for M in (A, B))
    given, mine = (None, True) if accumulate is None else packed_operand(accumulate, S)
    _check_shapes(left, right, given)
    if given is None:
        result = PackedMatrix.zeros(left.shape[0], right.shape[1])
        kernel.multiply(result, left, right)
        return result
    result = given if mine else given.copy()
    kernel.multiply_add(result, left, right)
    return result


def packed_operand(A: Any, S: Semiring) -> tuple[PackedMatrix, bool]:
    """An operand of a Boolean algebra as a packed matrix, and whether nobody else holds it."""
    if isinstance(A, PackedMatrix):
        return A, False
    if isinstance(A, (Matrix, Graph)) or hasattr(A, "tocoo") or type(A).__module__.startswith("networkx."):
        return pack_named(A)[0], True
    return PackedMatrix.from_dense(_truths(A, S)), True


def _truths(A: Any, S: Semiring) -> Any:
    """A matrix of nothing but the 0 and 1 of a Boolean algebra."""
    array = operand(A, S).array
    if array.ndim != 2:
        raise SemiringError(f"A must be one matrix, and has shape {array.shape}")
    if array.size and not examine(S, array.dtype, [("A", array)]).two_valued:
        raise SemiringError(f"A has entries other than the 0 and 1 of {S.name}, for which a bit is not enough")
    return array


def _check_boolean(S: Semiring) -> None:
    if S.default_dtype.kind != "b" or S.zero_in(bool) or not S.one_in(bool):
        raise SemiringError(
            f"a bit for each pair is enough for algebras of False and True, such as sr.boolean, not for {S.name}"
        )
    if not is_boolean(S, np.dtype(bool)):
        raise SemiringError(f"{S.name} is not the algebra of or and and; packed matrices are for that alone")


def _plan(S: Semiring, n: int, method: str, reflexive: bool, tile: int | None) -> Plan:
    """The plan of a packed closure; an array that takes no room stands for the matrix."""
    stand_in = np.broadcast_to(np.zeros((), bool), (n, n))
    return plan_closure(S, stand_in, method, reflexive, True, tile)[0]
