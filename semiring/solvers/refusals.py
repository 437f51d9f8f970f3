"""Errors of closures that do not exist: the vertex, the cycle, and what to do."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from semiring.algebra import stars
from semiring.algebra.elements import show
from semiring.algebra.rounding import is_relative, knows_tolerance
from semiring.algebra.semiring import Semiring
from semiring.algorithms import labels
from semiring.algorithms.blocks import UndefinedStar
from semiring.algorithms.cycle_through import cycles_through, is_endless_chain
from semiring.algorithms.labels import cycle_weight
from semiring.errors import NoClosureError, SemiringError
from semiring.graphs.texts import QUOTED, shown
from semiring.operands.operand import Operand

Index = tuple[int, ...]  # of a matrix in a stack
TOLERABLE = 1 / 100  # share of a weight up to which a message suggests a tolerance
LISTED_VERTICES = 12  # of a cycle, in a message
NEGLIGIBLE_SHARE = 1e-6  # of a vertex in a null vector of 1 − A, relative to the largest share
UNCHANGED = "The input is unchanged unless overwrite=True"
SEARCHED_VERTICES = 16  # of a singular matrix, through which a cycle is searched


def improving(
    S: Semiring, names: Sequence[Any] | None, vertex: int, cycle: list[int] | None, weight: Any, index: Index | None,
    *, doubt: str = "", edges: np.ndarray | None = None, tol: float = 0,
) -> NoClosureError:
    """Return the error of an improving cycle, or of a vertex through which one goes.

    Parameters
    ----------
    doubt : str
        If no cycle is known: what would show whether one improves, or rounding errors grew.
    edges : ndarray, optional
        The weights of the cycle's edges, if they are numbers that may be rounded.
    tol : float
        By how much the edges were made worse.
    """
    called = _called(names)
    if cycle is None:
        found = f"an improving cycle goes through vertex {called(vertex)!r}{_within(index)}"
        found += f", or rounding errors grew: {doubt}" if doubt else ""
    else:
        worse = f", also with each edge worse by tol={tol:g}" if tol else ""
        found = (f"the cycle {_route(list(map(called, cycle)))}{_within(index)} of weight {_unlike_one(S, weight)} is "
                 f"improving{worse}: each further round is better")
    advice = "" if edges is None else _more_tolerance(S, edges, weight)
    return _refusal(S, f"{found}. Remove or mend one of its edges{advice}{_without_star(S)}", names, vertex, cycle,
                    weight, index)


def _refusal(
    S: Semiring, found: str, names: Sequence[Any] | None, vertex: int | None, cycle: list[int] | None, weight: Any,
    index: Index | None,
) -> NoClosureError:
    called = _called(names)
    return NoClosureError(
        f"the closure over {S.name} does not exist: {found}", vertex=None if vertex is None else called(vertex),
        cycle=None if cycle is None else list(map(called, cycle)), weight=weight, index=index,
    )


def restated(error: NoClosureError, text: str, **changed: Any) -> NoClosureError:
    """Return a refusal in other words; its vertex, cycle, weight or index may change."""
    about = {name: getattr(error, name) for name in ("vertex", "cycle", "weight", "index")}
    return NoClosureError(text, **{**about, **changed})


def _unlike_one(S: Semiring, weight: Any) -> str:
    """The weight of a cycle, with enough digits to show how it differs from one.

    >>> import semiring as sr
    >>> _unlike_one(sr.max_times, 1.00000281234), _unlike_one(sr.min_plus, -3.0)
    ('1.0000028', '-3')
    """
    if isinstance(weight, np.void):
        return f"({', '.join(map(_digits, weight.tolist(), S.components_of(S.one)))})"
    return _digits(weight, S.one)


def _digits(number: Any, one: Any) -> str:
    if not isinstance(number, (float, np.floating)) or not np.isfinite(number):
        return show(number)
    texts = (f"{float(number):.{digits}g}" for digits in range(6, 18))
    return next(t for t in texts if abs(float(t) - number) <= abs(float(number) - one) / 20 or len(t) > 17)


def _more_tolerance(S: Semiring, edges: np.ndarray, weight: Any) -> str:
    """Which tolerance would explain a cycle; empty if it is large relative to the weights."""
    if not knows_tolerance(S) or not np.isfinite(weight):
        return ""
    with np.errstate(all="ignore"):
        if is_relative(S):
            much = scale = float(max(weight, 1 / weight)) ** (1 / len(edges)) - 1
            small = much <= TOLERABLE
        else:
            much, scale = abs(float(weight)) / len(edges), float(np.abs(edges.astype("f8")).max())
            small = much <= TOLERABLE * scale
    if not small:
        return ""
    return f", or if weights are rounded, state how accurate they are: here tol={_rounded_up(much)} or more"


def _rounded_up(number: float) -> str:
    """Two digits, and never less."""
    step = 10.0 ** (math.floor(math.log10(number)) - 1)
    return f"{math.ceil(number / step) * step:.2g}"


def undefined_star(
    S: Semiring, graph: labels.Graph | None, names: Sequence[Any] | None, vertex: int,
    before: np.ndarray | None = None, index: Index | None = None,
) -> NoClosureError:
    """Return the error of a vertex whose elimination needs a star that does not exist.

    Parameters
    ----------
    graph : Graph or None
        The matrix, if it was not overwritten, to search for a cycle.
    names : sequence or None
    vertex : int
    before : ndarray of int, optional
        The vertices that were eliminated before it: its star sums the cycles through these.
    index : tuple of int, optional
        Which matrix of a stack it is.
    """
    called = _called(names)
    found = f"eliminating vertex {called(vertex)!r}{_within(index)} needs the star of an element that has none"
    cycle, weight, alone = None, None, False
    if graph is not None and before is not None:
        cycle, weight, alone = _endless_cycle(S, graph, vertex, before)
    if cycle is None:
        found += " (a cycle through it has no limit, or its weight leaves the dtype's range)"
    else:
        found += _without_limit(called, cycle, weight, alone, "it")
        found += "" if alone else ", or a weight leaves the dtype's range"
    return _refusal(S, f"{found}{_without_star(S)}. {UNCHANGED}", names, vertex, cycle, weight, index)


def _without_limit(called: Callable[[int], Any], cycle: list[int], weight: Any, alone: bool, vertex: str) -> str:
    """Which cycle has no limit, alone or together with others round a vertex."""
    route = f"the cycle {_route(list(map(called, cycle)))}"
    route += "" if weight is None else f" of weight {_cut(show(weight))}"
    return f": going round {route} has no limit" if alone else (
        f": the walks round {vertex}, such as {route}, have no limit together")


def singular(
    S: Semiring, graph: labels.Graph | None, names: Sequence[Any] | None, condition: float, dtype: np.dtype,
    index: Index | None = None,
) -> NoClosureError:
    """Return the error of a matrix for which 1 − A has no inverse, or rounding hides whether it has one.

    Parameters
    ----------
    graph : Graph or None
        The matrix, to find the vertices at which it fails.
    names : sequence or None
    condition : float
        How much errors are amplified; ∞ for a matrix that is exactly singular.
    dtype : dtype
        Of the matrix.
    index : tuple of int, optional
        Which matrix of a stack it is.
    """
    called, vertex, cycle, weight, advice = _called(names), None, None, None, "Remove or mend an edge"
    found = f"I − A{_within(index)} is singular"
    if condition < np.inf:
        found += f" within the rounding of {dtype}, its condition number being about {condition:.1e}"
    if graph is not None and graph.n:
        null = np.abs(_almost_null(graph))
        taking_part = np.flatnonzero(null > NEGLIGIBLE_SHARE * null.max())
        vertex = int((null >= null.max() / 2).argmax())
        cycle, weight, alone = _endless_cycle(S, graph, vertex, taking_part)
        if cycle is None:  # if shares cancel, cycles lead through vertices that have none
            most = np.argsort(-null[taking_part], kind="stable")[:SEARCHED_VERTICES]
            cycles = (_endless_cycle(S, graph, int(v), np.arange(graph.n)) for v in taking_part[most])
            cycle, weight, alone = next((c for c in cycles if c[0] is not None), (None, None, False))
        if cycle is None:
            found += f": no equation determines how much passes through vertex {called(vertex)!r}"
        else:
            at = cycle.index(max(cycle))  # the vertex that is eliminated last
            cycle = [*cycle[at:-1], *cycle[: at + 1]]
            vertex = cycle[0]
            if not alone and is_endless_chain(graph, taking_part):
                found += (f": no walk leaves the vertices {_route(list(map(called, taking_part.tolist())), ', ')}, and "
                          "each of their rows adds up to 1, as in a Markov chain without an exit")
                advice = "Lower a weight in one of these rows, so that walks can end, or leave these vertices out"
            else:
                found += _without_limit(called, cycle, weight, alone, f"vertex {called(vertex)!r}")
    return _refusal(S, f"{found}. {advice}. {UNCHANGED}", names, vertex, cycle, weight, index)


def _almost_null(graph: labels.Graph) -> np.ndarray:
    """The share of each vertex in the vectors that 1 − A maps nearly to 0, from the left and from the right.

    It is found by inverse iteration on a matrix with a slightly different diagonal.
    """
    n, values = graph.n, graph.values
    if values.dtype.names:
        values = values[values.dtype.names[0]]
    values = values.astype(complex if values.dtype.kind == "c" else float)
    random = np.random.default_rng(n)
    change = 1e-13 * random.uniform(1.0, 1.1, n) * max(np.abs(values).max(initial=0.0), 1.0)
    share = np.ones(n)
    with np.errstate(all="ignore"):
        if isinstance(graph, labels.Dense):
            M = np.diag(1 + change) - values
            solvers: tuple[Any, ...] = (partial(np.linalg.solve, M), partial(np.linalg.solve, M.T))
        else:
            from scipy.sparse import csr_array, diags_array
            from scipy.sparse.linalg import splu

            A = csr_array((values, graph.indices, graph.indptr), shape=(n, n))  # type: ignore[attr-defined]
            lu = splu((diags_array(1 + change) - A).tocsc())
            solvers = (lu.solve, partial(lu.solve, trans="T"))
        for solve in solvers:
            v = random.uniform(0.5, 1.0, n)
            for _ in range(3):
                v = solve(v)
                v = v / np.abs(v).max()
            share *= np.abs(v)
    return np.nan_to_num(share)


def star_undefined(given: Operand, e: UndefinedStar, *, gone: bool) -> NoClosureError:
    """Return the error of a pivot of a dense schedule, which eliminates vertices in their order.

    `gone` says that the elements were overwritten.
    """
    index = None if e.matrix is None else tuple(map(int, np.unravel_index(e.matrix, given.shape[:-2])))
    graph = None if gone else given.graph(index)
    return undefined_star(given.S, graph, given.names, e.pivot, np.arange(e.pivot), index)


def turned(error: NoClosureError) -> NoClosureError:
    """Return the same error for the transposed matrix, with the cycle reversed."""
    if error.cycle is None:
        return error
    cycle = error.cycle[::-1]
    return restated(error, str(error).replace(_route(error.cycle), _route(cycle)), cycle=cycle)


def of_stack(error: NoClosureError, index: Index) -> NoClosureError:
    """Return the error of one matrix as that of a matrix of a stack."""
    return restated(error, f"in{_within(index).removeprefix(' of')}: {error}", index=index)


def _endless_cycle(
    S: Semiring, graph: labels.Graph, vertex: int, before: np.ndarray
) -> tuple[list[int] | None, Any, bool]:
    """A cycle through a vertex, its weight, and whether the star of that is undefined; else a shortest one."""
    between, T = np.zeros(graph.n, bool), S.over(graph.values.dtype)
    between[before] = True
    shortest: tuple[list[int] | None, Any, bool] = (None, None, False)
    for cycle in cycles_through(graph, T.zero, vertex, between):
        try:
            weight = cycle_weight(graph, S, cycle)
        except SemiringError:  # it leaves the dtype
            weight = None
        some = np.empty(1, graph.values.dtype)
        if weight is not None:
            some[0] = weight
            if not np.all(T.defined(some)):
                return cycle, weight, True
        if shortest[0] is None:
            shortest = cycle, weight, False
    return shortest


def _without_star(S: Semiring) -> str:
    """What to do if no star was declared, and the sum of the powers was not found."""
    if S.declares_star:
        return ""
    steps = f"{stars.STEPS} steps of bounded size" if S.is_object else f"{stars.POWERS} steps"
    return f"; the sum 1 ⊕ a ⊕ a² ⊕ … was not reached within {steps}: if it has a limit, declare it with star="


def _cut(text: str) -> str:
    """The text of a weight, cut if it is long."""
    return text if len(text) <= QUOTED else text[:QUOTED] + "…"


def _called(names: Sequence[Any] | None) -> Callable[[int], Any]:
    """The name of each vertex."""
    return (lambda v: v) if names is None else (lambda v: names[v])


def _within(index: Index | None) -> str:
    """Which matrix of a stack, in words."""
    return "" if index is None else f" of matrix {index[0] if len(index) == 1 else index} of the stack"


def _route(called: list[Any], between: str = " → ") -> str:
    """The vertices of a cycle; the first and the last ones of a long cycle."""
    return between.join(map(shown, called if len(called) <= LISTED_VERTICES else [*called[:6], "…", *called[-5:]]))
