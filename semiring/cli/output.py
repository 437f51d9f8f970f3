"""Answers as text: tab-separated for a pipe, tables for a terminal."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.graphs.matrix import Matrix
from semiring.graphs.texts import is_same, shown

from .inputs import label_of


def element_text(S: Semiring, dtype: np.dtype) -> Callable[[Any], Any]:
    """How an element is written in a cell: digits enough to read it back, 0 and 1 for bool, inf for ∞ in integers."""
    limits = {}
    if dtype.kind in "iu":
        limits = {int(S.over(dtype).element(x)): x for x in (S.zero, S.one) if x in (np.inf, -np.inf)}

    def text(value: Any) -> Any:
        if dtype.kind == "b":
            return int(value)
        plain = value.item() if isinstance(value, np.generic) else value
        return limits.get(plain, plain) if limits else plain

    return text


def write_rows(rows: Iterable[Sequence[Any]]) -> None:
    """Tab-separated text on stdout, a row a line: control characters in names are escaped as in Python."""
    writer = csv.writer(sys.stdout, delimiter="\t", lineterminator="\n")
    writer.writerows([shown(x) if isinstance(x, str) else x for x in row] for row in rows)


def write_matrix(M: Matrix) -> None:
    """The whole matrix for a pipe, as `semiring.write_matrix` writes it to a .tsv file; its corners for a terminal."""
    if sys.stdout.isatty():
        print(M)
        return
    zero = M.semiring.zero_in(M.dtype)
    labels = [label_of(M, i) for i in range(M.n)]

    def cells(row: np.ndarray) -> list[Any]:
        if row.dtype.kind == "O":
            return ["" if is_same(x, zero) else x for x in row]
        texts = (row.astype(np.int8) if row.dtype.kind == "b" else row).tolist()
        for j in np.flatnonzero(row == zero):
            texts[j] = ""
        return texts

    write_rows([["", *labels]])
    write_rows([label, *cells(row)] for label, row in zip(labels, M.array, strict=True))


def write_table(header: list[str], rows: Iterable[Sequence[str]]) -> None:
    """A table with lines for a terminal, tab-separated text for a pipe."""
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
