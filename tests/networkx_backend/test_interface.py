"""What NetworkX sees: entry points, a light import, every name, conversions that are kept and dropped."""

from __future__ import annotations

import inspect
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from semiring.networkx_backend import interface
from semiring.networkx_backend.info import FUNCTIONS

PROJECT = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_entry_points_lead_somewhere() -> None:
    points = PROJECT["entry-points"]
    assert import_module(points["networkx.backends"]["semiring"]) is interface
    module, name = points["networkx.backend_info"]["semiring"].split(":")
    assert set(getattr(import_module(module), name)()["functions"]) == set(FUNCTIONS)
    assert "semiring" in nx.utils.backends.backends, "the installed package has other entry points: install it anew"


def test_importing_networkx_loads_next_to_nothing() -> None:
    code = ("import sys, networkx\nassert 'semiring' in networkx.utils.backends.backend_info\n"
            "print([m for m in sys.modules if m.partition('.')[0] in ('semiring', 'numba', 'llvmlite', 'cupy', 'numpy',"
            " 'scipy')])")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert eval(done.stdout) == ["semiring.algebra", "semiring.algebra.verbs", "semiring", "semiring.networkx_backend",
                                 "semiring.networkx_backend.info"]


def test_every_function_is_one_of_networkx() -> None:
    for name in FUNCTIONS:
        assert "semiring" in getattr(nx, name).backends, name
        wanted = inspect.signature(getattr(nx, name).orig_func).parameters
        own = inspect.signature(getattr(interface, name)).parameters
        assert [(p.name, p.default) for p in own.values()] == [(p.name, p.default) for p in wanted.values()], name
    public = {name for name in vars(interface) if not name.startswith("_")} - {"annotations"}
    assert public == {*FUNCTIONS, "convert_from_nx", "convert_to_nx", "can_run", "should_run"}


CHANGES: list[Any] = [
    lambda G: G.add_edge(0, 3, weight=1),
    lambda G: G.remove_edge(1, 2),
    lambda G: G.add_node(9),
    lambda G: G.remove_node(3),
    lambda G: G.add_weighted_edges_from([(0, 1, 9)]),
    lambda G: nx.set_edge_attributes(G, 4, "weight"),
    lambda G: G.clear_edges(),
    lambda G: G[0][1].update(weight=7),  # which NetworkX is not told of
    lambda G: G[0][1].clear(),
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_graph_has_other_lengths(change: Any) -> None:
    G = nx.path_graph(5, create_using=nx.DiGraph)
    nx.set_edge_attributes(G, 2, "weight")
    for _ in range(2):
        before = dict(nx.all_pairs_dijkstra_path_length(G, backend="semiring"))
    assert G.__networkx_cache__["backends"]["semiring"], "the conversion is kept"
    change(G)
    after = dict(nx.all_pairs_dijkstra_path_length(G, backend="semiring"))
    assert after != before
    assert after == dict(nx.all_pairs_dijkstra_path_length(G, backend="networkx"))


def test_conversions_are_not_kept_where_people_say_so() -> None:
    G = nx.path_graph(5)
    with nx.config(cache_converted_graphs=False):
        nx.wiener_index(G, backend="semiring")
    assert not G.__networkx_cache__.get("backends")


def test_a_view_and_a_frozen_graph() -> None:
    G = nx.gnm_random_graph(12, 30, seed=2, directed=True)
    for H in (G.subgraph(range(7)), G.reverse(copy=False), nx.freeze(G.copy()), G.to_undirected(as_view=True)):
        for name in ("all_pairs_shortest_path_length", "floyd_warshall"):
            own, wanted = (getattr(nx, name)(H, backend=backend) for backend in ("semiring", "networkx"))
            assert dict(own) == dict(wanted)
