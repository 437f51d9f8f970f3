"""Comments in which `write_matrix` notes what a format cannot express: the dtype, and whether names are integers.

Without the comment the file is an ordinary one of its format, and its reader interprets the names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import GraphError, SemiringError
from semiring.graphs.graph import Graph
from semiring.graphs.matrix import Matrix
from semiring.graphs.texts import quoted, shown

from .numerals import CANONICAL

MARK = "semiring-matrix"
COMMENT = re.compile(rb"^(?:<!--|[#%c] )semiring-matrix (.*?)(?:-->)?\r?$", re.MULTILINE)
HEAD = 4096  # bytes of a file in which the comment is looked for
DTYPES = frozenset(("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 "
                    "complex128").split())
TEXTS, INTEGERS = "texts", "integers"


class Note(NamedTuple):
    """What the comment says."""

    algebra: str
    dtype: np.dtype
    names: str | None  # None: vertices are positions


def comment(M: Matrix, names: Sequence[int | str] | None) -> str:
    """The text of the comment without its delimiters; it has no "--", which would end a comment in XML."""
    kind = None if names is None else INTEGERS if names and isinstance(names[0], int) else TEXTS
    said = json.dumps({"algebra": M.semiring.name, "dtype": M.dtype.name, "names": kind})
    return f"{MARK} {said.replace('-', chr(92) + 'u002d')}"


def single_kind(path: Path, names: Sequence[int | str]) -> None:
    """Refuse a mix of integers and texts, which the file could not distinguish.

    Raises
    ------
    SemiringError
    """
    if len({type(name) for name in names}) > 1:
        integer, text = (next(name for name in names if type(name) is kind) for kind in (int, str))
        raise SemiringError(f"{shown(path)}: names are integers, such as {integer}, and texts, such as "
                            f"{quoted(text)}, but this format stores names of one kind: write .csv, or call str() on "
                            "the names")


def noted(path: Path, data: bytes) -> Note | None:
    """The note of `write_matrix` in a file, or None.

    Raises
    ------
    GraphError
        If the comment is damaged.
    """
    found = COMMENT.search(data[:HEAD])
    if found is None:
        return None
    try:
        said = json.loads(found[1])
        algebra, dtype, names = said["algebra"], said["dtype"], said["names"]
        if type(algebra) is str and dtype in DTYPES and names in (None, TEXTS, INTEGERS):
            return Note(algebra, np.dtype(dtype), names)
    except (ValueError, LookupError, TypeError, RecursionError):
        pass
    raise GraphError(f"{shown(path)}: found the comment {quoted(found[0].decode(errors='replace'))}, expected a note "
                     f"of write_matrix after {MARK!r}: delete the comment, or write the file again")


def noted_dtype(path: Path, data: bytes, S: Semiring) -> np.dtype | None:
    """The dtype that `write_matrix` noted for a matrix over this algebra; None in other files."""
    note = noted(path, data)
    return note.dtype if note is not None and note.algebra == S.name else None


def renamed(path: Path, graph: Graph, note: Note) -> Graph:
    """The graph with the names that were written; they were read as texts or positions.

    Raises
    ------
    GraphError
        If the names do not fit the comment.
    """
    texts: list[Any] = list(map(str, range(graph.n) if graph.names is None else graph.names))
    if note.names == TEXTS:
        return replace(graph, names=texts)
    wrong = next((text for text in texts if not CANONICAL.fullmatch(text)), None)
    integers = [] if wrong is not None else list(map(int, texts))
    if wrong is not None or (note.names is None and integers != list(range(graph.n))):
        expected = "integers" if note.names else f"the positions 0 to {graph.n - 1} in their order"
        raise GraphError(f"{shown(path)}: found the names {quoted(', '.join(texts[:5]))}, expected {expected}, as the "
                         f"comment {MARK!r} says")
    return replace(graph, names=integers if note.names else None)
