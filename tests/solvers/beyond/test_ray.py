"""Closures by Ray's tasks, and what is refused before there are any."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import nearly_consistent
from together import CASES, is_the_closure, matrix, text_of

import semiring as sr
from semiring.scale.connection import Ray

needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="ray is not installed: it is large")


@pytest.fixture(scope="module")
def here() -> Iterator[Any]:
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield sr.connect("ray")
    ray.shutdown()


@needs_ray
@pytest.mark.parametrize(("name", "S", "dtype"), CASES)
def test_any_algebra(here: Any, name: str, S: sr.Semiring, dtype: Any) -> None:
    for n, tile in ((0, None), (1, None), (37, 16), (150, None)):
        A = matrix(S, n, dtype)
        assert is_the_closure(sr.closure(A, S, on=here, tile=tile), A, S), (name, n)


@needs_ray
def test_names_and_algebras_that_workers_never_saw(here: Any) -> None:
    S = sr.Semiring("chances", add=np.maximum, mul=np.multiply, zero=0.0, one=1.0,
                    carrier=lambda a: (a >= 0) & (a <= 1))
    assert sr.closure(sr.adjacency([("a", "b", 0.5), ("b", "c", 0.25)], S), on=here)["a", "c"] == 0.125
    assert repr(here) == "Ray, 2 processors"


@needs_ray
def test_the_errors_of_one_process(here: Any) -> None:
    negative, loops = np.full((70, 70), np.inf), np.zeros((50, 50))
    negative[40, 50], negative[50, 40], loops[30, 30] = 1.0, -2.0, 1.0
    for A, S in ((negative, sr.min_plus), (loops, sr.plus_times), (np.full((2, 2), np.nan), sr.min_plus)):
        alone = text_of(lambda A=A, S=S: sr.closure(A, S))
        assert alone != "nothing" and text_of(lambda A=A, S=S: sr.closure(A, S, on=here)) == alone


class TaskFailed(Exception):
    """What Ray raises where a task did; `cause` is the task's own."""

    def __init__(self, cause: Exception):
        super().__init__(str(cause))
        self.cause = cause


class PlayedRay:
    """Tasks that are done when they are asked for, on copies that cannot be written, as in Ray's store."""

    exceptions = SimpleNamespace(RayTaskError=TaskFailed)

    def put(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            value = value.copy()
            value.flags.writeable = False
        return value

    def remote(self, **_: Any) -> Any:
        def task(function: Any) -> Any:
            def work(*given: Any) -> Any:
                failed = next((x for x in given if isinstance(x, Exception)), None)
                try:
                    return failed or self.put(function(*given))
                except Exception as e:
                    return TaskFailed(e)

            return SimpleNamespace(remote=work)

        return task

    def get(self, value: Any) -> Any:
        if isinstance(value, Exception):
            raise value
        return value


@pytest.fixture(params=["played", pytest.param("ray", marks=needs_ray)])
def anyone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # else the library's share is warned of, without threadpoolctl
    return Ray(PlayedRay()) if request.param == "played" else request.getfixturevalue("here")


@pytest.mark.parametrize(("name", "S", "dtype"), CASES)
def test_walks_that_have_edges(anyone: Any, name: str, S: sr.Semiring, dtype: Any) -> None:
    for n, tile in ((0, None), (1, None), (37, 16), (150, None)):
        A = matrix(S, n, dtype)
        kept, expected = A.copy(), sr.closure(A, S, reflexive=False)
        found = sr.closure(A, S, on=anyone, tile=tile, reflexive=False)
        if S in (sr.plus_times, sr.log):
            np.testing.assert_allclose(found, expected, rtol=1e-11)
        else:
            np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(A, kept)


@given(n=st.integers(2, 24), seed=st.integers(0, 99))
@settings(max_examples=15)
def test_a_tolerance_is_that_of_one_process(n: int, seed: int) -> None:
    A = nearly_consistent(n, seed)
    for reflexive in (True, False):
        asked: dict[str, Any] = {"tol": 0.002, "reflexive": reflexive}
        found = sr.closure(A, sr.min_plus, on=Ray(PlayedRay()), tile=8, **asked)
        np.testing.assert_allclose(found, sr.closure(A, sr.min_plus, **asked), rtol=0, atol=1e-12)
    A[0, 1] -= 1
    with pytest.raises(sr.NoClosureError, match="improving"):
        sr.closure(A, sr.min_plus, on=Ray(PlayedRay()), tile=8, tol=0.002)


def test_a_star_that_was_declared_sums_improving_cycles() -> None:
    S = sr.Semiring("complete", add=np.maximum, mul=np.add, zero=-np.inf, one=0,
                    star=lambda a: np.where(a > 0, np.inf, 0))
    A = np.diag(np.full(16, -1.0), 1)
    A[A == 0] = -np.inf
    A[9, 7] = 3.0
    found = sr.closure(A, S, on=Ray(PlayedRay()), tile=8)
    np.testing.assert_array_equal(found, sr.closure(A, S))
    assert np.isposinf(found).any() and np.isfinite(found).any()
    A[9, 7] = 2.0000001
    assert np.isfinite(sr.closure(A, S, on=Ray(PlayedRay()), tile=8, tol=1e-6).max())


def test_what_has_no_tolerance_is_refused() -> None:
    with pytest.raises(sr.SemiringError, match="rounded weights"):
        sr.closure(np.eye(2, dtype=int), sr.min_plus, on=Ray(PlayedRay()), tol=1)


def test_refusals(tmp_path: Path) -> None:
    closed = Ray(None)
    for options, why in (({"overwrite": True}, "with on= has no option"), ({"method": "squaring"}, "the method must"),
                         ({"device": "gpu"}, "asks for a GPU"), ({"out": tmp_path / "c.npy"}, "has no option 'out'")):
        with pytest.raises(sr.SemiringError, match=why):
            sr.closure(np.eye(2), sr.min_plus, on=closed, **options)  # type: ignore[call-overload]
    with pytest.raises(sr.SemiringError, match="Python objects"):
        sr.closure(np.eye(2), sr.why, on=closed)


def test_what_moves_is_not_known_before() -> None:
    with pytest.raises(sr.SemiringError, match="traffic is not known"):
        sr.plan("closure", np.zeros((3, 3)), sr.min_plus, on=Ray(None))
