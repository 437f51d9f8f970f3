"""The options of the command line, each a row: its flags, its help, and what messages of the library call it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from semiring.errors import SemiringError
from semiring.files.formats import endings, format_names
from semiring.graphs.generators import KINDS
from semiring.solvers.dense.schedules import SCHEDULES
from semiring.solvers.ways import options_of, taking
from semiring.solvers.ways import refuse as refuse_task

TILE = 2  # vertices of a block that `explain` shows by default


@dataclass(frozen=True)
class Option:
    """An option of a command.

    Attributes
    ----------
    flags : str
        Separated by blanks, first the one in messages; a word without dashes is an argument by its position.
    help : str
        `words` fills in the names in braces.
    parameter : str
        How messages of the library spell the option: ``tol``, or ``weight=None`` if it sets one value.
    settings : mapping
        Other arguments of `argparse`.
    read : callable, optional
        Makes what the library takes from the text.
    """

    flags: str
    help: str
    parameter: str
    settings: Mapping[str, Any]
    read: Callable[[str], Any] | None = None

    @property
    def flag(self) -> str:
        """Its name in messages."""
        return self.flags.split()[0]

    @property
    def name(self) -> str:
        """What the library calls it."""
        return self.parameter.partition("=")[0] or self.flag.strip("-")

    def value(self, arguments: argparse.Namespace) -> Any:
        """What the library takes for it, if it is given."""
        constant = self.parameter.partition("=")[2]
        given = getattr(arguments, self.destination)
        return constant == "True" if constant else given if self.read is None else self.read(given)

    @property
    def destination(self) -> str:
        """The attribute of parsed arguments that has its value."""
        return str(self.settings.get("dest", self.flag.strip("-").replace("-", "_")))

    def add(self, parser: Any) -> Any:
        """Add it to a parser or to a group of options."""
        return parser.add_argument(*self.flags.split(), help=self.help.format_map(words()), **self.settings)

    def is_given(self, arguments: argparse.Namespace) -> bool:
        """Whether its value differs from the default."""
        value = getattr(arguments, self.destination)
        constant = {"store_true": True, "store_false": False}.get(self.settings.get("action", ""),
                                                                  self.settings.get("const", VALUE))
        if constant is not VALUE:
            return value is constant
        return value is not None and not isinstance(value, bool) and value != self.settings.get("default")


VALUE = object()  # for options that take a value


def option(
    flags: str, help: str, parameter: str = "", read: Callable[[str], Any] | None = None, **settings: Any
) -> Option:
    """Make a row."""
    return Option(flags, help, parameter, settings, read)


def numbers_of_gpus(text: str) -> int | list[int]:
    """How many GPUs, or their numbers.

    >>> numbers_of_gpus("4"), numbers_of_gpus("0,2")
    (4, [0, 2])
    """
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        raise SemiringError(f"--devices {text}: give how many GPUs, as in 4, or their numbers, as in 0,2") from None
    return numbers if "," in text else numbers[0]


def words() -> dict[str, str]:
    """The lists that help texts contain."""
    return {
        "read": " ".join(endings(usual=True)), "written": " ".join(endings(written=True, usual=True)),
        "formats": ", ".join(format_names()), "methods": ", ".join(SCHEDULES), "kinds": ", ".join(KINDS),
    }


class _Columns(argparse.Action):
    """One column; a list of them if the option is repeated."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, value: Any, option: str | None = None) -> None:
        columns = [*getattr(namespace, "columns", []), value]
        namespace.columns = columns
        setattr(namespace, self.dest, columns[0] if len(columns) == 1 else columns)


# How a graph is read, in every command that reads one. Options with one `dest` exclude each other.

FILE = option("file", "a graph: {read}, also compressed; - is standard input", type=Path, metavar="FILE")
OUTPUT = option(
    "-o --output --out", "write to a file, which is replaced once the new one is complete: lines to .csv .tsv, "
    "matrices to {written}; `explain` writes .html", "out", dest="output", type=Path, metavar="OUT",
)
READING = (
    option("--directed", "every edge goes one way", "directed=True", dest="directed", action="store_true",
           default=None),
    option("--undirected", "every edge goes both ways", "directed=False", dest="directed", action="store_false",
           default=None),
    option("--format", "the format of FILE, if its ending does not say it: {formats}; standard input is a list of "
           "edges by default", "format", metavar="FORMAT"),
    option("--header", "the first line names the columns", "header=True", dest="header", action="store_true",
           default=None),
    option("--no-header", "the first line is an edge", "header=False", dest="header", action="store_false",
           default=None),
    option("--source", "the column of a table with the sources of edges, by its name or its number from 0", "source",
           dest="source_column", metavar="COLUMN"),
    option("--target", "the column with the targets of edges", "target", dest="target_column", metavar="COLUMN"),
    option("--decimal", "the decimal mark in text: . or ,", "decimal", default=".", metavar="MARK"),
    option("--text-names", "vertices are names, even if they look like numbers", "names=str", dest="names",
           action="store_const", const=str),
    option("--absent", "the number that means no edge in a matrix, such as 0 or inf", "absent", type=float,
           metavar="VALUE"),
    option("--label", "the attribute that names vertices of GML; id if labels repeat", "label", metavar="ATTRIBUTE"),
    option("--compact", "leave out vertices without edges", "compact=True", action="store_true"),
)
WEIGHT = (
    option("--weight", "the column or attribute of weights, by its name, or a column by its number from 0; repeat it "
           "for records", "weight", dest="weight", metavar="COLUMN", default="weight", action=_Columns),
    option("--unweighted", "every edge weighs 1", "weight=None", dest="weight", action="store_const", const=None),
)
ALGEBRA = (
    option("--algebra", "a built-in algebra, or FILE.py:NAME", required=True, metavar="NAME"),
    option("--dtype", "dtype of the matrix, by its NumPy name: f4, int16, …", "dtype", metavar="TYPE"),
    option("--append", "components after the weight, for records: 1 or 0,inf", metavar="VALUES"),
)
EDGES = (FILE, OUTPUT, *READING)
GRAPH = (*EDGES, *WEIGHT, *ALGEBRA)

# Options of the library's verbs: each command has those that some way to compute its verb takes.

COMPUTING = (
    option("--not-reflexive", "compute A⁺ = A ⊗ A*, without empty walks", "reflexive=False", action="store_true"),
    option("--tol", "uncertainty of the weights: if a cycle improves by at most this much per edge, the answer is that "
           "of edges which are worse by it, and no error", "tol", type=float, metavar="VALUE"),
    option("--packed", "one bit for each pair, for --algebra boolean: 262,144 vertices take 8 GiB",
           "packed=True", action="store_true"),
    option("--memory", "close a matrix in a .npy file or a zarr array, or a graph, tile by tile within this much "
           "memory, such as 8G, into -o OUT.npy or OUT.zarr", "memory", metavar="SIZE"),
    option("--checkpoint", "time between commits; --resume continues from the last one", "checkpoint", type=float,
           metavar="SECONDS"),
    option("--resume", "continue from the last commit, if there is one", "resume=True", action="store_true"),
    option("--devices", "compute the whole closure on GPUs of this host: how many, or their numbers, as in 0,2",
           "devices", numbers_of_gpus, metavar="N"),
    option("--device", "where to compute, a closure as a whole; if --on starts several processes, each has a GPU; "
           "chosen by default", "device", choices=("cpu", "gpu")),
    option("--on", "compute by several processes: mpiexec -n 4 python -m semiring closure … --on mpi; from a .npy file "
           "or a zarr array into another one with -o, which all of them write", "on", choices=("mpi", "ray")),
    option("--method", "method of the whole closure: {methods}; of equations: iterative; chosen by default", "method",
           default="auto"),
    option("--rtol", "the residual to which equations of real numbers are solved iteratively, relative to their terms",
           "rtol", type=float, metavar="VALUE"),
    option("--progress", "show progress on stderr, even if that is not a terminal; or never",
           action=argparse.BooleanOptionalAction, default=None),
)
STORED = {"memory": "storing", "checkpoint": "storing", "resume": "storing"}  # what they are in the table of ways
MADE_BY_COMMANDS = (*STORED, "on", "progress")  # with a path, a connection and a terminal


def of_verb(verb: str) -> tuple[Option, ...]:
    """The options of a verb, by the table of ways.

    >>> [row.flag for row in of_verb("solve")]
    ['--tol', '--device', '--method', '--rtol', '--progress']
    """
    known = options_of(verb)
    return tuple(row for row in COMPUTING if STORED.get(row.name, row.name) in known)


def asked_of(arguments: argparse.Namespace, verb: str) -> dict[str, Any]:
    """The options of a verb that are given, as the library takes them."""
    return {row.name: row.value(arguments) for row in of_verb(verb)
            if row.name not in MADE_BY_COMMANDS and row.is_given(arguments)}


# Of one command

POSITIONS = option("--positions", "coordinates: vertex, x, y, or vertex, longitude, latitude", type=Path, metavar="CSV")
CLOSURE = (
    option("--from", "only from this vertex; may be repeated", dest="source", metavar="A", action="append"),
    option("--to", "only to this vertex; may be repeated", dest="target", metavar="B", action="append"),
    option("--path", "end each line with the vertices of a best path", action="store_true"),
    option("--limit", "only pairs whose value is at least as good: 5, or 5,2 for records", "limit", metavar="VALUE"),
    *of_verb("closure"),
    option("--plot", "draw the matrix, or with --positions the best paths", type=Path, metavar="PNG"),
    POSITIONS,
)
NEAREST = (
    option("--from", "a place to come from; may be repeated", dest="source", metavar="A", action="append"),
    option("--to", "a place to go to; may be repeated", dest="target", metavar="B", action="append"),
)
LONGEST_PATH = (
    option("--from", "where the path begins", dest="source", metavar="A"),
    option("--to", "where the path ends", dest="target", metavar="B"),
)
EXPLAIN = (
    option("--method", "{methods}; the page offers all", default="floyd-warshall"),
    option("--tile", f"vertices of a block, if the method has blocks; {TILE} by default", type=int, metavar="N"),
    POSITIONS,
    option("--title", "title of the page"),
)
RANDOM = (
    option("vertices", "the number of vertices, which are called 0 to N − 1", type=int, metavar="N"),
    option("--kind", "{kinds}", default="uniform"),
    option("--degree", "edges of a vertex, as in 2,6; one number for all, or the mean", metavar="LOW,HIGH"),
    option("-p", "the probability of each edge", dest="p", type=float, metavar="P"),
    option("--weights", "between 1,100 or 0.0,1.0", metavar="LOW,HIGH"),
    option("--seed", "the same seed gives the same graph; 0 by default", type=int, default=0, metavar="NUMBER"),
    option("-o --output --out", "write to a .csv, .tsv or .npz file", dest="output", type=Path, metavar="OUT"),
)
WARMUP = (
    option("algebras", "built-in algebras, or FILE.py:NAME", nargs="*", metavar="ALGEBRA"),
    option("--dtype", "dtype of the matrices; may be repeated", action="append", metavar="TYPE"),
    option("--sparse", "compile for sparse matrices and graphs too", action="store_true"),
    option("--clear", "first delete the cache on disk", action="store_true"),
)

# Flags by their spelling in messages of the library.
SPELLED = {row.parameter: row.flag for row in (*GRAPH, *CLOSURE) if row.parameter}


def refuse(arguments: argparse.Namespace, why: str, rows: Iterable[Option]) -> None:
    """Refuse options that have no meaning beside the others.

    Raises
    ------
    SemiringError
        With the reason, and the first of these options that is given.
    """
    for row in rows:
        if row.is_given(arguments):
            raise SemiringError(f"{why}: leave out {row.flag}")


def refuse_excluded(arguments: argparse.Namespace, verb: str, kind: str) -> None:
    """Refuse options that no way to compute a verb takes together: those that the library refuses, in its words.

    Raises
    ------
    SemiringError
        With the names of two options that exclude each other.
    """
    given = {STORED.get(row.name, row.name): row.flag for row in of_verb(verb) if row.is_given(arguments)}
    asked = frozenset(given)
    if not taking(verb, kind, asked):
        refuse_task(verb, kind, asked, given.__getitem__)


def by_flags(flags: str, rows: Iterable[Option] = (*GRAPH, *CLOSURE)) -> list[Option]:
    """The options with some flags, which are separated by blanks.

    >>> [row.parameter for row in by_flags("--tol --dtype")]
    ['dtype', 'tol']
    """
    return [row for row in rows if row.flag in flags.split()]
