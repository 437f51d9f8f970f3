"""Factors on a GPU that NumPy plays give what those on the host give: rows, parts, blocks, measures, new weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gpu.host import Array
from solvers.sparse.test_elimination_gpu import gpu, roads

import semiring as sr
from semiring.solvers.paths import measures
from semiring.solvers.sparse import on_gpus
from semiring.solvers.sparse.substitution import stable_closure

__all__ = ["gpu"]


@pytest.fixture
def pair(gpu: Any) -> tuple[Any, Any]:
    gpu("min_plus")
    return sr.factor(roads(), sr.min_plus, device="gpu"), sr.factor(roads(), sr.min_plus)


def same(found: Any, expected: Any) -> bool:
    """Of tables, which are in the host's memory."""
    return type(found.to_numpy()) is np.ndarray and bool((found.to_numpy() == expected.to_numpy()).all())


def test_rows_blocks_and_closures(pair: tuple[Any, Any], tmp_path: Any) -> None:
    there, here = pair
    assert isinstance(there.row(3), Array) and (there.row(3) == here.row(3)).all()
    assert (there.rows([5, 1, 5], reflexive=False) == here.rows([5, 1, 5], reflexive=False)).all()
    assert same(there.rows([5, 1], targets=[7, 0]), here.rows([5, 1], targets=[7, 0]))
    assert (there.closure() == here.closure()).all()
    for (v, block), (w, other) in zip(there.blocks(50), here.blocks(50), strict=True):
        assert (v == w).all() and (block == other).all()
    assert (there.save(tmp_path / "d.npy") == here.closure()).all()
    assert there.path(3, 50) == here.path(3, 50)
    sources, targets = np.random.default_rng(0).integers(0, here.n, (2, 70))
    assert there.weight(3, 50) == here.weight(3, 50) and type(there.weight(3, 50)) is float
    assert type(there.weight(sources, 5)) is np.ndarray
    assert (there.weight(sources, targets) == here.weight(sources, targets)).all()
    assert same(there.table([3, 9], [50]), here.table([3, 9], [50]))
    with pytest.raises(sr.SemiringError, match="labels are of factors on the CPU"):
        there.labels()
    assert there.nbytes > 0 and "on the GPU" in there._way(np.arange(1), None)


def test_new_weights_on_the_same_edges(pair: tuple[Any, Any]) -> None:
    there, here = pair
    weights = np.arange(len(roads().data), dtype=float) % 7
    assert (there.refactor(weights).closure() == here.refactor(weights).closure()).all()


def test_reductions(pair: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    there, here = pair
    for _ in range(2):
        assert there.reduce("mean") == pytest.approx(here.reduce("mean"))
        assert (there.reduce("eccentricities") == here.reduce("eccentricities")).all()
        for bins in (7, [0.0, 10.0, 20.0, 1000.0]):
            pairs = zip(there.reduce("histogram", bins=bins), here.reduce("histogram", bins=bins), strict=True)
            assert all((found == expected).all() for found, expected in pairs)
        for found, expected in zip(there.reduce("nearest", k=4), here.reduce("nearest", k=4), strict=True):
            assert (found == expected).all()
        monkeypatch.setattr(measures, "summaries", lambda _: None)  # by rows instead
        monkeypatch.setattr(on_gpus, "BLOCK_BYTES", 8 * 120 * 7)
    sizes: list[int] = []

    def farthest(vertices: np.ndarray, rows: Any) -> Any:
        assert isinstance(rows, Array)
        sizes.append(len(rows))
        return rows.max(axis=1)

    assert (there.reduce(farthest) == here.reduce(lambda v, rows: rows.max(axis=1))).all()
    assert max(sizes) == 7


def test_rounding_that_looks_like_a_cycle_is_settled(gpu: Any) -> None:
    gpu("min_plus")
    w = 0.1 + 0.2
    edges = [("a", "b", w), ("b", "a", -0.3)]  # their sum is a rounding away from nothing
    there, here = (sr.factor(sr.as_graph(edges), sr.min_plus, device=d) for d in ("gpu", "cpu"))
    assert np.allclose(there.closure().to_numpy(), here.closure().to_numpy())


def test_a_dense_closure_answers_where_factors_are_unstable(pair: tuple[Any, Any]) -> None:
    there, here = pair
    there._by.closed = there._by.engine.put(there.lowering, stable_closure(there._A))
    assert (there.rows([4, 2], reflexive=False) == here.rows([4, 2], reflexive=False)).all()
    assert same(there.rows([4, 2], targets=[1, 2]), here.rows([4, 2], targets=[1, 2]))


def test_floats_stay_as_they_are(pair: tuple[Any, Any]) -> None:
    low = on_gpus.Gpus().lowering(pair[0]._A, room=True)
    assert low.is_identity and low.dtype == np.float64 and on_gpus.tile_of(low) == 16
