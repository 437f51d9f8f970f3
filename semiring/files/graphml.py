"""Graphs from GraphML.

U. Brandes, M. Eiglsperger, I. Herman, M. Himsolt, M. S. Marshall: GraphML progress report (2002).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from semiring.errors import GraphError
from semiring.graphs.columns import in_records
from semiring.graphs.edges import MISSING, Columns, attribute_weights
from semiring.graphs.graph import Graph, as_graph
from semiring.graphs.texts import quoted, shown
from semiring.graphs.weights import as_weights

from .notes import noted, renamed
from .numerals import CANONICAL, integer, number
from .streams import about, fail
from .text import Options

APART = "\f"  # between a namespace and a name: no character of XML
WHOLE = ("int", "long")
TRUTH = {"true": True, "1": True, "false": False, "0": False}
DIRECTIONS = {"directed": True, "undirected": False}


@dataclass
class _Key:
    """An attribute that edges may have."""

    name: str
    type: str
    default: Any = MISSING


@dataclass
class _Parser:
    """What was read so far; expat calls `start`, `end` and `text`."""

    path: Path
    options: Options
    line: Callable[[], int]
    keys: dict[str, _Key] = field(default_factory=dict)
    nodes: dict[str, int] = field(default_factory=dict)
    ends: list[tuple[str, str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    weights: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])  # of each edge, by attribute
    attributes: set[str] = field(default_factory=set)
    directed: bool | None = None
    open: list[str] = field(default_factory=list)  # the elements that one is in
    key: _Key | None = None  # that a <key> declares, or whose value a <data> holds
    parts: list[str] | None = None  # of the text that is wanted

    @property
    def wanted(self) -> tuple[Any, ...]:
        """The attributes that hold weights."""
        weight = self.options.weight
        return tuple(weight) if isinstance(weight, (list, tuple)) else (weight,)

    def fail(self, found: str, expected: str) -> NoReturn:
        fail(self.path, self.line(), found, expected)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(APART)[2]
        within = self.open[-1] if self.open else None
        if within is None and name != "graphml":
            self.fail(f"<{shown(name)}>", "<graphml>")
        self.open.append(name)
        if len(self.open) > 1 and self.parts is not None:
            self.fail(f"<{shown(name)}> within a value", "text")
        if name == "key" and within == "graphml":
            self._key(attributes)
        elif name == "graph":
            self._graph(attributes)
        elif name == "node" and within == "graph":
            self._node(attributes)
        elif name == "edge" and within == "graph":
            self._edge(attributes)
        elif name == "hyperedge":
            self.fail("a <hyperedge>", "edges between two vertices")
        elif name == "data" and within == "edge":
            self._data(attributes)
        elif name == "default" and within == "key" and self.key is not None:
            self.parts = []

    def end(self, tag: str) -> None:
        name = self.open.pop()
        if self.parts is not None and self.key is not None:
            text = "".join(self.parts).strip(" \t\r\n")
            if name == "default":
                self.key.default = self._value(text, self.key)
            else:
                self.weights[-1][self.key.name] = self._value(text, self.key)
            self.parts = None
        if name in ("key", "data") and self.parts is None and name != "default":
            self.key = None

    def text(self, part: str) -> None:
        if self.parts is not None:
            self.parts.append(part)

    def _attribute(self, attributes: dict[str, str], name: str, of: str) -> str:
        if name not in attributes:
            self.fail(f"<{of}> without {name}=", f"<{of} {name}=…>")
        return attributes[name]

    def _key(self, attributes: dict[str, str]) -> None:
        if attributes.get("for", "all") not in ("edge", "all"):
            return
        label = self._attribute(attributes, "id", "key")
        if label in self.keys:
            self.fail(f"a second key {quoted(label)}", "another id=")
        key = _Key(attributes.get("attr.name", label), attributes.get("attr.type", "string"))
        if key.name in (known.name for known in self.keys.values()) and key.name in self.wanted:
            self.fail(f"a second attribute {quoted(key.name)}", "one attribute of weights")
        self.keys[label] = key
        self.attributes.add(key.name)
        self.key = key if key.name in self.wanted else None

    def _graph(self, attributes: dict[str, str]) -> None:
        if self.open[-2:] != ["graphml", "graph"] or len(self.open) > 2:
            self.fail("a graph within a graph", "one graph")
        if self.directed is not None:
            self.fail("a second graph", "one graph")
        default = attributes.get("edgedefault")
        if default not in DIRECTIONS:
            self.fail(f"edgedefault={quoted(default)}", "'directed' or 'undirected'")
        self.directed = DIRECTIONS[default]

    def _node(self, attributes: dict[str, str]) -> None:
        name = self._attribute(attributes, "id", "node")
        if name in self.nodes:
            self.fail(f"a second node {quoted(name)}", "another id=")
        self.nodes[name] = self.line()

    def _edge(self, attributes: dict[str, str]) -> None:
        source, target = (self._attribute(attributes, end, "edge") for end in ("source", "target"))
        way = attributes.get("directed", str(self.directed).lower())
        if TRUTH.get(way) is not self.directed:
            both = "a graph whose edges are all directed or all undirected"
            self.fail(f"an edge with directed={quoted(way)}", f"{both}, as edgedefault= says")
        self.ends.append((source, target))
        self.lines.append(self.line())
        self.weights.append({})

    def _data(self, attributes: dict[str, str]) -> None:
        label = self._attribute(attributes, "key", "data")
        if label not in self.keys:
            self.fail(f"a value of {quoted(label)}", "the id of a <key> for edges above the graph")
        key = self.keys[label]
        if key.name not in self.wanted:
            return
        if key.name in self.weights[-1]:
            self.fail(f"a second {quoted(key.name)} of an edge", "one")
        self.key, self.parts = key, []

    def _value(self, text: str, key: _Key) -> Any:
        """A weight as the type of its key says; a number where that says "string"."""
        if key.type == "boolean":
            if text.lower() not in TRUTH:
                self.fail(f"the weight {quoted(text)}", "true or false")
            return TRUTH[text.lower()]
        whole = integer(text)
        value = whole if whole is not None and key.type not in ("float", "double") else number(text)
        if value is None or value != value or (key.type in WHOLE and whole is None):
            self.fail(f"the weight {quoted(text)}", "an integer of 64 bits" if key.type in WHOLE else "a number")
        return value


def read_graphml(path: Path, data: bytes, options: Options) -> Graph:
    found = _parsed(path, data, options)
    if found.directed is None:
        raise GraphError(f"{shown(path)} is not GraphML: it has no <graph> in <graphml>")
    for (source, target), line in zip(found.ends, found.lines, strict=True):
        for name in (source, target):
            if name not in found.nodes:
                fail(path, line, f"an edge of {quoted(name)}", "the id of a <node>")
    sources, targets = [a for a, _ in found.ends], [b for _, b in found.ends]
    with about(str(path)):
        columns = [_weights(found, sources, targets, name) for name in found.wanted]
        ends = (np.array(end, dtype=object) for end in (sources, targets))
        weights: tuple[Any, ...] = tuple(column for column in columns if column is not None)
        if isinstance(options.weight, (list, tuple)):
            if len(weights) < len(columns):
                raise GraphError("no edge has the attribute 'weight'; several weights are named one by one")
            weights = (in_records(options.weight, list(map(as_weights, weights))),)
        graph = as_graph((*ends, *weights), directed=found.directed and options.one_way, names=list(found.nodes))
    if options.names is str:
        return graph
    note = noted(path, data)
    return _with_integer_names(graph) if note is None else renamed(path, graph, note)


def _weights(found: _Parser, sources: list[str], targets: list[str], name: Any) -> list[Any] | None:
    """An attribute of all edges; None where they have no weights."""
    default = next((key.default for key in found.keys.values() if key.name == name), MISSING)
    weights = [edge.get(name, default) for edge in found.weights]
    columns = Columns(sources, targets, weights, len(found.nodes), list(found.nodes))
    made: list[Any] | None = attribute_weights(columns, name, None, lambda: sorted(found.attributes)).weights
    return made


def _parsed(path: Path, data: bytes, options: Options) -> _Parser:
    from xml.parsers import expat

    parser = expat.ParserCreate(namespace_separator=APART)
    found = _Parser(path, options, lambda: parser.CurrentLineNumber)
    parser.buffer_text = True
    parser.StartElementHandler = found.start
    parser.EndElementHandler = found.end
    parser.CharacterDataHandler = found.text

    def refuse_entity(name: str, *more: Any) -> None:
        found.fail(f"an entity {quoted(name)}", "GraphML without entities of its own")

    parser.EntityDeclHandler = refuse_entity
    try:
        parser.Parse(data, True)
    except expat.ExpatError as e:
        reason = expat.ErrorString(e.code)
        raise GraphError(f"{shown(path)}, line {e.lineno}: {reason}; expected GraphML") from None
    except GraphError:
        raise
    except (LookupError, ValueError) as e:  # of encodings that Python does not know, or that have many bytes a letter
        raise GraphError(f"{shown(path)}: {shown(e)}; write it in UTF-8") from None
    return found


def _with_integer_names(graph: Graph) -> Graph:
    """Names that are all integers as integers, and as positions if they are 0 … n − 1."""
    names = graph.names or []
    if not all(CANONICAL.fullmatch(name) and integer(name) is not None for name in names):
        return graph
    integers = list(map(int, names))
    if set(integers) != set(range(graph.n)):
        return dataclasses.replace(graph, names=integers)
    position = np.array(integers, dtype=np.int64)
    return dataclasses.replace(graph, sources=position[graph.sources], targets=position[graph.targets], names=None)
