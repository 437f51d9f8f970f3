"""`Format`, a file format as one record, and `Options`, the options of all readers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import GraphError
from semiring.graphs.columns import WeightColumns
from semiring.graphs.graph import Graph
from semiring.graphs.matrix import Matrix
from semiring.graphs.texts import quoted

from .numerals import number


@dataclasses.dataclass(frozen=True)
class Options:
    """The options of `read_graph`, which documents them."""

    directed: bool | None = None
    weight: WeightColumns = "weight"
    header: bool | None = None
    names: type[str] | None = None
    source: str | int | None = None
    target: str | int | None = None
    absent: float | None = None
    label: str | None = None
    decimal: str = "."
    compact: bool = False
    listed: bool = False  # set by the format: a text is a list of edges, even if it could be a matrix

    def __post_init__(self) -> None:
        if isinstance(self.weight, (list, tuple)) and not self.weight:
            raise GraphError("weight=[] names no column: pass weight=None to leave the weights out")
        if self.decimal not in (".", ","):
            raise GraphError(f"decimal={quoted(self.decimal)} is not a decimal mark: pass '.' or ','")
        if self.names not in (None, str):
            raise GraphError(f"names={quoted(self.names)} is not a type of names: pass names=str to read all vertices "
                             "as names")

    @property
    def asked(self) -> list[str]:
        """The options in `RESTRICTED` that differ from their default."""
        found = {field.name for field in dataclasses.fields(self) if getattr(self, field.name) != field.default}
        if isinstance(self.weight, (list, tuple)):
            found.add("weights")
        return [word for word in RESTRICTED if word in found]

    @property
    def one_way(self) -> bool:
        """Whether edges go one way, if the file does not say it."""
        return self.directed is not False

    def number(self, text: str) -> float | None:
        """The number that a text is, or None."""
        if self.decimal != ".":
            text = "" if "." in text else text.replace(self.decimal, ".")
        return number(text)


# Options that only some formats honour, and what messages call them.
RESTRICTED = {
    "header": "header=", "source": "source=", "target": "target=", "weights": "a list of columns in weight=",
    "label": "label=", "decimal": "decimal=", "absent": "absent=", "names": "names=str",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Format:
    """A file format: what it is called, how it is read and written, and what it can hold.

    Attributes
    ----------
    name : str
        The value of `format=`.
    endings : tuple of str
        The endings of its paths, the usual one first.
    title : str
        Its name in messages.
    content : str
        What such a file holds, for the documentation.
    read : callable
        ``read(path, data, options)`` returns the graph of these bytes. The path is for messages only.
    write : callable, optional
        ``write(path, M)`` writes a matrix whose elements and names the format can hold.
    matrix : callable, optional
        ``matrix(path, data, S, dtype, options)`` returns the matrix of a file that holds more than a graph, or None if
        this file does not.
    noted : callable, optional
        ``noted(path, data, S)`` returns the dtype that `write` noted for a matrix over S, or None.
    takes : frozenset of str
        The options in `RESTRICTED` that reading honours.
    holds : frozenset of str
        The elements that it can hold besides real numbers and truth values: "complex", "records", "objects".
    named : bool
        Whether vertices may have names.
    listed : bool
        Whether a text is always a list of edges, even if it could be a matrix.
    needs : str
        The optional package that it needs.
    """

    name: str
    endings: tuple[str, ...]
    title: str
    content: str
    read: Callable[[Path, bytes, Options], Graph]
    write: Callable[[Path, Matrix], None] | None = None
    matrix: Callable[[Path, bytes, Semiring, np.dtype | None, Options], Matrix | None] | None = None
    noted: Callable[[Path, bytes, Semiring], np.dtype | None] | None = None
    takes: frozenset[str] = frozenset()
    holds: frozenset[str] = frozenset()
    named: bool = True
    listed: bool = False
    needs: str = ""
