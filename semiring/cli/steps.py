"""`semiring explain`: a closure step by step, as text or as a page."""

from __future__ import annotations

import argparse

from semiring.graphs.texts import shown
from semiring.teach.explanation import explain

from .inputs import given_of
from .output import check_output
from .tables import positions


def run_explain(arguments: argparse.Namespace) -> int:
    """The steps that change an entry, or a page of all."""
    check_output(arguments.output, (".html",), "a page")
    given = given_of(arguments)
    places = None if arguments.positions is None else positions(arguments.positions, given.graph)[0]
    found = explain(given.A, given.S, method=arguments.method, tile=arguments.tile, positions=places,
                    title=arguments.title)
    if arguments.output is None:
        print("\n".join(map(shown, str(found).splitlines())))
    else:
        found.save(arguments.output)
    return 0
