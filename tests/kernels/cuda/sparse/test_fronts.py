"""Elimination by levels on the GPU: kernels played by NumPy against those of the host."""

from __future__ import annotations

import random
import sys
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from gpu.host import Array, Host
from gpu.played_fronts import ALGEBRAS, VALUES, forget_kernels, graph, played

import semiring as sr
from semiring.algorithms.sparse.analysis import analyse
from semiring.algorithms.sparse.elimination import close_front
from semiring.kernels.build import element_kernel
from semiring.kernels.cuda.choose import general_on_device
from semiring.kernels.cuda.compile.program import program
from semiring.kernels.cuda.sparse import front_code, fronts
from semiring.kernels.cuda.sparse.front_structure import Structure
from semiring.kernels.cuda.sparse.fronts import NONE, DeviceFronts, memory_of
from semiring.kernels.cuda.sparse.pieces import geometry
from semiring.kernels.lowering.general import general
from semiring.kernels.numpy.fronts import ArrayFronts

inf = np.inf
@pytest.fixture(autouse=True)
def forget() -> Any:
    """What was played is not kept for other tests."""
    yield
    forget_kernels()


def eliminated(host: Host, name: str, A: Any, order: str = "auto") -> tuple[DeviceFronts, ArrayFronts]:
    S = sr.catalogue[name]
    analysis = analyse(A.indptr.astype(np.int64), A.indices.astype(np.int64), method=order)
    low, plain = general_on_device(S, np.dtype("f8")), general(S, np.dtype("f8")).interpreted
    text = program(low)
    there = DeviceFronts(Structure(analysis, geometry(text.size, text.light).TILE), low)
    here = ArrayFronts(analysis, plain, element_kernel(plain, "fronts"))
    assert there.factor(host.array(A.data), close_front) == -1 == here.factor(A.data, close_front)
    return there, here


@pytest.mark.parametrize("shared", [fronts.SHARED, (600,), (8,)])
@pytest.mark.parametrize("name", ALGEBRAS)
@pytest.mark.parametrize(("n", "degree"), [(1, 0.0), (6, 1.0), (60, 1.5), (90, 3.0)])
def test_rows_and_columns_are_the_hosts(
    monkeypatch: pytest.MonkeyPatch, name: str, n: int, degree: float, shared: tuple[int, ...]
) -> None:
    host = played(monkeypatch, name)
    monkeypatch.setattr(fronts, "SHARED", shared)  # so that some fronts, or all, are large
    A = graph(n, degree, n, VALUES[name])
    there, here = eliminated(host, name, A)
    S, rng = sr.catalogue[name], np.random.default_rng(n)
    assert np.allclose(there.pivots, here.pivots)
    assert there.nbytes <= memory_of(there.analysis, 8)[0]
    sources, ends = rng.integers(0, n, n // 2 + 1), rng.permutation(n)[: n // 3 + 1]
    targets = rng.permutation(len(sources))
    for options in ({}, {"settled": S.has_unit_stars}, {"reflexive": False}, {"targets": targets},
                    {"ends": ends}, {"ends": ends, "reflexive": False}):
        width = len(ends) if "ends" in options else n
        found, expected = (host.empty((len(sources), width)) for _ in range(2))
        there.rows(sources, found, **options)
        here.rows(sources, expected, **options)
        assert np.allclose(found, expected), options
    B = VALUES[name](rng, n * 5).reshape(n, 5)
    X, expected = host.array(B), B.copy()
    there.columns(X)
    here.columns(expected)
    assert np.allclose(X, expected)


def test_many_right_hand_sides_go_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    host = played(monkeypatch, "min_plus")
    A = graph(150, 1.5, 0, VALUES["min_plus"])
    there, here = eliminated(host, "min_plus", A)
    monkeypatch.setattr(fronts, "SLAB", 150 * 8 * 70)  # 70 at once, in whole blocks of threads
    found, expected = host.empty((150, 150)), np.empty((150, 150))
    there.rows(np.arange(150), found, settled=True)
    here.rows(np.arange(150), expected, settled=True)
    assert (found == expected).all()
    B = VALUES["min_plus"](np.random.default_rng(1), 150 * 300).reshape(150, 300)
    X = host.array(B)
    there.columns(X)
    here.columns(B)
    assert (X == B).all()


@pytest.mark.parametrize("seed", range(6))
def test_a_chunk_is_found_while_the_last_one_is_written(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Whatever the order in which the two streams get on, for calls that follow each other."""
    host = played(monkeypatch, "min_plus")
    A = graph(200, 1.3, 0, VALUES["min_plus"])
    there, here = eliminated(host, "min_plus", A)
    monkeypatch.setattr(fronts, "SLAB", 200 * 8 * 60)  # for three buffers, of 64 rows each
    host.order = random.Random(seed)
    for sources in (np.arange(200), np.arange(200)[::-2]):
        found, expected = host.empty((len(sources), 200)), np.empty((len(sources), 200))
        there.rows(sources, found, settled=True)
        here.rows(sources, expected, settled=True)
        assert (np.array(found.get()) == expected).all()


@pytest.mark.parametrize(("total", "expected"), [(80 << 30, 4 << 30), (16 << 30, 1 << 30)])
def test_small_devices_have_fewer_right_hand_sides_together(
    total: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = played(monkeypatch, "min_plus")
    there, _ = eliminated(host, "min_plus", graph(150, 1.5, 0, VALUES["min_plus"]))
    monkeypatch.setattr(fronts, "total_memory", lambda: total)
    assert fronts.slab() == expected
    monkeypatch.setattr(fronts, "SHARE", total // (150 * 8 * 70))  # 70 rows fit, in whole blocks of threads
    assert there._together(10**6) == there._padded(70)
    assert memory_of(there.analysis, 8)[1] >= 2 * 150 * 8 * 70


def test_summaries_are_those_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    host = played(monkeypatch, "min_plus")
    there, here = eliminated(host, "min_plus", graph(80, 1.1, 5, VALUES["min_plus"]))
    D = np.empty((80, 80))
    here.rows(np.arange(80), D, settled=True)
    D[np.arange(80), np.arange(80)] = inf
    there_are = inf > D
    expected = np.stack([np.where(there_are, D, 0).sum(1), there_are.sum(1), D.min(1),
                         np.where(there_are, D, -inf).max(1)], axis=1)
    assert (there.summaries() == expected).all()


@pytest.mark.parametrize("kept", [0, 1 << 20])
def test_chunks_of_a_range_are_kept_unless_they_are_large(monkeypatch: pytest.MonkeyPatch, kept: int) -> None:
    """Whatever stream asks next, with whatever weights."""
    host = played(monkeypatch, "min_plus")
    A = graph(150, 1.5, 0, VALUES["min_plus"])
    there, _ = eliminated(host, "min_plus", A)
    expected = there.summaries()
    monkeypatch.setattr(fronts, "SLAB", 150 * 8 * 20)  # 20 at once, in whole blocks of threads
    monkeypatch.setattr(fronts, "KEPT", kept)
    made, make = [], DeviceFronts._chunk
    monkeypatch.setattr(DeviceFronts, "_chunk", lambda *given: made.append(make(*given)) or made[-1])
    there.structure.range = None
    for weights in (1, 1, 2):
        there.factor(host.array(weights * A.data), close_front)
        host.order = random.Random(weights)
        assert (there.summaries() == expected * [weights, 1, weights, weights]).all()
    once = len(made) // (1 if kept else 3)
    assert once > 1 and sum(chunk.count for chunk in made[:once]) == 150
    assert (there.summarised(20, 150) == there.summaries()[np.argsort(there.analysis.place)][20:]).all()


def test_a_vertex_without_a_star_is_the_first_one(monkeypatch: pytest.MonkeyPatch) -> None:
    host = played(monkeypatch, "plus_times")
    A = sp.csr_array(np.diag([0.5, 2.0, 0.25, 3.0]))
    analysis = analyse(A.indptr.astype(np.int64), A.indices.astype(np.int64))
    F = DeviceFronts(Structure(analysis, 16), general_on_device(sr.plus_times, np.dtype("f8")))
    assert F.factor(host.array(A.data), close_front) == min(analysis.place[[1, 3]])
    assert analysis.n < NONE


def test_pivots_can_be_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    host = played(monkeypatch, "min_plus")
    there, _ = eliminated(host, "min_plus", graph(40, 2.0, 3, VALUES["min_plus"]))
    places = there.structure.pivot_at[[3, 7]]
    there._panels[places] = -1.0
    assert (there.pivots == 0).sum() == 38
    there.settle(np.array([3, 7]))
    assert (there.pivots == 0).all()


def test_progress_is_told_by_heights(monkeypatch: pytest.MonkeyPatch) -> None:
    host = played(monkeypatch, "min_plus")
    A = graph(200, 2.0, 1, VALUES["min_plus"])
    analysis = analyse(A.indptr.astype(np.int64), A.indices.astype(np.int64))
    F, told = DeviceFronts(Structure(analysis, 16), general_on_device(sr.min_plus, np.dtype("f8"))), []
    F.factor(host.array(A.data), close_front, told.append)
    assert told[0] == 0 and told == sorted(told) and len(told) == F.structure.height.max() + 1


def test_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    host = played(monkeypatch, "min_plus")
    for n in (0, 3):
        there, _ = eliminated(host, "min_plus", sp.csr_array((n, n), dtype=float))
        none = np.empty(0, np.int64)
        for options in ({}, {"reflexive": False}, {"ends": none}, {"ends": none, "reflexive": False}):
            there.rows(none, host.empty((0, 0 if "ends" in options else n)), **options)
        there.columns(host.empty((n, 0)))
        assert there.summaries().shape == (n, 4)


def test_large_fronts_are_compiled_for_before_any_is_eliminated(monkeypatch: pytest.MonkeyPatch) -> None:
    host = played(monkeypatch, "min_plus")
    asked: list[Any] = []
    monkeypatch.setattr(fronts, "SHARED", (600,))
    monkeypatch.setattr(fronts, "begin_large", lambda low, sizes: asked.append(sizes))
    there, _ = eliminated(host, "min_plus", graph(60, 2, 1, VALUES["min_plus"]))
    large = there.structure.order * ((there.structure.order | 1) + 2 * front_code.TOGETHER) * 8 > 600
    assert len(asked) == 1 and len(asked[0]) == large.sum() > 0
    assert [s + u for s, u in asked[0]] == there.structure.order[large].tolist()


def test_the_first_closure_compiles_no_kernel_of_cupys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes a moment to compile: copies are the driver's, and all else is of the text."""
    host = played(monkeypatch, "min_plus")
    monkeypatch.setattr(fronts, "SHARED", (600,))
    compiles: list[str] = []

    def noted(name: str) -> Any:
        known = getattr(Array, name)

        def call(self: Any, *given: Any, **options: Any) -> Any:
            caller = sys._getframe(1).f_code.co_filename
            if "kernels/cuda" in caller and "tests" not in caller and not _is_basic(name, given):
                compiles.append(f"{name} in {caller}:{sys._getframe(1).f_lineno}")
            return known(self, *given, **options)

        return call

    for name in ("__setitem__", "__getitem__", "astype", "fill", "__array_ufunc__", "__array_function__"):
        monkeypatch.setattr(Array, name, noted(name))
    A = graph(60, 2, 1, VALUES["min_plus"])
    there, here = eliminated(host, "min_plus", A)
    out = host.empty((60, 60))
    there.rows(np.arange(60), out)
    wanted = np.empty((60, 60))
    here.rows(np.arange(60), wanted)
    assert (np.array(there.pivots) == here.pivots).all() and (np.array(out) == wanted).all()
    assert compiles == []


def _is_basic(name: str, given: tuple[Any, ...]) -> bool:
    """Whether this is a view, which is made without a kernel."""
    if name != "__getitem__":
        return False
    return all(isinstance(i, (int, slice, type(None), type(...))) for i in
               (given[0] if isinstance(given[0], tuple) else given[:1]))
