"""Sums and products along axes, in ⊕ and in ⊗, and their prefixes: `Semiring.sum`, `prod`, `cumsum` and `cumprod`.

    x   read as an operand        arrays, lists, matrices with names, sparse matrices, packed bits
      → axes                      those that go; the others stay in their order
      → folded                    pieces that stay in the cache, whose elements are examined on the way
        or on a GPU               where the array is (on_gpu.py)
      → answer                    in the dtype of x, with `initial` before it, in `out`
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from math import inf, prod
from operator import index
from typing import Any

import numpy as np

from semiring.algebra.arguments import truth_value
from semiring.algebra.elements import full, is_nan, sequence
from semiring.algebra.semiring import Semiring
from semiring.algebra.tables import dtype_text
from semiring.errors import LawError, SemiringError
from semiring.graphs.dataarrays import is_dataarray
from semiring.graphs.dims import own_axes, with_axes
from semiring.graphs.held import Array, refuse_unless
from semiring.graphs.matrix import Matrix
from semiring.graphs.operators import refuse_other_algebra
from semiring.graphs.texts import clip_repr, quoted
from semiring.kernels.cpu.bits.words import along
from semiring.kernels.numpy.folds import NotElements, folded_runs
from semiring.machine.memory import require
from semiring.operands.convert import as_dense
from semiring.operands.dense import Dense, read_array
from semiring.operands.device import Device
from semiring.operands.devices import is_on_gpu, upload
from semiring.operands.examine import examine
from semiring.operands.held import of_held
from semiring.operands.operand import Operand
from semiring.operands.packed import Packed
from semiring.operands.read import elements
from semiring.operands.sparse import DeviceSparse, Sparse
from semiring.solvers.forms import written
from semiring.solvers.products.arrays import can_hold
from semiring.solvers.task import UNCHECKED_BYTES

from . import on_gpu
from .folding import Fold, fold_of
from .short import LARGEST, LARGEST_PREFIXES, short, short_prefixes

_MOST = {"b": inf}  # elements of the short way: NumPy stops at a truth value that decides
VERBS = {"add": ("sum", "cumsum"), "mul": ("prod", "cumprod")}
NEEDS = "all prefixes", "use a narrower dtype, or `sum` or `prod`, which give the last ones"  # as `Plan.shortage`


def reduced(S: Semiring, op: str, x: Any, axis: Any, keepdims: Any, initial: Any, out: Any) -> Any:
    """The ⊕ or ⊗ of elements along axes: see `Semiring.sum` and `Semiring.prod`."""
    if type(x) is np.ndarray and initial is None and out is None and 0 < x.size <= _MOST.get(x.dtype.kind, LARGEST):
        found = short(S, op, x, axis, keepdims)
        if found is not None:
            return found
    if is_dataarray(x):
        gone = axes_of(by_dims(x, axis), x.shape)
        found = reduced(S, op, x.to_numpy(), gone, keepdims, initial, out)
        stay = [each._replace(labels=None) if a in gone else each for a, each in enumerate(own_axes(x))
                if keepdims or a not in gone]
        return found if out is not None else with_axes(found, stay)
    given, axes, shape = read_reduced(x, S, op, axis, keepdims)
    fold = fold_of(S, op, given.dtype)
    wide = tuple(1 if a in axes else length for a, length in enumerate(given.shape))
    _check_out(out, shape, given)
    before = None if initial is None else _element(initial, S, given.dtype)
    empty = next((a for a in axes if given.shape[a] == 0), None)
    if empty is not None:
        neutral = fold.neutral if before is None else before
        if neutral is None:
            raise SemiringError(f"x has no element along axis {empty}, and {S.name} has no one, which a product "
                                "without factors would be; declare it with one=, or pass initial=")
        result = full(np.empty(wide, given.dtype), neutral)
        result = upload(result) if given.on_gpu else result
    elif isinstance(given, (Device, DeviceSparse)):
        result = _on_device(given, fold, axes, before).reshape(wide)
    else:
        if isinstance(given, Packed):
            result = _of_bits(given, fold, axes)
        elif isinstance(given, Sparse):
            result = _of_entries(given, fold, axes)
        else:
            result = _computed(given, fold.along, axes)
        result = result.reshape(wide)
        if before is not None:
            result = np.asarray(fold.operate(full(result, before), result))
    result = result.reshape(shape)
    if not given.on_gpu:
        _refuse_nan(fold, result)
        if isinstance(given, Dense) and np.may_share_memory(result, given.array):  # nothing was folded: it is x itself
            result = result.copy()
    return _answer(given, x, result, out)


def accumulated(S: Semiring, op: str, x: Any, axis: Any, out: Any) -> Any:
    """The ⊕ or ⊗ of all elements up to each: see `Semiring.cumsum` and `Semiring.cumprod`."""
    if type(x) is np.ndarray and out is None and 0 < x.size <= LARGEST_PREFIXES and x.nbytes <= UNCHECKED_BYTES:
        found = short_prefixes(S, op, x, axis)
        if found is not None:
            return found
    if is_dataarray(x):
        found = accumulated(S, op, x.to_numpy(), by_dims(x, axis), out)
        return found if out is not None else with_axes(found, own_axes(x) if axis is not None else [])
    given, number, shape = read_accumulated(x, S, op, axis)
    array, fold = given.array.reshape(shape), fold_of(S, op, given.dtype)
    _check_out(out, shape, given)
    if isinstance(given, Device):
        result = on_gpu.prefixes(given, op, number, array, lambda copy: _prefixes(copy, fold, number, shape))
        return _answer(given, x, result, out)
    if out is None and array.nbytes > UNCHECKED_BYTES:
        require(array.nbytes, *NEEDS)
    result = _prefixes(given, fold, number, shape)
    if out is None and isinstance(x, Matrix) and result.shape == given.shape:
        return x._with(Array(given.in_callers_dtype(result), x.semiring), x.row_names, x.column_names)
    if out is None and given.of_graph and result.shape == given.shape:
        return given.wrap(result)
    return _answer(given, x, result, out)


def read_reduced(
    x: Any, S: Semiring, op: str, axis: Any, keepdims: Any
) -> tuple[Any, tuple[int, ...], tuple[int, ...]]:
    """The operand of a sum or a product, the axes that go, and the shape of the answer."""
    given, keepdims = _read(x, S), truth_value(keepdims, "keepdims")
    axes = axes_of(axis, given.shape)
    if keepdims:
        return given, axes, tuple(1 if a in axes else length for a, length in enumerate(given.shape))
    return given, axes, tuple(length for a, length in enumerate(given.shape) if a not in axes)


def read_accumulated(x: Any, S: Semiring, op: str, axis: Any) -> tuple[Any, int, tuple[int, ...]]:
    """The operand of prefixes, their axis, and the shape of the answer.

    Raises
    ------
    SemiringError
        If x is sparse, or the axis is not one of x.
    """
    given = _read(x, S)
    given = as_dense(given) if isinstance(given, Packed) else given
    if isinstance(given, (Sparse, DeviceSparse)):
        raise SemiringError(f"{S.name}: the prefixes of a sparse matrix are dense: pass a dense array, with the "
                            "algebra's zero where nothing is stored")
    if axis is None:
        return given, 0, (prod(given.shape),)
    (number,) = axes_of(axis, given.shape, several=False)
    return given, number, given.shape


def axes_of(axis: Any, shape: tuple[int, ...], several: bool = True) -> tuple[int, ...]:
    """Axes as numbers from 0 on, ascending.

    Raises
    ------
    SemiringError
        If one is not a whole number, out of bounds or given twice.

    Examples
    --------
    >>> axes_of(None, (2, 3)), axes_of((-1, 0), (2, 3, 4))
    ((0, 1), (0, 2))
    """
    n = len(shape)
    if axis is None:
        return tuple(range(n))
    if isinstance(axis, (tuple, list)) and not several:
        raise SemiringError(f"axis must be one whole number or None, and is {clip_repr(axis)}")
    found = []
    for each in axis if isinstance(axis, (tuple, list)) else (axis,):
        try:
            number = None if isinstance(each, (bool, np.bool_)) else index(each)
        except TypeError:
            number = None
        if number is None:
            raise SemiringError(f"axis must be a whole number, a tuple of them or None, and is {clip_repr(axis)}")
        if not -n <= number < n:
            has = f"{n} axes, {-n} to {n - 1}" if n > 1 else "1 axis, 0" if n else "no axes: it is one element"
            raise SemiringError(f"axis {number} is out of bounds: x has {has}")
        found.append(number % n)
    if len(set(found)) < len(found):
        twice = next(a for a in found if found.count(a) > 1)
        raise SemiringError(f"axis {twice} is given twice: {clip_repr(axis)}")
    return tuple(sorted(found))


def by_dims(x: Any, axis: Any) -> Any:
    """Axes of a DataArray by their numbers, where they are called by the names of dimensions.

    Raises
    ------
    SemiringError
        If it has no such dimension.
    """
    if not is_dataarray(x) or axis is None:
        return axis
    found = []
    for each in axis if isinstance(axis, (tuple, list)) else (axis,):
        if isinstance(each, str) and each not in x.dims:
            raise SemiringError(f"x has no dimension {quoted(each)}: its dimensions are "
                                f"{', '.join(map(quoted, x.dims))}")
        found.append(x.dims.index(each) if isinstance(each, str) else each)
    return tuple(found) if isinstance(axis, (tuple, list)) else found[0]


def _read(x: Any, S: Semiring) -> Any:
    """The operand: entries, packed bits, or an array; packed bits on a GPU as truth values."""
    x = x.to_numpy() if is_dataarray(x) else x
    if S.traced is None and not isinstance(x, (list, tuple, np.ndarray, Operand)) and not _is_matrix(x):
        x = sequence([x], np.dtype(object)).reshape(())  # one Python object, which may be a sequence
    if isinstance(x, np.generic) or (isinstance(x, tuple) and S.is_record and not _is_matrix(x[0] if x else None)):
        with suppress(TypeError, ValueError):  # no record: the reader of matrices says what is wrong
            x = np.asarray(x, None if isinstance(x, np.generic) else S.element_dtype)
    if isinstance(x, Matrix):  # of any shape, its columns in their own order
        refuse_other_algebra(x, S, "x")
        given: Any = (read_array(x.array, S, "x") if x.holder == "dense" else of_held(x._held, S, "x")).changed(
            of_graph=True)
    else:
        given = elements(x, S, "x")
    if given.on_gpu and isinstance(given, Packed):
        given = as_dense(given)
    if isinstance(given, (Sparse, Packed, Device, DeviceSparse)):
        return given
    given = as_dense(given)
    if given.dtype == object:  # operations on what is not an element would raise errors of their own
        examine(S, given.dtype, (("x", given.array if given.shape else given.array.reshape(1)),))
    return given


def _is_matrix(x: Any) -> bool:
    """Whether this has a shape, as arrays, sparse matrices and graphs have."""
    return hasattr(x, "shape") or hasattr(x, "edges")


def _element(value: Any, S: Semiring, dtype: np.dtype) -> Any:
    """`initial` as an element of the dtype.

    Raises
    ------
    SemiringError
        If it is not an element.
    """
    found, _ = S._elements([value] if S.traced is None else value, dtype, "initial")
    found = found.reshape(()) if found.size == 1 else found
    if found.ndim:
        raise SemiringError(f"initial must be one element of {S.name}, and has shape {found.shape}")
    if not np.all(S.over(dtype).contains(found)):
        raise SemiringError(f"initial is {clip_repr(value)}: it is outside the carrier of {S.name}, "
                            f"{S.notation}{S.how_written}")
    return found[()]


def _check_out(out: Any, shape: tuple[int, ...], given: Operand) -> None:
    """Refuse an `out` that cannot take the answer, before anything is computed.

    Raises
    ------
    SemiringError
        Likewise.
    """
    if out is None:
        return
    there = given.on_gpu
    if is_on_gpu(out) != there or not can_hold(out, shape, given.S, given.dtype):
        where = ", on the GPU as x is" if there else ""
        raise SemiringError(f"out must be a writable, unmasked {dtype_text(given.dtype)} array of shape {shape}{where}")


def _computed(given: Any, fold: Callable[..., np.ndarray], axes: Any, array: np.ndarray | None = None) -> np.ndarray:
    """Fold an array, or refuse what is not an element, with its place."""
    array = given.array if array is None else array
    try:
        return fold(array, axes)
    except NotElements:
        _ = given.facts  # which says what it is, and where
        raise
    except (TypeError, OverflowError) as e:  # of operators of Python objects
        if given.dtype != object:
            raise
        raise SemiringError(f"{given.S.name}: the operation is not defined for all these objects together: {e}") from e


def _prefixes(given: Any, fold: Fold, number: int, shape: tuple[int, ...]) -> np.ndarray:
    """All prefixes along an axis of the operand in this shape; refuse what has no value."""
    result = _computed(given, fold.prefixes, number, given.array.reshape(shape))
    _refuse_nan(fold, result)
    return result


def _on_device(given: Device | DeviceSparse, fold: Fold, axes: tuple[int, ...], before: Any) -> Any:
    """Fold an array or a sparse matrix on a GPU, an element before each result; refuse what the host refuses."""
    S = fold.algebra

    def of_entries() -> np.ndarray:
        there: Sparse = given.on_host  # type: ignore[union-attr]
        result = _of_entries(there, fold if there.dtype == given.dtype else fold_of(S, fold.op, there.dtype), axes)
        _refuse_nan(fold, result)
        return result.reshape([n for a, n in enumerate(given.shape) if a not in axes])

    def by_host(copy: Dense) -> np.ndarray:
        array = copy.array if copy.shape else copy.array.reshape(1)
        result = _computed(copy, fold.along, axes if copy.shape else (0,), array)
        result = result.reshape([n for a, n in enumerate(copy.shape) if a not in axes])
        _refuse_nan(fold, result)
        return result

    def pair_by_host(copy: Dense) -> np.ndarray:  # the second one is a result, which may be outside of the carrier
        result = np.asarray(fold.operate(copy.array[0], copy.array[1]))
        _refuse_nan(fold, result)
        return result

    if isinstance(given, DeviceSparse):
        if fold.op == "add":
            refuse_unless(S, "is neutral for ⊕")
        result = on_gpu.of_entries(given, fold.op, axes, of_entries)
    else:
        result = on_gpu.along(given, fold.op, axes, by_host)
    return result if before is None else on_gpu.before(before, given, fold.op, result, pair_by_host)


def _of_entries(given: Sparse, fold: Fold, axes: tuple[int, ...]) -> np.ndarray:
    """The ⊕ or ⊗ of a sparse matrix; entries that are not stored are zero.

    Raises
    ------
    LawError
        If ⊗ does not absorb zero.
    """
    S = fold.algebra
    if fold.op == "mul" and not S.absorbs:
        raise LawError(f"{S.name}: ⊗ does not absorb zero, so a product of entries needs all of them: pass a dense "
                       "array")
    if fold.op == "add":
        refuse_unless(S, "is neutral for ⊕")
    _ = given.facts
    rows = given.T.rows if axes == (0,) else given.rows
    offsets, terms = rows.offsets, rows.width
    if len(axes) == 2:
        offsets, terms = offsets[[0, -1]], terms * given.shape[0]
    lengths = np.diff(offsets)
    if not axes:
        return np.array(as_dense(given).array)
    result = full(np.empty(len(lengths), given.dtype), fold.arithmetic.zero)
    some = np.flatnonzero(lengths if fold.op == "add" else lengths == terms)
    if fold.op == "mul":  # a line that lacks an entry has a zero in it
        kept = np.repeat(lengths == terms, lengths)
        values, lengths = rows.values[kept], lengths[some]
    else:
        values, lengths = rows.values, lengths[some]
    result[some] = folded_runs(fold.operate, values, np.concatenate([[0], np.cumsum(lengths)]))
    return result


def _of_bits(given: Packed, fold: Fold, axes: tuple[int, ...]) -> np.ndarray:
    """The *or* or *and* of packed bits, a word at a time."""
    if not axes:
        return given.matrix.to_dense()
    found: np.ndarray = along(given.matrix, None if len(axes) == 2 else axes[0], fold.op == "mul")
    return found


def _refuse_nan(fold: Fold, result: np.ndarray) -> None:
    """Refuse a result without a value: the elements contain no NaN.

    Raises
    ------
    SemiringError
        If numbers left the range of the dtype.
    """
    if result.dtype.kind not in "fcV" or fold.selects or not (found := is_nan(result)).any():
        return
    at = f" at [{', '.join(map(str, np.argwhere(found)[0].tolist()))}]" if result.ndim else ""
    raise SemiringError(
        f"{fold.algebra.name}: the result has no value{at}: on the way numbers leave the range of "
        f"{dtype_text(result.dtype)}, and infinities of both signs meet. Convert the data to a wider dtype, or "
        "scale them"
    )


def _answer(given: Operand, x: Any, result: np.ndarray, out: Any) -> Any:
    """The answer as the caller wants it: in `out`, in the kind of array that x was, or as one element."""
    if out is not None:
        return written(out, result)
    found = given.as_shown(result)
    if given.answers is not None and not isinstance(given, Sparse):
        return given.answers(found)
    found = given.S._as_given(found, x) if isinstance(x, (list, tuple, int, float)) else found
    return found[()] if isinstance(found, np.ndarray) else found
