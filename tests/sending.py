"""What an algebra is in another process: functions that such a process imports by name."""

from __future__ import annotations

from typing import Any

import numpy as np

import semiring as sr
from semiring.kernels.cpu.dense.engine import names_of
from semiring.kernels.lowering.general import general


def about(S: sr.Semiring) -> tuple[Any, ...]:
    """What has to be the same in every process."""
    kept = "" if S.traced is None else names_of(general(S, S.dtypes[0]))
    lifted = None if S.lift is None else (S.lift(np.array([2.5, np.inf])).tolist(), S.lift.absent)
    operations = None if S.traced is None else [str(getattr(S.traced, op)) for op in ("add", "mul", "star", "carrier")]
    return (S.name, S.notation, S.description, S.zero, S.one, S.flags, S.dtypes, S.product_only, S.has_reached_star,
            kept, operations, lifted)


def computed(S: sr.Semiring, A: Any) -> tuple[Any, ...]:
    return about(S), sr.matmul(A, A, S).tolist()
