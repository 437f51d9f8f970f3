"""Text tables of vertices and numbers: coordinates on a map, and right-hand sides."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import GraphError, SemiringError
from semiring.files.arrays import MAGIC, parse_npy
from semiring.files.rows import rows_of
from semiring.files.streams import about, fail, numbered_lines, suffix, text_of
from semiring.graphs.graph import Graph
from semiring.graphs.matrix import Matrix
from semiring.graphs.texts import quoted, shown
from semiring.graphs.weights import as_weights, elements

from .inputs import label_of, number_of, read_named, vertex_of

DEGREES = (("longitude", "latitude"), ("lon", "lat"), ("lng", "lat"))  # names of columns in degrees


def _rows_of_numbers(file: Path, data: bytes) -> tuple[list[str] | None, list[tuple[int, str, list[float]]]]:
    """The names of the columns, if there are any, and the number, vertex and values of each line."""
    header: list[str] | None = None
    rows: list[tuple[int, str, list[float]]] = []
    text = text_of(file, data)
    tabs = suffix(file) in (".tsv", ".txt") or (not suffix(file) and "\t" in text)
    for line, fields in rows_of(file, numbered_lines(text), "\t" if tabs else ","):
        width = len(rows[0][2]) + 1 if rows else len(header or fields)
        if len(fields) != width or width < 2:
            fail(file, line, f"{len(fields)} fields", str(max(width, 2)))
        try:
            rows.append((line, fields[0], [number_of(field) for field in fields[1:]]))
        except ValueError as e:
            if rows or header is not None:
                fail(file, line, str(e), "a number")
            header = fields
    if not rows:
        only = "nothing" if header is None else f"only the line of column names {quoted(header)}"
        raise GraphError(f"{shown(file)} holds {only}: expected lines of a vertex and numbers")
    return header, rows


def _placed(file: Path, rows: list[tuple[int, str, list[float]]], M: Graph | Matrix) -> dict[int, list[float]]:
    """Vertex → numbers."""
    found: dict[int, list[float]] = {}
    for number, vertex, values in rows:
        try:
            position = vertex_of(M, vertex)
        except GraphError as e:
            raise GraphError(f"{shown(file)}, line {number}: {e}") from None
        if position in found:
            fail(file, number, f"vertex {quoted(vertex)} again", "one line for each")
        found[position] = values
    return found


def positions(file: Path, graph: Graph) -> tuple[np.ndarray, str]:
    """The coordinates of all vertices, and their unit if it is known."""
    from .plot import to_km

    file, data = read_named(file)
    header, rows = _rows_of_numbers(file, data)
    found = _placed(file, rows, graph)
    if len(found) < graph.n:
        absent = next(v for v in range(graph.n) if v not in found)
        raise GraphError(f"{shown(file)}: vertex {shown(label_of(graph, absent))} has no coordinates")
    points = np.array([found[v] for v in range(graph.n)])
    if points.ndim != 2 or points.shape[1] != 2:
        raise GraphError(f"{shown(file)}: expected three columns, a vertex, x and y")
    columns = tuple(name.lower() for name in (header or [])[1:])
    return (to_km(*points.T), "km") if columns in DEGREES else (points, "")


def _line(lines: list[int], i: int) -> str:
    return f"line {lines[i]}"


def right_hand_side(file: Path, M: Graph | Matrix, S: Semiring, dtype: np.dtype) -> np.ndarray:
    """The right-hand side B: an array, or a table; vertices without a line have the algebra's zero."""
    file, data = read_named(file)
    if suffix(file) == ".npy" or (not suffix(file) and data.startswith(MAGIC)):
        return parse_npy(file, data)[0]
    if S.is_record or S.is_object:
        raise SemiringError(f"{shown(file)}: elements of {S.name} are not numbers: give a .npy array")
    _, rows = _rows_of_numbers(file, data)
    found = _placed(file, rows, M)
    lines = {position: line for position, (line, *_) in zip(found, rows, strict=True)}
    B = np.full((M.n, len(rows[0][2])), S.zero_in(dtype), dtype)
    for k, column in enumerate(B.T):
        # the algebra's zero is in B already, and no integer is ∞
        kept = {position: values[k] for position, values in found.items() if values[k] != S.zero}
        positions = np.array(list(kept), np.int64)
        place = partial(_line, [lines[position] for position in kept])
        with about(str(file)):
            column[positions] = elements(S, as_weights(list(kept.values())), dtype, place)
    return B[:, 0] if B.shape[1] == 1 else B
