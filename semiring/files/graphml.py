"""Graphs from GraphML, and matrices to it.

U. Brandes, M. Eiglsperger, I. Herman, M. Himsolt, M. S. Marshall: GraphML progress report (2002).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn
from xml.sax.saxutils import quoteattr

from semiring.errors import GraphError
from semiring.graphs.columns import MISSING
from semiring.graphs.graph import Graph
from semiring.graphs.matrix import Matrix
from semiring.graphs.texts import quoted, shown

from .attributes import Listing
from .format import Options
from .notes import comment
from .numerals import integer, number
from .streams import fail, utf8
from .writers import edges_of, has_infinity, texts_of

APART = "\f"  # between a namespace and a name; XML cannot contain it
WHOLE = ("int", "long")
NUMBERS = (*WHOLE, "float", "double")
TRUTH = {"true": True, "1": True, "false": False, "0": False}
HEXADECIMAL = re.compile(r"[-+]?0x[0-9a-f]+(\.[0-9a-f]*)?(p[-+]?[0-9]+)?", re.IGNORECASE)  # as C prints %a
UNKNOWN = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # characters that XML does not have
DIRECTIONS = {"directed": True, "undirected": False}


@dataclass
class _Key:
    """An attribute that edges may have."""

    name: str
    type: str
    default: Any = MISSING


@dataclass
class _Parser:
    """The state of reading; expat calls `start`, `end` and `text`."""

    path: Path
    options: Options
    line: Callable[[], int]
    keys: dict[str, _Key] = field(default_factory=dict)
    nodes: dict[str, int] = field(default_factory=dict)
    ends: list[tuple[str, str]] = field(default_factory=list)
    one_way: list[bool] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    weights: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])  # for each edge, by attribute
    attributes: set[str] = field(default_factory=set)
    directed: bool | None = None  # in the outermost graph
    chosen: tuple[Any, ...] = ()  # the attributes whose values are read
    defaults: list[bool] = field(default_factory=list[bool])  # of the open graphs
    open: list[str] = field(default_factory=list)  # the open elements
    key: _Key | None = None  # of the open <key> or <data>
    parts: list[str] | None = None  # of the text of a value; None outside of values

    @property
    def wanted(self) -> tuple[Any, ...]:
        """The attributes that may hold weights: those asked for, or all numbers if none is called weight."""
        weight = self.options.weight
        if weight == "weight" and weight not in self.attributes:
            return tuple(dict.fromkeys(key.name for key in self.keys.values() if key.type in NUMBERS))
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
        if name == "graph":
            self.defaults.pop()
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
        """A graph; a nested one holds the members of a group, which join the same graph."""
        within = self.open[-2:-1]
        if within not in (["graphml"], ["node"]):
            found = "a graph within an edge" if within == ["edge"] else "a graph in the wrong place"
            self.fail(found, "a graph in <graphml> or <node>")
        if within == ["graphml"] and self.directed is not None:
            self.fail("a second graph", "one graph")
        default = attributes.get("edgedefault")
        if default not in DIRECTIONS:
            self.fail(f"edgedefault={quoted(default)}", "'directed' or 'undirected'")
        self.defaults.append(DIRECTIONS[default])
        if self.directed is None:
            self.directed, self.chosen = DIRECTIONS[default], self.wanted

    def _node(self, attributes: dict[str, str]) -> None:
        name = self._attribute(attributes, "id", "node")
        if name in self.nodes:
            self.fail(f"a second node {quoted(name)}", "another id=")
        self.nodes[name] = self.line()

    def _edge(self, attributes: dict[str, str]) -> None:
        source, target = (self._attribute(attributes, end, "edge") for end in ("source", "target"))
        way = attributes.get("directed", str(self.defaults[-1]).lower())
        if way not in TRUTH:
            self.fail(f"an edge with directed={quoted(way)}", "true or false")
        self.one_way.append(TRUTH[way])
        self.ends.append((source, target))
        self.lines.append(self.line())
        self.weights.append({})

    def _data(self, attributes: dict[str, str]) -> None:
        label = self._attribute(attributes, "key", "data")
        if label not in self.keys:
            self.fail(f"a value of {quoted(label)}", "the id of a <key> for edges above the graph")
        key = self.keys[label]
        if key.name not in self.chosen:
            return
        if key.name in self.weights[-1]:
            self.fail(f"a second {quoted(key.name)} of an edge", "one")
        self.key, self.parts = key, []

    def _value(self, text: str, key: _Key) -> Any:
        """A weight of its key's type; a number for "string"."""
        if key.type == "boolean":
            if text.lower() not in TRUTH:
                self.fail(f"the weight {quoted(text)}", "true or false")
            return TRUTH[text.lower()]
        whole = integer(text)
        value = whole if whole is not None and key.type not in ("float", "double") else number(text)
        if HEXADECIMAL.fullmatch(text) and key.type not in WHOLE:
            value = _from_hexadecimal(text)
        if value is None or value != value or (key.type in WHOLE and whole is None):
            self.fail(f"the weight {quoted(text)}", "an integer of 64 bits" if key.type in WHOLE else "a number")
        return value


def read_graphml(path: Path, data: bytes, options: Options) -> Graph:
    found = _parsed(path, data, options)
    if found.directed is None:
        raise GraphError(f"{shown(path)} is not GraphML: it has no <graph> in <graphml>")
    place = {name: k for k, name in enumerate(found.nodes)}
    for ends, line in zip(found.ends, found.lines, strict=True):
        for name in ends:
            if name not in place:
                fail(path, line, f"an edge of {quoted(name)}", "the id of a <node>")
    sources, targets = ([place[ends[k]] for ends in found.ends] for k in (0, 1))
    defaults = {key.name: key.default for key in found.keys.values()}
    listing = Listing(list(place), sources, targets, found.one_way, found.weights, found.attributes, found.directed,
                      defaults)
    return listing.graph(path, data, options, from_texts=True)


def _from_hexadecimal(text: str) -> float | None:
    """The float in hexadecimal spelling; None if it is too large."""
    try:
        return float.fromhex(text)
    except OverflowError:
        return None


def _parsed(path: Path, data: bytes, options: Options) -> _Parser:
    from xml.parsers import expat

    parser = expat.ParserCreate(namespace_separator=APART)
    found = _Parser(path, options, lambda: parser.CurrentLineNumber)
    parser.buffer_text = True
    parser.StartElementHandler = found.start
    parser.EndElementHandler = found.end
    parser.CharacterDataHandler = found.text

    def refuse_entity(name: str, *more: Any) -> None:
        found.fail(f"an entity {quoted(name)}", "GraphML without entity declarations")

    parser.EntityDeclHandler = refuse_entity
    try:
        parser.Parse(data, True)
    except expat.ExpatError as e:
        reason = expat.ErrorString(e.code)
        raise GraphError(f"{shown(path)}, line {e.lineno}: {reason}; expected GraphML") from None
    except GraphError:
        raise
    except (LookupError, ValueError) as e:  # from unknown or multi-byte encodings
        raise GraphError(f"{shown(path)}: {shown(e)}: save it as UTF-8") from None
    return found


def write_graphml(path: Path, M: Matrix) -> None:
    names = texts_of(path, M, "GraphML", UNKNOWN.search)
    ids = list(map(quoteattr, map(str, range(M.n)) if names is None else map(str, names)))
    kind = "double" if M.dtype.kind == "f" or has_infinity(M) else "long"
    edge = "    <edge source={} target={}><data key=\"weight\">{}</data></edge>\n"
    with utf8(path) as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        file.write(f"<!--{comment(M, names)}-->\n")
        file.write('<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
        if M.dtype.kind != "b":
            file.write(f'  <key id="weight" for="edge" attr.name="weight" attr.type="{kind}"/>\n')
        file.write('  <graph edgedefault="directed">\n')
        file.writelines(f"    <node id={name}/>\n" for name in ids)
        for u, v, weight in edges_of(path, M, "GraphML", 2**63 - 1):
            if weight is None:
                file.write(f"    <edge source={ids[u]} target={ids[v]}/>\n")
            else:
                file.write(edge.format(ids[u], ids[v], repr(weight).upper().replace("E", "e")))
        file.write("  </graph>\n</graphml>\n")
