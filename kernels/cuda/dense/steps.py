"""Chains of rows, x ⊗ A₁ ⊗ … ⊗ A_t with emissions, of many sequences side by side; steps.cu has the kernel."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.kernels.cuda.compile.launch import Function, Module
from semiring.kernels.cuda.compile.program import program
from semiring.kernels.cuda.compile.steps import StepGeometry, step_geometry, step_source

from .exchange import Report

if TYPE_CHECKING:
    from semiring.kernels.cpu.dense.steps import Sequences
    from semiring.kernels.cuda.lowering import CudaLowering

EMITS, WINS, BACKWARDS, LOOKS_AT = 1, 2, 4, 8  # as in steps.cu


def geometry_of(low: CudaLowering, n: int) -> StepGeometry | None:
    """How rows of n elements are computed; None if they are not for this kernel."""
    text = program(low)
    return step_geometry(text.size, 1.0 if low.log_sum else text.weight, n)


def walk(
    low: CudaLowering, given: Sequences, out: Any, back: Any, backwards: bool, found: Report, looks: bool
) -> Any:
    """out[t] ← x ⊗ A₁ ⊗ … ⊗ A_t for all t and every sequence, as data.

    Parameters
    ----------
    low : CudaLowering
        With `backwards` of the algebra with the operands of ⊗ exchanged.
    given : Sequences
        Of data on the device.
    out : array, shape (rows, n)
    back : array of uint8, shape (rows, n), or None
        Gets the least k of the term that won.
    backwards : bool
        Steps and emissions come from the last row to the first, and emissions join after a row came out.
    found : Report
        Gets what is found in data.
    looks : bool
        Whether to look for what is not an element.

    Returns
    -------
    array
        What the launch reads, until it has run.
    """
    import cupy

    x: Any = given.x
    A: Any = given.A
    e: Any = given.e
    n = x.shape[-1]
    g = geometry_of(low, n)
    assert g
    last = np.maximum(given.lengths - 1, 0) if backwards else np.zeros_like(given.lengths)
    turn = -1 if backwards else 1
    jobs = np.zeros((len(given.lengths), 6), np.int64)
    jobs[:, 0] = x.data.ptr + given.x_at * x.strides[0]
    jobs[:, 1] = A.data.ptr + (given.a_at + given.a_step * np.maximum(last - 1, 0)) * A.strides[0]
    if e is not None:
        jobs[:, 2] = e.data.ptr + (given.e_at + last) * e.strides[0]
    jobs[:, 3] = out.data.ptr + (given.rows_at + last) * out.strides[0]
    if back is not None:
        jobs[:, 4] = back.data.ptr + (given.rows_at + last) * back.strides[0]
    jobs[:, 5] = given.lengths
    table = cupy.asarray(jobs)
    rows, columns = A.strides[1:][::-1] if backwards else A.strides[1:]
    how = EMITS * (e is not None) | WINS * (back is not None) | BACKWARDS * backwards | LOOKS_AT * looks
    found.clear()
    _function(low, g)(
        -(-len(jobs) * g.GROUP // g.THREADS), 1, table.data.ptr, len(jobs), x.strides[1],
        turn * given.a_step * A.strides[0], rows, columns,
        *((0, 0) if e is None else (turn * e.strides[0], e.strides[1])), turn * out.strides[0], out.strides[1],
        0 if back is None else turn * back.strides[0], how, found.host,
    )
    return table


@lru_cache(1024)
def _function(low: CudaLowering, g: StepGeometry) -> Function:
    return Module(step_source(low, g)).function("steps", g.THREADS)
