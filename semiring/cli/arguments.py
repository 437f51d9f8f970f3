"""What each command takes."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from semiring import __version__
from semiring.solvers.methods import SCHEDULES

from . import closure, commands

BAD_INPUT = 2


class Parser(argparse.ArgumentParser):
    """Ends with one line on stderr for arguments that do not fit."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and end."""
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
    added = result.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=Parser)

    def command(name: str, run: Callable[[argparse.Namespace], int], summary: str, more: str = "") -> Parser:
        made: Parser = added.add_parser(
            name, help=summary, description=f"{summary}. {more}".strip(), allow_abbrev=False
        )
        made.set_defaults(run=run)
        return made

    p = command(
        "closure", closure.run, "the closure A* of a graph's matrix",
        "Prints the matrix as tab-separated text, empty where it holds the algebra's zero; or with --from, --to or "
        "both a line for each pair: from, to, value.",
    )
    _graph_arguments(p)
    p.add_argument("--from", dest="source", metavar="A", help="only from this vertex")
    p.add_argument("--to", dest="target", metavar="B", help="only to this vertex")
    p.add_argument("--path", action="store_true", help="with --from and --to: a best path's vertices end the line")
    p.add_argument("--not-reflexive", action="store_true", help="A⁺ = A ⊗ A*: without the way of no edges")
    p.add_argument("--packed", action="store_true",
                   help="a bit for each pair, for --algebra boolean: 262,144 vertices take 8 GiB")
    p.add_argument("--method", default="auto", help=f"{', '.join(SCHEDULES)}; chosen when absent")
    p.add_argument("--plot", type=Path, metavar="PNG", help="draw the matrix, or with --positions the best path")
    p.add_argument("--positions", type=Path, metavar="CSV", help="places: vertex, x, y, or longitude and latitude")

    p = command(
        "solve", commands.run_solve, "the least solution of X = A ⊗ X ⊕ B",
        "Prints a line for each vertex: its name and its row of X.",
    )
    _graph_arguments(p)
    p.add_argument("rhs", type=Path, metavar="RHS",
                   help="B: a .npy array, or text with a vertex and its values a line; others are zero")

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
    p.add_argument("file", type=Path, metavar="FILE",
                   help="a graph: .csv .tsv .txt .mtx .gr .npy .npz .graphml, also compressed")
    p.add_argument("--algebra", required=True, metavar="NAME", help="from the catalogue, or FILE.py:NAME")
    p.add_argument("-o", "--output", type=Path, metavar="OUT", help="write to a file: .npy .npz .csv .tsv .mtx")
    p.add_argument("--dtype", metavar="TYPE", help="of the matrix, as NumPy names it: f4, int16, …")
    direction = p.add_mutually_exclusive_group()
    direction.add_argument("--directed", action="store_true", default=None, help="every edge goes one way")
    direction.add_argument("--undirected", action="store_false", dest="directed", help="every edge goes both ways")
    weights = p.add_mutually_exclusive_group()
    weights.add_argument("--weight", metavar="COLUMN", default="weight", action=_Columns,
                         help="the column or attribute of weights; may be given again, for records")
    weights.add_argument("--unweighted", action="store_const", const=None, dest="weight", help="every edge weighs 1")
    p.add_argument("--format", metavar="FORMAT", help="what FILE is, where its ending does not say: csv, mtx, …")
    header = p.add_mutually_exclusive_group()
    header.add_argument("--header", action="store_true", default=None, help="the first line names the columns")
    header.add_argument("--no-header", action="store_false", dest="header", help="the first line is an edge")
    p.add_argument("--text-names", action="store_const", const=str, dest="names",
                   help="vertices are names, also where they look like numbers")
    p.add_argument("--append", metavar="VALUES", help="components after the weight, for records: 1 or 0,inf")
    p.add_argument("--compact", action="store_true", help="leave out vertices without edges")
