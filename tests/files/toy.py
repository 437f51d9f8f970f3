"""A format of one file and one row, to see that no more is needed: a line for each edge, with its ends and its weight.

Vertices are integers, the first line says how many, and no line is checked as a real reader has to check it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from semiring.files.format import Format, Options
from semiring.files.streams import text_of, utf8
from semiring.graphs.graph import Graph
from semiring.graphs.matrix import Matrix


def read_toy(path: Path, data: bytes, options: Options) -> Graph:
    n, *rows = (line.split() for line in text_of(path, data).splitlines())
    ends = np.array([row[:2] for row in rows], np.int64).reshape(-1, 2)
    weights = None if options.weight is None else np.array([row[2] for row in rows], np.float64)
    return Graph(ends[:, 0], ends[:, 1], int(n[0]), weights, directed=options.one_way)


def write_toy(path: Path, M: Matrix) -> None:
    with utf8(path) as file:
        file.write(f"{M.n}\n")
        for i, j in np.argwhere(M.array != M.semiring.zero_in(M.dtype)).tolist():
            file.write(f"{i} {j} {M.array[i, j]}\n")


TOY = Format(name="toy", endings=(".toy", ".toys"), title="the toy format", content="ends and weights", read=read_toy,
             write=write_toy, named=False)
