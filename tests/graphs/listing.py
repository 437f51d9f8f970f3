"""What the tests of graphs and files share: edges as tuples, and errors by what they say."""

from __future__ import annotations

import re

import pytest

import semiring as sr

NAMED = [("a", "b", 4.0), ("b", "c", 0.0), ("a", "b", 3.0), ("c", "c", 1.5)]


def listed(graph: sr.Graph) -> list[tuple]:
    """The edges of a graph as tuples."""
    name = int if graph.names is None else graph.names.__getitem__
    weights = [None] * len(graph) if graph.weights is None else graph.weights.tolist()
    return [(name(a), name(b), w) for a, b, w in zip(graph.sources, graph.targets, weights, strict=True)]


def refused(message: str, error: type[Exception] = sr.GraphError) -> pytest.RaisesExc:
    """What is raised says this."""
    return pytest.raises(error, match=re.escape(message))
