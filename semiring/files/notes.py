"""What `write_matrix` notes in a comment, where a format has no place for it: the dtype, and of which kind names are.

Without the comment a file is as good as any other of its format: names are what its reader makes of their texts.
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
HEAD = 4096  # bytes of a file in which the comment stands
DTYPES = frozenset("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split())
TEXTS, INTEGERS = "texts", "integers"


class Note(NamedTuple):
    """What the comment says."""

    algebra: str
    dtype: np.dtype
    names: str | None  # None: vertices are positions


def comment(M: Matrix, names: Sequence[int | str] | None) -> str:
    """The text of the comment, without what begins and ends one; it has no "--", which XML would take for the end."""
    kind = None if names is None else INTEGERS if names and isinstance(names[0], int) else TEXTS
    said = json.dumps({"algebra": M.semiring.name, "dtype": M.dtype.name, "names": kind})
    return f"{MARK} {said.replace('-', chr(92) + 'u002d')}"


def single_kind(path: Path, names: Sequence[int | str]) -> None:
    """Refuse names of which a file of texts would not tell which were integers.

    Raises
    ------
    SemiringError
    """
    if len({type(name) for name in names}) > 1:
        integer, text = (next(name for name in names if type(name) is kind) for kind in (int, str))
        raise SemiringError(f"{shown(path)}: names are integers, as {integer}, and texts, as {quoted(text)}; such a "
                            "file holds names of one kind: write .csv, or call str() on the names")


def noted(path: Path, data: bytes) -> Note | None:
    """What `write_matrix` noted in a file; None in others.

    Raises
    ------
    GraphError
        When the comment is damaged.
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
    raise GraphError(f"{shown(path)}: found the comment {quoted(found[0].decode(errors='replace'))}, expected what "
                     f"write_matrix notes after {MARK!r}, or another comment")


def noted_dtype(path: Path, data: bytes, S: Semiring) -> np.dtype | None:
    """The dtype of the matrix over this algebra that `write_matrix` wrote; None in other files."""
    note = noted(path, data)
    return note.dtype if note is not None and note.algebra == S.name else None


def renamed(path: Path, graph: Graph, note: Note) -> Graph:
    """A graph whose vertices were read as texts, or as positions, with the names that were written.

    Raises
    ------
    GraphError
        When names are not of the kind that the comment says.
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
