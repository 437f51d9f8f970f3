"""The verbs: each hands its arguments to one task, and a plan takes what its verb takes; laws are tried on samples."""

from __future__ import annotations

import inspect
import runpy
import typing
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring import api
from semiring.operands import dense
from semiring.operands.examine import examine
from semiring.operands.wanted import Mask
from semiring.solvers.options import DEFAULTS
from semiring.solvers.task import Task
from semiring.solvers.ways import CALLED, options_of

inf = np.inf
A = np.array([[inf, 3.0], [1.0, inf]])
B = np.array([[1.0], [2.0]])
VERBS: dict[str, Callable[..., Any]] = {
    "closure": api.closure, "matmul": api.matmul, "factor": api.factor, "solve": api.solve,
    "closure_rows": api.closure_rows, "path": api.path, "power": api.power, "cycle_mean": api.cycle_mean,
}
ARGUMENTS: dict[str, tuple[Any, ...]] = {"closure_rows": ([0],), "path": (0, 1), "power": (2,)}  # behind the algebra
OTHER: dict[str, Any] = {
    "method": "blocked", "reflexive": False, "overwrite": True, "device": "cpu", "tile": 7, "check": False,
    "packed": True, "order": "natural", "predecessors": True, "progress": print, "max_edges": 3, "left": True,
    "on_divergence": "mask", "argmax": True, "tol": 0.5, "devices": (0, 1), "rtol": 1e-3, "mask": "a mask",
}


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    """The tasks that are computed, in place of their answers."""
    made: list[Task] = []

    def answer(task: Task) -> Task:
        made.append(task)
        return task

    monkeypatch.setattr(Task, "answer", answer)
    monkeypatch.setattr("semiring.small.LARGEST", 0)  # the short way makes no task
    return made


def parameters(verb: str) -> list[str]:
    """Those of a verb that are options of tasks."""
    return [name for name in inspect.signature(VERBS[verb]).parameters if hasattr(DEFAULTS, name) and name != "on"]


def chosen(options: Any, name: str) -> Any:
    """What the caller gave for an option."""
    found = getattr(options, name)
    return found.given if isinstance(found, Mask) else found


def called(verb: str, **more: Any) -> Any:
    """A verb with the operands that it needs."""
    S: Any = sr.boolean if more.get("packed") else sr.min_plus
    given: tuple[Any, ...] = (np.eye(2, dtype=bool) if more.get("packed") else A,)
    given += {"matmul": (B,), "solve": (B,)}.get(verb, ())
    return VERBS[verb](*given, S, *ARGUMENTS.get(verb, ()), **more)


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_hands_on_each_of_its_options(verb: str, tasks: list[Task]) -> None:
    assert called(verb) is tasks[0]
    assert tasks[0].verb == verb and tasks[0].options == DEFAULTS, "what a verb leaves out is as in all others"
    assert tasks[0].S is sr.min_plus and np.array_equal(tasks[0].operands[0].array, A)  # type: ignore[attr-defined]
    for name in parameters(verb):
        called(verb, **{name: OTHER[name]})
        for other in OTHER:
            wanted = OTHER[other] if other == name else getattr(DEFAULTS, other)
            assert chosen(tasks[-1].options, other) == wanted, (name, other)


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_takes_what_its_ways_take(verb: str) -> None:
    """As callers know it; progress of rows is asked for by other verbs only."""
    within = {("closure_rows", "progress")}
    own = inspect.signature(VERBS[verb]).parameters
    assert ("on" in own) == ("on" in options_of(verb)) == (verb == "closure")
    listed = {name for name in options_of(verb) if name not in CALLED and (verb, name) not in within}
    assert listed - {"on"} == set(parameters(verb))
    for name in listed:
        assert own[name].default == getattr(DEFAULTS, name) and own[name].kind == inspect.Parameter.KEYWORD_ONLY


def test_arguments_besides_the_options(tasks: list[Task]) -> None:
    C, out = np.zeros((2, 1)), np.empty((2, 1))
    api.matmul(A, B, "min-plus")
    api.matmul(A, B, sr.min_plus, accumulate=C, out=out)
    api.closure_rows(A, sr.min_plus, [1, 0])
    api.path(A, sr.min_plus, 1, 0)
    api.solve(A, B, sr.min_plus)
    api.closure_rows(A, sr.min_plus, [1, 0], targets=[1], limit=3.0)
    assert [task.arguments for task in tasks[:4]] == [(None,), (out,), ([1, 0], None, None), (1, 0)]
    assert tasks[5].arguments == ([1, 0], [1], 3.0)
    assert [len(task.operands) for task in tasks] == [2, 3, 1, 1, 2, 1]
    assert [given.what for given in tasks[1].operands] == ["A", "B", "accumulate"]
    assert all(task.S is sr.min_plus for task in tasks), "by name too"


@pytest.mark.parametrize("verb", VERBS)
def test_a_plan_is_of_the_task_that_the_verb_would_compute(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Task, "plan", lambda task: task)
    given = (A, B, "min-plus") if verb in ("matmul", "solve") else (A, "min-plus")
    task: Any = api.plan(verb, *given, *ARGUMENTS.get(verb, ()))
    assert (task.verb, task.S, task.options) == (verb, sr.min_plus, DEFAULTS)
    for name in set(parameters(verb)) - {"packed"}:
        asked: Any = api.plan(verb, *given, *ARGUMENTS.get(verb, ()), **{name: OTHER[name]})
        assert chosen(asked.options, name) == OTHER[name]


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_no_algebra_or_no_matrix_is_refused_by_each(verb: str) -> None:
    given, more = ((A, B) if verb in ("matmul", "solve") else (A,)), ARGUMENTS.get(verb, ())
    with pytest.raises(sr.SemiringError, match="unknown algebra 'min-pluss': did you mean 'min_plus'"):
        VERBS[verb](*given, "min-pluss", *more)
    with pytest.raises(sr.SemiringError, match=r"^3 is not a semiring; pass a semiring, such as sr\.min_plus"):
        VERBS[verb](*given, 3, *more)
    with pytest.raises(sr.SemiringError, match=r"^A is not a matrix: "):
        VERBS[verb]([[1.0], [1.0, 2.0]], *given[1:], sr.min_plus, *more)
    with pytest.raises(TypeError, match="unexpected keyword argument 'tiles'"):
        VERBS[verb](*given, sr.min_plus, *more, tiles=3)


def test_answers() -> None:
    """One of each, end to end."""
    star = [[0, 3], [1, 0]]
    assert api.closure(A, "min-plus").tolist() == star
    assert api.matmul(A, B, sr.min_plus).tolist() == [[5], [2]]
    assert api.factor(A, sr.min_plus).closure().tolist() == api.factor(sp.csr_array(np.array([[0, 3.0], [1, 0]])),
                                                                      sr.min_plus).closure().tolist() == star
    assert api.solve(A, B, sr.min_plus).tolist() == [[1], [2]]
    assert api.closure_rows(A, sr.min_plus, 1).tolist() == [1, 0]
    assert api.path(A, sr.min_plus, 1, 0) == (1, [1, 0])
    assert api.power(A, sr.min_plus, 3).tolist() == [[inf, 7], [5, inf]]
    assert api.solve(A, B.T, sr.min_plus, left=True).tolist() == [[1, 2]]
    assert api.plan("closure", A, sr.min_plus).run().tolist() == star


# Laws on samples.


def test_without_samples_those_of_the_declaration_are_tried() -> None:
    for S in (sr.min_plus, "min-plus", sr.max_min):
        report = api.check_laws(S)
        assert report.ok and not report.failures
    assert api.check_laws("min_plus") is api.check_laws(sr.min_plus), "they were tried when it was declared"
    assert not api.check_laws(sr.plus_min).ok
    for S, has_star in ((sr.min_plus, True), (sr.plus_min, False)):
        assert ("star unfolds" in str(api.check_laws(S, [0, 1]))) is has_star, "a bare product has none"


@pytest.mark.parametrize("samples", [
    [0, 1, 2.5, inf], (0, 1), range(4), np.array([0, 1, inf]), np.array([1, 2], ">i4"), np.array([0.5], "f4"),
    [Fraction(1, 3), 2], np.array([Fraction(1, 3), 2], object), np.array([], float), (x for x in (0, 3)),
], ids=lambda x: f"{type(x).__name__} of {getattr(x, 'dtype', 'numbers')}")
def test_samples_of_every_kind(samples: Any) -> None:
    report = api.check_laws(sr.max_min, samples)
    assert report.ok and "max-min" in str(report)


def test_a_law_that_fails_on_the_samples_has_a_witness() -> None:
    report = api.check_laws(sr.plus_min, [0, 1, 2])
    assert not report.ok and report.failures[0].law.name.startswith("⊗ distributes")
    assert api.check_laws(sr.plus_min, [0]).ok, "on this element alone it holds"
    hops = api.check_laws(sr.shortest_hops, [(0, 0), [3.0, 1], (inf, inf)])
    assert hops.ok
    means = sr.Semiring("means", add=lambda a, b: (a + b) / 2, mul=np.multiply, zero=0, one=1, product_only=True)
    assert any("associative" in failure.law.name for failure in api.check_laws(means, [0, 1, 2]).failures)


@pytest.mark.parametrize(("S", "samples", "text"), [
    (sr.viterbi, [0.5, 3.0], r"^samples\[1\] is 3, outside the carrier of viterbi$"),
    (sr.min_plus, [0, np.nan], r"(?i)^samples\[1\] is nan, outside the carrier of min-plus$"),
    (sr.min_plus, [1j],
     "^samples are not a sequence of elements of min-plus: 1j is complex, and it lives in float64, "),
    (sr.min_plus, 3, "^samples are not a sequence of elements of min-plus: "),
    (sr.shortest_hops, [1.0], "^samples are not a sequence of elements of shortest-hops: "),
    (sr.shortest_hops, [(1.0, 2, 3)], "^samples are not a sequence of elements of shortest-hops: |works on records"),
    (sr.min_plus, np.zeros((2, 2)), r"^samples must be a sequence of elements, and have shape \(2, 2\)$"),
    (sr.min_plus, [[0, 1]], "^samples"), (sr.min_plus, np.array(["a"]), "min-plus cannot live in"),
    (sr.log, np.array([True, False]), "log cannot live in bool"),
    (sr.min_plus, np.array([1, None], object), r"^samples\[1\] is None: min-plus computes with numbers"),
    ("min-pluss", [1], "unknown algebra"),
])
def test_samples_that_are_none(S: Any, samples: Any, text: str) -> None:
    with pytest.raises(sr.SemiringError, match=text):
        api.check_laws(S, samples)


@pytest.mark.parametrize("S", [sr.min_plus, sr.max_plus], ids=str)
def test_the_laws_hold_on_integers_whose_limits_are_infinite(S: sr.Semiring) -> None:
    assert sr.check_laws(S, np.array([1, 2, -3])).ok


CALLS = {
    "closure": lambda A: sr.closure(A, sr.min_plus), "matmul": lambda A: sr.matmul(A, A, sr.min_plus),
    "product with a vector": lambda A: sr.matmul(A, np.arange(3.0), sr.min_plus),
    "factor": lambda A: sr.factor(A, sr.min_plus).solve(np.arange(3.0)),
    "solve": lambda A: sr.solve(A, np.eye(3), sr.min_plus),
    "closure_rows": lambda A: sr.closure_rows(A, sr.min_plus, [0, 2]),
    "path": lambda A: sr.path(A, sr.min_plus, 0, 2),
    "power": lambda A: sr.power(A, sr.min_plus, 2),
    "cycle_mean": lambda A: sr.cycle_mean(A, sr.min_plus),
    "eccentricities": lambda A: sr.eccentricities(A, sr.min_plus),
    "diameter": lambda A: sr.diameter(A, sr.min_plus), "radius": lambda A: sr.radius(A, sr.min_plus),
    "mean_weight": lambda A: sr.mean_weight(A, sr.min_plus),
    "solve from the left": lambda A: sr.solve(A, np.eye(3), sr.min_plus, left=True),
}
BY_ENTRIES = {
    "refactor": lambda A: sr.factor(sp.csr_array(TRIPLES, (3, 3)), sr.min_plus).refactor(A).closure(),
    "pack": lambda A: sr.pack(A).to_dense(), "reach": lambda A: sr.reach(A).closure.to_dense(),
    "reduction": sr.transitive_reduction, "condensation": lambda A: sr.condensation(A)[1],
    "topological_order": sr.topological_order, "find_cycle": sr.find_cycle, "components": sr.components,
    "bridges": sr.bridges,
}
TRIPLES = ([3.0, 10.0, 4.0], ([0, 0, 1], [1, 2, 2]))


@pytest.mark.parametrize(("verb", "kind"), [
    *product(CALLS, ("array", "sparse", "graph")), *product(BY_ENTRIES, ("sparse", "graph")),
])
def test_what_is_prepared_stands_for_the_matrix_in_every_verb(verb: str, kind: str) -> None:
    call: Callable[[Any], Any] = (CALLS | BY_ENTRIES)[verb]
    A: Any = sp.csr_array(TRIPLES, (3, 3))
    if kind == "array":
        A = np.array([[np.inf, 3, 10], [np.inf, np.inf, 4], [np.inf, np.inf, np.inf]])
    elif kind == "graph":
        A = sr.Graph(*map(np.array, TRIPLES[1]), 3, np.array(TRIPLES[0]))
    prepared = sr.prepare(A, "min_plus")
    for _ in range(2):
        found, expected = call(prepared), call(A)
        assert type(found) is type(expected)
        if isinstance(found, (np.ndarray, sp.csr_array)):
            assert found.dtype == expected.dtype and found.shape == expected.shape
            found, expected = (x.toarray() if sp.issparse(x) else x for x in (found, expected))
            assert np.array_equal(found, expected)
        else:
            assert repr(found) == repr(expected)


def test_a_matrix_is_prepared_for_one_algebra() -> None:
    A = sr.prepare(np.zeros((2, 2)), sr.min_plus)
    assert sr.prepare(A, sr.min_plus) is A and A.shape == (2, 2)
    full, rows = np.array([[inf, 1.0], [2.0, inf]]), sp.csr_array([[0, 1.0], [2.0, 0]])
    uses: list[tuple[str, Callable[[Any], Any]]] = [
        ("A", lambda P: sr.closure(P, sr.max_min)), ("A", lambda P: sr.prepare(P, sr.max_min)),
        ("B", lambda P: sr.matmul(full, P, sr.max_min)), ("B", lambda P: sr.solve(full, P, sr.max_min)),
        ("accumulate", lambda P: sr.matmul(full, full, sr.max_min, accumulate=P)),
        ("B", sr.factor(full, sr.max_min).solve), ("B", sr.factor(rows, sr.max_min).solve),
        ("A", sr.factor(rows, sr.max_min).refactor),
    ]
    for matrix in (np.zeros((2, 2)), rows):
        A = sr.prepare(matrix, sr.min_plus)
        for name, use in uses:
            with pytest.raises(sr.SemiringError, match=rf"^{name} was prepared for min-plus, but .* max-min"):
                use(A)
    with pytest.raises(sr.SemiringError, match=r"A\[0, 1\] is NaN"):
        sr.prepare(sp.csr_array(([np.nan], ([0], [1])), (2, 2)), sr.min_plus)


def test_what_is_prepared_is_packed_by_the_zero_of_its_algebra() -> None:
    M = sr.adjacency([("a", "b", 0.0), ("b", "c", 2.0), ("a", "c", 3.0)], sr.min_plus)
    P = sr.prepare(M, sr.min_plus)
    assert sr.pack(P) == sr.pack(M) == sr.pack(sr.prepare(M.array, sr.min_plus))
    assert sr.reach(P).names == ["a", "b", "c"] and sr.condensation(P)[1] == [["a"], ["b"], ["c"]]
    assert sr.pack(sr.prepare(np.full((2, 3), inf), sr.min_plus)).count() == 0
    values, ends = np.array([inf, 0.0, inf, 2.0]), np.array([[0, 0, 1, 1], [0, 1, 0, 2]])
    for A in (sp.csr_array((values, ends), (3, 3)), sr.Graph(*ends, 3, values)):
        Q = sr.prepare(A, sr.min_plus)
        assert sr.pack(Q).count() == 2 and repr(sr.reach(Q)) == "Reachability(3 vertices, 6 pairs)"
        assert sr.find_cycle(Q) is None and sr.topological_order(Q).tolist() == [0, 1, 2]
    assert sr.longest_path(sr.prepare(sp.csr_array(TRIPLES, (3, 3)), sr.max_plus)) == (10.0, [0, 2])
    with pytest.raises(sr.SemiringError, match="A was prepared for min-plus, but is used with max-plus"):
        sr.longest_path(P)
    edges = sr.as_graph([("a", "b"), ("b", "c"), ("a", "c")])
    assert sr.transitive_reduction(sr.prepare(edges, "boolean")).names == ["a", "b", "c"]
    bits = sr.pack(edges)
    before = bits.to_dense()
    assert sr.reach(sr.prepare(bits, "boolean")).reaches(0, 2)
    assert isinstance(sr.closure(sr.prepare(before, "boolean"), "boolean", packed=True), sr.PackedMatrix)
    assert np.array_equal(bits.to_dense(), before)


def test_what_is_prepared_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    A, B, C = (np.random.default_rng(i).random((4, 4)) for i in range(3))
    looked: list[str] = []

    def see(S: sr.Semiring, dtype: np.dtype, arrays: Any) -> Any:
        looked.extend(what for what, _ in arrays)
        return examine(S, dtype, arrays)

    monkeypatch.setattr(dense, "examine", see)
    P, Q = sr.prepare(A, sr.min_plus), sr.prepare(B, sr.min_plus)
    looked.clear()
    for operands, unknown in (((P, Q, C), ["accumulate"]), ((P, B, None), ["B"]), ((A, Q, C), ["A", "accumulate"]),
                           ((P, Q, None), []), ((P, P, P), [])):
        left, right, start = operands
        found = sr.matmul(left, right, sr.min_plus, accumulate=start)
        assert looked == unknown
        plain = [A if x is P else B if x is Q else x for x in operands]
        assert np.array_equal(found, sr.matmul(plain[0], plain[1], sr.min_plus, accumulate=plain[2]))
        looked.clear()


def test_messages_name_what_is_prepared_by_its_place_in_the_call() -> None:
    A, P = np.ones((2, 2), "f4"), sr.prepare(np.ones((2, 2)), sr.min_plus)
    for call, text in (
        (lambda: sr.matmul(A, P, sr.min_plus), "A is float32 and B is float64"),
        (lambda: sr.matmul(P, A, sr.min_plus), "A is float64 and B is float32"),
        (lambda: sr.matmul(A, A, sr.min_plus, accumulate=P), "A is float32 and accumulate is float64"),
        (lambda: sr.solve(A, P, sr.min_plus), "A is float32 and B is float64"),
    ):
        with pytest.raises(sr.SemiringError, match=f"^{text}"):
            call()
    assert P.what == "A"


def test_what_is_prepared_says_what_it_is() -> None:
    assert repr(sr.prepare(np.ones((2, 3)), sr.min_plus)) == "2 × 3 prepared for min-plus, float64"
    assert repr(sr.prepare(sp.csr_array(TRIPLES, (3, 3)), "max-min")) == "3 × 3 prepared for max-min, float64"
    assert repr(sr.prepare(np.array(1.0), sr.min_plus)) == "one number prepared for min-plus, float64"


def is_of(value: Any, kind: Any) -> bool:
    """Whether an answer is what type checkers were told."""
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any or kind is None:
        return kind is Any or value is None
    if origin in (Union, UnionType):
        return any(is_of(value, part) for part in parts)
    if origin is tuple:
        return type(value) is tuple and len(value) == len(parts) and all(map(is_of, value, parts))
    return isinstance(value, origin or kind)


def test_answers_are_what_type_checkers_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def checked(value: Any, kind: Any) -> Any:
        asked.append(kind)
        assert is_of(value, type(None) if kind is None else kind), f"{value!r} is no {kind}"
        return value

    monkeypatch.setattr(typing, "assert_type", checked)
    runpy.run_path(str(Path(__file__).with_name("typed.py")))
    assert len(asked) > 40
    with pytest.raises(AssertionError):
        checked(np.zeros(2), tuple[np.ndarray, np.ndarray])
    with pytest.raises(AssertionError):
        checked(3, sr.Matrix)


def test_a_plan_that_runs_gives_what_the_verb_gives() -> None:
    graph = sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0), ("a", "c", 9.0)])
    R = api.plan("paths", graph, sr.min_plus).run()
    assert R["a", "c"] == sr.paths(graph, sr.min_plus)["a", "c"] == (7.0, ["a", "b", "c"])
    some = api.plan("paths", graph, sr.min_plus, sources=["a"])
    assert some.run().sources == some.run().sources == ["a"]
    widest = api.plan("paths", sr.as_graph([("a", "b", (3.0, 1.0))]), (sr.max_min, sr.min_plus)).run()
    assert widest["a", "b"].vertices == ["a", "b"]
    stack = np.array([[[0.0, 2.0], [1.0, 0.0]]] * 2)
    assert api.plan("paths", stack, sr.min_plus).run()[1][0, 1] == (2.0, [0, 1])
    found = api.plan("nearest", graph, sr.min_plus, places=["b"]).run()
    assert found.places.tolist() == sr.nearest(graph, sr.min_plus, ["b"]).places.tolist() == [None, "b", "b"]
