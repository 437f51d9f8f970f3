"""What each command takes."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from semiring import __version__
from semiring.files.formats import endings, format_names
from semiring.graphs.generators import KINDS
from semiring.solvers.methods import SCHEDULES
from semiring.suggestions import suggestion

from . import closure, commands, questions, steps
from .inputs import BAD_INPUT

# By a name in use elsewhere: the command that does it.
MEANT = {
    "semiring closure GRAPH --algebra min-plus --path, with --from A and --to B for some": (
        "path paths shortest-path shortest-paths route routes dijkstra walk"),
    "semiring closure GRAPH --algebra min-plus": "distances distance apsp floyd-warshall johnson star kleene",
    "semiring closure GRAPH --algebra boolean": "reach reachable transitive-closure descendants",
    "semiring closure GRAPH --algebra min-plus --from A --limit VALUE": "isochrone within rows row closure-rows",
    "semiring closure GRAPH --algebra max-min": "widest widest-path bottleneck",
    "semiring power GRAPH K": "walks matmul multiply product",
    "semiring solve GRAPH RHS": "factor linsolve inverse",
    "semiring order GRAPH": "sort topological-order topological-sort toposort",
    "semiring longest-path GRAPH": "critical-path dag-longest-path",
    "semiring cycle-mean GRAPH": "eigenvalue karp",
    "semiring catalogue": "algebras algebra semirings list",
    "semiring laws ALGEBRA": "check check-laws verify",
    "semiring explain GRAPH": "plan steps trace",
    "semiring random N": "generate graph random-graph",
    "semiring info": "version env versions",
}
BY_NAME = {name: meant for meant, names in MEANT.items() for name in names.split()}
UNKNOWN = re.compile(r"argument COMMAND: invalid choice: '([^']*)'")


class Parser(argparse.ArgumentParser):
    """Ends with one line on stderr for arguments that do not fit."""

    commands: Collection[str] = ()

    def _print_message(self, message: str, file: Any = None) -> None:
        """All of it, or an error, which argparse would not tell."""
        file = file or sys.stderr
        file.write(message)
        file.flush()

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and what may have been meant, and end."""
        if unknown := UNKNOWN.match(message):
            name = unknown[1]
            message = f"there is no command {name!r}{suggestion(name, list(self.commands), BY_NAME, 'semiring ')}"
        self.exit(BAD_INPUT, f"semiring: {message}; see {self.prog} --help\n")


class _Columns(argparse.Action):
    """One column; a list of them where the option is given again."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, value: Any, option: str | None = None) -> None:
        columns = [*getattr(namespace, "columns", []), value]
        namespace.columns = columns
        setattr(namespace, self.dest, columns[0] if len(columns) == 1 else columns)


def parser() -> Parser:
    """The command and its commands."""
    result = Parser(
        prog="semiring", allow_abbrev=False,
        description="Closures, equations and best paths of graphs, over any algebra.",
    )
    result.add_argument("--version", action="version", version=f"semiring {__version__}")
    result.set_defaults(run=partial(_help, result))
    added = result.add_subparsers(title="commands", metavar="COMMAND", parser_class=Parser)
    result.commands = added.choices

    def command(name: str, run: Callable[[argparse.Namespace], int], summary: str, more: str = "") -> Parser:
        made: Parser = added.add_parser(
            name, help=summary, description=f"{summary}. {more}".strip(), allow_abbrev=False
        )
        made.set_defaults(run=run)
        return made

    p = command(
        "closure", closure.run, "the closure A* of a graph's matrix",
        "Prints the matrix as tab-separated text, empty where it holds the algebra's zero; or with --from, --to, "
        "--path or --limit a line for each pair: from, to, value. Only what these ask for is computed.",
    )
    _graph_arguments(p)
    p.add_argument("--from", dest="source", metavar="A", action="append",
                   help="only from this vertex; may be given again")
    p.add_argument("--to", dest="target", metavar="B", action="append", help="only to this vertex; may be given again")
    p.add_argument("--path", action="store_true", help="a best path's vertices end each line")
    p.add_argument("--limit", metavar="VALUE", help="only pairs whose value is not worse: 5, or 5,2 for records")
    p.add_argument("--not-reflexive", action="store_true", help="A⁺ = A ⊗ A*: without the way of no edges")
    _tolerance_argument(p, "; with --memory, --checkpoint and --resume too")
    p.add_argument("--packed", action="store_true",
                   help="a bit for each pair, for --algebra boolean: 262,144 vertices take 8 GiB")
    p.add_argument("--memory", metavar="SIZE",
                   help="of a matrix in a .npy file or a zarr array, or of a graph: close it tile by tile within so "
                   "much, such as 8G, into -o OUT.npy or OUT.zarr")
    p.add_argument("--checkpoint", type=float, metavar="SECONDS",
                   help="between commits, from which it goes on after a power cut")
    p.add_argument("--resume", action="store_true", help="go on from the last commit, where there is one")
    p.add_argument("--devices", metavar="N",
                   help="GPUs of this host for the whole closure: how many, or their numbers, as in 0,2")
    p.add_argument("--device", choices=("cpu", "gpu"),
                   help="where the whole closure is computed; each of several processes has a GPU; chosen when absent")
    p.add_argument("--on", choices=("mpi", "ray"),
                   help="compute by several processes: mpiexec -n 4 python -m semiring closure … --on mpi; a .npy file "
                   "or a zarr array goes with -o into another, which all of them write")
    p.add_argument("--method", default="auto", help=f"of the whole closure: {', '.join(SCHEDULES)}; chosen when absent")
    p.add_argument("--plot", type=Path, metavar="PNG", help="draw the matrix, or with --positions the best paths")
    p.add_argument("--positions", type=Path, metavar="CSV", help="places: vertex, x, y, or longitude and latitude")
    _progress_arguments(p)

    p = command(
        "solve", commands.run_solve, "the least solution of X = A ⊗ X ⊕ B",
        "Prints a line for each vertex: its name and its row of X.",
    )
    _graph_arguments(p)
    p.add_argument("rhs", type=Path, metavar="RHS",
                   help="B: a .npy array, or text with a vertex and its values a line; others are zero")
    _tolerance_argument(p)
    _progress_arguments(p)

    p = command(
        "nearest", questions.run_nearest, "for every vertex the best of some places",
        "Prints a line for each vertex: its name, the place (empty where no walk leads), and the value.",
    )
    _graph_arguments(p)
    places = p.add_mutually_exclusive_group(required=True)
    places.add_argument("--from", dest="source", metavar="A", action="append",
                        help="a place to come from; may be given again")
    places.add_argument("--to", dest="target", metavar="B", action="append",
                        help="a place to go to; may be given again")
    p = command(
        "power", questions.run_power, "the ⊕ over all walks of so many edges",
        "Prints a line for each pair that such a walk joins: from, to, value.",
    )
    _graph_arguments(p)
    p.add_argument("edges", type=int, metavar="K", help="the number of edges")
    p = command(
        "cycle-mean", questions.run_cycle_mean, "the best mean weight of a cycle, and the cycle",
        "For algebras whose ⊕ is min or max and whose ⊗ is +.",
    )
    _graph_arguments(p)
    p = command(
        "longest-path", questions.run_longest_path, "the critical path of a graph without cycles",
        "Prints its weight and its vertices.",
    )
    _file_arguments(p)
    _weight_arguments(p)
    p.add_argument("--from", dest="source", metavar="A", help="where it begins")
    p.add_argument("--to", dest="target", metavar="B", help="where it ends")
    p = command("components", questions.run_components, "the strongly connected components, one a line")
    _file_arguments(p)
    p.add_argument("--weak", action="store_true", help="take edges without their direction")
    p.set_defaults(weight=None)
    p = command("order", questions.run_order, "a topological order of a graph without cycles, a vertex a line")
    _file_arguments(p)
    p.set_defaults(weight=None)

    p = command(
        "explain", steps.run_explain, "how a closure is computed, step by step",
        "Of a graph of up to 12 vertices. With -o PAGE.html a page to step through, which needs no network.",
    )
    _graph_arguments(p)
    p.add_argument("--method", default="floyd-warshall", help=f"{', '.join(SCHEDULES)}; the page offers all")
    p.add_argument("--tile", type=int, metavar="N",
                   help=f"vertices of a block, {steps.TILE} when absent, where the method has blocks")
    p.add_argument("--positions", type=Path, metavar="CSV", help="places: vertex, x, y, or longitude and latitude")
    p.add_argument("--title", help="of the page")

    p = command(
        "random", commands.run_random, "a random graph, from a seed the same on every machine",
        "Prints a line for each edge: from, to, and a weight where there is one; undirected edges in both directions.",
    )
    p.add_argument("vertices", type=int, metavar="N", help="how many vertices, called 0 to N − 1")
    p.add_argument("--kind", default="uniform", help=f"{', '.join(KINDS)}")
    p.add_argument("--degree", metavar="LOW,HIGH", help="edges of a vertex, as in 2,6; one number for all, or the mean")
    p.add_argument("-p", dest="p", type=float, metavar="P", help="the probability of each edge")
    p.add_argument("--weights", metavar="LOW,HIGH", help="between 1,100 or 0.0,1.0")
    p.add_argument("--seed", type=int, default=0, metavar="NUMBER")
    p.add_argument("-o", "--output", "--out", type=Path, metavar="OUT", help="write to a .csv, .tsv or .npz file")

    p = command(
        "laws", commands.run_laws, "try the laws of semirings on an algebra", "Ends with status 1 if one fails."
    )
    p.add_argument("algebra", metavar="ALGEBRA", help="a name from the catalogue, or FILE.py:NAME")
    command("catalogue", commands.run_catalogue, "the algebras that come with the library")
    command("info", commands.run_info, "versions, processor, memory and the choices that follow")
    p = command(
        "warmup", commands.run_warmup, "compile ahead of need",
        "What the algebras' matrices need is compiled now and kept; without it that happens once it repays.",
    )
    p.add_argument("algebras", nargs="*", metavar="ALGEBRA", help="names from the catalogue, or FILE.py:NAME")
    p.add_argument("--dtype", action="append", metavar="TYPE", help="of the matrices; may be given again")
    p.add_argument("--sparse", action="store_true", help="for sparse matrices and graphs too")
    p.add_argument("--clear", action="store_true", help="first delete what is kept on disk")
    p = command("demo", commands.run_demo, "five questions about the roads of Minnesota, checked against SciPy")
    p.add_argument("--plot", type=Path, metavar="PNG", help="draw a map of the answers")
    return result


def _graph_arguments(p: Parser) -> None:
    _file_arguments(p)
    _weight_arguments(p)
    p.add_argument("--algebra", required=True, metavar="NAME", help="from the catalogue, or FILE.py:NAME")
    p.add_argument("--dtype", metavar="TYPE", help="of the matrix, as NumPy names it: f4, int16, …")
    p.add_argument("--append", metavar="VALUES", help="components after the weight, for records: 1 or 0,inf")


def _tolerance_argument(p: Parser, more: str = "") -> None:
    p.add_argument("--tol", type=float, metavar="VALUE",
                   help="how well weights are known: a cycle that is better by no more for each edge is not refused, "
                   f"and answers are those of edges that are worse by it{more}")


def _file_arguments(p: Parser) -> None:
    p.add_argument("file", type=Path, metavar="FILE",
                   help=f"a graph: {' '.join(endings(usual=True))}, also compressed; - is standard input")
    p.add_argument("-o", "--output", "--out", type=Path, metavar="OUT",
                   help="write to a file, which is replaced when the new one is whole: lines to .csv .tsv, matrices to "
                   f"{' '.join(endings(written=True, usual=True))}; `explain` writes .html")
    direction = p.add_mutually_exclusive_group()
    direction.add_argument("--directed", action="store_true", default=None, help="every edge goes one way")
    direction.add_argument("--undirected", action="store_false", dest="directed", help="every edge goes both ways")
    p.add_argument("--format", metavar="FORMAT",
                   help=f"what FILE is, where its ending does not say: {', '.join(format_names())}; standard "
                   "input is a list of edges")
    header = p.add_mutually_exclusive_group()
    header.add_argument("--header", action="store_true", default=None, help="the first line names the columns")
    header.add_argument("--no-header", action="store_false", dest="header", help="the first line is an edge")
    p.add_argument("--source", dest="source_column", metavar="COLUMN",
                   help="the column of a table that holds where edges begin, by its name or its number from 0")
    p.add_argument("--target", dest="target_column", metavar="COLUMN", help="the column that holds where they end")
    p.add_argument("--decimal", default=".", metavar="MARK", help="what stands before decimals in text: . or ,")
    p.add_argument("--text-names", action="store_const", const=str, dest="names",
                   help="vertices are names, also where they look like numbers")
    p.add_argument("--absent", type=float, metavar="VALUE",
                   help="the number that means no edge in a matrix whose every entry is written, as 0 or inf")
    p.add_argument("--label", metavar="ATTRIBUTE",
                   help="what vertices of GML are called by, as id where labels are not all different")
    p.add_argument("--compact", action="store_true", help="leave out vertices without edges")


def _weight_arguments(p: Parser) -> None:
    weights = p.add_mutually_exclusive_group()
    weights.add_argument("--weight", metavar="COLUMN", default="weight", action=_Columns,
                         help="the column or attribute of weights, by its name, or a column by its number from 0; may "
                         "be given again, for records")
    weights.add_argument("--unweighted", action="store_const", const=None, dest="weight", help="every edge weighs 1")


def _progress_arguments(p: Parser) -> None:
    p.add_argument("--progress", action=argparse.BooleanOptionalAction, default=None,
                   help="tell on stderr how far the work is, also where that is not a terminal; or never")


def _help(parser: Parser, arguments: argparse.Namespace) -> int:
    """What there is to ask for, where nothing was asked."""
    parser.print_help()
    return 0
