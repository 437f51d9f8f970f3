"""Which calls come here if the call does not name the backend."""

from __future__ import annotations

from inspect import signature
from typing import Any

import networkx as nx
import pytest

from semiring.networkx_backend import interface
from semiring.networkx_backend.graph import convert_from_nx
from semiring.networkx_backend.info import FUNCTIONS
from semiring.networkx_backend.worth import can_run, should_run, work

LARGE = nx.gnm_random_graph(300, 900, seed=1)
LARGE_DIRECTED = nx.gnm_random_graph(6000, 12000, seed=1, directed=True)
SMALL = nx.path_graph(4)


def test_every_function_has_a_limit_and_the_arguments_that_must_be_absent() -> None:
    for name, function in FUNCTIONS.items():
        assert function.least > 0 and set(function.absent) <= set(signature(getattr(nx, name).orig_func).parameters)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if not FUNCTIONS[name].converted])
def test_large_graphs_come_here_and_small_ones_do_not(name: str) -> None:
    large = LARGE_DIRECTED if FUNCTIONS[name].least > 5e5 or name.startswith("dag") else LARGE
    assert should_run(name, (large,), {}) is True
    assert should_run(name, (SMALL,), {}) == "the graph is small"


def test_work_counts_each_direction_once() -> None:
    assert work("diameter", SMALL) == 4 * (4 + 6) and work("descendants", SMALL) == 10
    assert work("diameter", convert_from_nx(SMALL)) == 40


def test_one_search_is_worth_it_on_a_graph_that_was_converted() -> None:
    G = LARGE_DIRECTED.copy()
    assert "not converted" in str(should_run("descendants", (G, 0), {}))
    nx.descendants(G, 0, backend="semiring")
    assert should_run("descendants", (G, 0), {}) is True
    G.add_edge(0, "new")
    assert "not converted" in str(should_run("descendants", (G, 0), {}))


@pytest.mark.parametrize(("name", "given"), [(name, what) for name, each in FUNCTIONS.items() for what in each.absent])
def test_what_is_given_and_is_not_for_us(name: str, given: str) -> None:
    G = LARGE_DIRECTED if "dag" in name else LARGE
    options = {given: dict.fromkeys(G, 1)}
    assert str(can_run(name, (G,), options)).startswith(f"{given} is given: ")
    assert can_run(name, (G,), {}) is True
    with pytest.raises(NotImplementedError):
        getattr(interface, name)(convert_from_nx(G), **options)


def test_other_arguments_that_are_not_for_us() -> None:
    assert "usebounds" in str(can_run("radius", (SMALL,), {"usebounds": True}))
    assert can_run("radius", (SMALL.to_directed(),), {"usebounds": True}) is True
    assert "undirected" in str(can_run("transitive_closure", (SMALL,), {}))
    assert "method" in str(can_run("average_shortest_path_length", (SMALL,), {"method": "floyd-warshall"}))
    for name, G, options in (("radius", SMALL, {"usebounds": True}), ("transitive_closure", SMALL, {}),
                             ("average_shortest_path_length", SMALL, {"method": "floyd-warshall"})):
        with pytest.raises(NotImplementedError):
            getattr(interface, name)(convert_from_nx(G), **options)


def test_the_priority_sends_large_graphs_here(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    own = interface.diameter
    monkeypatch.setattr(interface, "diameter", lambda G, *args, **options: calls.append(G) or own(G, *args, **options))
    with nx.config.backend_priority(algos=["semiring"]):
        assert nx.diameter(SMALL) == 3 and not calls
        G = nx.path_graph(200)
        assert nx.diameter(G) == 199 and len(calls) == 1
        nx.set_edge_attributes(G, {edge: (2, 2.5)[edge[0] % 2] for edge in G.edges}, "weight")
        assert nx.diameter(G, weight="weight") == 447.5, "NetworkX's own, after a call that was declined"
