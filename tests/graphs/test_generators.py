"""Random graphs: what each kind promises, that a seed decides all, and what is refused."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

import semiring as sr
from semiring.graphs.generators import KINDS, Stream, random_graph

MADE: dict[str, tuple[dict[str, Any], str]] = {
    "degree": ({"n": 1000, "degree": (2, 6), "weights": (1, 10)}, "c989d04f"),
    "one degree": ({"n": 1000, "degree": 3}, "27f1e064"),
    "any degree": ({"n": 30, "degree": (0, 29)}, "08540d6d"),
    "few pairs": ({"n": 1000, "p": 0.01}, "8f455581"),
    "most pairs": ({"n": 1000, "p": 0.9, "weights": (0.0, 1.0)}, "0726e3ae"),
    "rmat": ({"n": 1000, "kind": "rmat"}, "733e7c48"),
    "grid": ({"n": 1000, "kind": "grid"}, "058897b9"),
    "geometric": ({"n": 1000, "kind": "geometric"}, "c6b0e48e"),
    "planar": ({"n": 1000, "kind": "planar"}, "d0366fc1"),
}


def digest(graph: sr.Graph) -> str:
    parts = [graph.sources, graph.targets, *([] if graph.weights is None else [graph.weights])]
    return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()[:8]


@pytest.mark.parametrize("name", MADE)
def test_a_seed_gives_the_same_bits_everywhere(name: str) -> None:
    arguments, expected = MADE[name]
    assert digest(random_graph(**arguments)) == digest(random_graph(**arguments, seed=0)) == expected
    if name != "grid":
        assert digest(random_graph(**arguments, seed=1)) != expected


@settings(max_examples=60)
@given(n=st.integers(0, 40), kind=st.sampled_from(KINDS), seed=st.integers(0, 1000), data=st.data())
def test_edges_are_neither_loops_nor_parallel(n: int, kind: str, seed: int, data: st.DataObject) -> None:
    arguments: dict[str, Any] = {}
    if kind == "uniform" and data.draw(st.booleans()):
        arguments["p"] = data.draw(st.sampled_from([0, 0.1, 0.5, 0.9, 1.0]))
    elif kind == "uniform":
        high = data.draw(st.integers(0, max(n - 1, 0)))
        arguments["degree"] = (data.draw(st.integers(0, high)), high)
    G = random_graph(n, kind, **arguments, weights=(-3, 3), seed=seed)
    ends = np.stack([G.sources, G.targets], axis=1)
    assert G.n == n and (ends[:, 0] != ends[:, 1]).all()
    keys = ends if G.directed else np.sort(ends, axis=1)
    assert len(np.unique(keys, axis=0)) == len(ends)
    assert G.weights is not None and G.weights.dtype == np.int64 and (abs(G.weights) <= 3).all()
    if "degree" in arguments and n:
        counts = np.bincount(G.sources, minlength=n)
        low, high = arguments["degree"]
        assert counts.min() >= low and counts.max() <= high


def test_every_number_of_edges_and_every_end_is_as_likely() -> None:
    n = 20_000
    G = random_graph(n, degree=(1, 4), seed=3)
    counts = np.bincount(np.bincount(G.sources, minlength=n), minlength=5)
    assert counts[0] == 0 and (abs(counts[1:] - n / 4) < 5 * np.sqrt(n * 3 / 16)).all()
    ends = np.histogram(G.targets, 10, (0, n))[0]
    assert (abs(ends - len(G) / 10) < 5 * np.sqrt(len(G) / 10)).all()


@pytest.mark.parametrize(("n", "p"), [(3000, 0.002), (3000, 0.1), (1200, 0.6), (400, 0.99)])
def test_so_many_pairs_are_joined_as_is_likely(n: int, p: float) -> None:
    counts = np.bincount(random_graph(n, p=p, seed=5).sources, minlength=n)
    mean, deviation = (n - 1) * p, np.sqrt((n - 1) * p * (1 - p))
    assert abs(counts.mean() - mean) < 5 * deviation / np.sqrt(n)
    assert 0.9 * deviation < counts.std() < 1.1 * deviation


def test_rmat_favours_the_first_quarter() -> None:
    G = random_graph(1 << 12, "rmat", seed=1)
    half = 1 << 11
    first = np.mean((G.sources < half) & (G.targets < half))
    last = np.mean((G.sources >= half) & (G.targets >= half))
    assert first > 0.5 > 0.1 > last and G.directed and len(G) <= 16 << 12
    assert np.bincount(G.sources).max() > 20 * len(G) / G.n


@pytest.mark.parametrize("n", [1, 2, 9, 10, 12])
def test_a_grid_joins_what_is_beside_and_below(n: int) -> None:
    side = int(np.sqrt(n))
    edges = {(v, v + 1) for v in range(n - 1) if (v + 1) % side} | {(v, v + side) for v in range(n - side)}
    G = random_graph(n, "grid")
    assert set(zip(G.sources.tolist(), G.targets.tolist(), strict=True)) == edges and not G.directed


def test_points_are_joined_where_they_are_near() -> None:
    G = random_graph(4000, "geometric", degree=8, seed=2)
    assert G.weights is not None and G.weights.max() <= np.sqrt(8 / (np.pi * 4000))
    assert 7 < 2 * len(G) / G.n < 8  # at the border there are fewer


@pytest.mark.parametrize("degree", [2, 2.57, 4, 5.5])
def test_a_planar_graph_is_connected_and_has_its_degree(degree: float) -> None:
    n = 500
    G = random_graph(n, "planar", degree=degree, seed=4)
    matrix = csr_array((np.ones(len(G)), (G.sources, G.targets)), (n, n))
    assert connected_components(matrix, directed=False)[0] == 1
    assert 2 * len(G) / n == pytest.approx(degree, abs=0.05) and len(G) <= 3 * n - 6


def test_weights_are_whole_or_between() -> None:
    G = random_graph(500, degree=5, weights=(1, 3))
    assert set(np.asarray(G.weights).tolist()) == {1, 2, 3}
    H = random_graph(500, degree=5, weights=(1, 3.0))
    assert H.weights is not None and H.weights.dtype == float and 1 <= H.weights.min() < H.weights.max() < 3


@pytest.mark.parametrize(("arguments", "words"), [
    ({"n": -1, "degree": 1}, "n must be a whole number"), ({"n": 3}, "one of degree=.* and p"),
    ({"n": 3, "degree": 1, "p": 0.5}, "one of degree=.* and p"), ({"n": 3, "kind": "tree"}, "unknown kind .*uniform"),
    ({"n": 3, "kind": "grid", "degree": 2}, "grid does not take degree"),
    ({"n": 3, "kind": "rmat", "p": 0.1}, "does not take p"),
    ({"n": 3, "degree": (1, 3)}, "at most 2 others"), ({"n": 3, "degree": (2, 1)}, "greatest degree"),
    ({"n": 3, "degree": 1.5}, "least degree must be a whole"), ({"n": 3, "p": 1.5}, "p must be a number, from 0 to 1"),
    ({"n": 3, "p": True}, "p must be"), ({"n": 3, "degree": 1, "weights": 5}, "pair of numbers"),
    ({"n": 3, "degree": 1, "weights": (5, 1)}, "5 is more than 1"), ({"n": 3, "degree": 1, "seed": -1}, "seed"),
    ({"n": 3, "degree": 1, "weights": (0, np.inf)}, "weights must be a number, finite"),
    ({"n": 3, "degree": 1, "weights": (0, 1 << 40)}, "at most 2³¹ values"), ({"n": 3, "kind": 3}, "unknown kind"),
    ({"n": 3, "degree": 1, "weights": (1 << 62, 1 << 62)}, "within ±2⁶²"),
    ({"n": 3, "degree": 1, "weights": (0, 10**400)}, "weights must be a number"),
    ({"n": 3, "kind": "planar", "degree": 1}, "from 2 to 6"), ({"n": 3, "kind": "geometric", "degree": "x"}, "degree"),
])
def test_what_has_no_meaning_is_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(sr.SemiringError, match=words):
        random_graph(**arguments)


def test_a_stream_has_53_bits_below_one() -> None:
    unit = Stream(9).unit(1000, 2)
    assert unit.shape == (1000, 2) and unit.min() >= 0 and unit.max() < 1
    assert (unit * 2.0**53 == np.floor(unit * 2.0**53)).all()
    assert set(Stream(9).whole(3, 1000).tolist()) == {0, 1, 2}
