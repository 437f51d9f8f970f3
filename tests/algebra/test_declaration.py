"""What a declaration becomes; more of it in test_semiring.py and test_branches.py."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.algebra.declaration import runs_on_objects, traced_operations

inf = math.inf


def test_zero_absorbs_in_what_is_traced() -> None:
    ops = traced_operations(sr.min_plus, {"add": np.minimum, "mul": np.add, "star": None, "carrier": None})
    assert ops.raw_mul.is_plain("add") and not ops.mul.is_plain("add")
    assert ops.carrier.op == "constant" and ops.carrier.value is True


def test_objects_are_said_found_or_left() -> None:
    plain = {"add": np.minimum, "mul": np.add, "star": None}
    assert not runs_on_objects("plain", plain, inf, 0, None, None)
    assert runs_on_objects("meant", plain, inf, 0, None, object)
    assert runs_on_objects("sets", plain, frozenset(), frozenset({1}), None, None)
    with pytest.warns(sr.SemiringWarning, match="cannot be traced"):
        assert runs_on_objects("slow", plain | {"add": math.gcd}, 0, 1, None, None)
    with pytest.raises(sr.TraceError, match="slow"):
        runs_on_objects("slow", plain | {"add": math.gcd}, 0, 1, {"a": np.dtype("f8")}, None)


@pytest.mark.parametrize(("what", "given", "example"), [
    ("add", "min", "np.minimum"), ("mul", None, "np.add"), ("star", 1.0, "np.where"), ("carrier", [0, 1], "a >= 0"),
])
def test_what_is_no_function_is_refused(what: str, given: Any, example: str) -> None:
    declared = {"add": np.minimum, "mul": np.add, "zero": np.inf, "one": 0.0, what: given}
    with pytest.raises(sr.SemiringError, match=f"sums: {what} must be a function, such as .*{example}") as failure:
        sr.Semiring("sums", **declared)
    assert str(failure.value).endswith(f", not {given!r}")
