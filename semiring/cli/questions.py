"""Commands of one question: `nearest`, `power`, `cycle-mean`, `longest-path`, `components`, `order` and `explain`."""

from __future__ import annotations

import argparse

from semiring.algebra.catalogue import max_plus
from semiring.api import cycle_mean, nearest, power
from semiring.errors import SemiringError
from semiring.graphs.texts import is_same, shown
from semiring.results.structure import components, longest_path, topological_order
from semiring.solvers.dense.schedules import WITHOUT_BLOCKS
from semiring.teach.explanation import explain

from .inputs import given_of, graph_of, label_of, positions_of
from .options import TILE, asked_of
from .output import TABLES, check_output, element_text, put_rows
from .tables import positions


def run_nearest(arguments: argparse.Namespace) -> int:
    """Print the best place to come from, or to go to, for every vertex."""
    check_output(arguments.output, TABLES, "lines")
    given = given_of(arguments)
    S, graph, A = given.S, given.graph, given.A
    if arguments.target is not None:
        if "commutative" not in S.flags:
            raise SemiringError(f"--to needs a commutative ⊗, and ⊗ of {S.name} is not commutative: give --from")
        A = given.reversed()
    places = positions_of(graph, arguments.source or arguments.target) or []
    found = nearest(A, S, [label_of(graph, v) for v in places], **asked_of(arguments, "nearest"))
    text, zero = element_text(S, given.A.dtype), S.zero_in(found.weights.dtype)
    put_rows(arguments.output, (
        [label_of(graph, v), "" if is_same(weight, zero) else place, text(weight)]
        for v, (weight, place) in enumerate(zip(found.weights, found.places, strict=True))
    ))
    return 0


def run_power(arguments: argparse.Namespace) -> int:
    """Print the power A^k, a line for each element that is not zero."""
    check_output(arguments.output, TABLES, "lines")
    given = given_of(arguments)
    found = power(given.A, given.S, arguments.edges, **asked_of(arguments, "power"))
    weights = found.weights
    text = element_text(given.S, given.A.dtype)
    put_rows(arguments.output, (
        [label_of(given.graph, i), label_of(given.graph, j), text(weight)]
        for i, j, weight in zip(found.sources.tolist(), found.targets.tolist(), weights, strict=True)
    ))
    return 0


def run_cycle_mean(arguments: argparse.Namespace) -> int:
    """Print the best mean weight of a cycle, and the cycle."""
    check_output(arguments.output, TABLES, "lines")
    given = given_of(arguments)
    mean, vertices = cycle_mean(given.A, given.S, **asked_of(arguments, "cycle_mean"))
    put_rows(arguments.output, [[element_text(given.S, mean.dtype)(mean), *(vertices or ())]])
    return 0


def run_longest_path(arguments: argparse.Namespace) -> int:
    """Print a longest path of an acyclic graph."""
    check_output(arguments.output, TABLES, "the path")
    graph = graph_of(arguments)
    ends = [None if end is None else label_of(graph, (positions_of(graph, [end]) or [0])[0])
            for end in (arguments.source, arguments.target)]
    weight, vertices = longest_path(graph, *ends)
    dtype = getattr(weight, "dtype", None)
    put_rows(arguments.output, [[weight if dtype is None else element_text(max_plus, dtype)(weight),
                                 *(vertices or ())]])
    return 0


def run_components(arguments: argparse.Namespace) -> int:
    """Print the components of a graph, one per line."""
    check_output(arguments.output, TABLES, "lines")
    found = components(graph_of(arguments), weak=arguments.weak)
    put_rows(arguments.output, (list(component) for component in found))
    return 0


def run_order(arguments: argparse.Namespace) -> int:
    """Print the vertices of an acyclic graph in topological order."""
    check_output(arguments.output, TABLES, "lines")
    put_rows(arguments.output, ([vertex] for vertex in topological_order(graph_of(arguments))))
    return 0


def run_explain(arguments: argparse.Namespace) -> int:
    """Print the steps that change an entry, or write a page of all steps."""
    check_output(arguments.output, (".html",), "a page")
    for option in ("positions", "title"):
        if arguments.output is None and vars(arguments)[option] is not None:
            raise SemiringError(f"--{option} is for the page: give -o PAGE.html, or leave it out")
    if (arguments.tile or 0) > 0 and arguments.output is None and arguments.method in WITHOUT_BLOCKS:
        raise SemiringError(f"--tile is for methods with blocks, and {arguments.method} has none: leave it out")
    given, tile = given_of(arguments), TILE if arguments.tile is None else arguments.tile
    places = None if arguments.positions is None else positions(arguments.positions, given.graph)[0]
    found = explain(given.A, given.S, method=arguments.method, tile=tile, positions=places,
                    title=arguments.title)
    if arguments.output is None:
        print("\n".join(map(shown, str(found).splitlines())))
    else:
        found.save(arguments.output)
    return 0
