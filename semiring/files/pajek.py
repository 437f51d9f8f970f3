"""Graphs from Pajek, and matrices to it.

V. Batagelj, A. Mrvar: Pajek, reference manual.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from semiring.errors import GraphError
from semiring.graphs.edges import MANY_VERTICES, NUMBERS_PER_END
from semiring.graphs.graph import Graph
from semiring.graphs.matrix import Matrix
from semiring.graphs.texts import quoted, shown

from .arrays import edges_in, refuse_absent
from .attributes import Listing
from .format import Options
from .notes import comment
from .numerals import integer
from .streams import BLANKS, WORD, fail, text_of, utf8, vertices_from_one, weight_of
from .writers import EXACT, edges_of, texts_of

HEADING = re.compile(r"\*([A-Za-z0-9]+)\s*(:\s*[0-9]+)?")
VERTEX = re.compile(rf'[{BLANKS}]*[0-9]+[{BLANKS}]*(?:"((?:[^"\\]|\\.)*)"|"([^"]*)"|([^{BLANKS}]+))?', re.DOTALL)
ESCAPED = re.compile(r'\\(["\\])')
UNQUOTABLE = re.compile("[\n\0]")
SECTIONS = "*Arcs, *Edges, *Arcslist, *Edgeslist or *Matrix"
ONE_WAY = {"arcs": True, "arcslist": True, "matrix": True, "edges": False, "edgeslist": False}


@dataclass
class _Network:
    """The state of reading."""

    path: Path
    options: Options
    n: int = -1  # vertices; -1 before *Vertices
    rows: int = 0  # vertices of the first mode, if there are two modes
    heading: int = 0  # the line of *Vertices
    section: str = ""
    relation: str = ""  # the number after a heading, as in *Arcs :1
    kept: str | None = None  # the relation of the edges
    labels: dict[int, tuple[str, int]] = field(default_factory=dict)  # by vertex, with the line
    ends: list[tuple[int, int]] = field(default_factory=list)
    one_way: list[bool] = field(default_factory=list)
    weights: list[dict[str, Any]] = field(default_factory=list)
    cells: list[float] = field(default_factory=list)
    last: tuple[int, bool] = (0, True)  # the line and the direction of the last section of edges

    def head(self, line: int, bare: str) -> None:
        found = HEADING.match(bare)
        word = "" if found is None else found[1].lower()
        if word == "network" and self.n < 0:
            return
        if word == "vertices":
            if self.n >= 0:
                fail(self.path, line, "a second '*Vertices'", "one network")
            self._vertices(line, bare)
        elif found is None or word not in ONE_WAY:
            fail(self.path, line, quoted(bare.split()[0]), f"one network: *Vertices, and then {SECTIONS}")
        elif self.n < 0:
            fail(self.path, line, "no vertices", "'*Vertices N' above the edges")
        else:
            self.relation = (found[2] or "").replace(" ", "")
            self.last = line, ONE_WAY[word] and not (word == "matrix" and self.rows)
        self.section = word

    def _vertices(self, line: int, bare: str) -> None:
        sizes = [integer(word, 0) for word in bare.split()[1:]]
        if len(sizes) not in (1, 2) or None in sizes or (sizes[-1] or 0) > (sizes[0] or 0):
            fail(self.path, line, quoted(bare), "'*Vertices N', or '*Vertices N FIRST' for two modes")
        self.n, self.heading = sizes[0] or 0, line
        self.rows = (sizes[1] or 0) % max(self.n, 1) if len(sizes) == 2 else 0

    def row(self, line: int, raw: str) -> None:
        words = [word.strip('"') for word in WORD.findall(raw)]
        if not self.section:
            fail(self.path, line, quoted(raw.strip(BLANKS)), "'*Vertices N'" if self.n < 0 else SECTIONS)
        if self.section == "vertices":
            (vertex,) = vertices_from_one(self.path, line, words[:1], self.n)
            if vertex in self.labels:
                fail(self.path, line, f"vertex {vertex} again, after line {self.labels[vertex][1]}", "a line for each")
            found = VERTEX.match(raw)
            label, plain, bare = found.groups() if found else (None, None, None)
            text = ESCAPED.sub(r"\1", label) if label is not None else plain if plain is not None else bare
            self.labels[vertex] = (str(vertex) if text is None else text), line
            return
        if self.kept not in (None, self.relation):
            fail(self.path, line, f"a second relation {quoted(self.relation)}", "the edges of one relation: remove "
                                                                                "the others")
        self.kept = self.relation
        if self.section == "matrix":
            self.cells.extend(weight_of(self.path, line, word) for word in words)
            return
        several = self.section.endswith("list")
        if len(words) < 2:
            fail(self.path, line, quoted(raw.strip(BLANKS)), "the numbers of two vertices" + ", and perhaps a weight" *
                 (not several))
        source, *targets = vertices_from_one(self.path, line, words if several else words[:2], self.n)
        heavy = not several and self.options.weight is not None and len(words) > 2
        weight = {"weight": weight_of(self.path, line, words[2])} if heavy else {}
        for target in targets:
            self.ends.append((source, target))
            self.one_way.append(ONE_WAY[self.section])
            self.weights.append(weight)

    def take_matrix(self) -> None:
        """The entries of a matrix as edges."""
        height, width = (self.rows, self.n - self.rows) if self.rows else (self.n, self.n)
        if len(self.cells) != height * width:
            fail(self.path, self.last[0], f"a matrix of {len(self.cells)} numbers", f"{height} rows of {width}")
        matrix = np.array(self.cells).reshape(height, width)
        present = edges_in(self.path, matrix, self.options)
        for i, j in np.argwhere(present).tolist():
            self.ends.append((i + 1, j + 1 + self.rows))
            self.one_way.append(not self.rows)
            self.weights.append({"weight": float(matrix[i, j])})

    def names(self) -> list[Any]:
        """The names of vertices: their labels, or their numbers if they have no labels."""
        label = self.options.label
        if label not in (None, "id", "label"):
            raise GraphError(f"{shown(self.path)}: vertices of Pajek have no {quoted(label)}: pass label=\"id\" to "
                             "call them by their numbers, label=\"label\" by their labels")
        if len(self.labels) < self.n and self.n > max(MANY_VERTICES, NUMBERS_PER_END
                                                           * (len(self.labels) + 2 * len(self.ends))):
            fail(self.path, self.heading, f"{self.n} vertices, but lines for {len(self.labels)}", "a line for each")
        if label == "id" or not self.labels:
            return list(range(1, self.n + 1))
        names = [self.labels.get(v, (str(v), self.heading)) for v in range(1, self.n + 1)]
        seen: dict[str, int] = {}
        for name, line in names:
            if name in seen:
                fail(self.path, max(line, seen[name]), f"a second vertex called {quoted(name)}",
                     'different labels; pass label="id" to call vertices by their numbers')
            seen[name] = line
        return [name for name, _ in names]


def read_pajek(path: Path, data: bytes, options: Options) -> Graph:
    text = text_of(path, data)
    found = _Network(path, options)
    for line, raw in _lines(text.split("\n" if "\n" in text else "\r")):  # a quoted label may contain the other one
        bare = raw.strip(BLANKS)
        if bare.startswith("*"):
            found.head(line, bare)
        else:
            found.row(line, raw.rstrip("\r"))
    if found.n < 0:
        fail(path, 1, "no vertices", "'*Vertices N' above the edges")
    if options.absent is not None and found.section != "matrix":
        refuse_absent(path, "a list of edges")
    if found.cells or (found.section == "matrix" and found.n):
        found.take_matrix()
    sources, targets = ([ends[k] - 1 for ends in found.ends] for k in (0, 1))
    listing = Listing(found.names(), sources, targets, found.one_way, found.weights, {"weight"}, found.last[1])
    return listing.graph(path, data, options)


def _lines(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Numbered lines without empty lines and comments (after %, or between /* and */)."""
    commented = 0  # the last line of a comment
    for line, raw in enumerate(lines, 1):
        bare = raw.strip(BLANKS)
        if line <= commented or not bare or bare.startswith("%"):
            continue
        if bare.startswith("/*"):
            more = range(line, len(lines) + 1)
            commented = next((at for at in more if "*/" in lines[at - 1]), line)  # without an end it is one line
            continue
        yield line, raw


def write_pajek(path: Path, M: Matrix) -> None:
    names = texts_of(path, M, "Pajek", UNQUOTABLE.search)
    with utf8(path) as file:
        file.write(f"% {comment(M, names)}\n*Vertices {M.n}\n")
        for i in range(M.n):
            label = str(i if names is None else names[i]).replace("\\", "\\\\").replace('"', '\\"')
            file.write(f'{i + 1} "{label}"\n')
        file.write("*Arcs\n")
        for u, v, weight in edges_of(path, M, "Pajek", EXACT):
            file.write(f"{u + 1} {v + 1}\n" if weight is None else f"{u + 1} {v + 1} {weight!r}\n")
