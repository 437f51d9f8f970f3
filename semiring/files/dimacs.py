"""Graphs from DIMACS files of shortest paths, and matrices to them.

A line ``p sp n m``, and then m lines ``a source target weight``; vertices count from 1, and comments begin with c.

C. Demetrescu, A. V. Goldberg, D. S. Johnson: The shortest path problem, ninth DIMACS implementation challenge (2009).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from semiring.errors import GraphError, SemiringError
from semiring.graphs.graph import Graph
from semiring.graphs.matrix import Matrix
from semiring.graphs.texts import quoted, shown

from .format import Options
from .notes import comment
from .numerals import INTEGER, integer, integers, table
from .streams import BLANKS, WORD, fail, numbered_lines, text_of, utf8, vertices_from_one, weight_of
from .writers import EXACT, edges_of, entry_text


def read_dimacs(path: Path, data: bytes, options: Options) -> Graph:
    text = text_of(path, data)
    line, start, n, m = _problem(path, text)
    arcs = _fast_arcs(text[start:], n)
    if arcs is None:
        arcs = _careful_arcs(path, text, line, n)
    sources, targets, values = arcs
    if len(sources) != m:
        fail(path, line, f"a problem of {m} arcs", f"the {len(sources)} that the file holds")
    return Graph(sources - 1, targets - 1, n, None if options.weight is None else values, directed=options.one_way)


def _problem(path: Path, text: str) -> tuple[int, int, int, int]:
    """The line of the problem, the start of the next line, and the numbers of vertices and arcs."""
    at = 0
    for line, bare in numbered_lines(text):
        at += len(bare)
        words = WORD.findall(bare)
        if words and words[0] != "c":
            if words[:2] == ["p", "sp"] and len(words) == 4:
                n, m = (integer(word, 0) for word in words[2:])
                if n is not None and m is not None:
                    return line, at, n, m
            fail(path, line, quoted(bare.strip(BLANKS)), "'p sp VERTICES ARCS' before any arc")
    raise GraphError(f"{shown(path)} holds only comments: expected 'p sp VERTICES ARCS' and arcs")


def _fast_arcs(body: str, n: int) -> list[np.ndarray] | None:
    """The arcs of a file of integers without errors or comments; None for other files."""
    arcs = table(body, np.dtype([("a", "S2"), ("from", "i8"), ("to", "i8"), ("weight", "i8")]), None)
    if arcs is None or not (arcs["a"] == b"a").all():
        return None
    sources, targets = (np.ascontiguousarray(arcs[end]) for end in ("from", "to"))
    if min(sources.min(), targets.min()) < 1 or max(sources.max(), targets.max()) > n:
        return None
    return [sources, targets, np.ascontiguousarray(arcs["weight"])]


def _careful_arcs(path: Path, text: str, problem: int, n: int) -> list[np.ndarray]:
    ends: list[tuple[int, ...]] = []
    weights: list[str] = []
    lines: list[int] = []
    for line, bare in numbered_lines(text, problem + 1):
        words = WORD.findall(bare)
        if not words or words[0] == "c":
            continue
        if words[0] != "a" or len(words) != 4:
            fail(path, line, quoted(bare.strip(BLANKS)), "'a SOURCE TARGET WEIGHT'")
        ends.append(vertices_from_one(path, line, words[1:3], n))
        weights.append(words[3])
        lines.append(line)
    pairs = np.array(ends, dtype=np.int64).reshape(-1, 2)
    values = [weight_of(path, line, weight) for line, weight in zip(lines, weights, strict=True)]
    whole = integers(weights) if all(map(INTEGER.fullmatch, weights)) else None
    return [pairs[:, 0], pairs[:, 1], np.array(values, np.float64) if whole is None else whole]


def write_dimacs(path: Path, M: Matrix) -> None:
    count = np.count_nonzero(M.array != M.semiring.zero_in(M.dtype))
    with utf8(path) as file:
        file.write(f"c {comment(M, None)}\np sp {M.n} {count}\n")
        for u, v, weight in edges_of(path, M, "DIMACS", EXACT if M.dtype.kind == "f" else 2**63 - 1):
            length = 1 if weight is None else weight
            if isinstance(length, float) and not (length.is_integer() and abs(length) <= EXACT):
                raise SemiringError(f"{shown(path)}: DIMACS holds only integer lengths, and entry "
                                    f"{entry_text(M, u, v)} is {length}: write .graphml, or round the matrix")
            file.write(f"a {u + 1} {v + 1} {int(length)}\n")
