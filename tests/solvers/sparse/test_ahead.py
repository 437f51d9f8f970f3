"""What an elimination compiles is known beforehand: once it is compiled nothing of it is left to compile."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.build import code_of
from semiring.kernels.cpu.compile import beside
from semiring.kernels.cpu.compile.jit import njit
from semiring.operands.read import read
from semiring.operands.sparse import Sparse
from semiring.solvers.sparse import analysis
from semiring.solvers.sparse.analysis import lowering_of

COMMON = """
import numpy as np
import semiring as sr

S = sr.Semiring("sums", add=np.minimum, mul=lambda a, b: a + b + a * b / 8, zero=np.inf, one=0.0,
                carrier=lambda a: a >= 0)
GRAPHS = [sr.random_graph(1600, "grid", seed=1), sr.random_graph(300, "rmat", degree=2, seed=2),
          sr.random_graph(2500, "planar", seed=3)]
"""
STEPS = """
import pickle
from semiring.kernels.cpu.compile.beside import do_backwards
from contextlib import nullcontext
from semiring.solvers.sparse import analysis

found = []
analysis.with_another_process = lambda low, *_: found.append(low) or nullcontext()
for algebra, A in zip((sr.min_plus, S), GRAPHS):
    sr.plan("closure", A, algebra, method="sparse")
print(len(list(map(analysis.steps, found))[0]))
for low in found:
    do_backwards(0, 1, pickle.dumps((analysis.steps, (low,))))
"""
CLOSURES = """
import numba.core.event as event

class Compiled(event.Listener):
    def on_start(self, e):
        module = e.data["dispatcher"].py_func.__module__
        if module.startswith(("semiring.algorithms", "semiring_generated")):
            print(module, e.data["dispatcher"].py_func.__qualname__)
    def on_end(self, e):
        pass

event.register("numba:compile", Compiled())
for algebra in (sr.min_plus, S):
    for A in GRAPHS:
        sr.closure(A, algebra, method="sparse")
"""


def run(code: str, directory: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", COMMON + code], capture_output=True, text=True, timeout=600,
        env={**os.environ, "SEMIRING_CACHE_DIR": str(directory), "SEMIRING_COMPILE": "always",
             "SEMIRING_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_steps_are_all_that_closures_compile(tmp_path: Path) -> None:
    assert int(run(STEPS, tmp_path)) == 20, "14 loops of the analysis, one of the check, and 5 of the elimination"
    assert run(CLOSURES, tmp_path) == ""


@pytest.mark.slow
def test_without_the_steps_closures_compile_them(tmp_path: Path) -> None:
    assert len(run(CLOSURES, tmp_path).splitlines()) > 20


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """What other processes would do, and nothing on disk."""
    monkeypatch.setenv("SEMIRING_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("SEMIRING_COMPILE", "auto")
    found: list[Any] = []
    monkeypatch.setattr(beside, "begin", lambda *work: found.append(work))
    return found


def never_compiled(name: str) -> sr.Semiring:
    return sr.Semiring(name, add=np.minimum, mul=lambda a, b: a + b + a * b / 32, zero=np.inf, one=0.0,
                       carrier=lambda a: a >= 0)


def asked(S: sr.Semiring, weights: Any = None) -> tuple[Any, Sparse]:
    """A sparse matrix and its lowering."""
    given = read(sr.random_graph(100, "grid", seed=1) if weights is None else weights, S)
    assert isinstance(given, Sparse)
    return lowering_of(given, room=False), given


def compile_one() -> None:
    assert njit(no_cfunc_wrapper=True, cache=True)(minus)(5) == -5


def minus(x: Any) -> Any:
    return -x


def test_others_begin_once_something_is_compiled(begun: list[Any]) -> None:
    low, A = asked(never_compiled("never"))
    with analysis.with_another_process(low, A, True):
        assert begun == []
        compile_one()
    assert begun == [(analysis.steps, low)]


@pytest.mark.parametrize(("seconds", "analysis_at_hand", "at_once"), [
    (1e3, False, True), (1e3, True, False), (1e-3, False, False),
])
def test_others_begin_at_once_where_much_work_lies_ahead(
    seconds: float, analysis_at_hand: bool, at_once: bool, begun: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analysis, "transposed", SimpleNamespace(at_hand=analysis_at_hand))
    monkeypatch.setattr(analysis, "least_by_numpy", lambda low, A, answer: seconds)
    low, A = asked(never_compiled("never again"))
    with analysis.with_another_process(low, A, True):
        assert begun == [(analysis.steps, low)] * at_once
        compile_one()
    assert begun == [(analysis.steps, low)]


@pytest.mark.parametrize("analysis_at_hand", [True, False])
def test_where_the_elimination_is_at_hand_others_help_with_the_analysis(
    analysis_at_hand: bool, begun: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analysis, "transposed", SimpleNamespace(at_hand=analysis_at_hand))
    monkeypatch.setattr(analysis, "least_by_numpy", lambda low, A, answer: 1e3)
    low, A = asked(never_compiled("compiled"))
    monkeypatch.setattr(code_of(low, "fronts"), "bought", True, raising=False)
    with analysis.with_another_process(low, A, True):
        assert begun == []
        compile_one()
    assert begun == [(analysis.steps, low)] * (not analysis_at_hand)


def test_objects_need_no_other_process(begun: list[Any]) -> None:
    objects, A = asked(sr.why, sr.as_graph([("a", "b", frozenset({frozenset("x")}))]))
    assert objects.kind == "objects"
    with analysis.with_another_process(objects, A, True):
        compile_one()
    assert begun == []


@pytest.mark.parametrize(("analysis_at_hand", "surely"), [(True, True), (False, True), (False, False)])
def test_of_an_elimination_on_a_gpu_others_compile_the_analysis(
    analysis_at_hand: bool, surely: bool, begun: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analysis, "transposed", SimpleNamespace(at_hand=analysis_at_hand))
    there: Any = SimpleNamespace(on_gpu=True, kind="cuda")
    with analysis.with_another_process(there, asked(sr.min_plus)[1], True, surely):
        assert begun == [(analysis.steps, None)] * (surely and not analysis_at_hand)
        compile_one()
    assert begun == [(analysis.steps, None)] * (not analysis_at_hand)


def test_without_a_lowering_the_steps_are_those_of_the_analysis() -> None:
    low, _ = asked(sr.min_plus)
    alone, all_of_them = (analysis.steps(x) for x in (None, low))
    assert 10 < len(alone) < len(all_of_them)
    assert [s.args[0] for s in alone] == [s.args[0] for s in all_of_them[: len(alone)]]  # type: ignore[attr-defined]


@pytest.mark.parametrize(("order", "asks"), [("auto", True), ("amd", True), ("levels", False), ("natural", False)])
def test_numba_is_loaded_before_an_analysis_whose_longest_loop_is_compiled(
    order: str, asks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_for: list[tuple[int, int]] = []
    monkeypatch.setattr(analysis, "is_compiled", lambda *sizes: bool(asked_for.append(sizes)))
    monkeypatch.setattr(analysis, "_analyses", {})
    A = asked(sr.min_plus)[1]
    analysis.analysis_of(A, order)
    assert asked_for == [(A.n, A.nnz)] * asks


@pytest.mark.parametrize(("S", "dtype"), [
    (sr.min_plus, "f8"), (sr.min_plus, "i8"), (sr.min_plus, "u1"), (sr.min_plus, "f2"), (sr.max_plus, "i4"),
    (sr.max_min, "f8"), (sr.viterbi, "f4"), (sr.log, "f2"), (sr.plus_times, "c16"), (sr.shortest_hops, "f8"),
    (sr.expectation, None),
], ids=lambda x: getattr(x, "name", x))
def test_what_others_compile_can_be_sent_to_them(
    S: sr.Semiring, dtype: str | None, begun: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What converts elements to storage cannot, and nothing that is compiled depends on it."""
    monkeypatch.setattr(analysis, "transposed", SimpleNamespace(at_hand=False))  # whatever other tests compiled
    G = sr.random_graph(100, "grid", weights=(1, 2), seed=1)
    weights = np.ones(len(G), S.default_dtype) if dtype is None else (G.weights / 2).astype(dtype)
    low, A = asked(S, sr.Graph(G.sources, G.targets, G.n, weights))
    assert low.kind == "numba"
    with analysis.with_another_process(low, A, True):
        compile_one()
    steps, sent = pickle.loads(pickle.dumps(begun[0]))
    assert steps is analysis.steps and sent.key == low.key and sent.dtype == low.dtype
