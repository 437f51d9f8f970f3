"""The metadata of the backend."""

from __future__ import annotations

import networkx as nx

from semiring.networkx_backend.info import FUNCTIONS, get_info


def test_networkx_knows_the_backend() -> None:
    info = get_info()
    assert nx.utils.backends.backend_info["semiring"] == info
    assert info["backend_name"] == info["package"] == "semiring"
    assert all(function.note.endswith(".") for function in FUNCTIONS.values())


def test_the_documentation_of_a_function_says_what_differs() -> None:
    assert "in the order of distance" in nx.all_pairs_dijkstra_path_length.__doc__
