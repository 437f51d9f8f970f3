"""Graphs from GML and Pajek, by NetworkX's readers.

M. Himsolt: GML, a portable graph file format (1997); V. Batagelj, A. Mrvar: Pajek, reference manual.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from semiring.errors import GraphError, SemiringError
from semiring.graphs.columns import in_records
from semiring.graphs.graph import Graph, as_graph
from semiring.graphs.texts import quoted, shown

from .notes import noted, renamed
from .numerals import number
from .streams import about, fail, text_of
from .text import WORD, Options

VERTICES = re.compile(r"\s*\*vertices\s+([0-9]+)", re.IGNORECASE)


def _networkx(path: Path, what: str) -> Any:
    try:
        import networkx
    except ImportError:
        raise SemiringError(f"{shown(path)}: {what} is read by NetworkX: pip install networkx") from None
    return networkx


def read_gml(path: Path, data: bytes, options: Options) -> Graph:
    networkx = _networkx(path, "GML")
    # NetworkX takes ASCII, and for all other characters what XML writes
    text = text_of(path, data).encode("ascii", "xmlcharrefreplace").decode("ascii")
    lines = text.splitlines()
    labels = re.search(r"\blabel\b", text) is not None
    found = _parsed(path, "GML", lambda: networkx.parse_gml(lines, label="label" if labels else "id"))
    return _graph(path, data, found, options)


def read_pajek(path: Path, data: bytes, options: Options) -> Graph:
    networkx = _networkx(path, "Pajek")
    text = text_of(path, data)
    raw = text.split("\n" if "\n" in text else "\r")  # a label in quotes may hold the other one
    lines = _plain_pajek(path, raw, options)
    found = _parsed(path, "Pajek", lambda: networkx.parse_pajek(lines))
    line, n = next(((at, int(m[1])) for at, each in enumerate(raw, 1) if (m := VERTICES.match(each))), (1, None))
    if n is None:
        fail(path, line, "no vertices", "'*Vertices N' above the edges")
    if n != len(found):
        fail(path, line, f"{n} vertices with {len(found)} different labels", "a label of its own for each vertex")
    return _graph(path, data, found, options)


def _plain_pajek(path: Path, given: list[str], options: Options) -> list[str]:
    """The lines of a file, without the sections that have none, if NetworkX reads them as they are meant.

    Its reader takes all that follows *Arcs or *Edges for edges of that one kind, *Arcslist for *Arcs, an end that is
    not the number of a vertex for a label, and leaves out the weights and the lines that it does not understand.
    """
    lines: list[str] = []
    kept = ""  # the section with edges
    opened = section = ""  # the heading that waits for its first edge, and the one that lines stand under
    numbers: set[str] = set()
    vertices = 0  # lines of vertices still to come
    for line, raw in enumerate(given, 1):
        words = WORD.findall(raw)
        if vertices:
            vertices -= 1
            numbers.update(words[:1])
        elif found := VERTICES.match(raw):
            vertices, section = int(found[1]), ""
        elif words and words[0].lower().startswith(("*arcs", "*edges")):
            opened = section = words[0]
            heading = raw
            continue
        elif section and words:
            if words[0].startswith("*"):
                fail(path, line, quoted(words[0]), f"nothing behind the lines of {shown(section)}")
            if opened:
                if kept or section.lower() not in ("*arcs", "*edges"):
                    fail(path, line, f"lines of {quoted(section)}", "one list of edges, *Arcs or *Edges")
                lines.append(heading)
                kept, opened = section, ""
            if len(words) < 2 or not numbers.issuperset(words[:2]):
                fail(path, line, quoted(raw.strip()), "the numbers of two vertices, and perhaps a weight")
            if options.weight is not None and len(words) > 2 and number(words[2].strip('"')) is None:
                fail(path, line, f"the weight {quoted(words[2])}", "a number that 64 bits hold")
        lines.append(raw.rstrip("\r"))
    return lines if kept or not section else [*lines, heading]


def _parsed(path: Path, what: str, parse: Any) -> Any:
    try:
        return parse()
    except Exception as e:  # a damaged file makes these readers raise nearly anything
        raise GraphError(f"{shown(path)} is not {what} that NetworkX reads: {shown(e) or type(e).__name__}") from None


def _graph(path: Path, data: bytes, found: Any, options: Options) -> Graph:
    """A graph of NetworkX's, whose vertices are called as the file says."""
    several = isinstance(options.weight, (list, tuple))
    with about(str(path)):
        graph = as_graph(found, weight=None if several else options.weight)
        if isinstance(options.weight, (list, tuple)):
            columns = [as_graph(found, weight=name).weights for name in options.weight]
            for name, column in zip(options.weight, columns, strict=True):
                if column is None:
                    raise GraphError(f"no edge has the attribute {quoted(name)}")
            graph = replace(graph, weights=in_records(options.weight, columns))
    note = noted(path, data)
    if note is not None:
        graph = renamed(path, graph, note)
    if options.names is str:
        graph = replace(graph, names=[str(name) for name in graph.names or range(graph.n)])
    return replace(graph, directed=graph.directed and options.one_way)
