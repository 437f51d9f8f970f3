"""Graphs from GML, and matrices to it.

M. Himsolt: GML, a portable graph file format (1997).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.entities import html5
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from semiring.errors import GraphError
from semiring.graphs.graph import Graph
from semiring.graphs.matrix import Matrix
from semiring.graphs.texts import quoted, shown

from .attributes import Listing
from .format import Options
from .notes import comment
from .numerals import integer, number
from .streams import fail, text_of, utf8, weight_of
from .writers import edges_of, texts_of

TOKEN = re.compile(r'(?P<text>"[^"]*")|(?P<comment>#[^\r\n]*)|(?P<mark>[][])|(?P<word>[^][\s"]+)')
KEY = re.compile(r"[A-Za-z_]\w*")
REFERENCE = re.compile(r"&(?:#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]*));")
UNQUOTABLE = re.compile(r"\(\)|\[\]")  # NetworkX reads an empty tuple and an empty list
NUMBER_CHARACTERS = 4000  # characters of a number; Python refuses to read longer integers


class Pair(NamedTuple):
    """A key and its value: an integer, a float, a text or a list of pairs."""

    key: str
    value: Any
    line: int


def read_gml(path: Path, data: bytes, options: Options) -> Graph:
    pairs = _parsed(path, text_of(path, data))
    graphs = [pair for pair in pairs if pair.key == "graph" and isinstance(pair.value, list)]
    if not graphs:
        raise GraphError(f"{shown(path)} is not GML: it has no 'graph [ … ]'")
    if len(graphs) > 1:
        fail(path, graphs[1].line, "a second graph", "one graph")
    parts: list[Pair] = graphs[0].value
    for pair in parts:
        if pair.key in ("node", "edge") and not isinstance(pair.value, list):
            fail(path, pair.line, f"{pair.key} {quoted(pair.value)}", f"'{pair.key} [ … ]'")
    nodes = [pair for pair in parts if pair.key == "node"]
    edges = [pair for pair in parts if pair.key == "edge"]
    positions: dict[Any, int] = {}
    for node in nodes:
        name = _one(path, node, "id")
        if name in positions:
            fail(path, node.line, f"a second node with id {quoted(name)}", "another id")
        positions[name] = len(positions)
    directed = any(pair.key == "directed" and pair.value in (1, "1") for pair in parts)
    wanted = options.weight if isinstance(options.weight, (list, tuple)) else (options.weight,)
    found = Listing(called(path, nodes, list(positions), options), [], [], [directed] * len(edges), [], set(), directed)
    for edge in edges:
        for key, ends in (("source", found.sources), ("target", found.targets)):
            end = _one(path, edge, key)
            if end not in positions:
                fail(path, edge.line, f"an edge of {quoted(end)}", "the id of a node")
            ends.append(positions[end])
        keys = {pair.key for pair in edge.value}
        found.known |= keys - {"source", "target"}
        found.attributes.append({key: _weight(path, edge, key) for key in wanted if key in keys})
    if options.weight == "weight" and "weight" not in found.known:  # the only attribute of numbers may be the weight
        found.attributes = [{pair.key: pair.value for pair in edge.value if pair.key not in ("source", "target")}
                            for edge in edges]
    return found.graph(path, data, options)


def called(path: Path, nodes: list[Pair], ids: list[Any], options: Options) -> list[Any]:
    """The names of vertices: the attribute that the caller names, or their labels, or their ids."""
    key = options.label or "label"
    have = [any(pair.key == key for pair in node.value) for node in nodes]
    if (options.label in (None, "label") and not any(have)) or key == "id":
        return ids
    hint = 'pass label="id" to use ids as names'
    if not all(have):
        at = have.index(False)
        fail(path, nodes[at].line, f"node {quoted(ids[at])} without {quoted(key)}, although others have it",
             f"one for each node; {hint}")
    names = [_one(path, node, key) for node in nodes]
    seen: dict[str, Pair] = {}
    for name, node in zip(names, nodes, strict=True):
        first = seen.setdefault(str(name), node)
        if first is not node:
            fail(path, node.line, f"a second node with {key} {quoted(name)}, after line {first.line}",
                 f"different names; {hint}")
    if len({type(name) for name in names}) > 1:  # "7" and 7 are different, so all become texts
        names = list(map(str, names))
    return names


def _one(path: Path, of: Pair, key: str) -> Any:
    """The value of a key that must occur once."""
    values = [pair for pair in of.value if pair.key == key]
    if not values:
        fail(path, of.line, f"{of.key} without {key}", f"'{of.key} [ {key} … ]'")
    if len(values) > 1:
        fail(path, values[1].line, f"a second {quoted(key)} of {of.key}", "one")
    if isinstance(values[0].value, list):
        fail(path, values[0].line, f"a list for {quoted(key)}", "a number or a text")
    return values[0].value


def _weight(path: Path, edge: Pair, key: str) -> int | float:
    """A weight; some programs write it as a text."""
    value = _one(path, edge, key)
    text = str(value).strip()
    whole = integer(text)
    return weight_of(path, edge.line, text) if whole is None else whole


def _parsed(path: Path, text: str) -> list[Pair]:
    """The pairs outside of brackets; lists are nested in them, without recursion."""
    open_lists: list[tuple[str, int, list[Pair]]] = [("", 1, [])]
    key, line = "", 1
    for kind, token, line in _tokens(path, text):
        if kind == "mark" and token == "]":
            if key:
                fail(path, line, f"']' after {quoted(key)}", "a value")
            if len(open_lists) == 1:
                fail(path, line, "']'", "a key, as no '[' is open")
            name, first, pairs = open_lists.pop()
            open_lists[-1][2].append(Pair(name, pairs, first))
        elif not key:
            if kind != "word" or not KEY.fullmatch(token):
                fail(path, line, quoted(token), "a key")
            key = token
        elif token == "[" and kind == "mark":
            open_lists.append((key, line, []))
            key = ""
        else:
            value = REFERENCE.sub(_character, token[1:-1]) if kind == "text" else _number(path, line, key, token)
            open_lists[-1][2].append(Pair(key, value, line))
            key = ""
    if key or len(open_lists) > 1:
        fail(path, line, "the end of the file", f"a value of {quoted(key)}" if key else
             f"']' for '{open_lists[-1][0]} [' in line {open_lists[-1][1]}")
    return open_lists[0][2]


def _tokens(path: Path, text: str) -> Iterator[tuple[str, str, int]]:
    """The words, marks and texts of a file, each with its first line."""
    line, at = 1, 0
    ends = re.compile(r"\r\n?|\n")
    for found in TOKEN.finditer(text):
        between = text[at : found.start()]
        line += len(ends.findall(between))
        if between.strip():  # only a quotation mark begins no token
            _unclosed(path, line)
        kind, token = found.lastgroup or "", found[0]
        if kind != "comment":
            yield kind, token, line
        line += len(ends.findall(token)) if kind == "text" else 0
        at = found.end()
    if text[at:].strip():
        _unclosed(path, line)


def _unclosed(path: Path, line: int) -> NoReturn:
    fail(path, line, "a text without an end", "'\"' at its end")


def _character(found: re.Match[str]) -> str:
    """The character of a reference by number or name; unchanged if there is no such character."""
    decimal, hexadecimal, name = found.groups()
    if name:
        return html5.get(f"{name};", found[0])
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return chr(code) if code < 0xD800 or 0xDFFF < code < 0x110000 else found[0]


def _number(path: Path, line: int, key: str, token: str) -> int | float:
    if len(token) <= NUMBER_CHARACTERS:
        if re.fullmatch(r"[-+]?[0-9]+", token):
            return int(token)
        value = number(token)
        if value is not None:
            return value
    fail(path, line, f"{key} {quoted(token)}", "a number, a text in quotation marks or a list")


def write_gml(path: Path, M: Matrix) -> None:
    names = texts_of(path, M, "GML", UNQUOTABLE.fullmatch)
    with utf8(path) as file:
        file.write(f"# {comment(M, names)}\ngraph [\n  directed 1\n")
        for i in range(M.n):
            label = "" if names is None else f' label "{_in_ascii(str(names[i]))}"'
            file.write(f"  node [ id {i}{label} ]\n")
        for u, v, weight in edges_of(path, M, "GML", 2**63 - 1):
            shown_weight = "" if weight is None else f" weight {_gml_number(weight)}"
            file.write(f"  edge [ source {u} target {v}{shown_weight} ]\n")
        file.write("]\n")


def _in_ascii(text: str) -> str:
    """A text with characters beyond ASCII, & and quotation marks as references."""
    return re.sub(r'[^ -~]|[&"]', lambda found: f"&#{ord(found[0])};", text)


def _gml_number(weight: float) -> str:
    """A number as GML spells it: a point before the exponent."""
    text = repr(weight).upper().replace("INF", "+INF").replace("-+", "-")
    return text.replace("E", ".0E") if "E" in text and "." not in text else text
