"""Compiling ahead of need: what later calls would ask for is there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.build import PURPOSES, code_of
from semiring.kernels.choose import choose
from semiring.kernels.cpu.compile import price
from semiring.kernels.cpu.dense.nests import LOOPS
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.general import general
from semiring.solvers.forms import plain_form


def form(S: sr.Semiring, dtype: str) -> Lowering:
    return choose(S, np.dtype(dtype), Facts(largest=1), 2, in_place=False, packed=False)


def test_everything_that_is_said_to_be_compiled_is(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []
    monkeypatch.setattr(price.Code, "bought", property(lambda code: False, lambda code, value: compiled.append(code)))
    sr.warmup(sr.min_plus, "max_min", dtypes=["f8"], sparse=True)
    for S in (sr.min_plus, sr.max_min):
        searches = general(S, np.dtype("f8"))
        purposes = ("buckets" if S is sr.min_plus else "search", "levels", "sweep")
        wanted = {code_of(form(S, "f8"), "fronts"), *(code_of(searches, p) for p in purposes)}
        examined = plain_form(S, np.dtype("f8"), Facts(), 3)
        wanted |= {code_of(low, name) for low in (form(S, "f8"), examined) for name in ("thin", "stacks")}
        assert wanted | {LOOPS} <= set(compiled)
    assert {"fronts", "search", "buckets", "levels", "sweep", "thin"} < set(PURPOSES)


def test_folds_of_halves_are_compiled_as_they_run(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []
    monkeypatch.setattr(price.Code, "bought", property(lambda code: False, lambda code, value: compiled.append(code)))
    sr.warmup(sr.plus_times, dtypes="f2")
    halves, single = (general(sr.plus_times, np.dtype(dtype)) for dtype in ("f2", "f4"))
    assert {code_of(halves, name) for name in ("sums", "prods")} <= set(compiled)
    assert {code_of(single, name) for name in ("prefix sums", "prefix products")} <= set(compiled)


def test_blocks_are_closed_and_multiplied_by_the_engine_that_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    from semiring.kernels.cpu.dense.engine import DenseKernel

    calls: list[tuple[str, np.dtype]] = []
    for name in ("multiply", "close"):
        monkeypatch.setattr(DenseKernel, name, lambda self, *blocks, name=name: calls.append((name, self.dtype)))
    sr.warmup(sr.min_plus, dtypes=("f4", np.float64))
    assert calls == [(name, np.dtype(d)) for d in ("f4", "f8") for name in ("multiply", "close")]
    calls.clear()
    sr.warmup(sr.plus_min, dtypes="f8")  # a bare product has no closure
    assert [name for name, _ in calls] == ["multiply"]


CALLS = """
import numba.core.event as event, numpy as np
import semiring as sr

class Compiled(event.Listener):
    def on_start(self, e):
        print(e.data["dispatcher"].py_func.__module__, e.data["dispatcher"].py_func.__qualname__)
    def on_end(self, e):
        pass

event.register("numba:compile", Compiled())
A = sr.random_graph(1600, "grid", seed=1)
sr.closure(A, sr.min_plus)
sr.closure(A, sr.min_plus, method="sparse")
F = sr.factor(A, sr.min_plus)
F.row(3), F.weight(3, 9), F.path(3, 9)
sr.closure_rows(A, sr.min_plus, [3])
sr.paths(A, sr.min_plus).next_hop
sr.matmul(A, A, sr.min_plus), sr.matmul(A, np.ones((1600, 2)), sr.min_plus)
D = np.ones((200, 200))
for check in (True, False):
    sr.matmul(D, D[:, 0], sr.min_plus, check=check), sr.matmul(D[:3], D.T, sr.min_plus, check=check)
T = np.ones((4, 4, 4, 4))
many = "abcd,cdef,efgh,ghij,ijab,ak->bk", T, T, T, T, T, np.ones((4, 4))
assert sr.plan("einsum", *many, S=sr.min_plus).method == "nests of loops"
sr.einsum(*many, S=sr.min_plus), sr.einsum(*many, S=sr.min_plus, argmax=True)
"""


@pytest.mark.slow
def test_calls_compile_nothing_more(tmp_path: Path) -> None:
    def run(code: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=600,
            env={**os.environ, "SEMIRING_CACHE_DIR": str(tmp_path), "SEMIRING_COMPILE": "always"},
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("import semiring as sr; sr.warmup('min_plus', sparse=True)")
    assert run(CALLS) == ""


def test_a_matrix_on_either_side_is_compiled_if_multiplication_does_not_commute() -> None:
    left = sr.Semiring("left", add=np.minimum, mul=lambda a, b: a + 0 * b, zero=np.inf, product_only=True)
    names = [[f.on_disk for f in PURPOSES["thin"].code(form(S, "f8"))] for S in (sr.min_plus, left)]
    assert not left.commutative and [len(set(given)) for given in names] == [2, 4]


def test_objects_need_nothing() -> None:
    sr.warmup(sr.why, sr.regex, sparse=True)


def test_without_numba_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("semiring.warming.has_numba", lambda: False)
    with pytest.raises(sr.SemiringError, match="install numba"):
        sr.warmup(sr.min_plus)


def test_what_cannot_be_compiled_is_refused() -> None:
    with pytest.raises(sr.SemiringError, match="did you mean 'min_plus'"):
        sr.warmup("min_pluss")
    with pytest.raises(sr.SemiringError, match="are not dtypes"):
        sr.warmup(sr.min_plus, dtypes="float65")
    with pytest.raises(sr.SemiringError):
        sr.warmup(sr.bitset_may, dtypes="f8")


def test_a_first_call_compiles_no_sooner_for_it() -> None:
    """`always` ends with the call."""
    with price.always():
        assert price.when() == "always"
    assert not price._always.get()
