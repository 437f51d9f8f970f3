"""Chains of rows in the memory of a GPU, for `forward`: each sequence by a few threads, all sequences side by side.

The launch also looks at every element that it reads. If one is unusual, or a row has no value, the answer is dropped;
then the elements are examined first, which says what is wrong, and another form computes. Rows that registers do not
hold go by products of the engine (`forward_by_products`).
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

import numpy as np

from semiring.algebra.elements import full
from semiring.algebra.overflow import refuse
from semiring.algebra.semiring import Semiring
from semiring.kernels.cpu.dense.steps import Sequences
from semiring.kernels.cuda.compile.steps import COLUMN, step_geometry
from semiring.kernels.cuda.dense.exchange import LEAVES, report
from semiring.kernels.cuda.dense.steps import geometry_of, walk
from semiring.kernels.cuda.lowering import CudaLowering
from semiring.kernels.facts import Facts
from semiring.operands.dense import Dense
from semiring.operands.devices import module_of, upload, without_the_option
from semiring.solvers.forms import refuse_overflow
from semiring.solvers.plan import Plan

from . import forward_by_products
from .forward_in_chunks import (
    BYTES,
    LongRows,
    ShortRows,
    are_faster,
    in_all,
    multiplies,
    stay_within,
    walk_in_chunks,
)
from .layout import Layout
from .reading import answered
from .scan_on_gpu import form_of_any, refuse_elements
from .steps import Steps

CHUNKS = "chunks of a sequence side by side"
LEAST_LENGTH = 7  # factors: more than those of one product, whose form may round each


def offer(operands: list[Dense], found: Layout, reverse: bool, argmax: bool) -> Plan:
    """The plan of `forward` for arrays on a GPU.

    Raises
    ------
    SemiringError
        For elements that only the CPU computes with.
    """
    S, dtype, n = operands[0].S, operands[0].dtype, found.shape[-1]
    low: Any
    refuse_elements(S, dtype)
    inner = S if not reverse or S.commutative else S.opposite
    most = int(found.lengths.max(initial=0))
    length = max(1 << (2 * most).bit_length(), LEAST_LENGTH)
    if n and (plan := _chunked(operands, found, inner, reverse, argmax)):
        return plan
    quick = form_of_any(inner, dtype, length) if prod(found.shape) else None
    if quick and geometry_of(quick, n) is None:
        quick = None
    low = quick or _examined(operands, inner, most)[1]
    rows = prod(found.shape)
    fits = not n or geometry_of(low, n) is not None
    held = sum(prod(A.shape) for A in operands) * (bool(reverse) + (not low.is_identity))
    return Plan(
        operation="forward", algebra=S, shape=found.shape, lowering=low,
        method="rows of sequences side by side" if fits else "one product after the other",
        work=float(np.maximum(found.lengths - 1, 0).sum()) * n * n,
        memory=rows * dtype.itemsize + _of_winners(found, argmax)
        + (0 if fits else (held + rows) * low.storage.itemsize),
        reasons={"method": "each thread holds a column of the matrix" if fits else
                 f"threads hold columns of at most {COLUMN} bytes, of light operations"},
        needs=("the rows of all steps", "use a narrower dtype, or fewer sequences at a time"),
        runner=partial(_run, operands, found, inner, reverse, argmax, quick is not None) if fits else
        partial(forward_by_products.run, operands, found, reverse, argmax, None),
    )


def _of_winners(found: Layout, argmax: bool) -> int:
    """Bytes of the terms that won."""
    return prod(found.shape) * np.min_scalar_type(max(found.shape[-1] - 1, 0)).itemsize if argmax else 0


def _chunked(operands: list[Dense], found: Layout, inner: Semiring, reverse: bool, argmax: bool) -> Plan | None:
    """The plan by chunks of long sequences, if that is faster."""
    n, size, longest = found.shape[-1], operands[0].dtype.itemsize, int(found.lengths.max(initial=0))
    alone = ShortRows.step.row if step_geometry(size, 1.0, n) else None
    if not any(are_faster(found.lengths, n, size, kind.step, alone) for kind in (ShortRows, LongRows)):
        return None
    facts, low = _examined(operands, inner, longest)
    short = ShortRows.fit(low, n)
    step = ShortRows.step if short else LongRows.step
    held = geometry_of(low, n) is not None  # registers hold rows, and maybe not products of matrices
    row = ShortRows.step.row if held else step.row
    within = stay_within(inner, low, facts, longest)
    if not within and (not multiplies(inner, low) or short < held):
        return None
    if not are_faster(found.lengths, n, size, step, row):
        return None
    predicted = in_all(found.lengths, n, size, step)
    made = min(BYTES, longest * n * n * low.storage.itemsize) if len(operands) > 2 or reverse else 0
    if not short:
        made += sum(prod(A.shape) for A in operands) * low.storage.itemsize * (bool(reverse) + (not low.is_identity))
    return Plan(
        operation="forward", algebra=operands[0].S, shape=found.shape, lowering=low, method=CHUNKS,
        work=float(np.maximum(found.lengths - 1, 0).sum()) * n * n * (n + 1),
        memory=prod(found.shape) * size + _of_winners(found, argmax) + made,
        reasons={"method": f"products of chunks first: {predicted * 1e3:.3g} ms predicted, and "
                 f"{longest * row * 1e3:.3g} ms one row after the other"},
        needs=("the rows of all steps", "use a narrower dtype, or fewer sequences at a time"),
        runner=partial(_run_chunks, operands, found, inner, reverse, argmax, not within) if short else
        partial(forward_by_products.run, operands, found, reverse, argmax, partial(_long_rows, not within)),
    )


def _long_rows(
    compares: bool, low: Any, engine: Any, winners: Any, given: Sequences, out: Any, back: Any, reverse: bool
) -> bool:
    return walk_in_chunks(LongRows(low, engine, winners), given, out, reverse, back, compares)


def _examined(operands: list[Dense], inner: Semiring, most: int) -> tuple[Facts, Any]:
    """Facts about the elements, and the form for them; refuses what is not an element."""
    first, *others = operands
    length = max(2 * most + 1, LEAST_LENGTH)
    with without_the_option():
        facts, low = first.form(length, beside=others, packed=False)
        return facts, low if inner is first.S else first.changed(S=inner).lowering(facts, length, packed=False)


def _run_chunks(
    operands: list[Dense], found: Layout, inner: Semiring, reverse: bool, argmax: bool, compares: bool, plan: Plan
) -> Any:
    low = plan.lowering
    assert isinstance(low, CudaLowering)
    given, out, back = _room(low, operands, found, argmax)
    seen = report()
    rows = ShortRows(low, seen)
    agree = walk_in_chunks(rows, given, out, reverse, back, compares)
    flags = seen.read().flags
    del rows  # which holds what the launches read
    if not agree or (compares and flags):
        return _run(operands, found, inner, reverse, argmax, False, plan)
    return _answer(low, operands, found, reverse, out, back, flags)


def _run(
    operands: list[Dense], found: Layout, inner: Semiring, reverse: bool, argmax: bool, looks: bool, plan: Plan
) -> Any:
    low = plan.lowering
    assert isinstance(low, CudaLowering)
    out, back, flags = _walked(low, operands, found, reverse, argmax, looks)
    if flags and looks:
        _, low = _examined(operands, inner, int(found.lengths.max(initial=0)))
        out, back, flags = _walked(low, operands, found, reverse, argmax, False)
    return _answer(low, operands, found, reverse, out, back, flags)


def _answer(
    low: CudaLowering, operands: list[Dense], found: Layout, reverse: bool, out: Any, back: Any, flags: int
) -> Any:
    """The answer, or a refusal of what was found in it."""
    first, result = operands[0], out.reshape(found.shape)
    if flags & LEAVES:
        refuse(first.S, first.dtype, None)
    if flags:
        refuse_overflow(low, result)
    values = answered(first, result)
    return values if back is None else Steps(values, back.reshape(found.shape), first.S, found, reverse, result)


def _room(low: CudaLowering, operands: list[Dense], found: Layout, argmax: bool) -> tuple[Sequences, Any, Any]:
    """The sequences, and arrays for all rows and for the terms that win."""
    arrays = [A.array for A in operands]
    xp, n, count = module_of(arrays[0]), found.shape[-1], prod(found.shape[:-1])
    given = found.sequences(arrays[0], arrays[1], arrays[2] if len(arrays) > 2 else None)
    if found.partial:
        out = upload(full(np.empty((count, n), low.dtype), operands[0].S.zero_in(low.dtype)))
    else:
        out = xp.empty((count, n), low.dtype)
    return given, out, xp.zeros((count, n), np.uint8) if argmax else None


def _walked(
    low: CudaLowering, operands: list[Dense], found: Layout, reverse: bool, argmax: bool, looks: bool
) -> tuple[Any, Any, int]:
    """All rows, the terms that won, and flags of what was found."""
    given, out, back = _room(low, operands, found, argmax)
    if not out.size:
        return out, back, 0
    seen = report()
    kept = walk(low, given, out, back, reverse, seen, looks)
    flags = seen.read().flags
    del kept  # what the launch reads
    return out, back, flags
