"""What an algebra is in another process: functions that such a process imports by name."""

from __future__ import annotations

from typing import Any

import numpy as np

import semiring as sr
from semiring.kernels.cpu.dense.engine import code
from semiring.kernels.lowering.general import general


def about(S: sr.Semiring) -> tuple[Any, ...]:
    """What has to be the same in every process."""
    kept = "" if S.traced is None else [function.on_disk for function in code(general(S, S.dtypes[0]))]
    lifted = None if S.lift is None else (S.lift(np.array([2.5, np.inf])).tolist(), S.lift.absent)
    operations = None if S.traced is None else [str(getattr(S.traced, op)) for op in ("add", "mul", "star", "carrier")]
    return (S.name, S.notation, S.description, S.zero, S.one, S.flags, S.dtypes, S.product_only, S.has_reached_star,
            kept, operations, lifted)


def computed(S: sr.Semiring, A: Any) -> tuple[Any, ...]:
    return about(S), sr.matmul(A, A, S).tolist()


class Length:
    """An element that is a Python object, whose text differs from process to process."""

    def __init__(self, value: float):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Length) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)


def shorter(a: Length, b: Length) -> Length:
    return a if a.value <= b.value else b


def together(a: Length, b: Length) -> Length:
    return Length(a.value + b.value)


lengths = sr.Semiring("lengths", add=shorter, mul=together, zero=Length(np.inf), one=Length(0), dtype=object,
                      samples=[Length(1), Length(2.5)])
subsets = sr.Semiring("subsets", add=frozenset.union, mul=frozenset.intersection, zero=frozenset(),
                      one=frozenset("abcdefgh"), dtype=object)


def closed(M: sr.Matrix) -> sr.Matrix:
    """The closure over the algebra of this module, which is that of the matrix."""
    return sr.closure(M, lengths if M.semiring.name == "lengths" else subsets)
