"""The command line: graphs from files, answers as tab-separated text on stdout, one line on stderr for bad input."""

from __future__ import annotations

import argparse
import csv
import io
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from . import __version__
from .algebras import catalogue
from .api import algebra, check_laws, closure, path, plan, solve
from .core import Semiring
from .devices import gpu_name
from .errors import GraphError, LawError, SemiringError
from .graph import adjacency
from .laws import FLAGS, show
from .names import near
from .planning import METHODS
from .texts import is_same

if TYPE_CHECKING:
    from .graph import Graph, Matrix

BAD_INPUT = 2
INTERRUPTED = 130  # what a shell reports for Ctrl-C
BROKEN_PIPE = 141  # and for a reader that went away
VECTORS = ("sse4.2", "avx", "avx2", "fma", "avx512f", "avx512bw", "neon", "sve")
DEGREES = (("longitude", "latitude"), ("lon", "lat"), ("lng", "lat"))  # columns of places on the globe


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; those of the process when absent.

    Returns
    -------
    int
        The exit status: 0 for an answer, 1 for a law that fails or a demo that SciPy contradicts, 2 for bad input.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # ⊕ on a terminal that has no such letter
    try:
        arguments = _parser().parse_args(argv)
        with _warnings_in_one_line():
            status = arguments.run(arguments)
        sys.stdout.flush()
        return status
    except SemiringError as e:
        return _complain(e)
    except MemoryError as e:
        return _complain(f"there is not enough memory: {e or 'use a narrower dtype or a part of the graph'}")
    except BrokenPipeError:
        # What is still buffered has no reader; Python would complain of it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except OSError as e:
        return _complain(f"{e.filename or 'the answer'}: {e.strerror or e}")
    except KeyboardInterrupt:
        return INTERRUPTED


def _complain(problem: object) -> int:
    print("semiring:", " ".join(str(problem).split()), file=sys.stderr)
    return BAD_INPUT


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    def show(message: Warning | str, *where: Any, **more: Any) -> None:
        print("semiring: warning:", " ".join(str(message).split()), file=sys.stderr)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


# Arguments


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"semiring: {message}; see {self.prog} --help\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="semiring", allow_abbrev=False,
        description="Closures, equations and best paths of graphs, over any algebra.",
    )  # fmt: skip
    parser.add_argument("--version", action="version", version=f"semiring {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=_Parser)

    def command(name: str, run: Callable[[argparse.Namespace], int], summary: str, more: str = "") -> _Parser:
        made = commands.add_parser(
            name, help=summary, description=f"{summary}. {more}".strip(), allow_abbrev=False
        )
        made.set_defaults(run=run)
        return made

    p = command(
        "closure", _closure, "the closure A* of a graph's matrix",
        "Prints the matrix as tab-separated text, empty where it holds the algebra's zero; or with --from, --to or "
        "both a line for each pair: from, to, value.",
    )  # fmt: skip
    _graph_arguments(p)
    p.add_argument("--from", dest="source", metavar="A", help="only from this vertex")
    p.add_argument("--to", dest="target", metavar="B", help="only to this vertex")
    p.add_argument("--path", action="store_true", help="with --from and --to: a best path's vertices end the line")
    p.add_argument("--not-reflexive", action="store_true", help="A⁺ = A ⊗ A*: without the way of no edges")
    p.add_argument("--method", default="auto", help=f"{', '.join(METHODS)}; chosen when absent")
    p.add_argument("--plot", type=Path, metavar="PNG", help="draw the matrix, or with --positions the best path")
    p.add_argument("--positions", type=Path, metavar="CSV", help="places: vertex, x, y, or longitude and latitude")

    p = command(
        "solve", _solve, "the least solution of X = A ⊗ X ⊕ B",
        "Prints a line for each vertex: its name and its row of X.",
    )  # fmt: skip
    _graph_arguments(p)
    p.add_argument("rhs", type=Path, metavar="RHS",
                   help="B: a .npy array, or text with a vertex and its values a line; others are zero")  # fmt: skip

    p = command("laws", _laws, "try the laws of semirings on an algebra", "Ends with status 1 if one fails.")
    p.add_argument("algebra", metavar="ALGEBRA", help="a name from the catalogue, or FILE.py:NAME")
    command("catalogue", _catalogue, "the algebras that come with the library")
    command("info", _info, "versions, processor, memory and the choices that follow")
    p = command("demo", _demo, "five questions about the roads of Minnesota, checked against SciPy")
    p.add_argument("--plot", type=Path, metavar="PNG", help="draw a map of the answers")
    return parser


def _graph_arguments(p: argparse.ArgumentParser) -> None:
    p.add_argument("file", type=Path, metavar="FILE",
                   help="a graph: .csv .tsv .txt .mtx .gr .npy .npz .graphml, also compressed")  # fmt: skip
    p.add_argument("--algebra", required=True, metavar="NAME", help="from the catalogue, or FILE.py:NAME")
    p.add_argument("-o", "--output", type=Path, metavar="OUT", help="write to a file: .npy .npz .csv .tsv .mtx")
    p.add_argument("--dtype", metavar="TYPE", help="of the matrix, as NumPy names it: f4, int16, …")
    direction = p.add_mutually_exclusive_group()
    direction.add_argument("--directed", action="store_true", default=None, help="every edge goes one way")
    direction.add_argument("--undirected", action="store_false", dest="directed", help="every edge goes both ways")
    weights = p.add_mutually_exclusive_group()
    weights.add_argument("--weight", metavar="COLUMN", default="weight", help="the column or attribute of weights")
    weights.add_argument("--unweighted", action="store_const", const=None, dest="weight", help="every edge weighs 1")
    p.add_argument("--append", metavar="VALUES", help="components after the weight, for records: 1 or 0,inf")
    p.add_argument("--compact", action="store_true", help="leave out vertices without edges")


def _algebra(text: str) -> Semiring:
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
    except Exception as e:  # whatever a user's file does wrong
        raise SemiringError(f"{file} cannot be run: {type(e).__name__}: {e}") from None
    if name not in names:
        raise SemiringError(f"{file} has no {name!r}{near(name, [n for n, x in names.items() if _is_algebra(x)])}")
    if not _is_algebra(names[name]):
        raise SemiringError(f"{name!r} in {file} is no Semiring, but {type(names[name]).__name__}")
    return names[name]


def _is_algebra(x: object) -> bool:
    return isinstance(x, Semiring)


def _matrix(arguments: argparse.Namespace) -> tuple[Graph, Matrix]:
    """The graph of the file, and its matrix over the algebra."""
    from .files import read_graph

    S = _algebra(arguments.algebra)
    try:
        dtype = None if arguments.dtype is None else np.dtype(arguments.dtype)
    except TypeError:
        names = [d.name for d in S.dtypes]
        raise SemiringError(
            f"NumPy knows no dtype {arguments.dtype!r}{near(arguments.dtype, names)}; {S.name} lives in "
            f"{', '.join(names)}"
        ) from None
    graph = read_graph(arguments.file, directed=arguments.directed, weight=arguments.weight)
    if arguments.compact:
        graph = graph.compact()
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
        for field, column in zip(fields, [first, *map(_number, values)], strict=True):
            weights[field] = column
    except ValueError as e:
        raise SemiringError(f"--append {text}: {e} is no number") from None
    return weights


def _vertex(M: Graph | Matrix, text: str) -> int:
    """Position of a vertex that was named on the command line, where names are text."""
    integer = re.fullmatch(r"[+-]?\d+", text) is not None
    if integer and (M.names is None or text not in M.names):
        return M.index(int(text))
    return M.index(text)


def _label(M: Matrix, position: int) -> Any:
    return position if M.names is None else M.names[position]


# Commands


def _closure(arguments: argparse.Namespace) -> int:
    for needs, given in (("--path", arguments.path), ("--positions", arguments.positions)):
        if given and (arguments.source is None or arguments.target is None):
            raise SemiringError(f"{needs} needs --from and --to, the ends of the path")
    if arguments.positions and not arguments.plot:
        raise SemiringError("--positions places vertices on a map: add --plot PNG")
    if arguments.plot:
        from .plot import require_matplotlib

        require_matplotlib()
    graph, A = _matrix(arguments)
    S = A.semiring
    source, target = (None if end is None else _vertex(A, end) for end in (arguments.source, arguments.target))
    places = _positions(arguments.positions, graph) if arguments.positions else None
    C = closure(A, S, method=arguments.method, reflexive=not arguments.not_reflexive, progress=True)
    route: list[int] = []
    if source is not None and target is not None and (arguments.path or places is not None):
        vertices = path(A, S, _label(A, source), _label(A, target))[1]
        route = [A.index(v) for v in vertices or ()]
        if places is not None and not route:
            raise SemiringError(f"there is no way from {_label(A, source)} to {_label(A, target)} to be drawn")

    if source is not None or target is not None:
        rows = range(A.n) if source is None else [source]
        columns = range(A.n) if target is None else [target]
        steps = [_label(A, v) for v in route] if arguments.path else []
        text = _element_text(S, C.dtype)
        _write_rows([_label(A, i), _label(A, j), text(C.array[i, j]), *steps] for i in rows for j in columns)
    elif arguments.output is None and arguments.plot is None:
        _write_matrix(C)
    if arguments.output is not None:
        from .files import write_matrix

        write_matrix(arguments.output, C)
    if arguments.plot:
        _draw(arguments, graph, C, places, route)
    return 0


def _solve(arguments: argparse.Namespace) -> int:
    _, A = _matrix(arguments)
    S = A.semiring
    B = _right_hand_side(arguments.rhs, A)
    if arguments.output is not None and arguments.output.suffix != ".npy":
        raise SemiringError(f"{arguments.output}: the solution is written as .npy; without -o it is printed")
    X = np.asarray(solve(A.array, B, S, progress=True))
    if arguments.output is not None:
        np.save(arguments.output, X, allow_pickle=False)
    else:
        table = X.reshape(A.n, -1)
        text = _element_text(S, X.dtype)
        _write_rows([_label(A, i), *map(text, table[i])] for i in range(A.n))
    return 0


def _laws(arguments: argparse.Namespace) -> int:
    try:
        report = check_laws(_algebra(arguments.algebra))
    except LawError as e:  # a user's declaration that the laws refute: this is the answer
        print(e)
        return 1
    print(report)
    return 0 if report.ok else 1


def _catalogue(arguments: argparse.Namespace) -> int:
    short = sys.stdout.isatty()

    def dtypes(S: Semiring) -> str:
        names = [d.name if d.names is None else f"({', '.join(d.names)})" for d in S.dtypes]
        return " ".join(dict.fromkeys(name.rstrip("0123456789") if short else name for name in names))

    def flags(S: Semiring) -> str:
        return "".join(f[0].upper() if f in S.flags else "-" for f in FLAGS) if short else " ".join(S.flags)

    _write_table(
        ["name", "algebra", "flags", "dtypes", "closure"],
        [[name, S.notation, flags(S), dtypes(S), S.description] for name, S in catalogue.items()],
    )
    if short:
        print(" Flags: " + ", ".join(FLAGS) + ", by their initials.")
    return 0


def _demo(arguments: argparse.Namespace) -> int:
    from .demo import run

    return 0 if run(arguments.plot) else 1


def _info(arguments: argparse.Namespace) -> int:
    _write_table(["what", "is"], _facts())
    return 0


def _facts() -> Iterator[tuple[str, str]]:
    import platform
    from importlib.metadata import PackageNotFoundError, version

    from llvmlite import binding

    from .kernels.cpu.cache import cache_directory
    from .kernels.cpu.threads import thread_count
    from .memory import available_bytes, in_words

    features = binding.get_host_cpu_features()
    yield "semiring", __version__
    yield "python", platform.python_version()
    for package in ("numpy", "numba", "scipy", "rich", "networkx", "pandas", "matplotlib"):
        try:
            yield package, version(package)
        except PackageNotFoundError:
            yield package, "not installed"
    yield "system", platform.platform()
    yield "cpu", f"{platform.machine()}: {' '.join(sorted(f for f, has in features.items() if has and f in VECTORS))}"
    yield "threads", str(thread_count())
    memory = available_bytes()
    yield "memory", "unknown" if memory is None else f"{in_words(memory)} available"
    yield "devices", ", ".join(["cpu", *([gpu] if (gpu := gpu_name()) else [])])
    yield "cache", str(cache_directory())
    example = np.arange(2048 * 2048, dtype=np.float32).reshape(2048, 2048)
    for line in str(plan(example, "min-plus")).splitlines():
        what, _, choice = line.partition(" ")
        yield f"example: {what}", choice.strip()


def _draw(
    arguments: argparse.Namespace, graph: Graph, C: Matrix, places: tuple[np.ndarray, str] | None, route: list[int]
) -> None:
    from .plot import Route, draw_heat_map, draw_map

    S = C.semiring
    title = f"{S.name} closure of {arguments.file.name}"
    if places is None:
        zero = S.zero_in(C.dtype)
        draw_heat_map(arguments.plot, C.array, zero, title=title, subtitle=S.description, names=C.names)
        return
    value = show(C.array[route[0], route[-1]])
    label = f"from {_label(C, route[0])} to {_label(C, route[-1])}: {value}, {len(route) - 1} edges"
    positions, unit = places
    draw_map(
        arguments.plot, positions, graph.sources, graph.targets, title=title, subtitle=S.description,
        routes=[Route(route, label)], names=C.names, unit=unit,
    )  # fmt: skip


# Tables of a vertex and numbers, as text


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
                rows.append((number, fields[0], [_number(field) for field in fields[1:]]))
            except ValueError as e:
                if rows or header is not None:
                    raise GraphError(f"{file}, line {number}: found {e}, expected a number") from None
                header = fields
    return header, rows


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError(repr(text)) from None
    if value != value:
        raise ValueError("NaN")
    return value


def _placed(file: Path, rows: list[tuple[int, str, list[float]]], M: Graph | Matrix) -> dict[int, list[float]]:
    """Vertex → numbers."""
    found: dict[int, list[float]] = {}
    for number, vertex, values in rows:
        try:
            position = _vertex(M, vertex)
        except GraphError as e:
            raise GraphError(f"{file}, line {number}: {e}") from None
        if position in found:
            raise GraphError(f"{file}, line {number}: vertex {vertex} has a line already")
        found[position] = values
    return found


def _positions(file: Path, graph: Graph) -> tuple[np.ndarray, str]:
    """Of each vertex, and their unit where it is known."""
    from .plot import to_km

    header, rows = _rows_of_numbers(file)
    found = _placed(file, rows, graph)
    if len(found) < graph.n:
        absent = next(v for v in range(graph.n) if v not in found)
        raise GraphError(f"{file}: vertex {absent if graph.names is None else graph.names[absent]} has no place")
    points = np.array([found[v] for v in range(graph.n)])
    if points.ndim != 2 or points.shape[1] != 2:
        raise GraphError(f"{file}: expected three columns, a vertex, x and y")
    columns = tuple(name.lower() for name in (header or [])[1:])
    return (to_km(*points.T), "km") if columns in DEGREES else (points, "")


def _right_hand_side(file: Path, A: Matrix) -> np.ndarray:
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
            raise SemiringError(f"{file}: {values} of vertex {_label(A, position)} do not fit {A.dtype}; pass --dtype")
    return B[:, 0] if width == 1 else B


# Output


def _element_text(S: Semiring, dtype: np.dtype) -> Callable[[Any], Any]:
    """How an element is written in a cell: digits enough to read it back, 0 and 1 for bool, inf for ∞ in integers."""
    limits = {}
    if dtype.kind in "iu":
        limits = {int(S.over(dtype).element(x)): x for x in (S.zero, S.one) if x in (np.inf, -np.inf)}

    def text(value: Any) -> Any:
        if dtype.kind == "b":
            return int(value)
        plain = value.item() if isinstance(value, np.generic) else value
        return limits.get(plain, plain) if limits else plain

    return text


def _write_rows(rows: Iterable[Sequence[Any]]) -> None:
    csv.writer(sys.stdout, delimiter="\t", lineterminator="\n").writerows(rows)


def _write_matrix(M: Matrix) -> None:
    """The whole matrix for a pipe, as `write_matrix` writes it to a .tsv file; its corners for a terminal."""
    if sys.stdout.isatty():
        print(M)
        return
    zero = M.semiring.zero_in(M.dtype)
    labels = [_label(M, i) for i in range(M.n)]

    def cells(row: np.ndarray) -> list[Any]:
        if row.dtype.kind == "O":
            return ["" if is_same(x, zero) else x for x in row]
        texts = (row.astype(np.int8) if row.dtype.kind == "b" else row).tolist()
        for j in np.flatnonzero(row == zero):
            texts[j] = ""
        return texts

    _write_rows([["", *labels]])
    _write_rows([label, *cells(row)] for label, row in zip(labels, M.array, strict=True))


def _write_table(header: list[str], rows: Iterable[Sequence[str]]) -> None:
    """A table with lines for a terminal, tab-separated text for a pipe."""
    if not sys.stdout.isatty():
        _write_rows([header, *rows])
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*header, box=box.SIMPLE_HEAD)
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)
