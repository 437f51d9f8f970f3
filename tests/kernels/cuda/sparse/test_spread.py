"""Factors on several GPUs that NumPy plays: each has them all, and gives some of the rows, columns and summaries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gpu.played_fronts import ALGEBRAS, VALUES, forget_kernels, graph, played

import semiring as sr
from semiring.algorithms.sparse.analysis import analyse
from semiring.algorithms.sparse.elimination import close_front
from semiring.kernels.cuda.choose import general_on_device
from semiring.kernels.cuda.compile.program import program
from semiring.kernels.cuda.sparse import fronts, spread
from semiring.kernels.cuda.sparse.front_structure import Structure
from semiring.kernels.cuda.sparse.fronts import DeviceFronts
from semiring.kernels.cuda.sparse.pieces import geometry
from semiring.kernels.cuda.sparse.spread import SpreadFronts


@pytest.fixture(autouse=True)
def forget() -> Any:
    """What was played is not kept for other tests."""
    yield
    forget_kernels()


@pytest.mark.parametrize("devices", [(0,), (0, 1), (2, 1, 0), (3, 0, 1, 2)])
@pytest.mark.parametrize("name", ALGEBRAS)
@pytest.mark.parametrize(("n", "degree"), [(0, 0.0), (3, 1.0), (97, 1.5)])
def test_it_is_as_one_gpu(
    monkeypatch: pytest.MonkeyPatch, name: str, n: int, degree: float, devices: tuple[int, ...]
) -> None:
    host = played(monkeypatch, name, 4)
    monkeypatch.setattr(spread, "ALONE", 1)
    monkeypatch.setattr(fronts, "SLAB", 8 * 97 * 5)  # rows that are sent together
    A, S = graph(n, degree, n, VALUES[name]), sr.catalogue[name]
    analysis = analyse(A.indptr.astype(np.int64), A.indices.astype(np.int64))
    low = general_on_device(S, np.dtype("f8"))
    text = program(low)
    tile = geometry(text.size, text.light).TILE
    host.number = devices[0]
    one, several = DeviceFronts(Structure(analysis, tile), low), SpreadFronts(
        devices, lambda: DeviceFronts(Structure(analysis, tile), low))
    for engine in (one, several):
        assert engine.factor(host.array(A.data), close_front) == -1
    assert several.nbytes == len(devices) * one.nbytes and (several.pivots == one.pivots).all()
    assert several.analysis is analysis and several.lowering is low
    rng = np.random.default_rng(n)
    sources, ends = rng.integers(0, max(n, 1), 2 * n // 3), rng.permutation(n)[: n // 3]
    for options in ({}, {"settled": S.has_unit_stars}, {"reflexive": False}, {"ends": ends},
                    {"targets": rng.permutation(len(sources))}, {"targets": np.arange(len(sources))}):
        found, expected = (host.empty((len(sources), len(ends) if "ends" in options else n)) for _ in range(2))
        several.rows(sources, found, **options)
        one.rows(sources, expected, **options)
        assert (found == expected).all(), options
    for width in (0, 1, 7):
        B = VALUES[name](rng, n * width).reshape(n, width)
        found, expected = host.array(B), host.array(B.copy())
        several.columns(found)
        one.columns(expected)
        assert (found == expected).all()
    assert (several.summaries() == one.summaries()).all()
    places = np.arange(n)[: n // 4]
    for engine in (one, several):
        engine.settle(places)
    for part in several.parts:
        assert (part.pivots == one.pivots).all()


def test_the_first_vertex_without_a_star_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    host = played(monkeypatch, "plus_times", 2)
    A = graph(30, 1.0, 1, VALUES["plus_times"])
    A.setdiag(2.0)
    A = A.tocsr()
    analysis = analyse(A.indptr.astype(np.int64), A.indices.astype(np.int64))
    low = general_on_device(sr.plus_times, np.dtype("f8"))
    engine, told = SpreadFronts((0, 1), lambda: DeviceFronts(Structure(analysis, 16), low)), []
    assert engine.factor(host.array(A.data), close_front, told.append) == 0
    assert told == sorted(told) and told[0] == 0


def test_others_eliminate_when_they_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Again for new weights, and once however much is asked."""
    host = played(monkeypatch, "min_plus", 3)
    A = graph(50, 1.5, 1, VALUES["min_plus"])
    analysis = analyse(A.indptr.astype(np.int64), A.indices.astype(np.int64))
    low, made = general_on_device(sr.min_plus, np.dtype("f8")), []

    def make() -> DeviceFronts:
        made.append(DeviceFronts(Structure(analysis, 16), low))
        return made[-1]

    engine, eliminated = SpreadFronts((0, 1, 2), make), []
    factor = DeviceFronts.factor
    monkeypatch.setattr(DeviceFronts, "factor", lambda self, *given: eliminated.append(self) or factor(self, *given))
    for weights in (A.data, A.data + 1):
        eliminated.clear()
        engine.factor(host.array(weights), close_front)
        engine.rows(np.arange(9), host.empty((9, 50)))
        assert len(eliminated) == 1, "few rows are the first GPU's"
        for _ in range(2):
            engine.summaries()
        assert len(eliminated) == len(made) == 3 and {id(x) for x in eliminated} == {id(x) for x in made}


def test_few_things_are_left_to_some(monkeypatch: pytest.MonkeyPatch) -> None:
    host = played(monkeypatch, "min_plus", 3)
    A = graph(5, 1.0, 1, VALUES["min_plus"])
    analysis = analyse(A.indptr.astype(np.int64), A.indices.astype(np.int64))
    low = general_on_device(sr.min_plus, np.dtype("f8"))
    engine = SpreadFronts(range(host.count), lambda: DeviceFronts(Structure(analysis, 16), low))
    assert engine.shares(5) == [slice(0, 1), slice(1, 3), slice(3, 5)]
    assert engine.shares(5, 2) == [slice(0, 2), slice(2, 5), slice(5, 5)]
    assert engine.shares(5, 9) == [slice(0, 5), slice(5, 5), slice(5, 5)]
    assert engine.shares(0, 9) == [slice(0, 0)] * 3
    assert engine.shares(9, 2, 2) == [slice(0, 4), slice(4, 9), slice(9, 9)]
