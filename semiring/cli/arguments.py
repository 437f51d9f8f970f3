"""The commands, each a row: what it runs, what its help says, and its options."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from semiring import __version__
from semiring.suggestions import suggestion

from . import closure, commands, questions
from .inputs import BAD_INPUT
from .options import (
    CLOSURE,
    EDGES,
    EXPLAIN,
    GRAPH,
    LONGEST_PATH,
    NEAREST,
    RANDOM,
    WARMUP,
    WEIGHT,
    Option,
    of_verb,
    option,
)

# The command for each name that other programs use.
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
    """An argument parser that reports an error as one line on stderr."""

    commands: Collection[str] = ()

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write a message, and do not hide errors as argparse does."""
        file = file or sys.stderr
        file.write(message)
        file.flush()

    def error(self, message: str) -> NoReturn:
        """Report what is wrong and suggest a command, and exit."""
        if unknown := UNKNOWN.match(message):
            name = unknown[1]
            message = f"there is no command {name!r}{suggestion(name, list(self.commands), BY_NAME, 'semiring ')}"
        self.exit(BAD_INPUT, f"semiring: {message}; see {self.prog} --help\n")


Run = Callable[[argparse.Namespace], int]


@dataclass(frozen=True)
class Command:
    """A command.

    Attributes
    ----------
    run : callable
        ``run(arguments)`` returns the exit status.
    summary : str
        One line of help.
    options : tuple of Option
        Options with the same `dest` exclude each other.
    more : str
        More lines of help.
    required : str
        Flags, separated by blanks; exactly one must be given.
    defaults : dict
        Values of arguments that are not options of this command.
    """

    run: Run
    summary: str
    options: tuple[Option, ...] = ()
    more: str = ""
    required: str = ""
    defaults: tuple[tuple[str, Any], ...] = ()


UNWEIGHTED = (("weight", None),)

COMMANDS = {
    "closure": Command(
        closure.run, "the closure A* of a graph's matrix", (*GRAPH, *CLOSURE),
        "Prints the matrix as tab-separated text, with an empty cell for the algebra's zero. With --from, --to, --path "
        "or --limit it computes only what these ask for, and prints a line for each pair: from, to, value.",
    ),
    "solve": Command(
        commands.run_solve, "the least solution of X = A ⊗ X ⊕ B",
        (*GRAPH, option("rhs", "B: a .npy array, or text with a vertex and its values on each line; zero for other "
                        "vertices", type=Path, metavar="RHS"), *of_verb("solve")),
        "Prints a line for each vertex: its name and its row of X.",
    ),
    "nearest": Command(
        questions.run_nearest, "for every vertex the best of some places",
        (*GRAPH, *NEAREST, *of_verb("nearest")),
        "Prints a line for each vertex: its name, the place (empty if there is no walk), and the value.",
        required="--from --to",
    ),
    "power": Command(
        questions.run_power, "the sum ⊕ over all walks with K edges",
        (*GRAPH, option("edges", "the number of edges", type=int, metavar="K"), *of_verb("power")),
        "Prints a line for each pair that such a walk joins: from, to, value.",
    ),
    "cycle-mean": Command(
        questions.run_cycle_mean, "the best mean weight of a cycle, and the cycle",
        (*GRAPH, *of_verb("cycle_mean")),
        "For algebras whose ⊕ is min or max and whose ⊗ is +.",
    ),
    "longest-path": Command(
        questions.run_longest_path, "the critical path of a graph without cycles", (*EDGES, *WEIGHT, *LONGEST_PATH),
        "Prints its weight and its vertices.",
    ),
    "components": Command(
        questions.run_components, "the strongly connected components, one per line",
        (*EDGES, option("--weak", "ignore the direction of edges", action="store_true")), defaults=UNWEIGHTED,
    ),
    "order": Command(
        questions.run_order, "a topological order of a graph without cycles, one vertex per line", EDGES,
        defaults=UNWEIGHTED,
    ),
    "explain": Command(
        questions.run_explain, "how a closure is computed, step by step", (*GRAPH, *EXPLAIN),
        "For graphs of up to 12 vertices. With -o PAGE.html it writes a page to step through, which needs no network.",
    ),
    "random": Command(
        commands.run_random, "a random graph, the same on every machine for one seed", RANDOM,
        "Prints a line for each edge: from, to, and the weight if there is one; undirected edges in both directions.",
    ),
    "laws": Command(
        commands.run_laws, "test the laws of semirings on an algebra",
        (option("algebra", "a built-in algebra, or FILE.py:NAME", metavar="ALGEBRA"),),
        "The exit status is 1 if a law is broken.",
    ),
    "catalogue": Command(commands.run_catalogue, "the built-in algebras"),
    "info": Command(commands.run_info, "versions, processor, memory, and the choices that follow"),
    "warmup": Command(
        commands.run_warmup, "compile now what algebras need", WARMUP,
        "Compiles code for matrices over these algebras and keeps it on disk. Without this command it is compiled once "
        "that saves time.",
    ),
    "demo": Command(
        commands.run_demo, "five questions about the roads of Minnesota, checked against SciPy",
        (option("--plot", "draw a map of the answers", type=Path, metavar="PNG"),),
    ),
}


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
    for name, command in COMMANDS.items():
        made: Parser = added.add_parser(
            name, help=command.summary, description=f"{command.summary}. {command.more}".strip(), allow_abbrev=False
        )
        made.set_defaults(run=command.run, **dict(command.defaults))
        _add_options(made, command)
    return result


def _add_options(parser: Parser, command: Command) -> None:
    """Add the options of a command, in groups if they exclude each other."""
    required = [row for row in command.options if row.flag in command.required.split()]
    one = parser.add_mutually_exclusive_group(required=True) if required else None
    groups: dict[str, Any] = {}
    for row in command.options:
        into: Any = parser
        dest = row.settings.get("dest", row.flag)
        if row in required:
            into = one
        elif sum(other.settings.get("dest") == dest for other in command.options) > 1:
            into = groups.get(dest) or groups.setdefault(dest, parser.add_mutually_exclusive_group())
        row.add(into)


def _help(parser: Parser, arguments: argparse.Namespace) -> int:
    """Print the help."""
    parser.print_help()
    return 0
