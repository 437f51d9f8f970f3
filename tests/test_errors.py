"""The errors: all are ValueErrors of ours, and one of no closure carries a vertex, a cycle and its weight."""

from __future__ import annotations

import copy
import pickle
from itertools import pairwise

import numpy as np
import pytest

import semiring as sr
from semiring import errors

inf = np.inf
CLASSES = [e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, Exception)]
ERRORS = [e for e in CLASSES if e is not sr.SemiringWarning]


def test_the_classes_are_found() -> None:
    names = {"SemiringError", "TraceError", "LawError", "NoClosureError", "GraphError", "OutOfRangeError"}
    assert {e.__name__ for e in ERRORS} == names and len(CLASSES) == 7


@pytest.mark.parametrize("error", CLASSES, ids=lambda e: e.__name__)
def test_whoever_knows_python_can_catch_it(error: type[Exception]) -> None:
    assert getattr(sr, error.__name__) is error
    if error is sr.SemiringWarning:
        assert issubclass(error, UserWarning) and not issubclass(error, sr.SemiringError)
    else:
        assert issubclass(error, sr.SemiringError) and issubclass(error, ValueError)
        with pytest.raises(ValueError, match=r"^what, where, and what to do$"):
            raise error("what, where, and what to do")


def test_no_closure_says_nothing_that_it_does_not_know() -> None:
    error = sr.NoClosureError("there is none")
    assert (str(error), error.vertex, error.cycle, error.weight) == ("there is none", None, None, None)
    assert error.index is None
    with pytest.raises(TypeError):
        sr.NoClosureError("there is none", 3)  # which of the three it is has to be said


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))])
def test_no_closure_reaches_another_process_whole(copied) -> None:
    error = copied(sr.NoClosureError("there is none", vertex="a", cycle=["a", "b", "a"], weight=-1.5, index=(2,)))
    assert type(error) is sr.NoClosureError
    assert (str(error), error.vertex, error.cycle, error.weight) == ("there is none", "a", ["a", "b", "a"], -1.5)
    assert error.index == (2,)


@pytest.mark.parametrize("names", [None, ["Ayr", "Bute", "Coll", "Dale"]])
def test_the_cycle_is_one_and_weighs_what_is_said(names: list[str] | None) -> None:
    A = np.full((4, 4), inf)
    A[0, 1], A[1, 2], A[2, 1], A[2, 3], A[3, 0] = 5, 2, -4, 1, 1
    with pytest.raises(sr.NoClosureError) as caught:
        sr.closure(A if names is None else sr.Matrix(A, sr.min_plus, names), sr.min_plus)
    error = caught.value
    places = list(range(4)) if names is None else names
    assert error.cycle[0] == error.cycle[-1] and error.vertex in error.cycle
    cycle = [places.index(v) for v in error.cycle]
    assert sum(A[i, j] for i, j in pairwise(cycle)) == error.weight < 0
    assert all(str(v) in str(error) for v in error.cycle)


def test_without_best_paths_there_is_a_cycle_that_has_no_limit() -> None:
    with pytest.raises(sr.NoClosureError) as caught:
        sr.closure(np.array([[0.0, 0.0], [0.0, 1.0]]), sr.plus_times)
    assert (caught.value.vertex, caught.value.cycle, caught.value.weight) == (1, [1, 1], 1)
