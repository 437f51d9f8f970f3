"""`semiring closure`: a graph's closure as text, files and pictures."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.api import closure
from semiring.errors import SemiringError
from semiring.files.arrays import save_array
from semiring.files.formats import endings
from semiring.files.streams import suffix
from semiring.files.verbs import write_matrix as write_file
from semiring.graphs.matrix import Matrix
from semiring.graphs.texts import count_text, infinities, shown, with_infinities
from semiring.graphs.texts import element_text as one_text
from semiring.scale.connection import connect
from semiring.scale.ranks import Agreed, agreed
from semiring.scale.stores import ENDINGS
from semiring.scale.storing import storing_or_memory

from .inputs import (
    BAD_INPUT,
    NAMED,
    STDIN,
    Given,
    algebra_of,
    element_of,
    given_of,
    graph_of,
    label_of,
    positions_of,
    progress_of,
)
from .options import READING, WEIGHT, asked_of, by_flags, refuse, refuse_excluded
from .output import TABLES, check_output, element_text, put_rows, refuse_inputs, write_matrix
from .pairs import Asked, Pair, pairs
from .tables import positions

MOST_ROUTES = 4  # on one map
SOME = by_flags("--from --to --path --limit")  # options that ask for some pairs
TO_FILE = by_flags("--memory --checkpoint --resume")
WHOLE = [*TO_FILE, *by_flags("--devices --device --on")]  # options that only a whole closure has


def run(arguments: argparse.Namespace) -> int:
    """Run `closure`: A* over any algebra. With `--on mpi` each process runs this, and the first one prints."""
    here = None if arguments.on is None else connect(arguments.on)
    first = getattr(here, "rank", 0) == 0
    try:
        if here is not None:
            refuse_inputs(arguments)
        some = any(row.is_given(arguments) for row in SOME)
        _refuse(arguments, some)
        if arguments.packed:
            return _packed(arguments)
        return _pairs(arguments) if some else _whole(arguments, here, first)
    except (SemiringError, OSError):
        if first:
            raise
        return BAD_INPUT  # the first process reports it


def _refuse(arguments: argparse.Namespace, some: bool) -> None:
    """Refuse options that exclude each other, before anything is read or computed."""
    if some and not arguments.packed:
        refuse(arguments, "--from, --to, --path and --limit ask for less than the whole closure", WHOLE)
    if arguments.packed:
        refuse(arguments, "--packed keeps one bit for each pair of vertices",
               by_flags("--path --limit --plot --positions --dtype --append"))
    if arguments.plot:
        refuse(arguments, "--plot draws a matrix in memory", [*TO_FILE, *by_flags("--on")])
    if arguments.positions and (arguments.source is None or arguments.target is None):
        raise SemiringError("--positions needs --from and --to, the ends of the path")
    if arguments.positions and not arguments.plot:
        raise SemiringError("--positions places vertices on a map: add --plot PNG")
    if arguments.not_reflexive and (arguments.path or arguments.limit is not None or arguments.positions):
        raise SemiringError("--not-reflexive is for values: leave out --path, --limit and --positions, whose paths may "
                            "have no edge")
    refuse_excluded(arguments, "closure", arguments.on or "dense")
    if arguments.plot:
        from .plot import require_matplotlib

        require_matplotlib()


def _options(arguments: argparse.Namespace, first: bool = True) -> dict[str, Any]:
    """The options of a whole closure, as the library has them."""
    return asked_of(arguments, "closure") | {"progress": first and progress_of(arguments, "closure")}


def _whole(arguments: argparse.Namespace, here: Any, first: bool) -> int:
    """Close a matrix in memory or from file to file, by one process or several."""
    asked, output = _options(arguments, first) | {"on": here}, arguments.output
    by_tiles = arguments.file.suffix in ENDINGS and arguments.file != STDIN and arguments.format is None
    to_file = any(row.is_given(arguments) for row in TO_FILE)
    to_file |= here is not None and by_tiles and output is not None and output.suffix in ENDINGS
    out, memory = storing_or_memory(output if to_file else None, arguments.memory, arguments.checkpoint,
                                    arguments.resume, arguments.device)
    S = algebra_of(arguments.algebra)
    if out is not None:
        # A matrix is read a tile at a time; the edges of a graph are in memory, and tiles are filled with them.
        if by_tiles:
            why = f"{shown(arguments.file)} is a matrix that is read as it is, one tile at a time"
            refuse(arguments, why, [*READING, *WEIGHT, *by_flags("--dtype --append")])
        A: Any = arguments.file if by_tiles else _first_matrix(arguments, S, here)
        closure(A, S, out=output, memory=arguments.memory, checkpoint=arguments.checkpoint, resume=arguments.resume,
                **asked)
        return 0
    check_output(output, endings(written=True), "a matrix")
    C = closure(_first_matrix(arguments, S, here), S, memory=memory, **asked)
    if first and output is not None:
        write_file(output, C)
    elif first and not arguments.plot:
        write_matrix(C)
    if arguments.plot:
        _draw_heat_map(arguments, C)
    return 0


def _first_matrix(arguments: argparse.Namespace, S: Semiring, here: Any) -> Any:
    """The matrix, read by the first process; an error is raised in all of them."""
    world = getattr(here, "world", None)
    if world is None:
        return given_of(arguments, S).A
    try:
        return agreed(world, lambda: given_of(arguments, S).A if world.rank == 0 else None)
    except Agreed as e:
        raise e.args[0] from None


def _pairs(arguments: argparse.Namespace) -> int:
    """Print the values or best paths of some pairs."""
    as_lines = arguments.path or arguments.limit is not None
    check_output(arguments.output, TABLES if as_lines else (*TABLES, ".npy"),
                 "lines of pairs" if as_lines else "values of pairs")
    given = given_of(arguments)
    asked, progress = _asked(arguments, given), progress_of(arguments, "closure")
    places = positions(arguments.positions, given.graph) if arguments.positions else None
    # A progress bar would mix with the lines.
    streaming = sys.stdout.isatty() and arguments.output is None and not arguments.progress
    found: Iterable[Pair] = pairs(given, asked, False if streaming else progress)
    if places is not None:
        found = list(found)
        _draw_map(arguments, given, found, places)
    _write_pairs(arguments, given, asked, found)
    if arguments.plot and places is None:
        _draw_heat_map(arguments, closure(given.A, given.S, **_options(arguments)))
    return 0


def _asked(arguments: argparse.Namespace, given: Given) -> Asked:
    limit = None if arguments.limit is None else element_of(given.S, arguments.limit, "--limit")
    return Asked(positions_of(given.graph, arguments.source), positions_of(given.graph, arguments.target),
                 arguments.path or arguments.positions is not None, limit, arguments.method,
                 not arguments.not_reflexive, arguments.tol)


def _write_pairs(arguments: argparse.Namespace, given: Given, asked: Asked, found: Iterable[Pair]) -> None:
    if arguments.output is not None and suffix(arguments.output) == ".npy":
        values = [pair.value for pair in found]
        shape = [given.graph.n if ends is None else len(ends) for ends in (asked.sources, asked.targets)]
        dtype = given.A.callers_dtype
        elements = np.array(values, None if dtype.kind in "iu" else dtype)  # integers beside ∞ are floats
        save_array(arguments.output, with_infinities(elements.reshape(shape), given.S))
        return
    text = element_text(given.S, given.A.callers_dtype)
    rows = ([pair.source, pair.target, text(pair.value), *(pair.walk if arguments.path else ())] for pair in found)
    put_rows(arguments.output, rows)


def _packed(arguments: argparse.Namespace) -> int:
    """Close a graph over a Boolean algebra with one bit for each pair; no matrix is unpacked."""
    if arguments.output is None and arguments.source is None and arguments.target is None:
        raise SemiringError("--packed needs -o OUT.npy for the bits, or --from or --to for some of them")
    if arguments.output is not None and arguments.output.suffix.lower() != ".npy":
        raise SemiringError(f"{arguments.output}: a packed matrix can only be written as .npy")
    S = algebra_of(arguments.algebra)
    graph = graph_of(arguments)
    sources, targets = positions_of(graph, arguments.source), positions_of(graph, arguments.target)
    R = closure(graph, S, **_options(arguments))
    if sources is not None or targets is not None:
        rows, columns = (range(graph.n) if ends is None else ends for ends in (sources, targets))
        put_rows(None, ([label_of(graph, i), label_of(graph, j), int(R[i, j])] for i in rows for j in columns))
    if arguments.output is not None:
        R.save(arguments.output)
    return 0


def _title(arguments: argparse.Namespace, M: Given | Matrix) -> str:
    S = M.semiring if isinstance(M, Matrix) else M.S
    return f"{S.name} closure of {NAMED if arguments.file == STDIN else arguments.file.name}"


def _draw_heat_map(arguments: argparse.Namespace, C: Matrix) -> None:
    from .plot import draw_heat_map

    draw_heat_map(arguments.plot, C, title=_title(arguments, C), subtitle=C.semiring.description)


def _draw_map(
    arguments: argparse.Namespace, given: Given, found: list[Pair], places: tuple[np.ndarray, str]
) -> None:
    """Draw the paths of some pairs on a map; each must have a path."""
    from .plot import Route, draw_map

    if len(found) > MOST_ROUTES:
        raise SemiringError(f"a map shows at most {MOST_ROUTES} paths, and --from and --to ask for {len(found)}")
    graph, infinite = given.graph, infinities(given.S, given.A.callers_dtype)
    lost = next((pair for pair in found if not pair.walk), None)
    if lost is not None:
        raise SemiringError(f"there is no path from {shown(lost.source)} to {shown(lost.target)} to draw")

    def routes() -> Iterator[Route]:
        for k, pair in enumerate(found):
            value = one_text(pair.value, None, "", infinite)
            edges = count_text(len(pair.walk) - 1, "edge", "edges")
            label = f"from {shown(pair.source)} to {shown(pair.target)}: {value}, {edges}"
            width = 2.2 + 2 * (len(found) - 1 - k)  # later routes are thinner, so all stay visible
            yield Route([graph.index(v) for v in pair.walk], label, width)

    points, unit = places
    draw_map(
        arguments.plot, points, graph.sources, graph.targets, title=_title(arguments, given),
        subtitle=given.S.description, routes=list(routes()), names=graph.names, unit=unit,
    )
