"""`semiring explain`: a closure step by step, as text or as a page."""

from __future__ import annotations

import argparse

from semiring.errors import SemiringError
from semiring.graphs.texts import shown
from semiring.solvers.dense.schedules import WITHOUT_BLOCKS
from semiring.teach.explanation import explain

from .inputs import given_of
from .options import TILE
from .output import check_output
from .tables import positions


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
