"""Tables of a vertex and numbers, as text: places on a map and right-hand sides."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from ..errors import GraphError, SemiringError
from ..graph import Graph, Matrix
from .inputs import label_of, number_of, vertex_of

DEGREES = (("longitude", "latitude"), ("lon", "lat"), ("lng", "lat"))  # columns of places on the globe


def _rows_of_numbers(file: Path) -> tuple[list[str] | None, list[tuple[int, str, list[float]]]]:
    """The names of the columns, if the file has any, and for each line its number, its vertex and its numbers."""
    if not file.is_file():
        raise GraphError(f"there is no file {file}")
    header: list[str] | None = None
    rows: list[tuple[int, str, list[float]]] = []
    with file.open(encoding="utf-8-sig", newline="") as lines:
        separator = "\t" if file.suffix in (".tsv", ".txt") else ","
        for number, fields in enumerate(csv.reader(lines, delimiter=separator), 1):
            fields = [field.strip() for field in fields]
            if not any(fields) or fields[0].startswith("#"):
                continue
            width = len(rows[0][2]) + 1 if rows else len(header or fields)
            if len(fields) != width or width < 2:
                raise GraphError(f"{file}, line {number}: found {len(fields)} fields, expected {max(width, 2)}")
            try:
                rows.append((number, fields[0], [number_of(field) for field in fields[1:]]))
            except ValueError as e:
                if rows or header is not None:
                    raise GraphError(f"{file}, line {number}: found {e}, expected a number") from None
                header = fields
    return header, rows


def _placed(file: Path, rows: list[tuple[int, str, list[float]]], M: Graph | Matrix) -> dict[int, list[float]]:
    """Vertex → numbers."""
    found: dict[int, list[float]] = {}
    for number, vertex, values in rows:
        try:
            position = vertex_of(M, vertex)
        except GraphError as e:
            raise GraphError(f"{file}, line {number}: {e}") from None
        if position in found:
            raise GraphError(f"{file}, line {number}: vertex {vertex} has a line already")
        found[position] = values
    return found


def positions(file: Path, graph: Graph) -> tuple[np.ndarray, str]:
    """Places of all vertices, and their unit where it is known."""
    from ..plot import to_km

    header, rows = _rows_of_numbers(file)
    found = _placed(file, rows, graph)
    if len(found) < graph.n:
        absent = next(v for v in range(graph.n) if v not in found)
        raise GraphError(f"{file}: vertex {label_of(graph, absent)} has no place")
    points = np.array([found[v] for v in range(graph.n)])
    if points.ndim != 2 or points.shape[1] != 2:
        raise GraphError(f"{file}: expected three columns, a vertex, x and y")
    columns = tuple(name.lower() for name in (header or [])[1:])
    return (to_km(*points.T), "km") if columns in DEGREES else (points, "")


def right_hand_side(file: Path, A: Matrix) -> np.ndarray:
    """B of an equation: an array, or a table in which vertices without a line have the algebra's zero."""
    S = A.semiring
    if file.suffix == ".npy":
        if not file.is_file():
            raise GraphError(f"there is no file {file}")
        try:
            return np.load(file, allow_pickle=False)
        except ValueError as e:
            raise GraphError(f"{file} is no .npy file of numbers ({e})") from None
    if S.is_record or S.is_object:
        raise SemiringError(f"{file}: elements of {S.name} are no numbers; give a .npy array of records")
    _, rows = _rows_of_numbers(file)
    found = _placed(file, rows, A)
    width = len(rows[0][2]) if rows else 1
    B = np.full((A.n, width), S.zero_in(A.dtype), A.dtype)
    for position, values in found.items():
        B[position] = values
        if not np.array_equal(B[position], values):
            raise SemiringError(
                f"{file}: {values} of vertex {label_of(A, position)} do not fit {A.dtype}; pass --dtype"
            )
    return B[:, 0] if width == 1 else B
