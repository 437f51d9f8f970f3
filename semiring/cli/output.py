"""Answers as text: tab-separated for a pipe, tables for a terminal."""

from __future__ import annotations

import math
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.files.streams import suffix
from semiring.files.writers import put_lines, put_table, write_lines
from semiring.graphs.matrix import Matrix
from semiring.graphs.names import is_integer
from semiring.graphs.texts import infinities, readable, shown

TABLES = (".csv", ".tsv")  # files of lines
READ, WRITTEN = ("file", "rhs", "positions"), ("output", "plot")  # arguments that are paths


def element_text(S: Semiring, dtype: np.dtype) -> Callable[[Any], Any]:
    """How an element is written in a cell: with enough digits to read it back, 0 and 1 for bool, inf for ∞.

    Integers that are floats because of an ∞ beside them are written as integers.
    """
    infinite = infinities(S, dtype)
    return lambda value: _whole(readable(value, infinite), dtype)


def _whole(found: Any, dtype: np.dtype) -> Any:
    """Floats as integers of the dtype; ∞ stays."""
    if dtype.names and isinstance(found, tuple):
        return tuple(_whole(x, dtype[f].base) for x, f in zip(found, dtype.names, strict=True))
    if isinstance(found, list):
        return [_whole(x, dtype) for x in found]
    return int(found) if dtype.kind in "iu" and isinstance(found, float) and math.isfinite(found) else found


def write_rows(rows: Iterable[Sequence[Any]]) -> None:
    """Write tab-separated text to stdout; control characters in names are escaped as in Python."""
    put_lines(sys.stdout, ([shown(x) if isinstance(x, str) else x for x in row] for row in rows), "\t")


def check_output(path: Path | None, endings: Sequence[str], what: str) -> None:
    """Refuse an output that cannot be written, before it is computed.

    Raises
    ------
    SemiringError
        If a file with this ending cannot hold it, or the folder does not exist.
    """
    if path is None:
        return
    if suffix(path) not in endings:
        raise SemiringError(f"{shown(path)}: {what} cannot be written to such a file: use {', '.join(endings)}")
    if not path.absolute().parent.is_dir():
        raise SemiringError(f"{shown(path)}: there is no folder {shown(path.parent)}")


def refuse_inputs(arguments: Namespace) -> None:
    """Refuse to overwrite an input file, which a typing error would destroy.

    Raises
    ------
    SemiringError
        If an output is the same file as an input, by whatever path.
    """
    given = vars(arguments)
    for target in (path for name in WRITTEN if (path := given.get(name)) is not None and path.exists()):
        if any(source.exists() and source.samefile(target) for name in READ if (source := given.get(name)) is not None):
            raise SemiringError(f"{shown(target)} is an input and would be overwritten: give another name")


def put_rows(path: Path | None, rows: Iterable[Sequence[Any]]) -> None:
    """Write rows to a .csv or .tsv file, or to stdout without a path."""
    if path is None:
        write_rows(rows)
    else:
        write_lines(path, rows)


def write_matrix(M: Matrix) -> None:
    """Write the whole matrix to a pipe, as in a .tsv file, or its corners to a terminal."""
    if sys.stdout.isatty():
        print(M)
    else:
        names = None if M.names is None else [v if is_integer(v) else shown(v) for v in M.names]
        put_table(sys.stdout, M, names, "\t")


def write_table(header: list[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a table to a terminal, or tab-separated text to a pipe."""
    if not sys.stdout.isatty():
        write_rows([header, *rows])
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*header, box=box.SIMPLE_HEAD)
    for row in rows:
        table.add_row(*map(Text, row))
    Console().print(table)
