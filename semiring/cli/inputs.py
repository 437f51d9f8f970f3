"""What is named on the command line: algebras, graphs, vertices, numbers."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from semiring.algebra.by_name import algebra
from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.files.numerals import integer, number
from semiring.graphs.adjacency import adjacency
from semiring.graphs.graph import Graph
from semiring.graphs.matrix import Matrix
from semiring.graphs.names import near
from semiring.graphs.texts import quoted


def algebra_of(text: str) -> Semiring:
    """An algebra of the catalogue, one with a parameter as in mod_p(11), or one from a user's file."""
    if ".py:" in text:
        file, _, name = text.rpartition(":")
        return _from_file(Path(file), name)
    return algebra(text)


def _from_file(file: Path, name: str) -> Semiring:
    import runpy

    if not file.is_file():
        raise SemiringError(f"there is no file {file}")
    try:
        names = runpy.run_path(str(file))
    except SemiringError as e:
        raise type(e)(f"{file}: {e}") from None
    except (Exception, SystemExit) as e:  # whatever a user's file does wrong
        raise SemiringError(f"{file} cannot be run: {type(e).__name__}: {e}") from None
    if name not in names:
        raise SemiringError(f"{file} has no {name!r}{near(name, [n for n, x in names.items() if _is_algebra(x)])}")
    if not _is_algebra(names[name]):
        raise SemiringError(f"{name!r} in {file} is not a Semiring, but {type(names[name]).__name__}")
    return names[name]


def _is_algebra(x: object) -> bool:
    return isinstance(x, Semiring)


def graph_of(arguments: argparse.Namespace) -> Graph:
    """The graph of the file."""
    from semiring.files.formats import read_graph

    graph = read_graph(
        arguments.file, format=arguments.format, directed=arguments.directed, weight=arguments.weight,
        header=arguments.header, names=arguments.names,
    )
    return graph.compact() if arguments.compact else graph


def matrix_of(arguments: argparse.Namespace) -> tuple[Graph, Matrix]:
    """The graph of the file, and its matrix over the algebra."""
    S = algebra_of(arguments.algebra)
    try:
        dtype = None if arguments.dtype is None else np.dtype(arguments.dtype)
    except (TypeError, ValueError, SyntaxError, OverflowError, MemoryError):  # NumPy parses a small language here
        names = [d.name for d in S.dtypes]
        raise SemiringError(
            f"NumPy knows no dtype {quoted(arguments.dtype)}{near(arguments.dtype, names)}; {S.name} lives in "
            f"{', '.join(names)}"
        ) from None
    graph = graph_of(arguments)
    if arguments.append is not None:
        graph = replace(graph, weights=_records(S, graph, arguments.append))
    return graph, adjacency(graph, S, dtype=dtype)


def _records(S: Semiring, graph: Graph, text: str) -> np.ndarray:
    """Weights with further components, the same for every edge."""
    fields = tuple(S.fields or ())
    values = text.split(",")
    if len(values) + 1 != len(fields):
        raise SemiringError(
            f"--append {text} makes {len(values) + 1} components, and an element of {S.name} has "
            + (f"{len(fields)}: {', '.join(fields)}" if fields else "one")
        )
    weights = np.empty(len(graph), S.default_dtype)
    try:
        first = 1 if graph.weights is None else graph.weights
        for field, column in zip(fields, [first, *map(number_of, values)], strict=True):
            weights[field] = column
    except ValueError as e:
        raise SemiringError(f"--append {text}: {e} is not a number") from None
    return weights


def vertex_of(M: Graph | Matrix, text: str) -> int:
    """Position of a vertex that was named on the command line, where names are text."""
    position = integer(text)
    if position is not None and (M.names is None or text not in M.names):
        return M.index(position)
    return M.index(text)


def label_of(M: Graph | Matrix, position: int) -> Any:
    """What a vertex is called."""
    return position if M.names is None else M.names[position]


def number_of(text: str) -> float:
    """A number that is not NaN, exact if it is an integer; the error's message is what was found in place of one."""
    whole = integer(text, high=2**64 - 1)
    value = number(text) if whole is None else whole
    if value is None:
        raise ValueError(quoted(text))
    if value != value:
        raise ValueError("NaN")
    return value
