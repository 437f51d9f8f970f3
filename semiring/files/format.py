"""A file format as one record, and what the caller of `read_graph` says of a file."""

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
    """The options of `read_graph`, which describes them."""

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
        """The options that differ from their default, in a message's words, by the words that `Format.takes` has."""
        found = {field.name for field in dataclasses.fields(self) if getattr(self, field.name) != field.default}
        if isinstance(self.weight, (list, tuple)):
            found.add("weights")
        return [word for word in RESTRICTED if word in found]

    @property
    def one_way(self) -> bool:
        """The direction of edges in a file that does not say it."""
        return self.directed is not False

    def number(self, text: str) -> float | None:
        """The number that a text is, or None."""
        if self.decimal != ".":
            text = "" if "." in text else text.replace(self.decimal, ".")
        return number(text)


# Options that not every format honours, as messages call them.
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
        What `format=` calls it.
    endings : tuple of str
        Of the paths of such files, the usual one first.
    title : str
        What messages call it.
    content : str
        What stands in such a file, for the documentation.
    read : callable
        ``read(path, data, options)``: the graph of a file with these bytes. The path is for messages only.
    write : callable, optional
        ``write(path, M)``: write a matrix whose elements and names the format can hold.
    matrix : callable, optional
        ``matrix(path, data, S, dtype, options)``: the matrix of a file that says more than its graph; None if this one
        does not.
    noted : callable, optional
        ``noted(path, data, S)``: the dtype that `write` noted for a matrix over S; None in other files.
    takes : frozenset of str
        The options in `RESTRICTED` that reading honours.
    holds : frozenset of str
        What elements it can hold besides real numbers and truth values: "complex", "records", "objects".
    named : bool
        Whether vertices may have names.
    listed : bool
        Whether a text is a list of edges, even if it could be a matrix.
    needs : str
        The package that reads and writes it, if it is an optional one.
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
