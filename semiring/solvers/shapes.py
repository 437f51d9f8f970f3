"""Whether the shapes and dtypes of operands fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from semiring.errors import SemiringError

if TYPE_CHECKING:
    pass


def one_dtype(first: tuple[str, np.dtype], second: tuple[str, np.dtype]) -> np.dtype:
    """The dtype of both operands."""
    if first[1] != second[1]:
        raise SemiringError(f"{first[0]} is {first[1]} and {second[0]} is {second[1]}; convert one with .astype(…)")
    return first[1]


def inner_shape(a: Sequence[int], b: Sequence[int]) -> tuple[int, int]:
    """The product's shape."""
    if a[1] != b[0]:
        raise SemiringError(
            f"A of shape {tuple(a)} and B of shape {tuple(b)} do not fit: A has {a[1]} columns, B has {b[0]} rows"
        )
    return a[0], b[1]
