"""The verbs: each hands its arguments to one task, and a plan takes what its verb takes; laws are tried on samples."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring import api
from semiring.solvers.task import DEFAULTS, TAKES, Task

inf = np.inf
A = np.array([[inf, 3.0], [1.0, inf]])
B = np.array([[1.0], [2.0]])
VERBS: dict[str, Callable[..., Any]] = {
    "closure": api.closure, "matmul": api.matmul, "factor": api.factor, "solve": api.solve, "rows": api.closure_rows,
    "path": api.path, "power": api.power, "cycle_mean": api.cycle_mean,
}
ARGUMENTS: dict[str, tuple[Any, ...]] = {"rows": ([0],), "path": (0, 1), "power": (2,)}  # behind the algebra
OTHER: dict[str, Any] = {
    "method": "blocked", "reflexive": False, "overwrite": True, "device": "cpu", "tile": 7, "check": False,
    "packed": True, "order": "natural", "predecessors": True, "progress": print, "max_edges": 3, "left": True,
}


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    """The tasks that are computed, in place of their answers."""
    made: list[Task] = []

    def compute(task: Task) -> Task:
        made.append(task)
        return task

    monkeypatch.setattr(api, "compute", compute)
    return made


def options_of(verb: str) -> list[str]:
    """Parameters of a verb that are options of tasks."""
    return [name for name in inspect.signature(VERBS[verb]).parameters if hasattr(DEFAULTS, name)]


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
    for name in options_of(verb):
        called(verb, **{name: OTHER[name]})
        for other in OTHER:
            wanted = OTHER[other] if other == name else getattr(DEFAULTS, other)
            assert getattr(tasks[-1].options, other) == wanted, (name, other)


@pytest.mark.parametrize("verb", VERBS)
def test_a_plan_takes_what_its_verb_takes(verb: str) -> None:
    """But for what a plan does not depend on."""
    listed = [name for name in TAKES[verb].split() if name not in ("B", "sources", "k")]
    assert sorted(listed) == sorted(set(options_of(verb)) - {"progress"})
    planned, own = (inspect.signature(f).parameters for f in (api.plan, VERBS[verb]))
    for name in listed:
        assert planned[name].default == own[name].default == getattr(DEFAULTS, name)
        assert planned[name].kind == own[name].kind == inspect.Parameter.KEYWORD_ONLY


def test_arguments_besides_the_options(tasks: list[Task]) -> None:
    C, out = np.zeros((2, 1)), np.empty((2, 1))
    api.matmul(A, B, "min-plus")
    api.matmul(A, B, sr.min_plus, accumulate=C, out=out)
    api.closure_rows(A, sr.min_plus, [1, 0])
    api.path(A, sr.min_plus, 1, 0)
    api.solve(A, B, sr.min_plus)
    assert [task.arguments for task in tasks[:4]] == [(None,), (out,), ([1, 0],), (1, 0)]
    assert [len(task.operands) for task in tasks] == [2, 3, 1, 1, 2]
    assert [given.what for given in tasks[1].operands] == ["A", "B", "accumulate"]
    assert all(task.S is sr.min_plus for task in tasks), "by name too"


def test_a_plan_is_of_the_task_that_the_verb_would_compute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "first_offer", lambda task: task)
    for verb, more in (("closure", {}), ("matmul", {"B": B}), ("factor", {}), ("solve", {"B": B}),
                       ("rows", {"sources": [1]}), ("path", {"sources": [0, 1]}), ("power", {"k": 2})):
        task: Any = api.plan(A, "min-plus", verb=verb, **more)
        assert (task.verb, task.S, task.options) == (verb, sr.min_plus, DEFAULTS)
        assert len(task.operands) == 1 + ("B" in more)
        assert task.arguments == {"matmul": (None,), "rows": ([1],), "path": (0, 1), "power": (2,)}.get(verb, ())
        for name in set(TAKES[verb].split()) - {"B", "sources", "packed", "k"}:
            asked: Any = api.plan(A, sr.min_plus, verb=verb, **more, **{name: OTHER[name]})
            assert getattr(asked.options, name) == OTHER[name]


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_no_algebra_or_no_matrix_is_refused_by_each(verb: str) -> None:
    given, more = ((A, B) if verb in ("matmul", "solve") else (A,)), ARGUMENTS.get(verb, ())
    with pytest.raises(sr.SemiringError, match="unknown algebra 'min-pluss': did you mean 'min_plus'"):
        VERBS[verb](*given, "min-pluss", *more)
    with pytest.raises(sr.SemiringError, match=r"^3 is not a semiring; pass one, such as sr\.min_plus, or its name"):
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
    assert api.plan(A, sr.min_plus).run().tolist() == star


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
    (sr.min_plus, [1j], "^samples are no sequence of elements of min-plus: complex numbers, of which it knows none$"),
    (sr.min_plus, 3, "^samples are no sequence of elements of min-plus: "),
    (sr.shortest_hops, [1.0], "^samples are no sequence of elements of shortest-hops: "),
    (sr.shortest_hops, [(1.0, 2, 3)], "^samples are no sequence of elements of shortest-hops: |works on records"),
    (sr.min_plus, np.zeros((2, 2)), r"^samples must be a sequence of elements, and have shape \(2, 2\)$"),
    (sr.min_plus, [[0, 1]], "^samples"), (sr.min_plus, np.array(["a"]), "min-plus cannot live in"),
    (sr.plus_times, np.array([1, 2]), "plus-times cannot live in int64"),
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
    "solve from the left": lambda A: sr.solve(A, np.eye(3), sr.min_plus, left=True),
}


@pytest.mark.parametrize("verb", CALLS)
@pytest.mark.parametrize("kind", ["array", "sparse", "graph"])
def test_what_is_prepared_stands_for_the_matrix_in_every_verb(verb: str, kind: str) -> None:
    entries = ([3.0, 10.0, 4.0], ([0, 0, 1], [1, 2, 2]))
    A: Any = sp.csr_array(entries, (3, 3))
    if kind == "array":
        A = np.array([[np.inf, 3, 10], [np.inf, np.inf, 4], [np.inf, np.inf, np.inf]])
    elif kind == "graph":
        A = sr.Graph(*map(np.array, entries[1]), 3, np.array(entries[0]))
    prepared = sr.prepare(A, "min_plus")
    for _ in range(2):
        found, expected = CALLS[verb](prepared), CALLS[verb](A)
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
    for verb in (sr.closure, sr.prepare):
        with pytest.raises(sr.SemiringError, match=r"prepared for min-plus, and .* max-min"):
            verb(A, sr.max_min)
    with pytest.raises(sr.SemiringError, match=r"A\[0, 1\] is NaN"):
        sr.prepare(sp.csr_array(([np.nan], ([0], [1])), (2, 2)), sr.min_plus)
