"""The front door: products, closures, equations and best paths over any semiring."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from . import laws
from .algorithms import elimination, relaxation
from .algorithms.blocked import blocked
from .algorithms.blocks import UndefinedStar
from .algorithms.counting import Counting
from .algorithms.floyd_warshall import floyd_warshall
from .algorithms.r_kleene import r_kleene
from .algorithms.relaxation import improving_cycle
from .algorithms.squaring import squaring
from .core import Semiring
from .errors import LawError, NoClosureError, SemiringError
from .kernels.build import kernel as build_kernel
from .kernels.facts import Facts
from .kernels.lowering import Lowering, choose, fitting, roomy
from .memory import require
from .operands import check_square, examine, operand
from .planning import Plan, choose_method, closure_memory, resolve_method

SCHEDULES: dict[str, Callable[[Any, Any, int], None]] = {
    "floyd-warshall": floyd_warshall,
    "blocked": blocked,
    "r-kleene": r_kleene,
    "squaring": squaring,
    "elimination": elimination.elimination,
}
_LARGE = 1 << 26  # bytes from which it is asked whether they are there
_STACKED = 128  # matrices up to this order are closed together in one call


def algebra(S: Semiring | str) -> Semiring:
    """A semiring, or the one with a name of the catalogue: "min-plus", "min_plus", "k_best(4)".

    Raises
    ------
    SemiringError
        For an unknown name, with the near one.
    """
    if isinstance(S, Semiring):
        return S
    from .algebras import PARAMETERS, catalogue, counter_examples

    if not isinstance(S, str):
        raise SemiringError(f"{S!r} is no semiring; pass one, such as sr.min_plus, or its name")
    name = S.strip().lower().replace("-", "_").replace(" ", "_")
    call = re.fullmatch(r"(\w+)\((\d+)\)", name)
    if call and call[1] in PARAMETERS:
        return PARAMETERS[call[1]][0](int(call[2]))
    known = catalogue | counter_examples
    if name in known:
        return known[name]
    near = get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"the catalogue has {', '.join(catalogue)}"
    raise SemiringError(f"unknown algebra {S!r}: {hint}")


def check_laws(S: Semiring | str, samples: Sequence[Any] | np.ndarray | None = None) -> laws.LawReport:
    """Try every law of semirings, the star law, and the four flags on samples.

    Parameters
    ----------
    S : Semiring or str
    samples : sequence, optional
        Elements to combine in all ways; those the algebra was declared with when absent.

    Returns
    -------
    LawReport
        Printable; `.ok`, `.failures` with a witness each, `.derived` flags.

    Examples
    --------
    >>> import semiring as sr
    >>> sr.check_laws(sr.max_min).ok
    True
    >>> print(sr.check_laws(sr.plus_min).failures[0])
    ⊗ distributes on the left fails: a ⊗ (b ⊕ c) = (a ⊗ b) ⊕ (a ⊗ c) at a = 1, b = ∞, c = ∞: 1 ≠ 2
    """
    S = algebra(S)
    if samples is None:
        return S._law_report
    if not isinstance(samples, np.ndarray):
        values = [tuple(v) if S.is_record else v for v in samples]
        samples = laws.sequence(values, S.default_dtype)
    A = S.over(S.resolve_dtype(samples.dtype))
    inside = A.contains(samples)
    if not np.all(inside):
        bad = np.flatnonzero(~inside)[0]
        raise SemiringError(f"samples[{bad}] is {laws.show(samples[bad])}, outside the carrier of {S.name}")
    return laws.check(A, samples, name=S.name, star=not S.product_only)


def matmul(
    A: Any,
    B: Any,
    S: Semiring | str,
    *,
    accumulate: Any = None,
    out: np.ndarray | None = None,
    device: str | None = None,
) -> Any:
    """The matrix product A ⊗ B over a semiring: c_ij = ⊕_k a_ik ⊗ b_kj.

    Parameters
    ----------
    A, B : array_like, shape (…, m, k) and (…, k, n)
        NumPy arrays of any strides, SciPy sparse matrices, `Matrix`, or anything with DLPack; vectors and leading
        axes as in `numpy.matmul`. Of the same dtype.
    S : Semiring or str
    accumulate : array_like, optional
        C of the answer's shape; the answer is then C ⊕ A ⊗ B. It is not changed unless it is `out`.
    out : ndarray, optional
        Where to put the answer.
    device : {None, "cpu"}
        Where to compute.

    Returns
    -------
    ndarray
        Of the operands' dtype; of A's kind where that is another array type.

    Raises
    ------
    SemiringError
        When shapes do not fit, the dtype cannot carry the algebra, or an entry is no element.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> A = np.array([[0.0, 3.0], [np.inf, 0.0]])
    >>> sr.matmul(A, A, sr.min_plus)
    array([[ 0.,  3.],
           [inf,  0.]])
    """
    S = algebra(S)
    _check_device(device)
    left, right = operand(A, S, "A"), operand(B, S, "B")
    a, b = left.array, right.array
    dtype = _common(S, ("A", a), ("B", b))
    if a.ndim == 0 or b.ndim == 0:
        raise SemiringError("A and B must be matrices or vectors, not single numbers; S.mul multiplies elements")
    vectors = (a.ndim == 1, b.ndim == 1)
    a, b = (a[None] if vectors[0] else a), (b[:, None] if vectors[1] else b)
    if a.shape[-1] != b.shape[-2]:
        raise SemiringError(f"A of shape {left.array.shape} and B of shape {right.array.shape} do not fit: "
                            f"A has {a.shape[-1]} columns, B has {b.shape[-2]} rows")  # fmt: skip
    try:
        leading = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise SemiringError(f"leading axes {a.shape[:-2]} and {b.shape[:-2]} do not broadcast") from None
    full = (*leading, a.shape[-2], b.shape[-1])
    shape = tuple(s for i, s in enumerate(full) if not (
        (vectors[0] and i == len(full) - 2) or (vectors[1] and i == len(full) - 1)))  # fmt: skip
    operands = [("A", a), ("B", b)]
    c = None
    if accumulate is not None:
        c = operand(accumulate, S, "accumulate").array
        _common(S, ("A", a), ("accumulate", c))
        if c.shape != shape:
            raise SemiringError(f"accumulate has shape {c.shape}, the product {shape}")
        c = c.reshape(full)
        operands.append(("accumulate", c))
    if out is not None and (not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != dtype
                            or not out.flags.writeable):  # fmt: skip
        raise SemiringError(f"out must be a writable {dtype} array of shape {shape}")
    if np.prod(full, dtype=float) * dtype.itemsize > _LARGE:
        require(int(np.prod(full, dtype=float)) * dtype.itemsize, f"the {' × '.join(map(str, full))} product")
    facts = examine(S, dtype, operands)
    low = choose(S, dtype, facts, 3, in_place=False, packed=len(full) == 2)
    result = _product(low, a, b, c, full)
    result = low.decode(result).reshape(shape)
    if out is not None:
        out[...] = result
        return out
    if not shape:
        return result[()]
    return left.wrap(result) if left.names == right.names else result


def _product(low: Lowering, a: np.ndarray, b: np.ndarray, c: np.ndarray | None, full: tuple[int, ...]) -> Any:
    """C ⊕ A ⊗ B in storage."""
    k = build_kernel(low)
    a, b = _encoded(low, a), _encoded(low, b)
    result = low.empty(full) if c is None else low.encode(c, True)
    if len(full) == 2:
        (k.multiply if c is None else k.multiply_add)(result, a, b)
        return result
    stacks = [np.broadcast_to(x, (*full[:-2], *x.shape[-2:])).reshape(-1, *x.shape[-2:]) for x in (a, b)]
    (k.multiply_stack if c is None else k.multiply_add_stack)(result.reshape(-1, *full[-2:]), *stacks)
    return result


def _encoded(low: Lowering, array: np.ndarray) -> Any:
    """An operand in storage; the operand itself where nothing has to be changed."""
    return array if low.is_identity else low.encode(array, True)


def closure(
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
    """The closure A* = 1 ⊕ A ⊕ A² ⊕ … of a square matrix: the ⊕ over all walks of the ⊗ along each.

    Parameters
    ----------
    A : array_like, shape (n, n) or (…, n, n)
        A NumPy array of any strides, a SciPy sparse matrix (the answer is dense), a `Matrix`, a `Graph`, a NetworkX
        graph, or anything with DLPack. An absent edge is the algebra's zero; dense arrays are taken literally. A
        stack is closed matrix by matrix.
    S : Semiring or str
        With min_plus the answer holds shortest distances, with boolean reachability, with max_min widest paths.
    method : {"auto", "floyd-warshall", "blocked", "r-kleene", "squaring", "elimination"}
        The schedule. All give the same answer, up to rounding where ⊗ rounds.
    reflexive : bool
        Whether the empty walk counts; otherwise A⁺ = A A*.
    overwrite : bool
        Whether A's own memory may be used. Otherwise A is not changed.
    device : {None, "cpu"}
        Where to compute.
    tile : int, optional
        Rows of a pivot block.
    progress : bool or callable
        ``True`` shows a bar on stderr; a callable is given the fraction done.

    Returns
    -------
    ndarray or Matrix
        Of A's dtype, and of A's kind where that is another array type.

    Raises
    ------
    NoClosureError
        When a cycle improves for ever, or a pivot's star does not exist; it names a vertex and, where ⊕ selects, a
        cycle.
    LawError
        When the method needs a law that the algebra lacks.
    SemiringError
        When A is not square, its dtype cannot carry the algebra, an entry is no element, or memory is short.

    Notes
    -----
    Each schedule's file in `semiring.algorithms` names its source.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> A = np.array([[np.inf, 3, 10], [np.inf, np.inf, 4], [np.inf, np.inf, np.inf]])
    >>> sr.closure(A, sr.min_plus)
    array([[ 0.,  3.,  7.],
           [inf,  0.,  4.],
           [inf, inf,  0.]])
    """
    S = algebra(S)
    given = operand(A, S)
    array = given.array
    planned, facts = _plan_closure(S, array, method, reflexive, overwrite, device, tile)
    low, n = planned.lowering, array.shape[-1]
    if planned.memory > _LARGE:
        require(planned.memory, f"the closure of {n} × {n} {array.dtype}")
    in_place = overwrite and reflexive and array.flags.writeable
    work = low.encode(array, not in_place)
    original = None if reflexive else low.encode(array, True) if low.kind == "packed" else _encoded(low, array)
    with _progress(progress, planned) as kernel:
        try:
            (_close if array.ndim == 2 else _close_stack)(work, original, kernel, planned)
        except UndefinedStar as e:
            raise _undefined(S, given.names, e.pivot) from None
    if _may_diverge(low):
        _check_cycles(low, work, None if in_place else array, facts, given.names)
    return given.wrap(low.decode(work))


def _plan_closure(
    S: Semiring, array: np.ndarray, method: str, reflexive: bool, overwrite: bool, device: str | None, tile: int | None
) -> tuple[Plan, Facts]:
    _check_device(device)
    if S.product_only:
        raise LawError(f"{S.name} is not a semiring, so it has products but no closure: {S._law_report.failures[0]}")
    n = check_square(array)
    method = resolve_method(method, S)
    facts = examine(S, array.dtype, [("A", array)])
    batch = int(np.prod(array.shape[:-2]))
    low = choose(S, array.dtype, facts, n, in_place=overwrite and reflexive, packed=array.ndim == 2)
    engine = build_kernel(low)
    method, tile, reasons = choose_method(method, low, n, engine, tile)
    copies = (0 if overwrite and reflexive and low.storage == low.dtype else 1) + (not reflexive)
    memory = closure_memory(method, low, n, batch, copies)
    shape = tuple(array.shape)
    return Plan("closure", S, shape, method, tile, low, engine.threads, batch * n**3, memory, reasons), facts


def _check_device(device: str | None) -> None:
    if device not in (None, "cpu"):
        raise SemiringError(f"device {device!r}: this version computes on the CPU only; use device=None or 'cpu'")


def _common(S: Semiring, *arrays: tuple[str, np.ndarray]) -> np.dtype:
    (first, a), *others = arrays
    for name, b in others:
        if b.dtype != a.dtype:
            raise SemiringError(f"{first} is {a.dtype} and {name} is {b.dtype}; convert one with .astype(…)")
    return a.dtype


def _close(work: Any, original: Any, kernel: Any, planned: Plan) -> None:
    """A ← A*, or A⁺ where the original matrix is given."""
    SCHEDULES[planned.method](work, kernel, planned.tile)
    if original is not None:
        # A* and A⁺ differ on the diagonal only, since 1 has zeros elsewhere: A⁺ = A A*.
        kernel.set_diagonal(work, kernel.diagonal(original, work))


def _close_stack(work: np.ndarray, original: np.ndarray | None, kernel: Any, planned: Plan) -> None:
    """`_close` for each matrix; small ones together in one call."""
    n = work.shape[-1]
    stack = work.reshape(-1, n, n)
    originals = [None] * len(stack) if original is None else original.reshape(-1, n, n)
    together = planned.method == "floyd-warshall" and hasattr(kernel, "close_stack") and n <= _STACKED
    if together:
        failed = kernel.close_stack(stack)
        if (failed >= 0).any():
            raise UndefinedStar(int(failed[failed >= 0][0]))
    for D, A in zip(stack, originals, strict=True):
        if not together:
            _close(D, A, kernel, planned)
        elif A is not None:
            kernel.set_diagonal(D, kernel.diagonal(A, D))
    if not np.shares_memory(stack, work):
        work[...] = stack.reshape(work.shape)


def _progress(progress: bool | Callable[[float], None], planned: Plan) -> Any:
    """A context with the kernel of the plan, which reports the share of the work done if that is wanted."""
    kernel = build_kernel(planned.lowering)
    if progress is False:
        return nullcontext(kernel)
    if progress is True:
        from .progress import bar

        return Counting.under(bar(f"{planned.algebra.name} closure"), kernel, planned.work)
    return nullcontext(Counting(kernel, planned.work, progress))


def _undefined(S: Semiring, names: Sequence[Any] | None, pivot: int) -> NoClosureError:
    vertex = names[pivot] if names is not None else pivot
    return NoClosureError(
        f"the closure over {S.name} does not exist: eliminating vertex {vertex!r} needs the star of an element that "
        "has none (a cycle through it has no limit). The input is unchanged unless overwrite=True",
        vertex=vertex,
    )


def _may_diverge(low: Lowering) -> bool:
    """Whether a cycle can improve for ever; on packed bits, and where one is the best element, none can."""
    return low.algebra.selective and not low.algebra.bounded and low.kind != "packed"


def _check_cycles(
    low: Lowering, work: np.ndarray, array: np.ndarray | None, facts: Facts, names: Sequence[Any] | None
) -> None:
    """Refuse a closure in which a cycle improves for ever: on the diagonal, 1 ⊕ a ≠ 1."""
    S = low.algebra
    flat = work.diagonal(0, -2, -1).reshape(-1)
    one = low.one[0] if not low.storage.names else np.array(low.one, low.storage)
    improved = np.flatnonzero(low.add_one(flat) != one)
    if not improved.size:
        return
    n = work.shape[-1]
    slack = improved[_is_slack(low, flat[improved], facts, n)] if low.storage.kind == "f" else improved[:0]
    doubtful = set(slack.tolist())
    for place in [i for i in improved.tolist() if i not in doubtful] + sorted(doubtful):
        matrix, vertex = divmod(place, n)
        cycle, weight, certain = (None, None, place not in doubtful)
        if array is not None:
            cycle, weight, improves = improving_cycle(roomy(S, array.reshape(-1, n, n)[matrix], facts), S, vertex)
            weight = fitting(S, weight, array.dtype) if cycle is not None else None
            certain = improves if place in doubtful else True
        if certain:
            raise _improving(S, names, vertex, cycle, weight, matrix if work.ndim > 2 else None)
    # What is left are cycles of weight one that rounding made look better.
    stack = work.reshape(-1, n, n)
    for place in doubtful:
        matrix, vertex = divmod(place, n)
        stack[matrix, vertex, vertex] = low.one[0]


def _is_slack(low: Lowering, values: np.ndarray, facts: Facts, n: int) -> np.ndarray:
    """Whether the distance from one is no more than n roundings of sums (or products) could make."""
    sums = low.algebra.traced is not None and low.algebra.traced.raw_mul.is_plain("add")
    scale = float(facts.largest) if sums else np.abs(values)
    return np.abs(values - low.one[0]) <= n * np.finfo(low.dtype).eps * scale


def _improving(
    S: Semiring, names: Sequence[Any] | None, vertex: int, cycle: list[int] | None, weight: Any, matrix: int | None
) -> NoClosureError:
    label = (lambda v: names[v]) if names is not None else (lambda v: v)
    where = "" if matrix is None else f" of matrix {matrix} of the stack"
    if cycle is None:
        found = f"a cycle through vertex {label(vertex)!r}{where} improves for ever"
        labels = None
    else:
        labels = [label(v) for v in cycle]
        route = " → ".join(map(str, labels if len(labels) <= 12 else [*labels[:6], "…", *labels[-5:]]))
        found = f"the cycle {route}{where} of weight {laws.show(weight)} improves for ever"
    return NoClosureError(
        f"the closure over {S.name} does not exist: {found}. Remove or mend one of its edges",
        vertex=label(vertex), cycle=labels, weight=weight,
    )  # fmt: skip


def plan(
    A: Any,
    S: Semiring | str,
    *,
    method: str = "auto",
    reflexive: bool = True,
    overwrite: bool = False,
    device: str | None = None,
    tile: int | None = None,
) -> Plan:
    """What `closure` would do with the same arguments, without doing it.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> p = sr.plan(np.zeros((300, 300), np.float32), sr.max_min)
    >>> p.method, p.lowering.name, p.work
    ('r-kleene', 'ordered integers', 27000000)
    """
    S = algebra(S)
    return _plan_closure(S, operand(A, S).array, method, reflexive, overwrite, device, tile)[0]


class Factors:
    """A matrix eliminated once, to solve X = A ⊗ X ⊕ B for many B, or to expand into A*; made by `factor`.

    Attributes
    ----------
    plan : Plan
    shape : tuple of int
    """

    def __init__(self, S: Semiring, A: Any, right: Any = None, progress: bool | Callable[[float], None] = False):
        given = operand(A, S)
        array = given.array
        if array.ndim != 2:
            raise SemiringError(f"A must be one square matrix, and has shape {array.shape}")
        planned, facts = _plan_closure(S, array, "elimination", True, False, None, None)
        if S.is_tropical and array.dtype.kind in "iu":
            # The widest storage leaves right-hand sides the most room.
            room = Facts(max(facts.largest, 1 << 40), facts.low_limit, facts.high_limit)
            low = choose(S, array.dtype, room, array.shape[0] + 1, in_place=False, packed=False)
        else:
            low = choose(S, array.dtype, facts, array.shape[0] + 1, in_place=False, packed=False)
        self.plan = replace(planned, operation="factor", lowering=low, work=array.shape[0] ** 3 // 3)
        self.shape = array.shape
        self._S, self._names, self._wrap, self._facts = S, given.names, given.wrap, facts
        self._factors = low.encode(array, True)
        with _progress(progress, self.plan) as kernel:
            try:
                elimination.factor(self._factors, kernel, self.plan.tile)
            except UndefinedStar as e:
                raise _undefined(S, given.names, e.pivot) from None
        if _may_diverge(low):
            _check_cycles(low, self._factors, array, facts, given.names)

    def solve(self, B: Any) -> Any:
        """The least solution X = A* B of X = A ⊗ X ⊕ B.

        Parameters
        ----------
        B : array_like, shape (n,) or (n, m)
            Of A's dtype.

        Returns
        -------
        ndarray, of B's shape
        """
        S, low = self._S, self.plan.lowering
        right = operand(B, S, "B")
        b = right.array
        _common(S, ("A", np.empty(0, low.dtype)), ("B", b))
        if b.ndim not in (1, 2) or b.shape[0] != self.shape[0]:
            raise SemiringError(f"B must have shape ({self.shape[0]},) or ({self.shape[0]}, m), and has {b.shape}")
        facts = examine(S, b.dtype, [("B", b)])
        if S.is_tropical and low.storage.kind == "i" and facts.largest > np.iinfo(low.storage).max // 8:
            raise SemiringError(f"B has entries of size {facts.largest}: sums with them leave 64 bits; use floats")
        X = low.encode(b if b.ndim == 2 else b[:, None], True)
        elimination.solve(self._factors, X, build_kernel(low), self.plan.tile)
        result = low.decode(X)
        return result if b.ndim == 2 else result[:, 0]

    def closure(self) -> Any:
        """A*, from the factors; they stay."""
        low = self.plan.lowering
        work = self._factors.copy()
        elimination.expand(work, build_kernel(low), self.plan.tile)
        return self._wrap(low.decode(work))

    def __repr__(self) -> str:
        n = self.shape[0]
        return f"Factors of a {n} × {n} matrix over {self._S.name}, {self.plan.lowering.dtype}"


def factor(A: Any, S: Semiring | str, *, progress: bool | Callable[[float], None] = False) -> Factors:
    """Eliminate a square matrix once (LU decomposition), a third of the closure's work.

    Parameters
    ----------
    A : array_like, shape (n, n)
    S : Semiring or str
    progress : bool or callable
        As in `closure`.

    Returns
    -------
    Factors
        With `.solve(B)` and `.closure()`.

    Raises
    ------
    NoClosureError
        When A* does not exist.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> F = sr.factor(np.array([[0.0, 0.5], [0.25, 0.0]]), sr.plus_times)
    >>> F.solve(np.array([7.0, 0.0]))
    array([8., 2.])
    """
    return Factors(algebra(S), A, progress=progress)


def solve(A: Any, B: Any, S: Semiring | str, *, progress: bool | Callable[[float], None] = False) -> Any:
    """The least solution of X = A ⊗ X ⊕ B, which is A* B, without forming A*.

    Parameters
    ----------
    A : array_like, shape (n, n)
    B : array_like, shape (n,) or (n, m)
        Of A's dtype.
    S : Semiring or str
    progress : bool or callable
        As in `closure`.

    Returns
    -------
    ndarray, of B's shape

    Examples
    --------
    Distances to one vertex: B is one there and zero elsewhere.

    >>> import numpy as np
    >>> import semiring as sr
    >>> A = np.array([[np.inf, 3, 10], [np.inf, np.inf, 4], [np.inf, np.inf, np.inf]])
    >>> sr.solve(A, np.array([np.inf, np.inf, 0.0]), sr.min_plus)
    array([7., 4., 0.])
    """
    return Factors(algebra(S), A, progress=progress).solve(B)


def path(A: Any, S: Semiring | str, source: Any, target: Any) -> tuple[Any, list | None]:
    """One best path between two vertices, where ⊕ selects.

    Parameters
    ----------
    A : array_like, shape (n, n)
        As for `closure`; with a `Matrix` or a graph, vertices are given and returned by name.
    S : Semiring or str
        With a selective ⊕.
    source, target : int or hashable

    Returns
    -------
    weight : scalar
        ⊗ along the path; zero if there is none.
    vertices : list or None
        From source to target, or ``None``.

    Raises
    ------
    LawError
        When ⊕ does not select, so that no single path is best.
    NoClosureError
        When an improving cycle can be reached from the source.

    Examples
    --------
    >>> import semiring as sr
    >>> roads = sr.adjacency([("a", "b", 3.0), ("b", "c", 4.0), ("a", "c", 9.0)], sr.min_plus)
    >>> sr.path(roads, sr.min_plus, "a", "c")
    (np.float64(7.0), ['a', 'b', 'c'])
    """
    S = algebra(S)
    if not S.selective:
        raise LawError(f"a best path needs a selective ⊕, and in {S.name} {S._law_report.flags['selective']}")
    given = operand(A, S)
    array, names = given.array, given.names
    if array.ndim != 2:
        raise SemiringError(f"A must be one square matrix, and has shape {array.shape}")
    n = check_square(array)
    facts = examine(S, array.dtype, [("A", array)])
    ends = []
    for v in (source, target):
        if names is not None and v not in names:
            near = get_close_matches(str(v), map(str, names), 1)
            raise SemiringError(f"there is no vertex {v!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
        if names is None and not (isinstance(v, (int, np.integer)) and 0 <= v < n):
            raise SemiringError(f"there is no vertex {v!r}: vertices are 0 … {n - 1}")
        ends.append(list(names).index(v) if names is not None else int(v))
    weight, vertices = _best_path(S, roomy(S, array, facts), names, *ends)
    if vertices is not None and names is not None:
        vertices = [names[v] for v in vertices]
    return fitting(S, weight, array.dtype), vertices


def _best_path(
    S: Semiring, array: np.ndarray, names: Sequence[Any] | None, source: int, target: int
) -> tuple[Any, list | None]:
    arithmetic = S.over(array.dtype)
    weights, predecessor, cycle = relaxation.relax(array, arithmetic, [source])
    if cycle is not None:
        raise _improving(S, names, cycle[0], cycle, relaxation.weight_of(array, arithmetic, cycle), None)
    if source != target and predecessor[target] < 0:
        return weights[target], None
    return weights[target], relaxation.path_to(predecessor, source, target)
