"""What comes in through the front door: arrays, sparse matrices and graphs made into checked NumPy operands."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from semiring.algebra.laws import is_nan, show
from semiring.algebra.semiring import Semiring
from semiring.algebra.vectors import flattened
from semiring.errors import SemiringError
from semiring.graphs.masks import unmasked
from semiring.graphs.texts import clip_repr
from semiring.kernels.facts import Facts, gather
from semiring.kernels.lowering.base import chunks

from .devices import is_on_gpu

Wrap = Callable[[np.ndarray], Any]
_HOST, _CUDA = 1, 2  # device types of DLPack


@dataclass(frozen=True)
class Operand:
    """An array of elements, and how to give an answer the caller's own type and vertex names."""

    array: np.ndarray
    wrap: Wrap
    names: Sequence[Any] | None = None


def _as_is(array: np.ndarray) -> Any:
    return array


def is_sparse(A: Any) -> bool:
    """Whether A is a sparse matrix or array of SciPy's, or of CuPy's like them."""
    return type(A).__module__.startswith(("scipy.sparse", "cupyx.scipy.sparse"))


def operand(A: Any, S: Semiring, what: str = "A") -> Operand:
    """Take anything that stands for a matrix.

    Raises
    ------
    SemiringError
        When it stands for none, or its dtype cannot carry the algebra.
    """
    if isinstance(A, np.ndarray):
        if A.dtype.kind not in "biufcO":
            refuse_dtype(A.dtype, S, what)
        if isinstance(A, np.ma.MaskedArray):
            return Operand(unmasked(A, S, what), _as_is)
        if isinstance(A, np.matrix):
            A = np.asarray(A)
        carried = _carried(A, S)
        return Operand(carried, _as_is if carried is A else lambda array: _convert(array, A.dtype))
    if is_on_gpu(A):
        return Operand(_carried(A, S), _as_is)
    graph = sys.modules.get("semiring.graphs.graph")
    if graph is not None and isinstance(A, graph.Matrix):
        Matrix, names, given = graph.Matrix, A.names, A.array.dtype
        carried = _carried(A.array, S)
        same = carried.dtype == given
        return Operand(carried, lambda array: Matrix(array if same else _convert(array, given), S, names), names)
    if (graph is not None and isinstance(A, graph.Graph)) or type(A).__module__.startswith("networkx."):
        from semiring.graphs.adjacency import adjacency

        return operand(adjacency(A, S), S, what)
    if is_sparse(A):
        return Operand(_from_sparse(A, S), _as_is)
    if hasattr(A, "__dlpack__") and hasattr(A, "__dlpack_device__"):
        return _from_dlpack(A, S, what)
    try:
        array = S.array(A) if S.is_record or S.is_object else np.asarray(A)
    except (ValueError, TypeError, OverflowError) as e:
        raise SemiringError(f"{what} is not a matrix: {e}; pass a NumPy array, a sparse matrix or a graph") from None
    if array.dtype.kind not in "biufcO":
        refuse_dtype(array.dtype, S, what)
    return Operand(_carried(array, S, literal=True), _as_is)


def refuse_dtype(dtype: np.dtype, S: Semiring, what: str) -> None:
    """Refuse what holds no numbers, and records whose fields do not; whether the algebra lives in it is asked later."""
    parts = [dtype[f] for f in dtype.names] if dtype.names and S.fields else [dtype]
    for part in parts:
        if part.kind in "biufc" or (S.fields and part.base.kind in "biufc"):
            continue  # whether vectors are as long as the algebra's is asked later
        if part is dtype and part.kind in "USVmM":
            continue  # it is refused with the dtypes that the algebra lives in
        raise SemiringError(f"{what} has elements of dtype {part}, which are not numbers; {S.name} lives in "
                            f"{', '.join(str(d) for d in S.dtypes)}")


def _carried(array: np.ndarray, S: Semiring, literal: bool = False) -> np.ndarray:
    dtype = array.dtype
    # Nested lists of Python numbers have no dtype of their own: the algebra's is meant.
    wanted = S._home(dtype) if literal else S.resolve_dtype(dtype)
    return array if dtype == wanted and dtype.isnative else _convert(array, wanted)


def _convert(array: np.ndarray, wanted: np.dtype) -> np.ndarray:
    given = array.dtype
    if not (wanted.names and given.names):
        return array.astype(wanted)
    if set(wanted.names) == set(given.names):
        result = np.empty(array.shape, wanted)
        for f in wanted.names:
            result[f] = array[f]
        return result
    # One of the two has vectors, the other their numbers side by side in the same memory.
    if set(flattened(given).names or ()) == set(wanted.names):
        base = {f: wanted[f] if f in wanted.names else wanted[f"{f}.0"] for f in given.names}
        aligned = np.dtype([(f, base[f], given[f].shape) for f in given.names], align=True)
        return _convert(_convert(array, aligned).view(flattened(aligned)), wanted)
    aligned = np.dtype([(f, wanted[f]) for f in wanted.names], align=True)
    return _convert(_convert(array, flattened(aligned)).view(aligned), wanted)


def _from_sparse(A: Any, S: Semiring) -> np.ndarray:
    """Implicit entries are zero, explicit ones are edges, duplicates combine with ⊕."""
    from semiring.graphs import graph

    if len(A.shape) != 2:
        raise SemiringError(f"a sparse matrix has two axes, and this array has shape {A.shape}; pass A.toarray() with "
                            "the algebra's zero filled in")
    coo = A.tocoo()
    dtype = S._home(coo.dtype) if S.is_object else S.resolve_dtype(coo.dtype)
    if coo.shape[0] == coo.shape[1]:
        return graph.adjacency(A, S, n=coo.shape[0]).array
    rows, columns = coo.shape
    side = max(rows, columns)
    entries = (coo.row, coo.col, coo.data)
    return graph.adjacency(entries, S, n=side, dtype=dtype).array[:rows, :columns]


def _from_dlpack(A: Any, S: Semiring, what: str) -> Operand:
    device = int(A.__dlpack_device__()[0])
    if device == _CUDA:
        import cupy

        array = cupy.from_dlpack(A)
    elif device == _HOST:
        array = np.from_dlpack(A)
    else:
        raise SemiringError(
            f"{what} lives on a device (DLPack type {device}) that is no CUDA GPU; copy it to the host"
        )
    return Operand(_carried(array, S), _importer(A))


def _importer(A: Any) -> Wrap:
    """How the library that an array comes from takes one from elsewhere."""
    library = type(A).__module__.partition(".")[0]
    if library == "jaxlib":
        from jax import dlpack

        return dlpack.from_dlpack
    return getattr(sys.modules.get(library), "from_dlpack", _as_is)


def check_square(array: np.ndarray, what: str = "A") -> int:
    """The order of a square matrix, or of each matrix of a stack."""
    if array.ndim < 2 or array.shape[-1] != array.shape[-2]:
        shape = " × ".join(map(str, array.shape)) or "one number"
        raise SemiringError(f"{what} must be a square matrix or a stack of them (…, n, n), and is {shape}")
    return array.shape[-1]


def examine(S: Semiring, dtype: np.dtype, arrays: Sequence[tuple[str, np.ndarray]]) -> Facts:
    """Refuse what is not an element, with its position, and gather facts about the rest in the same pass.

    Parameters
    ----------
    S : Semiring
    dtype : dtype
    arrays : sequence of (name, array)
        The name is for messages.
    """
    if is_on_gpu(arrays[0][1]):
        return _examine_on_gpu(S, dtype, arrays)
    if dtype.names or dtype.kind in "Oc":
        for what, array in arrays:
            _refuse_outside(S, what, array)
        return Facts()
    if dtype.kind == "b":
        return Facts(two_valued=True)
    from semiring.kernels.cpu.dense.scan import scan

    scans = [scan(array if array.ndim in (2, 3) else _matrices(array)) for _, array in arrays]
    for (what, array), s in zip(arrays, scans, strict=True):
        if s.nan is not None:
            at = tuple(np.argwhere(np.isnan(array))[0].tolist())
            _refuse(what, "NaN", at, "NaN is not an element of any algebra; mark an absent edge with the algebra's "
                    f"zero, {show(S.zero_in(dtype))}")
    A = S.over(dtype)
    facts = gather(scans, A.zero, A.zero if A.one is None else A.one)
    if S.has_multiples:
        facts = replace(facts, multiple=_common_multiple([array for _, array in arrays]))
    if S.traced and S.carrier_in(dtype).op != "constant" and not facts.two_valued:
        for what, array in arrays:
            _refuse_outside(S, what, array)
    return facts


def _examine_on_gpu(S: Semiring, dtype: np.dtype, arrays: Sequence[tuple[str, Any]]) -> Facts:
    """The same without leaving the device; only a refusal copies the operand back, to say where and what."""
    from semiring.kernels.cuda.choose import without_facts
    from semiring.kernels.cuda.dense.exchange import NOT_A_NUMBER, OUTSIDE, look_at

    some = [array for _, array in arrays if array.size]
    if not some or dtype.kind == "b":
        return Facts(two_valued=dtype.kind == "b")
    findings = look_at(without_facts(S, dtype), some)
    if findings.flags & (NOT_A_NUMBER | OUTSIDE):
        for what, array in arrays:
            _refuse_outside(S, what, array.get())
    facts: Facts = findings.facts(dtype)
    if S.has_multiples:
        facts = replace(facts, multiple=_common_multiple([array.get() for array in some]))
    return facts


def _common_multiple(arrays: Sequence[np.ndarray]) -> int:
    """A common multiple of all numbers but 0; once it exceeds every dtype, of some of them."""
    multiple = 1
    for value in np.unique(np.concatenate([np.unique(array) for array in arrays])).tolist():
        multiple = math.lcm(multiple, value or 1)
        if multiple >= 2**64:
            break
    return multiple


def _matrices(array: np.ndarray) -> np.ndarray:
    """An array of any other number of axes as a stack of matrices."""
    return array.reshape(1, -1) if array.ndim < 2 else stacked(array)


def stacked(array: Any) -> Any:
    """Matrices behind any number of leading axes as one stack; also where an axis is empty."""
    return array.reshape(math.prod(array.shape[:-2]), *array.shape[-2:])


def _refuse_outside(S: Semiring, what: str, array: np.ndarray) -> None:
    if array.dtype.kind == "O" and S.traced is not None:
        _refuse_strangers(S, what, array)
    A = S.over(array.dtype)
    start = 0
    for part in chunks(array):
        inside = A.contains(part)
        if not inside.all():
            at = np.argwhere(~inside)[0]
            value = part[tuple(at)]
            if part.ndim:
                at[0] += start
            kind = "NaN" if np.any(is_nan(np.asarray(value))) else show(value)
            _refuse(what, kind, tuple(at.tolist()), f"it is outside the carrier of {S.name}, {S.notation}")
        start += len(part) if part.ndim else 0


def _refuse_strangers(S: Semiring, what: str, array: np.ndarray) -> None:
    """Refuse Python objects with which nobody computes."""
    for at, value in np.ndenumerate(array):
        if value is None or isinstance(value, (str, bytes, list, tuple, dict, set, frozenset, np.ndarray)):
            _refuse(what, clip_repr(value), at, f"{S.name} computes with numbers; mark an absent edge with the "
                    f"algebra's zero, {show(S.zero)}")


def _refuse(what: str, value: str, position: Sequence[int], why: str) -> None:
    raise SemiringError(f"{what}[{', '.join(map(str, position))}] is {value}: {why}")
