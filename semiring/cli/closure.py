"""`semiring closure`: a graph's closure as text, files and pictures."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

import numpy as np

from semiring.algebra.laws import show
from semiring.api import closure, path
from semiring.errors import SemiringError
from semiring.graphs.graph import Graph
from semiring.graphs.matrix import Matrix
from semiring.graphs.texts import shown

from .inputs import algebra_of, graph_of, label_of, matrix_of, vertex_of
from .output import element_text, write_matrix, write_rows
from .tables import positions


def run(arguments: argparse.Namespace) -> int:
    """The closure A* over any algebra."""
    if arguments.packed:
        return _packed(arguments)
    for needs, given in (("--path", arguments.path), ("--positions", arguments.positions)):
        if given and (arguments.source is None or arguments.target is None):
            raise SemiringError(f"{needs} needs --from and --to, the ends of the path")
    if arguments.positions and not arguments.plot:
        raise SemiringError("--positions places vertices on a map: add --plot PNG")
    if arguments.plot:
        from .plot import require_matplotlib

        require_matplotlib()
    graph, A = matrix_of(arguments)
    S = A.semiring
    source, target = _ends(arguments, A)
    places = positions(arguments.positions, graph) if arguments.positions else None
    C = closure(A, S, method=arguments.method, reflexive=not arguments.not_reflexive, progress=True)
    route: list[int] = []
    if source is not None and target is not None and (arguments.path or places is not None):
        vertices = path(A, S, label_of(A, source), label_of(A, target))[1]
        route = [A.index(v) for v in vertices or ()]
        if places is not None and not route:
            ends = f"from {shown(label_of(A, source))} to {shown(label_of(A, target))}"
            raise SemiringError(f"there is no way {ends} to be drawn")

    if source is not None or target is not None:
        rows, columns = _chosen(A.n, source, target)
        steps = [label_of(A, v) for v in route] if arguments.path else []
        text = element_text(S, C.dtype)
        write_rows([label_of(A, i), label_of(A, j), text(C.array[i, j]), *steps] for i in rows for j in columns)
    elif arguments.output is None and arguments.plot is None:
        write_matrix(C)
    if arguments.output is not None:
        from semiring.files.formats import write_matrix as write_file

        write_file(arguments.output, C)
    if arguments.plot:
        _draw(arguments, graph, C, places, route)
    return 0


def _packed(arguments: argparse.Namespace) -> int:
    """The closure over a Boolean algebra, a bit for each pair of vertices; no matrix is ever held unpacked."""

    given = vars(arguments)
    for option in ("path", "plot", "positions", "dtype", "append"):
        if given[option]:
            raise SemiringError(f"--packed keeps a bit for each pair of vertices: leave out --{option}")
    if arguments.output is None and arguments.source is None and arguments.target is None:
        raise SemiringError("--packed needs -o OUT.npy for the bits, or --from or --to for some of them")
    if arguments.output is not None and arguments.output.suffix.lower() != ".npy":
        raise SemiringError(f"{arguments.output}: a packed matrix is written as .npy")
    S = algebra_of(arguments.algebra)
    graph = graph_of(arguments)
    source, target = _ends(arguments, graph)
    R = closure(graph, S, method=arguments.method, reflexive=not arguments.not_reflexive, packed=True, progress=True)
    if source is not None or target is not None:
        rows, columns = _chosen(graph.n, source, target)
        write_rows([label_of(graph, i), label_of(graph, j), int(R[i, j])] for i in rows for j in columns)
    if arguments.output is not None:
        R.save(arguments.output)
    return 0


def _ends(arguments: argparse.Namespace, M: Graph | Matrix) -> tuple[int | None, int | None]:
    """Positions of the vertices after --from and --to."""
    source, target = (None if end is None else vertex_of(M, end) for end in (arguments.source, arguments.target))
    return source, target


def _chosen(n: int, source: int | None, target: int | None) -> tuple[Iterable[int], Iterable[int]]:
    return range(n) if source is None else [source], range(n) if target is None else [target]


def _draw(
    arguments: argparse.Namespace, graph: Graph, C: Matrix, places: tuple[np.ndarray, str] | None, route: list[int]
) -> None:
    from .plot import Route, draw_heat_map, draw_map

    S = C.semiring
    title = f"{S.name} closure of {arguments.file.name}"
    if places is None:
        draw_heat_map(arguments.plot, C, title=title, subtitle=S.description)
        return
    value = show(C.array[route[0], route[-1]])
    label = f"from {label_of(C, route[0])} to {label_of(C, route[-1])}: {value}, {len(route) - 1} edges"
    points, unit = places
    draw_map(
        arguments.plot, points, graph.sources, graph.targets, title=title, subtitle=S.description,
        routes=[Route(route, label)], names=C.names, unit=unit,
    )
