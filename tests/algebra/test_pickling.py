"""Algebras in other processes: the same elements, laws and compiled code, from expressions and not from functions."""

from __future__ import annotations

import copy
import math
import multiprocessing
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sending import Length, about, closed, computed, lengths, shorter, subsets, together

import semiring as sr
from semiring.algebra.expression import apply, constant, flattened, operand, unflattened
from semiring.algebra.pickling import TracedLift, as_data, key_of


def least(a: Any, b: Any) -> Any:
    return min(a, b)


def declared() -> list[sr.Semiring]:
    """Algebras in no catalogue, made of functions without names."""
    return [
        sr.Semiring("reliable", add=np.maximum, mul=np.multiply, zero=0.0, one=1.0,
                    carrier=lambda a: (a >= 0) & (a <= 1)),
        sr.Semiring("sums", add=np.add, mul=np.multiply, zero=0, one=1,
                    star=lambda a: np.where(a == 1, np.nan, 1 / (1 - a)),
                    carrier=np.isfinite),
        sr.Semiring("least", add=lambda a, b: a if a < b else b, mul=lambda a, b: a + b, zero=math.inf, one=0.0,
                    samples=[0.5, 2.0]),
        sr.Semiring("cost and width", fields={"cost": "f4", "width": "i4"}, zero=(np.inf, 0), one=(0, 2**31 - 1),
                    add=lambda a, b: (np.minimum(a.cost, b.cost), np.maximum(a.width, b.width)),
                    mul=lambda a, b: (a.cost + b.cost, np.minimum(a.width, b.width)),
                    lift=lambda w: (w, np.where(w == np.inf, 0, 1)), carrier=lambda a: (a.cost >= 0) & (a.width >= 0)),
        sr.Semiring("a bare product", add=np.add, mul=lambda a, b: abs(a - b), zero=0, product_only=True),
        sr.Semiring("by name", add=least, mul=max, zero=10**30, one=0, dtype=object),
    ]


NAMES = [S.name for S in declared()]


@pytest.mark.parametrize("at", range(len(NAMES)), ids=NAMES)
def test_an_algebra_comes_back_as_itself_and_anew_as_its_equal(at: int) -> None:
    S = declared()[at]
    data = pickle.dumps(S)
    assert pickle.loads(data) is S is copy.deepcopy(S) is copy.copy(S)
    before = about(S)
    del S
    again = pickle.loads(data)
    assert about(again) == before
    assert pickle.loads(pickle.dumps(again)) is again, "also where it came from data"
    assert key_of(as_data(again)) == again.declared_as


def test_in_a_process_that_begins_anew() -> None:
    """A process is spawned: compiled code is kept under the same names, products are the same.

    Where a task cannot be unpickled the process ends, which an executor tells; a pool of multiprocessing would wait.
    """
    given = [S for S in declared() if not S.is_object]
    matrices = [S.array([S.samples()[:3].tolist()] * 3) if S.fields else np.array([[0.25, 0.5], [1.0, 0.125]])
                for S in given]
    given += [sr.min_plus, sr.shortest_count, sr.mod_p(11), sr.lexicographic(sr.min_plus, given[0])]
    matrices += [np.array([[1.0, 2.0], [3.0, 4.0]])] + [S.array([S.samples()[:2].tolist()] * 2) for S in given[-3:]]
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        found = list(pool.map(computed, given, matrices))
    assert found == [computed(S, A) for S, A in zip(given, matrices, strict=True)]


def test_matrices_of_objects_go_there_and_back() -> None:
    """Their algebra is found again by its functions and by the equality of its elements, not by their texts."""
    road, sets = Length(3), frozenset("abc")
    given = [sr.adjacency([("a", "b", road), ("b", "c", road)], lengths),
             sr.adjacency([("a", "b", sets), ("b", "c", frozenset("bcd"))], subsets)]
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        found = list(pool.map(closed, given))
    assert [M.semiring for M in found] == [lengths, subsets]
    assert [M["a", "c"] for M in found] == [Length(6), frozenset("bc")]
    assert (found[0] | given[0])["a", "b"] == road


def test_objects_with_other_elements_or_functions_are_other_algebras() -> None:
    others = [sr.Semiring("lengths", add=shorter, mul=mul, zero=Length(zero), one=Length(0), dtype=object,
                          samples=[Length(1), Length(2.5)], product_only=True)
              for mul, zero in ((together, 90), (together, 91), (shorter, 90))]
    for S in (*others, lengths, subsets):
        assert pickle.loads(pickle.dumps(S)) is S


def test_matrices_graphs_and_factors_go_with_their_algebra(tmp_path: Path) -> None:
    S = declared()[0]
    A = sr.adjacency([("a", "b", 0.5), ("b", "c", 0.25)], S)
    F = sr.factor(A, S)
    with open(tmp_path / "sent", "wb") as file:
        pickle.dump((S, A, F), file)
    code = (f"import pickle\nS, A, F = pickle.load(open({str(tmp_path / 'sent')!r}, 'rb'))\nimport semiring as sr\n"
            "print(A.semiring is S, sr.closure(A, S)['a', 'c'], sr.closure(A)['a', 'b'], F.rows(['a']).tolist())")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[0] == "True 0.125 0.5 [[1.0, 0.5, 0.125]]"


def test_two_declarations_alike_are_one_and_others_are_not() -> None:
    first, second = (sr.Semiring("own", add=np.maximum, mul=np.minimum, zero=0, one=one,
                                 carrier=lambda a, one=one: (a >= 0) & (a <= one)) for one in (7, 8))
    assert pickle.loads(pickle.dumps(first)) is first
    assert pickle.loads(pickle.dumps(second)) is second


def test_functions_without_a_name_say_what_to_do() -> None:
    S = sr.Semiring("sets", add=lambda a, b: a | b, mul=lambda a, b: a & b, zero=frozenset(), one=frozenset({1}),
                    dtype=object)
    with pytest.raises(pickle.PicklingError, match=r"sets: add has no expression and cannot be pickled .* top of"):
        pickle.dumps(S)
    assert copy.deepcopy(S) is S
    other = sr.Semiring(
        "own", fields={"x": "f8", "y": "f8"}, zero=(0, 0), one=(1, 1), lift=lambda w: (w, np.sort(w)),
        add=lambda a, b: (a.x + b.x, a.y + b.y), mul=lambda a, b: (a.x * b.x, a.y * b.y),
        carrier=lambda a: np.isfinite(a.x) & np.isfinite(a.y),
    )
    with pytest.raises(pickle.PicklingError, match="own: lift has no expression"):
        pickle.dumps(other)


def test_a_lift_is_its_expressions() -> None:
    lift = sr.k_best(3).lift
    assert lift is not None
    data = as_data(sr.k_best(3))["lift"]
    assert isinstance(data, TracedLift)
    weights = np.array([0.0, 2.5, np.inf])
    assert [np.broadcast_to(x, 3).tolist() for x in data(weights)] == [
        np.broadcast_to(x, 3).tolist() for x in lift.declared(weights)]


def test_expressions_are_data_however_deep() -> None:
    deep = reduce(lambda e, k: apply("add", e, constant(k + 0.5)), range(5000), operand(0))
    assert pickle.loads(pickle.dumps(deep)) is deep is copy.deepcopy(deep) is copy.copy(deep)
    wide = reduce(lambda e, _: apply("multiply", e, e), range(200), operand(1))  # 2**200 occurrences
    assert unflattened(flattened((deep, wide, deep))) == (deep, wide, deep)
    for value in (math.nan, -0.0, math.inf, True, 1, 1.5, 2j, 10**40):
        e = constant(value)
        assert pickle.loads(pickle.dumps(e)) is e
