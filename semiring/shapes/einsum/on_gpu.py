"""The steps of an einsum on arrays of a GPU: sums by ⊕ in one pass, pairs as stacks of products.

Everything that is computed stays in the GPU's memory. Axes are permuted and repeated by strides; what does not lie
behind each other then is copied there. A sum, a product or a pair without a summed axis looks at what it reads, so
that an operand that is not an element is refused as in `matmul`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from semiring.algebra.elements import full
from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.matrices import matmul
from semiring.operands.device import Device
from semiring.operands.devices import upload, without_the_option
from semiring.solvers.forms import refuse_overflow

from .contraction import Product, Steps, Sum
from .notation import Axis
from .running import Won, each_once, laid, refuse_range


def run_on_gpu(
    steps: Steps, S: Semiring, given: Sequence[Any], winners: bool, check: bool
) -> tuple[Any, list[Won]]:
    """The answer of an einsum, with its axes in order, and what won each step; parameters as for `run`."""
    from semiring.kernels.cuda.compile.launch import copy_of, in_words

    arrays: list[Any] = [diagonals(A, axes) for A, axes in zip(given, steps.fitted.operands, strict=True)]
    won: list[Won] = []
    with without_the_option():
        for step in steps.steps:
            if isinstance(step, Sum):
                arrays.append(_summed(step, S, arrays[step.source], won if winners else None, check))
                arrays[step.source] = None
            else:
                pair = arrays[step.left], arrays[step.right]
                arrays.append(_multiplied(step, steps.sizes, S, pair, won if winners else None, check))
                arrays[step.left] = arrays[step.right] = None
    result = arrays[-1].transpose([steps.result.index(a) for a in steps.fitted.output])
    if steps.steps:
        return result, won
    words = copy_of(in_words(result))
    return (words if words.ndim == result.ndim else words.view(result.dtype).reshape(result.shape)), won


def diagonals(A: Any, axes: Sequence[Axis | None]) -> Any:
    """A view with each axis once, as `each_once` lays them."""
    if len(set(axes)) == len(axes) and None not in axes:
        return A
    import cupy

    shape, strides = each_once(A, axes)
    return cupy.ndarray(shape, A.dtype, A.data, strides)


def _summed(step: Sum, S: Semiring, A: Any, won: list[Won] | None, check: bool) -> Any:
    """⊕ over some axes: by the kernel of sums, or as the product with as many ones, which tells the terms that win."""
    axes = [k for k, a in enumerate(step.given) if a in step.summed]
    if won is None and A.size and (total := _folded(S, A, axes, check)) is not None:
        return total
    if S.one is None:
        raise SemiringError(f"{S.name} has no one, so that these sums are computed on the CPU: copy operands to the "
                            "host, with .get() for CuPy or .cpu() for PyTorch")
    moved = A.transpose([step.given.index(a) for a in step.axes + step.summed])
    shape, count = moved.shape[: len(step.axes)], prod(moved.shape[len(step.axes) :])
    rows = _reshaped(moved, (prod(shape), count))
    ones = upload(full(np.empty(count, A.dtype), S.one_in(A.dtype)))
    if won is None:
        return matmul(rows, ones, S, check=check).reshape(shape)
    total, which = matmul(rows, ones, S, check=check, argmax=True)
    won.append(Won(step.summed, step.axes, which.reshape(shape)))
    return total.reshape(shape)


def _folded(S: Semiring, A: Any, axes: list[int], check: bool) -> Any:
    """⊕ over some axes in one pass over the array; None where elements are too large for that.

    Floats have a form that is right for any data, so that they are looked at in the same pass.
    """
    from semiring.kernels.cuda.choose import without_facts
    from semiring.kernels.cuda.dense.exchange import LEAVES, NOT_A_NUMBER, OUTSIDE, report
    from semiring.kernels.cuda.dense.folds import fits, folds

    X, looks = Device(A, S, "the array"), check and A.dtype.kind in "fcV"
    low: Any = without_facts(S, A.dtype) if looks else X.form(3, check=check, packed=False)[1]
    if not fits(low, "add", looks):
        return None
    if looks:
        found = report()
        total = folds(low, "add", True).along(A, axes, found)
        if found.read().flags & (NOT_A_NUMBER | OUTSIDE | LEAVES):
            _ = X.facts  # which says what is wrong
            refuse_range(S, A.dtype)
    else:
        total = low.decode(folds(low, "add").along(A if low.is_identity else low.encode(A, True), axes))
    if check:
        refuse_overflow(low, total)
    return total


def _multiplied(
    step: Product, sizes: Mapping[Axis, int], S: Semiring, pair: tuple[Any, Any], won: list[Won] | None, check: bool
) -> Any:
    """⊗ of two arrays, and ⊕ over the axes that only they have."""
    L, R = pair
    if not step.summed:
        groups = step.batch, step.left_free, step.right_free
        left, right = (laid(A, axes, groups, sizes, grouped=False)
                       for A, axes in ((L, step.left_axes), (R, step.right_axes)))
        return outer_product(S, left, right, check)
    left = laid(L, step.left_axes, (step.batch, step.left_free, step.summed), sizes, reshape=_reshaped)
    right = laid(R, step.right_axes, (step.batch, step.summed, step.right_free), sizes, reshape=_reshaped)
    shape = tuple(sizes[a] for a in step.axes)
    if won is None:
        return matmul(left, right, S, check=check).reshape(shape)
    total, which = matmul(left, right, S, check=check, argmax=True)
    won.append(Won(step.summed, step.axes, which.reshape(shape)))
    return total.reshape(shape)


def outer_product(S: Semiring, left: Any, right: Any, check: bool) -> Any:
    """⊗ by element of arrays that broadcast."""
    from semiring.kernels.cuda.dense.outer import outer

    A, B = (Device(x, S, what) for x, what in ((left, "the first factor"), (right, "the second factor")))
    facts, form = A.form(3, beside=(B,), check=check, packed=False)
    low: Any = form.for_product(facts)
    stored = (x if low.is_identity else low.encode(x, True) for x in (left, right))
    made = low.decode(outer(low, *stored))
    if check:
        refuse_overflow(low, made)
    return made


def _reshaped(A: Any, shape: tuple[int, ...]) -> Any:
    """The array in another shape, in C order of its elements."""
    from semiring.kernels.cuda.compile.launch import in_c_order

    return A.reshape(shape) if A.dtype.names is None else in_c_order(A).reshape(shape)
