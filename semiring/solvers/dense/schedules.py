"""Compute closures by a schedule of block operations: any algebra and engine; arrays, stacks and packed bits."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache, partial
from importlib import import_module
from math import prod
from typing import Any, cast

import numpy as np

from semiring.algebra.elements import equal
from semiring.algebra.semiring import Semiring
from semiring.algorithms import labels
from semiring.algorithms.blocked import blocked
from semiring.algorithms.blocks import UndefinedStar
from semiring.algorithms.elimination import elimination
from semiring.algorithms.floyd_warshall import floyd_warshall
from semiring.algorithms.r_kleene import r_kleene
from semiring.algorithms.squaring import squaring
from semiring.errors import LawError, SemiringError
from semiring.kernels.build import affordable, code_of, stacks_repay
from semiring.kernels.build import kernel as build_kernel
from semiring.kernels.choose import only_form
from semiring.kernels.cpu.dense import lanes, stacks
from semiring.kernels.facts import Facts
from semiring.kernels.interface import BitKernel, Kernel, Report, StackKernel
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy import logsum
from semiring.kernels.wrappers.counting import Counting
from semiring.kernels.wrappers.paced import UNCUT_TERMS, paced
from semiring.machine.progress import told
from semiring.operands.convert import as_dense, as_packed
from semiring.operands.dense import Dense
from semiring.operands.devices import to_host, upload
from semiring.operands.examine import stacked
from semiring.operands.operand import Operand, order_of
from semiring.operands.packed import Sent

from ..cycles import FINE, look_for_cycles, may_diverge, may_fail, settle
from ..forms import is_finite, refuse_overflow, without_library
from ..plan import Plan, nothing
from ..refusals import star_undefined
from ..task import Task
from . import fields, rings

SCHEDULES: dict[str, Callable[[Any, Kernel[Any], int], None]] = {
    "floyd-warshall": floyd_warshall,
    "blocked": blocked,
    "r-kleene": r_kleene,
    "squaring": squaring,
    "elimination": elimination,
}
SPARSE = "sparse"  # elimination on the sparse structure, as method= names it
SEARCH = "search"  # a search from every vertex
ON_ENTRIES = {SPARSE: "eliminates on the structure", SEARCH: "follows the edges"}
ALIASES = {"fw": "floyd-warshall", "kleene": "r-kleene", "lu": "elimination"}
WITHOUT_BLOCKS = ("floyd-warshall", "squaring")
BLOCKED_TILE = 256  # rows of a pivot block: products with fewer steps of k are slower
PIVOTS = 4  # rows of a pivot block of Python objects
STACKED_ORDER = 128  # up to which the matrices of a stack are closed in one call; on a GPU up to its tile
LEAST_TRAVERSED = 200  # vertices from which on a matrix is looked at whether a traversal closes it
LOOKING = frozenset({"device"})  # the options of stacks whose elements are looked at while they are closed
TRAVERSED = frozenset({"reflexive", "overwrite", "device", "check", "progress"})  # the options of traversals
COPIED_BYTES = 1 << 20  # up to which a matrix that may be overwritten is copied all the same


def resolve_method(method: str, S: Semiring) -> str:
    """Return the schedule's name, and check the laws that it needs.

    Raises
    ------
    SemiringError
        For an unknown name, with a similar one.
    LawError
        If the algebra lacks a law that the schedule needs.
    """
    if method == "auto":
        return method
    name = method.lower().replace("_", "-")
    name = ALIASES.get(name, name)
    known = (*SCHEDULES, SPARSE, SEARCH, "auto")
    if name not in known:
        near = get_close_matches(name, known, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"it is one of {', '.join(known)}"
        raise SemiringError(f"unknown method {method!r}: {hint}")
    if name == "squaring" and not S.idempotent:
        raise LawError(
            f"squaring needs an idempotent ⊕, and in {S.name} {S._law_report.flags['idempotent']}: it would count "
            "walks twice; use method='auto'"
        )
    if name == "squaring" and not S.has_unit_stars:
        raise LawError(
            f"squaring needs an algebra in which longer and longer walks stop improving, and {S.name} is not bounded: "
            f"{S._law_report.flags['bounded']}; use method='auto'"
        )
    if name == SEARCH and not S.selective:
        raise LawError(
            f"a search needs a selective ⊕, and in {S.name} {S._law_report.flags['selective']}: it would keep one walk "
            "only; use method='auto'"
        )
    return name


def choose_method(
    method: str, low: Lowering, n: int, kernel: Kernel[Any], tile: int | None
) -> tuple[str, int, dict[str, str]]:
    """Return the schedule, its tile, and the reasons."""
    reasons = {}
    if method == "auto":
        if n <= (tile or kernel.tile):
            method, reasons["method"] = "floyd-warshall", "one block"
        elif tile is None and kernel.closes_whole(n):
            method, reasons["method"] = "floyd-warshall", "the engine closes the whole matrix, in blocks of its own"
        else:
            method, reasons["method"] = "r-kleene", "most of its work is in large products"
    else:
        reasons["method"] = "as asked"
        if method in WITHOUT_BLOCKS and tile is not None and tile < n:
            reasons["tile"] = f"this method takes the matrix whole, and not in blocks of {tile} rows as others would"
    if method == "floyd-warshall":
        return method, n, reasons
    if low.kind == "objects" and method == "elimination" and tile is None:
        return method, PIVOTS, reasons  # a large block would be closed, which takes three times the work
    by_library = low.by_library and not low.on_gpu  # whose products are as fast with few steps of k
    tile = tile or (kernel.tile if method == "r-kleene" or by_library else max(kernel.tile, BLOCKED_TILE))
    if kernel.align > 16 and tile % kernel.align:
        tile = -(-tile // kernel.align) * kernel.align
        reasons["tile"] = f"this engine's blocks begin at multiples of {kernel.align}"
    return method, tile, reasons


def close_best(A: Any, kernel: Kernel[Any]) -> None:
    """Compute A ← A* by the best schedule of the engine."""
    if kernel.closes_whole(len(A)):
        floyd_warshall(A, kernel, len(A))
    else:
        r_kleene(A, kernel, kernel.tile)


def offer(task: Task, exists: np.ndarray | None = None) -> Plan:
    """Offer any closure; `exists` becomes False for each matrix of a stack without one, and nothing is raised."""
    o, given = task.options, task.operands[0]
    n = order_of(given.shape)
    if o.packed:
        given = as_packed(given)
    method = o.method if o.method == "auto" else resolve_method(o.method, task.S)
    if method in ON_ENTRIES:
        does = f"method={method!r} {ON_ENTRIES[method]}"
        raise SemiringError(
            f"{does} of a matrix, and packed=True closes its bits: leave out one of the two" if o.packed else
            f"{does} of a sparse matrix or graph on the CPU; A is {given.kind if given.kind != 'dense' else 'an array'}"
        )
    if n >= LEAST_TRAVERSED and exists is None and method == "auto" and (found := _traversed(task)) is not None:
        return found
    if exists is None and method == "auto" and (looking := _looking(task)) is not None:
        return looking
    return _examined(task, given, method, exists)


def _examined(task: Task, given: Operand, method: str, exists: np.ndarray | None) -> Plan:
    """The plan of any closure, whose elements are examined first."""
    o, n = task.options, order_of(given.shape)
    facts, low = given.form(n, check=o.check, in_place=o.overwrite and o.reflexive)
    field = low.inverts or low.dual
    if field and fields.is_for_lapack(low) and method == "auto" and o.tile is None and len(given.shape) == 2:
        return Plan(
            operation="closure", algebra=task.S, shape=given.shape, method=fields.METHOD, lowering=low, work=n**3,
            memory=3 * low.matrix_bytes(n), runner=partial(_run, task, given, facts, exists),
            reasons={"method": "(1 − A)⁻¹ with exchange of rows"},
        )
    if not code_of(low).bought:  # else a warm call is spared a step
        low = affordable(low, n, float(n) ** 2 * prod(given.shape[:-1]))
    method, tile, reasons, work, memory = schedule(low, given.shape, method, o.tile, o.overwrite, o.reflexive)
    return Plan(
        operation="closure", algebra=task.S, shape=given.shape, method=method, lowering=low, work=work, memory=memory,
        runner=partial(_run, task, given, facts, exists), reasons=reasons, tile=tile,
    )


def _looking(task: Task) -> Plan | None:
    """The plan of a stack of small matrices, which are looked at while they are read; None for any other."""
    given = task.operands[0]
    if type(given) is not Dense or given.on_gpu or "facts" in vars(given) or not task.asked <= LOOKING:
        return None
    n, terms = order_of(given.shape), float(prod(given.shape)) * given.shape[-1]
    low = only_form(task.S, given.dtype, False) if len(given.shape) > 2 and 0 < n <= stacks.TOGETHER and terms else None
    if low is None or not low.is_identity or low.inverts or low.dual or rings.cancels(low):
        return None
    if not (stacks.closes_in_lanes(low, n) and stacks_repay(low, n, terms, stacks.closure_purpose(low, n))):
        return None
    return Plan(
        operation="closure", algebra=task.S, shape=given.shape, method="floyd-warshall", lowering=low, work=terms,
        memory=prod(given.shape[:-2]) * low.matrix_bytes(n), runner=partial(_run_looking, task), tile=n,
        reasons={"method": "each lane of a vector closes another matrix, and looks at its elements"},
    )


def _run_looking(task: Task, plan: Plan) -> Any:
    """The closures as their plan says; the general way runs if anything is not usual, and explains it."""
    low, given = plan.lowering, cast("Dense", task.operands[0])
    stack = stacked(given.stored(low, True))
    failed = stacks.close_stack(low, stack, look=True)
    fine = failed is not None and not (failed >= 0).any()
    if fine and may_diverge(low):
        fine = not low.improves(stack.diagonal(0, -2, -1).reshape(-1)).any()
    if not fine:
        again = _examined(task, given, "auto", None)
        return again.runner(again)
    return _answer(given, low, stack.reshape(given.shape), None, True, None)


def _traversed(task: Task) -> Plan | None:
    """The plan of one traversal, for a matrix that may be symmetric or acyclic as far as a few elements tell."""
    S, given = task.S, task.operands[0]
    if type(given) is not Dense or len(given.shape) > 2 or not task.asked <= TRAVERSED:
        return None
    if given.form(given.shape[-1], check=task.options.check)[1].kind == "packed":
        return None  # bits are closed in less time than it takes to look
    (x, y), T = given.opposite(), S.over(given.dtype)
    symmetric = S.is_bottleneck and equal(x, y).all()
    if not (symmetric or ((T.is_zero(x) | T.is_zero(y)).all() and given.may_be_acyclic())):
        return None
    found: Plan | None = import_module("semiring.solvers.dense.traversals").offer(task)
    return found


@lru_cache(1024)
def schedule(
    low: Lowering, shape: tuple[int, ...], method: str, tile: int | None, overwrite: bool, reflexive: bool
) -> tuple[str, int, dict[str, str], float, int]:
    """Return the schedule, its tile, the reasons, the multiply-adds, and the bytes beyond the operand."""
    n, batch = shape[-1], prod(shape[:-2])
    method, tile, reasons = choose_method(method, low, n, build_kernel(low), tile)
    rounds = max((n - 1).bit_length(), 1) if method == "squaring" else 1
    copies = (0 if overwrite and reflexive and low.storage == low.dtype else 1) + (not reflexive)
    return method, tile, reasons, rounds * batch * n**3, closure_memory(method, low, n, batch, copies)


def _run(task: Task, given: Operand, facts: Facts, exists: np.ndarray | None, plan: Plan) -> Any:
    """The closure as its plan says."""
    o, low = task.options, plan.lowering
    if given.kind == "sparse":
        given = as_dense(given)
    array: Any = getattr(given, "array", None)
    plus = not o.reflexive
    if given.kind == "packed":
        in_place = o.overwrite or given.mine  # type: ignore[attr-defined]
    else:
        in_place = o.overwrite and not plus and getattr(array.flags, "writeable", True)
    if not prod(given.shape):
        with reporting(plan, o.progress, o.check):  # reports 1.0
            pass
        return given.unstored(low, given.stored(low, not in_place))
    kept = array
    if rings.cancels(low) or ((low.inverts or low.dual) and (o.check or not low.on_gpu)):
        return _inverse(task, given, exists, in_place, plan)
    if in_place and array is not None:  # a small copy distinguishes cycles from rounding, and names them
        needed = array.nbytes <= COPIED_BYTES or exists is not None
        kept = array.copy() if needed and may_fail(low) and o.check else None
    by_engine = low.kind == "packed" and plan.method == "floyd-warshall"  # which closes A* or A⁺
    if by_engine and isinstance(given, Sent) and o.progress is False:
        answer = given.closure(o.reflexive, o.overwrite)
        if answer is not None:
            return answer
    original = given.stored(low, not low.is_identity) if plus and not by_engine else None
    try:
        work = closed(plan, given, original, plus and by_engine, exists, in_place=in_place, check=o.check,
                      progress=o.progress)
    except UndefinedStar as e:
        there = given if kept is None else given.changed(array=kept)
        raise star_undefined(there, e, gone=in_place and kept is None) from None
    if o.check and may_diverge(low):
        verdict = look_for_cycles(low, work, kept, facts, given.names, exists)
        if verdict.unstable and verdict.error is None and (plan.method != "squaring" or low.dtype.names):
            work = stable_closure(low, kept, original, facts, given.names, exists)
            return _answer(given, low, work, exists, o.check, array if in_place else None)
        elif verdict is not FINE:
            settle(low, work, verdict)
    if given.kind == "packed":
        return given.unstored(low, work)
    if low.log_sum and (o.check or not low.on_gpu):  # which synchronizes the device
        work = fields.endless(low, work)
    return _answer(given, low, work, exists, o.check, None)


def _answer(given: Operand, low: Lowering, work: Any, exists: np.ndarray | None, check: bool, target: Any) -> Any:
    """Closures as the caller gets them, in `target` if given; zeros if there is none."""
    if exists is not None:
        leave_out(low, work, exists)
    result = work if low.is_identity else low.decode(work)
    if check and not low.drops_nan:
        refuse_overflow(low, result)
    if exists is not None:
        for place in np.argwhere(~exists).tolist():
            result[tuple(place)].fill(low.algebra.zero_in(low.dtype))
    if target is not None:
        target[...] = result
        result = target
    return given.wrap(result)


def _inverse(task: Task, given: Operand, exists: np.ndarray | None, in_place: bool, plan: Plan) -> Any:
    """The closure if sums cancel: over a field by LAPACK, or by the schedule as far as it is right."""
    o, low, array = task.options, plan.lowering, given.array  # type: ignore[attr-defined]
    X: Any = None
    if plan.method == fields.METHOD:
        with nullcontext() if o.progress is False else told(o.progress, f"{task.S.name} closure"):
            X = fields.inverse(given, low)
        if X is None:  # numbers overflow: elimination finds where
            plan = replace(plan, method="floyd-warshall")
    if X is None:
        sound = np.ones(given.shape[:-2], bool)
        try:
            X = closed(plan, given, None, False, sound, in_place=False, check=o.check, progress=o.progress)
        except UndefinedStar:
            X, sound = given.stored(low, True), np.zeros_like(sound)
        if rings.cancels(low):
            X = rings.mended(given, low, X, sound, exists, closed_as_it_is)
        else:
            X = fields.mended(given, low, X, sound, exists)
    if not o.reflexive:
        leave_out_empty_walks(build_kernel(low), X, given.stored(low, False))
    return _answer(given, low, X, exists, o.check, array if in_place else None)


def closed_as_it_is(given: Operand) -> np.ndarray:
    """Return the closure of a matrix by elimination of the vertices in their order, whatever its pivots are.

    Raises
    ------
    UndefinedStar
    """
    n = order_of(given.shape)
    _, low = given.form(n)
    low = affordable(low, n, float(n) ** 2)
    work = given.stored(low, True)
    close_best(work, build_kernel(low))
    return np.asarray(low.decode(work))


def leave_out(low: Lowering, work: Any, exists: np.ndarray | None) -> None:
    """Write the identity where there is no closure, in storage: meaningless numbers could overflow later."""
    if exists is None or exists.all():
        return
    identity = low.algebra.eye(work.shape[-1], low.dtype)
    stored = low.encode(upload(identity) if low.on_gpu else identity, True)
    for place in np.argwhere(~exists).tolist():
        work[tuple(place)] = stored


def leave_out_empty_walks(kernel: Kernel[Any], X: Any, A: Any) -> None:
    """Compute X ← A⁺ = A X from X = A*, or each of a stack, in storage: only the diagonal differs."""
    for place in np.ndindex(X.shape[:-2]):
        D, original = (X[place], A[place]) if place else (X, A)
        kernel.set_diagonal(D, kernel.diagonal(original, D))


def closed(
    plan: Plan, given: Operand, original: Any, plus: bool, exists: np.ndarray | None, *, in_place: bool, check: bool,
    progress: bool | Report,
) -> Any:
    """Return the closure of an operand, in storage; A⁺ if its original is passed, or by the engine if `plus`.

    Raises
    ------
    UndefinedStar
        If a pivot has no star.
    """
    def close(work: Any, kernel: Kernel[Any], plan: Plan) -> None:
        close_all(work, original, plus, kernel, plan, exists)

    return worked_on(plan, given, close, in_place=in_place, look=check, check=check, progress=progress)[0]


def worked_on(
    plan: Plan, given: Operand, work_on: Callable[[Any, Kernel[Any], Plan], None], *, in_place: bool, look: bool,
    check: bool, progress: bool | Report,
) -> tuple[Any, Plan]:
    """Work on an operand in storage; once more without a GPU's library if numbers overflow, since its 0 · ∞ is NaN.

    Parameters
    ----------
    work_on : callable
        Is called with the elements in storage, an engine and the plan.
    look : bool
        Whether to look for numbers that overflowed.

    Returns
    -------
    array
        The elements, in storage.
    Plan
        The plan that was followed.

    Raises
    ------
    UndefinedStar
        If a pivot has no star.
    SemiringError
        If numbers overflow and the operand was overwritten.
    """
    low = plan.lowering
    by_library = low.on_gpu and low.blas and look
    work = given.stored(low, not in_place)
    try:
        with reporting(plan, progress, check) as kernel:
            work_on(work, kernel, plan)
        if not by_library or is_finite(work):
            return work, plan
    except UndefinedStar:
        if not by_library or in_place:
            raise
    if in_place:
        raise SemiringError(f"{low.algebra.name}: sums overflow {low.dtype}, and A was overwritten; close a copy, or "
                            "convert A to a wider dtype first")
    plan = replace(plan, lowering=without_library(low))
    work = given.stored(low, True)
    work_on(work, build_kernel(plan.lowering), plan)
    return work, plan


def close_all(
    work: Any, original: Any, plus: bool, kernel: Kernel[Any], plan: Plan, exists: np.ndarray | None
) -> None:
    """Compute A ← A* or A⁺, of a matrix or of each of a stack."""
    if len(work.shape) == 2:
        close_matrix(work, plus, kernel, plan)
    else:
        close_each(work, kernel, plan, exists)
    if original is not None:
        leave_out_empty_walks(kernel, work, original)
    if exists is not None:
        leave_out(plan.lowering, work, exists)


def close_matrix(work: Any, plus: bool, kernel: Kernel[Any], plan: Plan) -> None:
    """Compute A ← A*, or A⁺ by the engine."""
    if plus:
        cast("BitKernel[Any]", kernel).close_plus(work)  # no other engine can
    else:
        SCHEDULES[plan.method](work, kernel, plan.tile)


def close_each(work: np.ndarray, kernel: Kernel[Any], plan: Plan, exists: np.ndarray | None = None) -> None:
    """Compute A ← A* for each matrix of a stack; small ones together in one call.

    Raises
    ------
    UndefinedStar
        Unless `exists` is given.
    """
    n = work.shape[-1]
    stack = stacked(work)
    most = kernel.tile if plan.lowering.on_gpu else STACKED_ORDER
    together = plan.method == "floyd-warshall" and n <= most
    failed = np.full(len(stack), -1)
    terms, purpose = float(stack.size) * n, stacks.closure_purpose(plan.lowering, n)
    if together and n <= lanes.SIDE and stacks_repay(plan.lowering, n, terms, purpose):
        failed = cast("np.ndarray", stacks.close_stack(plan.lowering, stack))
    elif together:
        failed = cast("StackKernel[Any]", kernel).close_stack(stack)
    else:
        for i, D in enumerate(stack):
            try:
                close_matrix(D, False, kernel, plan)
            except UndefinedStar as e:
                failed[i] = e.pivot
                if exists is None:
                    break
    if (failed >= 0).any():
        at = int(np.argmax(failed >= 0))
        if exists is None:
            raise UndefinedStar(int(failed[at]), at)
        exists &= (failed < 0).reshape(exists.shape)
    if isinstance(work, np.ndarray) and not np.shares_memory(stack, work):
        work[...] = stack.reshape(work.shape)


def reporting(
    plan: Plan, progress: bool | Report, check: bool = True
) -> AbstractContextManager[Kernel[Any]]:
    """Open the engine of the plan; it reports the share of the work done, if that is wanted."""
    kernel: Kernel[Any] = build_kernel(plan.lowering)
    if not check:
        kernel = kernel.unchecked
    if plan.work > UNCUT_TERMS and plan.lowering.kind == "numba":
        kernel = paced(kernel, plan.lowering, plan.work)
    if progress is False:
        return nullcontext(kernel)
    return Counting.under(told(progress, f"{plan.algebra.name} {plan.operation}"), kernel, int(plan.work))


def stable_closure(
    low: Lowering, array: Any, original: Any, facts: Facts, names: Any, exists: np.ndarray | None = None
) -> Any:
    """Return the closure in storage by squaring, in which rounding errors add up along a path but never grow.

    Records are closed by searches, whose walks repeat no cycle: round a cycle that is better by rounding alone the
    other components would change forever.
    """
    kernel: Kernel[Any] = build_kernel(low)
    if array.dtype.names:
        work = low.encode(_by_searches(low, array, exists), False)
        if original is not None:
            leave_out_empty_walks(kernel, work, original)
    else:
        work = low.encode(array, True)
        plan = Plan(
            operation="closure", algebra=low.algebra, shape=array.shape, method="squaring", lowering=low, work=0,
            memory=0, runner=nothing,
        )
        close_all(work, original, False, kernel, plan, exists)
        settle(low, work, look_for_cycles(low, work, array, facts, names, exists))
    leave_out(low, work, exists)
    return work


def _by_searches(low: Lowering, array: Any, exists: np.ndarray | None) -> Any:
    """The closures of matrices of records, a row for each source."""
    closures = to_host(array).copy()
    for place in np.ndindex(array.shape[:-2]):
        if exists is None or exists[place]:
            closures[place] = labels.all_labels(labels.Dense(closures[place].copy()), low.algebra)
    return upload(closures) if low.on_gpu else closures


def closure_memory(method: str, low: Lowering, n: int, batch: int, copies: int) -> int:
    """Return the bytes that a closure needs beyond its operand: working matrices and panels."""
    one = low.matrix_bytes(n)
    extra = {"floyd-warshall": one if low.kind == "numba" else 0, "squaring": one}.get(method, 0)
    if low.log_sum and method == "r-kleene":  # a half is copied when it is multiplied by its pivot block
        extra += low.matrix_bytes(-(-n // 2)) + logsum.memory(low, 1, *[-(-n // 2)] * 3)
    elif low.log_sum:
        extra += logsum.memory(low, 1, n, n, n)
    return copies * batch * one + extra + min(one, max(2 << 20, one // 20))
