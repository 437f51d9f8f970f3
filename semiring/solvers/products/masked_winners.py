"""Which terms win, of the entries of a product that a mask wants: products with mask= and argmax=True.

Few entries are computed term by term: for each, c ← c ⊕ a_ik ⊗ b_kj for k = 0, 1, …, and k is noted whenever c
changes, by compiled code or by NumPy. Otherwise the whole product says which terms win, and the wanted entries are
selected.
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

import numpy as np

from semiring.algebra.elements import full
from semiring.errors import SemiringError
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.build import affordable, renting
from semiring.kernels.cpu.sparse.structure import product_structure, transpose, transposed
from semiring.kernels.cpu.sparse.winners import DotWinnersKernel, MaskedWinnersKernel
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy.masked import Pattern
from semiring.kernels.numpy.structure import rows_of
from semiring.machine.threads import cpu_place
from semiring.operands.wanted import read_mask, told

from ..forms import plain_form, refuse_overflow
from ..plan import Plan
from ..task import Task, compute
from .arrays import finish_product, returned
from .masked import (
    DOTS,
    ROWS,
    SELECT,
    Given,
    both_sparse,
    dotted,
    marked,
    read_given,
    steps,
    stored,
    without_mask,
    wrapped,
)
from .masked_winners_on_gpu import offer as offer_on_gpu
from .sparse import facts_of
from .winners import NONE, Best, kept_winners, refuse_argmax, sparse_sparse

TERMS = "terms of wanted entries"
SELECTED = 16  # terms of a whole product that compiled code takes in the time of a wanted one by NumPy
BY_VECTORS = 2  # and in the time of a wanted one by compiled code, which does not take several at once


def offer(task: Task) -> Plan:
    """Offer the wanted entries of a product and the terms that win."""
    assert task.options.mask is not None
    refuse_argmax(task)
    if any(given.on_gpu for given in task.given) or task.options.device == "gpu":
        return offer_on_gpu(task)
    wanted = read_mask(task.options.mask)
    given = read_given(task, wanted)
    low = plain_form(task.S, given.A.dtype, facts_of(task.operands, task.options.check), 3)
    size = prod(given.shape.full)
    low = affordable(low, *steps(given, ROWS if both_sparse(given) else DOTS), _purpose(given))
    share = BY_VECTORS if _is_compiled(low) else SELECTED
    few = given.as_rows or low.kind == "objects" or given.wanted.count * share < size
    low = low if few else low.interpreted
    run = partial(_by_entries, task, given) if few else partial(_selected, task, given)
    return Plan(
        operation="matmul", algebra=task.S, shape=given.shape.final, method=TERMS if few else SELECT, lowering=low,
        place=cpu_place(None if _is_compiled(low) else 1),
        work=float(given.wanted.count if few else size) * given.shape.depth,
        memory=size * (given.A.dtype.itemsize + NONE.itemsize), runner=run, reasons={"method": told(given.wanted)},
    )


def _is_compiled(low: Lowering) -> bool:
    return low.compiled and low.kind == "numba"


def _purpose(given: Given) -> str:
    """What compiled code is for, a key of `PURPOSES`."""
    return "winners of rows" if both_sparse(given) else "winners of dots"


def _by_entries(task: Task, given: Given, plan: Plan) -> tuple[Any, Any]:
    """The wanted entries, term by term."""
    low, lead = plan.lowering, given.shape.full[:-2]
    a, b = (stored(low, X, s, lead) for X, s in zip((given.A, given.B), given.shape.operands, strict=True))
    if given.as_rows:
        rows, which = kept_winners(task, low, *_best(low, given, a, b), given.shape.full[1])
        return wrapped(task, given, rows), which
    dtype = given.A.dtype
    zero = full(np.empty(1, dtype), task.S.zero_in(dtype))
    result, numbers = full(np.empty(given.shape.full, dtype), zero[0]), np.full(given.shape.full, NONE)
    for place in np.ndindex(lead):
        best, pattern = _best(low, given, a[place] if lead else a, b[place] if lead else b, place)
        at, values = (rows_of(pattern[0]), pattern[1]), low.decode(best.values)
        if task.options.check:
            refuse_overflow(low, values, lambda e, at=at, place=place: (  # type: ignore[misc]
                *place, int(at[0][e]), int(at[1][e])))
        result[place][at] = values
        numbers[place][at] = np.where(np.asarray(values == full(values, zero[0]), bool), NONE, best.which)
    return finish_product(task, result), returned(task, numbers)[()]


def _best(low: Lowering, given: Given, a: Any, b: Any, place: tuple[int, ...] = ()) -> tuple[Best, Pattern]:
    """The best terms of the wanted entries of a matrix, or of the one at a place in a stack, and where they are."""
    m, n = given.shape.full[-2:]
    sparse = isinstance(a, Rows) and isinstance(b, Rows)
    if sparse and given.wanted.complement and isinstance(given.wanted.marks, tuple):  # too many to be listed
        pattern = product_structure((a.offsets, a.columns), (b.offsets, b.columns), n)
        kept = Rows(*pattern, pattern[1], n)
        kept = kept.where(marked(given.wanted, kept))
        pattern = kept.offsets, kept.columns
    else:
        pattern = given.wanted.pattern(place, (m, n))
    best = Best(low, (len(pattern[1]),))
    if _is_compiled(low):
        _join_compiled(best, low, pattern, a, b)
        return best, pattern
    with renting(low, _purpose(given)):
        if sparse:
            sparse_sparse(best, pattern, a, b)
        elif isinstance(a, Rows) or isinstance(b, Rows):
            _join_compressed(best, pattern, a, b)
        else:
            rows = rows_of(pattern[0])
            for k in range(a.shape[1]):
                best.join(slice(None), a[rows, k], b[k, pattern[1]], k)
    return best, pattern


def _join_compiled(best: Best, low: Lowering, pattern: Pattern, a: Any, b: Any) -> None:
    """Find the winners among all terms by compiled code."""
    if isinstance(a, Rows) and isinstance(b, Rows):
        best.which = MaskedWinnersKernel.of(low).by_rows(best.values, pattern, a, b)
        return
    if not isinstance(b, Rows):
        best.which = DotWinnersKernel.of(low).by_dots(best.values, pattern, *dotted(pattern, a, b))
        return
    *turned, order = transposed(*pattern, b.width)  # columns of B are rows of its transpose, and second in each ⊗
    kernel = DotWinnersKernel.of(low, exchange=not low.algebra.commutative)
    values = best.values[order]
    best.which[order] = kernel.by_dots(values, (turned[0], turned[1]), transpose(b), np.ascontiguousarray(a).T)
    best.values[order] = values


def _join_compressed(best: Best, pattern: Pattern, a: Any, b: Any) -> None:
    """Fold in the terms of compressed rows and an array: the first ones of all entries, then the second ones, …"""
    rows, columns = rows_of(pattern[0]), pattern[1]
    left = isinstance(a, Rows)
    side, ends = (a, rows) if left else (transpose(b), columns)
    begins, lengths = side.offsets[ends], np.diff(side.offsets)[ends]
    some, rank = np.flatnonzero(lengths), 0
    while len(some):
        e = begins[some] + rank
        k, own = side.columns[e], side.values[e]
        best.join(some, *((own, b[k, columns[some]]) if left else (a[rows[some], k], own)), k)
        rank += 1
        some = some[lengths[some] > rank]


def _selected(task: Task, given: Given, plan: Plan) -> tuple[Any, Any]:
    """The wanted entries of the whole product, and of the terms that win in it."""
    try:
        values, which = compute(without_mask(task, task.operands))
    except SemiringError:  # an entry may have left its dtype that is not wanted
        return _by_entries(task, given, plan)
    values, which = (np.asarray(x).reshape(given.shape.full) for x in (values, which))
    unwanted = ~given.wanted.array.reshape(given.shape.full)
    values[unwanted], which[unwanted] = full(np.empty(1, values.dtype), task.S.zero_in(values.dtype))[0], NONE
    return finish_product(task, values), returned(task, which)[()]
