"""Inputs named on the command line: algebras, graphs, vertices, numbers."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from semiring.algebra.by_name import algebra
from semiring.algebra.semiring import Semiring
from semiring.errors import GraphError, SemiringError
from semiring.files.format import Options
from semiring.files.numerals import integer, number
from semiring.files.streams import read_file
from semiring.files.verbs import parse_graph, read_graph
from semiring.graphs.graph import Graph
from semiring.graphs.matrix import Matrix
from semiring.graphs.names import near
from semiring.graphs.texts import quoted
from semiring.machine.progress import Lines
from semiring.operands import sparse


def algebra_of(text: str) -> Semiring:
    """A built-in algebra, one with a parameter such as mod_p(11), or one from a user's file."""
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
    except (Exception, SystemExit) as e:  # any error of a user's file
        raise SemiringError(f"{file} cannot be run: {type(e).__name__}: {e}") from None
    if name not in names:
        raise SemiringError(f"{file} has no {name!r}{near(name, [n for n, x in names.items() if _is_algebra(x)])}")
    if not _is_algebra(names[name]):
        raise SemiringError(f"{name!r} in {file} is not a Semiring, but {type(names[name]).__name__}")
    return names[name]


def _is_algebra(x: object) -> bool:
    return isinstance(x, Semiring)


BAD_INPUT = 2  # the exit status
STDIN = Path("-")  # as in other commands
NAMED = Path("standard input")  # its name in messages


@dataclass(frozen=True)
class Given:
    """The graph of the file, and its matrix over the algebra, which is sparse."""

    graph: Graph
    A: sparse.Sparse

    @property
    def S(self) -> Semiring:
        """The algebra."""
        return self.A.S

    def reversed(self) -> sparse.Sparse:
        """The matrix of the reversed graph."""
        return sparse.read_graph(self.graph.reverse(), self.S, "A", self.A.dtype)

    def units(self, positions: Sequence[int]) -> np.ndarray:
        """The rows of the identity matrix at some positions."""
        zero, one = self.S.zero_in(self.A.dtype), self.S.one_in(self.A.dtype)
        rows = np.full((len(positions), self.graph.n), zero, self.A.dtype)
        for row, v in zip(rows, positions, strict=True):
            row[v] = one
        return rows


def read_named(file: Path) -> tuple[Path, bytes]:
    """A file's name in messages, and its content; - is standard input."""
    if file != STDIN:
        return file, read_file(file, file)
    if sys.stdin is None:
        raise GraphError(f"{NAMED} is closed")
    return NAMED, read_file(sys.stdin.buffer, NAMED)


def graph_of(arguments: argparse.Namespace) -> Graph:
    """The graph of the file; standard input is a list of edges by default."""
    named = [file for option in ("file", "rhs", "positions") if (file := vars(arguments).get(option)) == STDIN]
    if len(named) > 1:
        raise SemiringError("standard input can be read only once: give - for one file only")
    said = {"directed": arguments.directed, "weight": arguments.weight, "header": arguments.header,
            "names": arguments.names, "source": arguments.source_column, "target": arguments.target_column,
            "absent": arguments.absent, "label": arguments.label, "decimal": arguments.decimal,
            "compact": arguments.compact}
    if arguments.file == STDIN:
        return parse_graph(NAMED, read_named(STDIN)[1], arguments.format or "edges", Options(**said))
    return read_graph(arguments.file, format=arguments.format, **said)


def given_of(arguments: argparse.Namespace, S: Semiring | None = None) -> Given:
    """The graph of the file and its sparse matrix; no dense matrix is made.

    Pass an algebra that is known already as S: running a user's file again would define another one.
    """
    S = S or algebra_of(arguments.algebra)
    try:
        dtype = None if arguments.dtype is None else np.dtype(arguments.dtype)
    except (TypeError, ValueError, SyntaxError, OverflowError, MemoryError):  # NumPy parses a small language here
        names = [d.name for d in S.dtypes]
        raise SemiringError(
            f"NumPy has no dtype {quoted(arguments.dtype)}{near(arguments.dtype, names)}; {S.name} has the dtypes "
            f"{', '.join(names)}"
        ) from None
    graph = graph_of(arguments)
    if arguments.append is not None:
        graph = replace(graph, weights=_records(S, graph, arguments.append))
    return Given(graph, sparse.read_graph(graph, S, "A", dtype))


def _records(S: Semiring, graph: Graph, text: str) -> np.ndarray:
    """Weights with further components, the same for every edge."""
    fields = tuple(S.fields or ())
    values = text.split(",")
    if len(values) + 1 != len(fields):
        raise SemiringError(
            f"--append {text} makes {len(values) + 1} components, but an element of {S.name} has "
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
    """Position of a vertex named on the command line."""
    position = integer(text, high=2**64 - 1)
    if position is not None and (M.names is None or text not in M.names):
        return M.index(position)
    return M.index(text)


def positions_of(M: Graph | Matrix, texts: Sequence[str] | None) -> list[int] | None:
    """Positions of named vertices, without repetition; None if there are no names."""
    return None if texts is None else list(dict.fromkeys(vertex_of(M, text) for text in texts))


def label_of(M: Graph | Matrix, position: int) -> Any:
    """What a vertex is called."""
    return position if M.names is None else M.names[position]


def number_of(text: str) -> float:
    """A number that is not NaN, exact if it is an integer. The error's message is the text that was found."""
    whole = integer(text, high=2**64 - 1)
    value = number(text) if whole is None else whole
    if value is None:
        raise ValueError(quoted(text))
    if value != value:
        raise ValueError("NaN")
    return value


def element_of(S: Semiring, text: str, option: str) -> Any:
    """The element in an option: a number, or the components of a record separated by commas."""
    try:
        values = [number_of(part) for part in text.split(",")]
    except ValueError as e:
        raise SemiringError(f"{option} {text}: {e} is not a number") from None
    fields = tuple(S.fields or (S.name,))
    if len(values) != len(fields):
        wanted = f"{len(fields)} components: {', '.join(fields)}" if S.fields else "one number"
        raise SemiringError(f"{option} {text}: an element of {S.name} has {wanted}")
    return tuple(values) if S.fields else values[0]


def progress_of(arguments: argparse.Namespace, what: str) -> bool | Callable[[float], None]:
    """How a verb reports progress: a bar on a terminal, otherwise lines if the user asks for them."""
    if arguments.progress is None:
        return True
    return bool(arguments.progress) and (sys.stderr.isatty() or Lines(what))
