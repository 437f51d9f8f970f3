"""The table of options: what each must be, what it is by default, and how it is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from semiring.algebra.arguments import is_truth_value
from semiring.algorithms.sparse.analysis import Analysis
from semiring.errors import SemiringError
from semiring.graphs.texts import clip_repr
from semiring.operands.devices import device_numbers
from semiring.operands.wanted import Mask
from semiring.scale.connection import Connection
from semiring.scale.storing import Storing

DEVICES = ("cpu", "gpu", "cuda")  # of which the last two are one
WHEN_DIVERGENT = ("raise", "mask")
ORDERS = ("auto", "amd", "levels", "metis", "natural")


@dataclass(frozen=True, eq=False)
class GivenOrder:
    """An order of elimination that the caller gives.

    Attributes
    ----------
    vertices : sequence of vertices
        By name where the matrix has names, else by position; the first is eliminated first.
    """

    vertices: Sequence[Any] | np.ndarray


def row(says: str, known: Callable[[Any], bool], read: Callable[[Any], Any] | None = None) -> dict[str, Any]:
    """Make the metadata of an option: what it must be, in words; the test of a value; and how a value is read."""
    return {"says": says, "known": known, "read": read}


def _is_number(x: Any) -> bool:
    return isinstance(x, (int, float, np.integer, np.floating)) and not isinstance(x, bool)


def _is_order(x: Any) -> bool:
    if isinstance(x, GivenOrder):
        return not isinstance(x.vertices, np.ndarray) or x.vertices.ndim == 1
    return isinstance(x, Analysis) or (isinstance(x, str) and x in ORDERS)


def _is_whole(least: int) -> Callable[[Any], bool]:
    return lambda x: isinstance(x, (int, np.integer)) and not isinstance(x, bool) and bool(x >= least)


def _read_order(x: Any) -> Any:
    return GivenOrder(x) if isinstance(x, (list, tuple, range, np.ndarray)) else x


def _read_device(x: Any) -> Any:
    return "gpu" if isinstance(x, str) and x == "cuda" else x


TRUTH = row("True or False", is_truth_value)


@dataclass(frozen=True)
class Options:
    """The options of all verbs, one row each; `semiring.solvers.ways` says which verbs and ways take each one.

    `ways.CALLED` has the names of options that callers know by another name.
    """

    method: str = field(default="auto", metadata=row("the name of one, such as 'auto'", lambda x: isinstance(x, str)))
    reflexive: bool = field(default=True, metadata=TRUTH)
    overwrite: bool = field(default=False, metadata=TRUTH)
    device: str | None = field(default=None, metadata=row(
        "'cpu' or 'gpu', or None for the best of them", lambda x: isinstance(x, str) and x in DEVICES, _read_device))
    tile: int | None = field(default=None, metadata=row("a positive whole number", _is_whole(1)))
    check: bool = field(default=True, metadata=TRUTH)
    packed: bool = field(default=False, metadata=TRUTH)
    progress: bool | Callable[[float], None] = field(default=False, metadata=row(
        "True, False or a function of a number", lambda x: isinstance(x, bool) or callable(x)))
    order: str | GivenOrder | Analysis = field(default="auto", metadata=row(
        "'auto', 'amd', 'levels', 'metis' or 'natural', or a list or an array of all vertices", _is_order, _read_order))
    predecessors: bool = field(default=False, metadata=TRUTH)
    max_edges: int | None = field(default=None, metadata=row("a whole number, 0 or more", _is_whole(0)))
    left: bool = field(default=False, metadata=TRUTH)
    on_divergence: str = field(default="raise", metadata=row(
        "'raise' or 'mask'", lambda x: isinstance(x, str) and x in WHEN_DIVERGENT))
    argmax: bool = field(default=False, metadata=TRUTH)
    mask: Mask | None = field(default=None, metadata=row(
        "what `semiring.matmul` makes of mask= and complement=", lambda x: isinstance(x, Mask)))
    tol: float | None = field(default=None, metadata=row(
        "a number, 0 or more", lambda x: _is_number(x) and 0 <= x < np.inf))
    rtol: float | None = field(default=None, metadata=row(
        "a number, 0 or more", lambda x: _is_number(x) and 0 <= x < np.inf))
    storing: Storing | None = field(default=None, metadata=row(
        "what `semiring.scale.storing` makes of out=", lambda x: isinstance(x, Storing)))
    devices: tuple[int, ...] | None = field(default=None, metadata=row(
        "numbers of GPUs", lambda x: isinstance(x, tuple), device_numbers))
    gpu_memory: int | None = field(default=None, metadata=row("a number of bytes", _is_whole(0)))
    on: Connection | None = field(default=None, metadata=row(
        "what sr.connect('mpi') or sr.connect('ray') gives", lambda x: isinstance(x, Connection)))

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if not (value is None and f.default is None) and not f.metadata["known"](value):
                raise SemiringError(f"{f.name} must be {f.metadata['says']}, and is {clip_repr(value)}")

    @cached_property
    def asked(self) -> frozenset[str]:
        """The names of the options that differ from their defaults."""
        return frozenset(f.name for f in fields(self) if getattr(self, f.name) != f.default)

    def without(self, *names: str) -> Options:
        """Return the same options with some at their defaults."""
        left = self.asked.intersection(names)
        return replace(self, **{name: getattr(DEFAULTS, name) for name in left}) if left else self

    @property
    def usual(self) -> bool:
        """Whether all options but the device are at their defaults."""
        return self.asked <= {"device"}


DEFAULTS = Options()
READ = {f.name: f.metadata["read"] for f in fields(Options) if f.metadata["read"] is not None}
