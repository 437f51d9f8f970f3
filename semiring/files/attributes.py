"""Graphs of formats that list vertices, and edges with attributes: GraphML, GML and Pajek."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from semiring.errors import GraphError
from semiring.graphs.columns import MISSING, attribute_weights, in_records, only_attribute
from semiring.graphs.graph import Graph
from semiring.graphs.weights import as_weights

from .format import Options
from .notes import noted, renamed
from .numerals import CANONICAL, integer
from .streams import about


@dataclass
class Listing:
    """The vertices and edges of a file, with attributes."""

    vertices: list[Any]  # their names
    sources: list[int]  # positions
    targets: list[int]
    one_way: list[bool]  # for each edge
    attributes: list[dict[str, Any]]  # for each edge; those that may hold weights
    known: set[str]  # all attributes of edges
    directed: bool = True  # if there are no edges
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def graph(self, path: Path, data: bytes, options: Options, *, from_texts: bool = False) -> Graph:
        """Return the graph. If only some edges are directed, the others go each way.

        Parameters
        ----------
        path, data, options
            As for a reader.
        from_texts : bool
            Names were read as texts; if all are integers, they become integers.
        """
        with about(str(path)):
            weights = self._weights(options)
            sources, targets = np.array(self.sources, np.int64), np.array(self.targets, np.int64)
            one_way = np.array(self.one_way, bool)
            directed = options.one_way and bool(one_way.any() if len(one_way) else self.directed)
            if directed and not one_way.all():
                back = np.flatnonzero(~one_way & (sources != targets))
                sources, targets = np.append(sources, targets[back]), np.append(targets, sources[back])
                weights = None if weights is None else np.append(weights, weights[back])
            graph = Graph(sources, targets, len(self.vertices), weights, self.vertices, directed)
        note = noted(path, data)
        if note is not None and options.label is None:
            graph = renamed(path, graph, note)
        elif options.names is not str:
            graph = _counted(graph, from_texts)
        if options.names is str:
            graph = replace(graph, names=list(map(str, range(graph.n) if graph.names is None else graph.names)))
        return graph

    def _weights(self, options: Options) -> np.ndarray | None:
        if options.weight == "weight" and "weight" not in self.known:
            given = {name: value for name, value in self.defaults.items() if value is not MISSING}
            return self._column(only_attribute(({**given, **edge} for edge in self.attributes), "weight"))
        if not isinstance(options.weight, (list, tuple)):
            return self._column(options.weight)
        columns = [self._column(name) for name in options.weight]
        for name, column in zip(options.weight, columns, strict=True):
            if column is None:
                raise GraphError(f"no edge has the attribute {name!r}: pass only names of attributes in weight=")
        return in_records(options.weight, columns)

    def _column(self, name: Any) -> np.ndarray | None:
        """An attribute of all edges; None if there are no weights."""
        if name is None:
            return None
        values = [edge.get(name, self.defaults.get(name, MISSING)) for edge in self.attributes]
        sources, targets = ([self.vertices[v] for v in end] for end in (self.sources, self.targets))
        found = attribute_weights((sources, targets), values, name, None, lambda: sorted(self.known))
        return None if found is None else as_weights(found)


def _counted(graph: Graph, from_texts: bool) -> Graph:
    """Use integer names as positions if they are 0 … n − 1."""
    names = graph.names or []
    if from_texts:
        if not all(CANONICAL.fullmatch(name) and integer(name, high=2**64 - 1) is not None for name in names):
            return graph
        names = list(map(int, names))
    if not all(type(name) is int for name in names):
        return graph
    if set(names) != set(range(graph.n)):
        return replace(graph, names=names)
    position = np.array(names, dtype=np.int64)
    return replace(graph, sources=position[graph.sources], targets=position[graph.targets], names=None)
