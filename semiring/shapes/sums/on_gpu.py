"""Sums and products along axes of an array or sparse matrix on a GPU, computed there (kernels/cuda/dense/folds.py).

The kernels look at what they fold, and the host hears of anything unusual: what is not an element, integers that leave
their dtype, a result without a value. Then the answer is dropped, and the host computes it from a copy, by the way of
host arrays: it either explains, or the result fits although a sum on the way did not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from semiring.algebra.elements import full
from semiring.algebra.expression import postorder
from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.kernels.lowering.base import Lowering
from semiring.operands.dense import Dense
from semiring.operands.device import Device
from semiring.operands.devices import to_host, upload
from semiring.operands.sparse import DeviceSparse, elements_of
from semiring.solvers.products.masked_on_gpu import transposed
from semiring.solvers.products.sparse import device_rows

from .folding import fold_of


def form(S: Semiring, op: str, dtype: np.dtype) -> Lowering:
    """The form in which a GPU folds arrays of a dtype.

    Raises
    ------
    SemiringError
        If GPUs do not compute with such elements.
    """
    from semiring.kernels.cuda.choose import without_facts
    from semiring.kernels.cuda.dense.folds import fits

    if dtype.kind == "c" and (parts := fold_of(S, op, dtype).parts) is not None:
        dtype = parts.dtype
    try:
        low = without_facts(S, dtype)
    except SemiringError as e:  # sums have no option for the device
        raise SemiringError(str(e).replace("use device='cpu'", "pass x.get()")) from None
    if not fits(low, op):
        raise SemiringError(f"{S.name}: an element has {dtype.itemsize} bytes, more than a GPU folds: pass x.get()")
    return low


def along(given: Device, op: str, axes: Sequence[int], by_host: Callable[[Dense], np.ndarray]) -> Any:
    """Fold an array along some axes, ascending, none of them empty; they are gone.

    Parameters
    ----------
    given : Device
    op : {"add", "mul"}
    axes : sequence of int
    by_host : callable
        Computes the answer from a copy in the host's memory, or explains what is wrong.
    """
    from semiring.kernels.cuda.dense.exchange import report
    from semiring.kernels.cuda.dense.folds import folds

    if not given.array.size:
        return _empty(given.array, axes)
    low: Any = form(given.S, op, given.dtype)
    with given.array.device:
        if _may_leave(given, op):
            return upload(by_host(on_host(given)))
        found = report()
        answer = whole(folds(low, op, True).along(_read_as(given.array, low), axes, found), given.dtype)
        return upload(by_host(on_host(given))) if found.read().flags else answer


def prefixes(given: Device, op: str, axis: int, array: Any, by_host: Callable[[Dense], np.ndarray]) -> Any:
    """All prefixes along an axis of the operand's array, or of that in another shape."""
    from semiring.kernels.cuda.dense.exchange import report
    from semiring.kernels.cuda.dense.prefixes import prefixes as kernels

    if not array.size:
        return _empty(array, ())
    low: Any = form(given.S, op, given.dtype)
    with array.device:
        if _may_leave(given, op):
            return upload(by_host(on_host(given)))
        found = report()
        answer = whole(kernels(low, op, True).along(_read_as(array, low), axis, found), given.dtype)
        return upload(by_host(on_host(given))) if found.read().flags else answer


def of_entries(given: DeviceSparse, op: str, axes: Sequence[int], by_host: Callable[[], np.ndarray]) -> Any:
    """⊕ of a sparse matrix along some axes; what is not stored is zero.

    A product is zero unless nothing is missing, and entries at one place are to be combined first: the host finds it,
    and a ⊕ whose operands keep their order, too.
    """
    from semiring.kernels.cuda.dense.exchange import report
    from semiring.kernels.cuda.dense.folds import folds

    low: Any = form(given.S, op, given.dtype)
    with given.matrix.data.device:
        kernel = folds(low, op, True)
        data = np.empty(0, given.matrix.dtype)
        carried = elements_of(given.S, data, given.what).dtype
        as_they_are = carried == data.dtype == given.dtype  # if not, the host reads them
        if op == "mul" or not axes or kernel.ordered or low.dtype != data.dtype or not as_they_are or (
            _may_leave(given, op)
        ):
            return upload(by_host())
        rows, found = device_rows(given), report()
        if len(axes) == 2 and len(rows.values):
            answer = kernel.along(rows.values, (0,), found)
        elif len(axes) == 2:
            return upload(full(np.empty((), given.dtype), given.S.zero_in(given.dtype)))
        else:
            rows = transposed(rows) if axes[0] == 0 else rows
            answer = kernel.runs(rows.values, rows.offsets, found)
        return upload(by_host()) if found.read().flags else answer


def before(
    initial: Any, given: Device | DeviceSparse, op: str, answer: Any, by_host: Callable[[Dense], np.ndarray]
) -> Any:
    """`initial` ∘ an answer, element by element."""
    import cupy

    with answer.device:
        pair = cupy.empty((2, *answer.shape), answer.dtype)
        pair[0] = upload(full(np.empty(answer.shape, answer.dtype), initial))
        pair[1] = answer
        return along(Device(pair, given.S, given.what), op, (0,), by_host)


def _read_as(array: Any, low: Lowering) -> Any:
    """The array, or the parts of its elements if the form is for these."""
    return array if array.dtype == low.dtype else in_parts(array)


def in_parts(array: Any) -> Any:
    """Complex numbers as real and imaginary parts, which get an axis, the last; other arrays as they are.

    Sums of both are those of the parts.
    """
    if array.dtype.kind != "c":
        return array
    import cupy

    size = array.itemsize // 2
    return cupy.ndarray((*array.shape, 2), f"f{size}", array.data, (*array.strides, size))


def whole(array: Any, dtype: np.dtype) -> Any:
    """Numbers of a dtype again, of their parts if they are complex."""
    if dtype.kind != "c" or array.dtype == dtype:
        return array
    import cupy

    return cupy.ascontiguousarray(array).view(dtype).reshape(array.shape[:-1])


def on_host(given: Device) -> Dense:
    """A copy in the host's memory, of the same name in messages."""
    return Dense(to_host(given.array), given.S, given.what)


def _may_leave(given: Device | DeviceSparse, op: str) -> bool:
    """Whether least common multiples of the elements may leave the dtype."""
    ops = given.S.traced
    if ops is None or not given.S.has_multiples or given.dtype.kind not in "iu" or not given.shape:
        return False
    outputs = (ops.add if op == "add" else ops.raw_mul).outputs
    return any(e.op == "lcm" for e in postorder(outputs)) and given.facts.multiple > np.iinfo(given.dtype).max


def _empty(array: Any, axes: Sequence[int]) -> Any:
    import cupy

    with array.device:
        return cupy.empty([n for a, n in enumerate(array.shape) if a not in axes], array.dtype)
