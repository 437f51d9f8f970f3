"""A task and its way through the offers: what may be asked, which solver is asked first, and the error if none can."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring.algorithms.blocks import UndefinedStar
from semiring.api import BUILDERS
from semiring.kernels.lowering.general import general
from semiring.machine import memory
from semiring.operands.operand import Operand
from semiring.operands.read import read
from semiring.solvers import task as module
from semiring.solvers.paths import search, searches
from semiring.solvers.plan import Plan
from semiring.solvers.task import UNCHECKED_BYTES, Declined, Task, compute, first_offer, options, refuse_closures

inf = np.inf
A = np.array([[inf, 3.0], [1.0, inf]])
LOW = general(sr.min_plus, np.dtype("f8"))


def made(kind: str) -> Any:
    truths = np.eye(3, k=1, dtype=bool)
    return {"dense": truths, "sparse": sp.csr_array(truths), "packed": sr.pack(truths)}[kind]


@pytest.mark.parametrize(("left", "right"), list(product(["dense", "sparse", "packed"], repeat=2)))
def test_bits_decide_and_then_entries(left: str, right: str) -> None:
    task = Task("matmul", sr.boolean, (made(left), made(right)), options(), (None,))
    both = {left, right}
    assert task.kind == next(kind for kind in ("packed", "sparse", "dense") if kind in both)
    assert [given.kind for given in task.given] == [left, right]
    assert [given.what for given in task.given] == ["A", "B"]


def test_what_is_accumulated_is_an_array_unless_all_are_bits() -> None:
    for left, kind in (("dense", "dense"), ("sparse", "dense"), ("packed", "sparse")):
        task = Task("matmul", sr.boolean, (made(left), made("dense"), made("sparse")), options(), (None,))
        assert task.operands[2].kind == kind and task.operands[2].what == "accumulate" and task.kind == left


def test_bits_are_read_where_bits_are_wanted() -> None:
    assert Task("closure", "boolean", (made("dense"),), options(packed=True)).kind == "packed"
    assert Task("closure", "boolean", (made("sparse"),), options(packed=True)).kind == "sparse"
    with pytest.raises(sr.SemiringError, match="one bit per pair is only enough"):
        Task("closure", "min-plus", (A,), options(packed=True))


def test_an_operand_is_taken_as_it_is() -> None:
    given = read(A, sr.min_plus, "Q")
    named = Task("closure", sr.min_plus, (given,), options()).given[0]
    assert given.what == "Q" and named.what == "A" and named.array is given.array, "messages call it by its place"
    given = read(A, sr.min_plus)
    task = Task("closure", sr.min_plus, (given,), options())
    assert task.given[0] is task.operands[0] is given and task.names is None and task.observers == []
    named = Task("closure", sr.min_plus, (sr.Matrix(A, sr.min_plus, ["a", "b"]),), options())
    assert named.names == ["a", "b"] and named.verb == "closure" and named.S is sr.min_plus


@pytest.mark.parametrize(("verb", "shapes", "asked", "work"), [
    ("closure", [(20, 20)], None, None), ("closure", [(500, 500)], None, 500.0**3),
    ("closure", [(40, 200, 200)], None, 40 * 200.0**3), ("closure", [(500, 500)], "cpu", None),
    ("closure", [(3, 3)], "gpu", 27.0), ("matmul", [(500, 400), (400, 600)], None, 500 * 400 * 600.0),
    ("matmul", [(500, 400), (400,)], None, None), ("matmul", [(500, 400), (9, 9, 400, 600)], None, 81 * 1.2e8),
    ("factor", [(2000, 2000)], None, None), ("factor", [(2, 2)], "gpu", 0.0),
    ("closure_rows", [(2000, 2000)], "gpu", None), ("path", [(2000, 2000)], None, None),
])
def test_whether_it_is_asked_where_to_compute(
    verb: str, shapes: list[tuple[int, ...]], asked: str | None, work: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small work does not even ask whether there is a GPU; None: not asked."""
    heard: list[tuple[Any, float]] = []

    def place(operands: list[Operand], device: str | None, work: float) -> list[Operand]:
        heard.append((device, work))
        return operands

    monkeypatch.setattr(module, "place", place)
    given = [np.broadcast_to(0.0, shape) for shape in shapes]
    Task(verb, sr.min_plus, given, options(device=asked), (None,))
    assert heard == ([] if work is None else [(asked, work)])


# Who is asked.


def plan(run: Callable[[Any], Any], method: str = "mine", memory: int = 0) -> Plan:
    return Plan(
        operation="closure", algebra=sr.min_plus, shape=(2, 2), method=method, lowering=LOW, work=8.0, memory=memory,
        runner=run, needs=("the work", "do less"),
    )


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Task]:
    """A task with offers of the test's own, each time anew."""

    def make(*plans: Plan | None) -> Task:
        offers = {str(i): lambda task, p=p: p if p is None else replace(p) for i, p in enumerate(plans)}
        monkeypatch.setattr(module, "ways_of", lambda verb, kind, asked: [SimpleNamespace(module=i) for i in offers])
        monkeypatch.setattr(module, "offer_of", offers.__getitem__)
        return Task("closure", sr.min_plus, (sr.Matrix(A, sr.min_plus, ["a", "b"]),), options())

    return make


def declines(cause: Exception | None = None) -> Callable[[Any], Any]:
    def run(plan: Plan) -> None:
        raise Declined from cause

    return run


def test_the_first_that_does_not_decline_answers(offered: Callable[..., Task]) -> None:
    task = offered(None, plan(declines(), "a"), None, plan(lambda p: f"{p.method} answers", "b"), plan(declines(), "c"))
    told: list[str] = []
    task.observers.append(lambda plan: told.append(plan.method))
    assert compute(task) == "b answers"
    assert told == ["b"], "only of the plan that gave the answer"


def test_where_all_decline_the_cause_is_told(offered: Callable[..., Task]) -> None:
    task = offered(plan(declines(ValueError("first"))), plan(declines(KeyError("last"))))
    with pytest.raises(KeyError, match="last"):
        compute(task)


def test_what_is_planned_is_what_is_tried_first_and_goes_on_to_the_next(offered: Callable[..., Task]) -> None:
    task = offered(None, plan(declines(), "a"), plan(lambda p: p.method, "b"))
    made = first_offer(task)
    assert made.method == "a" and made.run() == "b" and made.run() == "b"


@pytest.mark.parametrize(("verb", "more"), [
    ("closure", {"method": "search"}), ("closure_rows", {"sources": [0, 1]}), ("paths", {"sources": [0]}),
    ("paths", {"method": "search"}), ("nearest", {"places": [0]}), ("closure", {"method": "search", "tol": 0.5}),
    ("closure", {"method": "search", "on_divergence": "mask"}),
])
def test_a_plan_runs_as_it_says_whatever_is_compiled_meanwhile(
    verb: str, more: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process compiles between the plan and the run, so that a new plan would be another."""
    ran: list[bool] = []
    there = [False]
    values = search.Search._values

    def watched(self: search.Search, *arguments: Any) -> Any:
        ran.append(self.form.low.compiled)
        return values(self, *arguments)

    monkeypatch.setattr(search.Search, "_values", watched)
    for user in (search, searches):
        monkeypatch.setattr(user, "affordable", lambda low, *_: low if there[0] else low.interpreted)
    A = sp.csr_array(np.array([[0, 2.0, 0], [0, 0, 3.0], [0.5, 0, 0]]))
    made = sr.plan(verb, A, sr.min_plus, **more)
    there[0] = True
    assert made.lowering.compiled < sr.plan(verb, A, sr.min_plus, **more).lowering.compiled
    made.run()
    assert ran == [False]


@pytest.mark.parametrize("bytes_", [UNCHECKED_BYTES, UNCHECKED_BYTES + 1])
def test_large_work_asks_for_memory(bytes_: int, offered: Callable[..., Task], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 10)
    task = offered(plan(lambda p: "done", memory=bytes_))
    if bytes_ > UNCHECKED_BYTES:
        with pytest.raises(sr.SemiringError, match=r"^the work needs 64.0 MiB of memory and 10 bytes is .*: do less"):
            compute(task)
    else:
        assert compute(task) == "done"


def test_a_pivot_without_a_star_is_named(offered: Callable[..., Task]) -> None:
    def run(plan: Plan) -> None:
        raise UndefinedStar(1)

    with pytest.raises(sr.NoClosureError, match="over min-plus does not exist: eliminating vertex 'b' needs") as caught:
        compute(offered(plan(run)))
    assert (caught.value.vertex, caught.value.__cause__) == ("b", None)


def test_an_algebra_with_products_only() -> None:
    with pytest.raises(sr.LawError, match=r"^plus-min is not a semiring, so it has products but no closure: ⊗"):
        refuse_closures(sr.plus_min)
    for verb in BUILDERS:
        if verb == "matmul":
            assert Task(verb, sr.plus_min, (np.zeros((2, 2)),) * 2, options(), (None,)).S is sr.plus_min
        else:
            with pytest.raises(sr.LawError, match="products but no closure"):
                Task(verb, "plus-min", (np.zeros((2, 2)),), options())
    declared = sr.Semiring("fine", add=np.minimum, mul=np.add, zero=inf, one=0, product_only=True)
    with pytest.raises(sr.LawError, match=r"no closure: it was declared with product_only=True$"):
        refuse_closures(declared)
    with pytest.raises(sr.SemiringError, match="unknown algebra 'min-pluss': did you mean 'min_plus'"):
        Task("closure", "min-pluss", (A,), options())


def test_path_of_what_is_no_semiring() -> None:
    A = np.array([[1.0, 2.0], [3.0, 4.0]])
    graph = sp.csr_array(A)
    for S in (sr.shortest_widest, sr.plus_min):
        B = A if not S.is_record else S.array([[(1.0, 1.0), (2.0, 2.0)], [(3.0, 3.0), (4.0, 4.0)]])
        verbs = [lambda: sr.path(B, S, 0, 1), lambda: sr.closure_rows(B, S, 0), lambda: sr.closure(B, S),  # noqa: B023
                 lambda: sr.factor(B, S), lambda: sr.solve(B, B, S), lambda: sr.plan("closure", B, S),  # noqa: B023
                 lambda: sr.factor(graph, S), lambda: sr.solve(graph, A, S), lambda: sr.plan("closure", graph, S),  # noqa: B023
                 lambda: sr.closure(graph, S), lambda: sr.closure(graph, S, method="sparse"),  # noqa: B023
                 lambda: sr.closure_rows(graph, S, 0)] # noqa: B023
        for verb in verbs:
            with pytest.raises(sr.LawError, match="is not a semiring, so it has products but no closure"):
                verb()


M = sr.Matrix(np.array([[inf, 3.0], [1.0, inf]]), sr.min_plus, ["a", "b"])
B = np.array([0.0, inf])
OF_A_MATRIX: dict[str, Callable[..., Any]] = {
    "closure": lambda A, *S: sr.closure(A, *S),
    "matmul": lambda A, *S: sr.matmul(A, A, *S),
    "matmul of an array": lambda A, *S: sr.matmul(B, A, *S),
    "accumulate": lambda A, *S: sr.matmul(M.array, M.array, *S, accumulate=A),
    "solve": lambda A, *S: sr.solve(A, B, *S),
    "solve for a matrix": lambda A, *S: sr.solve(M.array, A, *S),
    "factor": lambda A, *S: sr.factor(A, *S).closure(),
    "prepare": lambda A, *S: sr.closure(sr.prepare(A, *S)),
    "plan": lambda A, *S: sr.plan("closure", A, *S).run(),
    "rows": lambda A, *S: sr.closure_rows(A, *S, sources=["b"]),
    "path": lambda A, *S: sr.path(A, *S, source="a", target="b")[0],
}


@pytest.mark.parametrize("verb", OF_A_MATRIX)
def test_a_matrix_brings_its_algebra_and_takes_no_other(verb: str) -> None:
    call = OF_A_MATRIX[verb]
    for A in (M, sr.prepare(M)):
        found = call(A)
        assert getattr(found, "names", None) == getattr(call(A, sr.min_plus), "names", None)
        np.testing.assert_array_equal(np.asarray(found), np.asarray(call(A, "min-plus")))
    for S in (sr.max_min, "max-min"):
        with pytest.raises(sr.SemiringError, match=r"^(A|B|accumulate) is a matrix over min-plus, but S is max-min"):
            call(M, S)
        with pytest.raises(sr.SemiringError, match="was prepared for min-plus"):
            call(sr.prepare(M), S)


@pytest.mark.parametrize("verb", [v for v in OF_A_MATRIX if v not in ("accumulate", "solve for a matrix")])
def test_without_an_algebra_nothing_is_done(verb: str) -> None:
    with pytest.raises(sr.SemiringError, match=r"^\w+ of ndarray( and ndarray)? needs an algebra, which only a Matrix"):
        OF_A_MATRIX[verb](M.array)


def test_bits_are_told_an_algebra_that_takes_them() -> None:
    P = sr.PackedMatrix.identity(3)
    with pytest.raises(sr.SemiringError, match=r"needs an algebra, .* such as sr\.boolean$"):
        sr.matmul(P, P)
    assert sr.matmul(P, P, sr.boolean) == P


def test_what_cannot_be_left_out_is_asked_for() -> None:
    for call in (lambda: sr.closure_rows(M), lambda: sr.path(M), lambda: sr.path(M, sr.min_plus, "a")):
        with pytest.raises(sr.SemiringError, match=r"needs (sources|a source and a target): "):
            call()


def test_vertices_that_can_be_read_once_are_those_of_every_offer_and_matrix() -> None:
    A = np.array([[inf, 1.0, 5.0], [inf, inf, 2.0], [-3.5, inf, inf]])
    B = np.where(A < 0, inf, A)
    assert np.array_equal(sr.paths(np.stack([B, B]), sr.min_plus, sources=iter([0, 1])).weights[1],
                          sr.closure_rows(B, sr.min_plus, [0, 1]))
    assert np.array_equal(sr.closure_rows(A, sr.min_plus, iter([1]), tol=1.0),
                          sr.closure_rows(A, sr.min_plus, [1], tol=1.0))
    planned = sr.plan("closure_rows", B, sr.min_plus, sources=iter([1]))
    assert np.array_equal(planned.run(), sr.closure_rows(B, sr.min_plus, [1]))
