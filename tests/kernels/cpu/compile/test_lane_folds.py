"""The text of folds on vectors: which intrinsics an algebra's operation gets."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.cpu.compile.lane_folds import SIDE_BY_SIDE, Folds, PowerFolds
from semiring.kernels.cpu.dense import folds
from semiring.kernels.lowering.general import general


@pytest.mark.parametrize(("S", "kind"), [(sr.min_plus, Folds), (sr.log, PowerFolds), (sr.shortest_hops, Folds)])
def test_operations_get_their_intrinsics(S: sr.Semiring, kind: type) -> None:
    text = folds.kernel(general(S, S.default_dtype), "add").text[1]
    assert f"by = {kind.__name__}(" in text and SIDE_BY_SIDE == folds.SIDE_BY_SIDE


def test_products_begin_with_one() -> None:
    text = folds.kernel(general(sr.min_plus, np.dtype("f4")), "mul").text[1]
    assert "(ONE,)" in text and "(ZERO,)" not in text.partition("# Template")[0].split("by = ")[1]
