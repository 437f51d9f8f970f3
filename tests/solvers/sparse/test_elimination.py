"""When sparse matrices are eliminated on their structure, when that is left to others, and what is done if it fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sparse_patterns import weighted_grid

import semiring as sr
from semiring.solvers import costs
from semiring.solvers.costs import SMALL, SparsePlan
from semiring.solvers.plan import Plan
from semiring.solvers.sparse.elimination import offer
from semiring.solvers.sparse.factors import SparseFactors
from semiring.solvers.task import Task, options


def asked(A: Any, S: sr.Semiring = sr.min_plus, verb: str = "closure", B: Any = None, **more: Any) -> Plan | None:
    return offer(Task(verb, S, (A,) if B is None else (A, B), options(**more)))


@pytest.mark.usefixtures("machine_code")
def test_dense_matrices_and_small_ones_are_left_to_the_dense_methods() -> None:
    assert sr.plan("closure", sp.csr_array(np.ones((200, 200))), sr.min_plus).method == "r-kleene"
    assert sr.plan("closure", weighted_grid(40) > 0, sr.boolean).method == "components"
    assert sr.plan("closure", weighted_grid(5), sr.min_plus).method == "floyd-warshall"
    assert sr.plan("closure", weighted_grid(5), sr.min_plus, method="sparse").method == "sparse elimination"


def test_no_order_is_refused_over_a_field() -> None:
    """A leaf with a loop of weight 1: undefined where leaves go first, harmless after the hub, which is vertex 0."""
    n = 600
    hub, leaves = np.zeros(n - 1, int), np.arange(1, n)
    ends = np.r_[hub, leaves, [5]], np.r_[leaves, hub, [5]]
    star = sp.csr_array((np.r_[np.full(2 * (n - 1), 0.01), [1.0]], ends), (n, n))
    leaves_first = np.r_[1:n, 0]
    F = sr.factor(star[leaves_first][:, leaves_first], sr.plus_times, order="natural")
    inverse = sr.closure(star, sr.plus_times)
    np.testing.assert_allclose(F.closure(), inverse[leaves_first][:, leaves_first], atol=1e-8)
    np.testing.assert_allclose(inverse @ (np.eye(n) - star.toarray()), np.eye(n), atol=1e-8)
    b = np.random.default_rng(0).random(n)
    np.testing.assert_allclose(sr.solve(star, b, sr.plus_times), inverse @ b)


def test_closures_are_offered_where_that_is_predicted_to_be_faster() -> None:
    full = sp.csr_array(np.ones((200, 200)))
    for A, offered in ((weighted_grid(40), True), (weighted_grid(5), False), (full, False)):
        assert (asked(A) is not None) is offered
        plan = asked(A, method="sparse")
        assert isinstance(plan, SparsePlan) and plan.reasons["method"] == "as asked"
    path = sp.diags_array([np.arange(1.0, 3001.0)], offsets=[1], format="csr")
    assert isinstance(asked(path), SparsePlan)
    assert asked(path[: SMALL - 1, : SMALL - 1]) is None


def test_few_vertices_are_not_even_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []

    def look(low: Any, A: Any) -> bool:
        looked.append(A.n)
        return True

    monkeypatch.setattr(costs, "not_worth_a_look", look)
    for n in (0, SMALL - 1, SMALL, SMALL + 1):
        plan = asked(sp.csr_array((n, n)))
        assert plan is None or plan.method == "search"
    assert looked == [SMALL, SMALL + 1]


def test_what_others_do() -> None:
    A = weighted_grid(40)
    for more in ({"method": "blocked"}, {"method": "r-kleene"}, {"tile": 64}, {"method": "elimination"}):
        assert asked(A, **more) is None
    for other in (A.toarray(), sr.Matrix(np.zeros((3, 3)), sr.min_plus)):
        assert asked(other, method="sparse") is None, "who says that it has to be sparse is asked later"
    truths = sp.csr_array(np.eye(3, dtype=bool))
    assert asked(truths, sr.boolean, packed=True, method="sparse") is None
    assert asked(sr.pack(np.eye(3, dtype=bool)), sr.boolean) is None


@pytest.mark.parametrize(("A", "more", "text"), [
    (weighted_grid(3), {"method": "sparse", "tile": 8},
     "^tile is for the dense schedules; method='sparse' eliminates front by"),
    (weighted_grid(3), {"method": "spars"}, "unknown method 'spars': did you mean 'sparse'"),
    (sp.csr_array((2, 3)), {}, "A must be a square matrix"),
    (sp.csr_array((2, 3)), {"method": "blocked"}, "A must be a square matrix"),
])
def test_what_is_refused(A: Any, more: dict[str, Any], text: str) -> None:
    with pytest.raises(sr.SemiringError, match=text):
        asked(A, **more)
    if "tile" in more:
        with pytest.raises(sr.LawError, match="squaring needs an idempotent"):
            asked(A, sr.plus_times, method="squaring")


@pytest.mark.parametrize("n", [0, 1, 2, 200])
def test_factors_and_solutions_are_offered_in_any_case(n: int) -> None:
    A = sp.csr_array((n, n))
    plan = asked(A, verb="factor")
    assert isinstance(plan, SparsePlan) and isinstance(plan.run(), SparseFactors) and plan.operation == "factor"
    B = np.ones((n, 2))
    plan = asked(A, verb="solve", B=B)
    assert isinstance(plan, SparsePlan) and plan.operation == "solve" and np.array_equal(plan.run(), B)
    if n:
        with pytest.raises(sr.SemiringError, match=r"^B must have shape "):
            asked(A, verb="solve", B=B[1:])


@pytest.mark.parametrize("order", ["natural", "levels"])
def test_the_order_is_that_which_is_asked_for(order: str) -> None:
    A, b = weighted_grid(6), np.arange(36.0)
    plan = asked(A, verb="factor", order=order)
    assert isinstance(plan, SparsePlan) and plan.order == order and plan.run().analysis.method == order
    np.testing.assert_allclose(plan.run().solve(b), sr.solve(A, b, sr.min_plus))


@pytest.mark.parametrize("make", [list, tuple, np.array, lambda order: np.array(order, np.uint16)])
def test_an_order_that_is_given_is_followed(make: Callable[[list[int]], Any]) -> None:
    A = weighted_grid(9)
    rng = np.random.default_rng(3)
    for order in (list(range(81)), rng.permutation(81).tolist()):
        F = sr.factor(A, sr.min_plus, order=make(order))
        assert F.plan.order == F.analysis.method == "given"
        np.testing.assert_allclose(F.closure(), sr.closure(A, sr.min_plus, method="r-kleene"))
    natural, given = (sr.plan("factor", A, sr.min_plus, order=order) for order in ("natural", make(range(81))))
    assert isinstance(natural, SparsePlan) and isinstance(given, SparsePlan)
    assert (given.fill, given.panels, given.height) == (natural.fill, natural.panels, natural.height)


@pytest.mark.parametrize("order", ["auto", "levels", "natural"])
def test_the_order_of_an_analysis_gives_the_same_analysis(order: str) -> None:
    A = weighted_grid(20)
    first = sr.factor(A, sr.min_plus, order=order).analysis
    again = sr.factor(A, sr.min_plus, order=first.order).analysis
    assert again is not first
    for name in ("order", "first", "pointer", "boundary", "parent", "position", "entry"):
        np.testing.assert_array_equal(getattr(again, name), getattr(first, name))


def test_an_order_by_name() -> None:
    G = sr.as_graph([("a", "b", 1.0), ("b", "c", 2.0)])
    F = sr.factor(G, sr.min_plus, order=["c", "a", "b"])
    assert F.row("a").tolist() == [0, 1, 3]
    with pytest.raises(sr.GraphError, match="'d'"):
        sr.factor(G, sr.min_plus, order=["c", "a", "d"])


@pytest.mark.parametrize(("order", "text"), [
    ([0, 1], "^order must have each of the 3 vertices once, and has 2$"),
    ([0, 1, 1], "^order must have each vertex once: it has 1 more than once, and lacks 2$"),
    (np.array([2, 2, 1]), "^order must have each vertex once: it has 2 more than once, and lacks 0$"),
    ([0, 1, 3], "vertex 3"), (np.array([0, 1, -1]), "vertex -1"), ([0, True, 2], "vertex True"),
    (np.array([0.0, 1.0, 2.0]), "vertex"), (np.array([True, False, True]), "vertex"),
])
def test_orders_that_are_none(order: Any, text: str) -> None:
    with pytest.raises(sr.SemiringError, match=text):
        sr.factor(sp.csr_array((3, 3)), sr.min_plus, order=order)


def test_a_cycle_that_improves_is_no_matter_of_the_order() -> None:
    """Where stars are 1 the refusal stands for every caller."""
    A = weighted_grid(12).tolil()
    A[0, 1] = -5.0
    A = A.tocsr()
    for call in (lambda: sr.closure(A, sr.min_plus), lambda: sr.closure(A, sr.min_plus, method="sparse"),
                 lambda: sr.solve(A, np.ones(144), sr.min_plus), lambda: sr.factor(A, sr.min_plus)):
        with pytest.raises(sr.NoClosureError, match="is improving"):
            call()
