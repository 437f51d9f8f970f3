"""What each option may be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.solvers.options import DEFAULTS, Options
from semiring.solvers.task import options

inf = np.inf


def test_an_unknown_device_is_refused() -> None:
    with pytest.raises(sr.SemiringError, match=r"^device must be 'cpu' or 'gpu', or None for .*, and is 'tpu'$"):
        sr.closure(np.zeros((2, 2)), sr.min_plus, device="tpu")


@pytest.mark.parametrize(("asked", "text"), [
    ({"method": 3}, "^method must be the name of one, such as 'auto', and is 3$"),
    ({"method": None}, "method must be the name of one"), ({"method": ["auto"]}, r"and is \['auto'\]"),
    ({"device": "tpu"}, "^device must be 'cpu' or 'gpu', or None for the best of them, and is 'tpu'$"),
    ({"device": 0}, "device must be .*, and is 0$"), ({"device": ["cpu"]}, r"device must be .*, and is \['cpu'\]$"),
    ({"order": "best"}, "^order must be 'auto', 'amd', 'levels', 'metis' or 'natural', or a list or an array of all "
                        "vertices, and is 'best'$"),
    *(({"order": order}, "^order must be 'auto', .* or a list or an array of all vertices, and is ")
      for order in (5, None, 1.5, {0, 1}, {0: 1}, np.eye(2), iter([0, 1]))),
    *(({"tile": t}, "^tile must be a positive whole number, and is ") for t in (0, -1, 2.5, 2.0, "64", True, [3], inf)),
    *(({"progress": p}, "^progress must be True, False or a function of a number, and is ") for p in (None, 1, "yes")),
    *(({name: value}, f"^{name} must be True or False, and is ")
      for name in ("reflexive", "overwrite", "check", "packed", "predecessors") for value in (None, "no", 0.5, [], 2)),
])
def test_options_that_are_none(asked: dict[str, Any], text: str) -> None:
    for make in (Options, options):
        with pytest.raises(sr.SemiringError, match=text):
            make(**asked)


def test_options_that_are_equal_but_not_the_same() -> None:
    """What is kept of an earlier call does not let others through."""
    assert options(tile=1).tile == 1 and options(tile=np.int64(1)).tile == 1
    for tile in (True, 1.0):
        with pytest.raises(sr.SemiringError, match="tile must be a positive whole number"):
            options(tile=tile)
    assert options(check=np.False_).check == options(check=0).check == options(check=False).check == 0
    with pytest.raises(sr.SemiringError, match="progress must be"):
        options(progress=0)


def test_options_are_checked_once_and_functions_are_let_go() -> None:
    assert options(tile=7, check=False) is options(tile=7, check=False)
    assert options() == DEFAULTS and options().usual and options(device="cpu").usual
    for asked in ({"tile": 3}, {"check": False}, {"reflexive": False}, {"progress": True}, {"method": "blocked"}):
        assert not options(**asked).usual
    shown = print
    assert options(progress=shown).progress is shown and options(progress=shown) is not options(progress=shown)
    with pytest.raises(AttributeError):
        options().tile = 5  # type: ignore[misc]
