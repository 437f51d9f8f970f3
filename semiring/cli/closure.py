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
from .options import READING, WEIGHT, by_flags, refuse
from .output import TABLES, check_output, element_text, put_rows, refuse_inputs, write_matrix
from .pairs import Asked, Pair, pairs
from .tables import positions

STORED = (".npy", ".zarr")  # files that several processes read and write together
MOST_ROUTES = 4  # on one map
SOME = by_flags("--from --to --path --limit")  # options that ask for some pairs
DEVICES = by_flags("--device --devices")
NOT_TOGETHER = [*SOME, *by_flags("--packed --memory --devices --plot --positions")]
NOT_IN_FILES = [*SOME, *by_flags("--plot --positions --packed --devices")]
NOT_PACKED = by_flags("--path --plot --positions --dtype --append --limit --tol --devices")


def run(arguments: argparse.Namespace) -> int:
    """Run `closure`: A* over any algebra."""
    if arguments.on is not None:
        return _together(arguments)
    if arguments.memory is not None or arguments.checkpoint is not None or arguments.resume:
        return _to_file(arguments)
    if arguments.packed:
        return _packed(arguments)
    some = any(row.is_given(arguments) for row in SOME)
    if some:
        refuse(arguments, "--from, --to, --path and --limit ask for less than the whole closure", DEVICES)
    devices = _devices(arguments.devices)
    _refuse(arguments, some)
    if arguments.plot:
        from .plot import require_matplotlib

        require_matplotlib()
    given = given_of(arguments)
    asked = _asked(arguments, given)
    progress = progress_of(arguments, "closure")
    places = positions(arguments.positions, given.graph) if arguments.positions else None
    if some:
        # A progress bar would mix with the lines.
        streaming = sys.stdout.isatty() and arguments.output is None and not arguments.progress
        found: Iterable[Pair] = pairs(given, asked, False if streaming else progress)
        if places is not None:
            found = list(found)
            _draw_map(arguments, given, found, places)
        _write_pairs(arguments, given, asked, found)
    if not some or (arguments.plot and places is None):
        C = closure(given.A, given.S, method=arguments.method, reflexive=asked.reflexive, progress=progress,
                    devices=devices, device=arguments.device, tol=asked.tol)
        if not some and arguments.output is not None:
            write_file(arguments.output, C)
        elif not some and not arguments.plot:
            write_matrix(C)
        if arguments.plot:
            _draw_heat_map(arguments, C)
    return 0


def _devices(text: str | None) -> int | list[int] | None:
    """How many GPUs, or their numbers."""
    if text is None:
        return None
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        raise SemiringError(f"--devices {text}: give how many GPUs, as in 4, or their numbers, as in 0,2") from None
    return numbers if "," in text else numbers[0]


def _to_file(arguments: argparse.Namespace) -> int:
    """Close a matrix in a file, tile by tile, into another file."""
    if arguments.output is None:
        raise SemiringError("--memory, --checkpoint and --resume write the closure to a file: give -o OUT.npy or -o "
                            "OUT.zarr")
    why = "--memory, --checkpoint and --resume compute a whole closure on one processor or GPU"
    refuse(arguments, why, NOT_IN_FILES)
    S = algebra_of(arguments.algebra)
    # A matrix is read a tile at a time; the edges of a graph are in memory, and tiles are filled with them.
    dense = arguments.file.suffix in ENDINGS and arguments.file != STDIN and arguments.format is None
    if dense:
        _refuse_reading(arguments)
    A: Any = arguments.file if dense else given_of(arguments, S).A
    closure(A, S, method=arguments.method, reflexive=not arguments.not_reflexive, out=arguments.output,
            memory=arguments.memory, checkpoint=arguments.checkpoint, resume=arguments.resume, device=arguments.device,
            tol=arguments.tol, progress=progress_of(arguments, "closure"))
    return 0


def _together(arguments: argparse.Namespace) -> int:
    """Close a matrix with several processes. Only the first one prints; with MPI each of them runs this."""
    here = connect(arguments.on)
    first = getattr(here, "rank", 0) == 0
    try:
        refuse_inputs(arguments)
        refuse(arguments, "--on computes a whole closure", NOT_TOGETHER)
        S, stored = algebra_of(arguments.algebra), arguments.file.suffix.lower() in STORED
        asked: dict[str, Any] = {
            "method": arguments.method, "on": here, "device": arguments.device, "tol": arguments.tol,
            "reflexive": not arguments.not_reflexive, "progress": first and progress_of(arguments, "closure"),
        }
        if stored and arguments.output is not None and arguments.output.suffix.lower() in STORED:
            _refuse_reading(arguments)
            closure(arguments.file, S, out=arguments.output, checkpoint=arguments.checkpoint, resume=arguments.resume,
                    **asked)
            return 0
        if arguments.checkpoint is not None or arguments.resume:
            raise SemiringError("with --on, --checkpoint and --resume need a .npy file or a zarr array as input and "
                                "output: give -o OUT.npy or -o OUT.zarr")
        check_output(arguments.output, endings(written=True), "a matrix")
        C = closure(_first_matrix(arguments, S, here), S, **asked)
    except (SemiringError, OSError):
        if first:
            raise
        return BAD_INPUT  # the first process reports it
    if first and arguments.output is not None:
        write_file(arguments.output, C)
    elif first:
        write_matrix(C)
    return 0


def _refuse_reading(arguments: argparse.Namespace) -> None:
    """Refuse options of reading a graph for a matrix that is read as it is."""
    why = f"{shown(arguments.file)} is a matrix that is read as it is, one tile at a time"
    refuse(arguments, why, [*READING, *WEIGHT, *by_flags("--dtype --append")])


def _first_matrix(arguments: argparse.Namespace, S: Semiring, here: Any) -> Any:
    """The matrix, read by the first process; an error is raised in all of them."""
    world = getattr(here, "world", None)
    if world is None:
        return given_of(arguments, S).A
    try:
        return agreed(world, lambda: given_of(arguments, S).A if world.rank == 0 else None)
    except Agreed as e:
        raise e.args[0] from None


def _refuse(arguments: argparse.Namespace, some: bool) -> None:
    """Refuse options that exclude each other, before anything is read or computed."""
    if arguments.positions and (arguments.source is None or arguments.target is None):
        raise SemiringError("--positions needs --from and --to, the ends of the path")
    if arguments.positions and not arguments.plot:
        raise SemiringError("--positions places vertices on a map: add --plot PNG")
    if arguments.not_reflexive and (arguments.path or arguments.limit is not None or arguments.positions):
        raise SemiringError("--not-reflexive is for values: leave out --path, --limit and --positions, whose paths may "
                            "have no edge")
    if not some:
        check_output(arguments.output, endings(written=True), "a matrix")
    elif arguments.path or arguments.limit is not None:
        check_output(arguments.output, TABLES, "lines of pairs")
    else:
        check_output(arguments.output, (*TABLES, ".npy"), "values of pairs")


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
    refuse(arguments, "--packed keeps one bit for each pair of vertices", NOT_PACKED)
    if arguments.output is None and arguments.source is None and arguments.target is None:
        raise SemiringError("--packed needs -o OUT.npy for the bits, or --from or --to for some of them")
    if arguments.output is not None and arguments.output.suffix.lower() != ".npy":
        raise SemiringError(f"{arguments.output}: a packed matrix can only be written as .npy")
    S = algebra_of(arguments.algebra)
    graph = graph_of(arguments)
    sources, targets = positions_of(graph, arguments.source), positions_of(graph, arguments.target)
    R = closure(graph, S, method=arguments.method, reflexive=not arguments.not_reflexive, packed=True,
                device=arguments.device, progress=progress_of(arguments, "closure"))
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
