"""What a plan prints, what it says is short of memory, and that running it is calling its runner."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.cpu.bits.lowering import packed_bits
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.general import general
from semiring.solvers.plan import Plan, nothing

LOW = general(sr.min_plus, np.dtype("f8"))


def plan(operation: str = "closure", shape: tuple[int, ...] = (300, 200), low: Lowering = LOW, **more: Any) -> Plan:
    given: dict[str, Any] = {
        "method": "blocked", "place": "CPU, 3 threads", "work": 27e6, "memory": 3 << 20, "runner": nothing
    }
    return Plan(operation=operation, algebra=low.algebra, shape=shape, lowering=low, **given | more)


def test_what_is_printed_row_by_row() -> None:
    assert plan(tile=64).rows() == {
        "operation": "closure over min-plus, 300 × 200, float64", "method": "blocked", "tile": "64",
        "elements": f"{LOW.name}, stored as float64", "device": "CPU, 3 threads", "work": "2.7e+07 multiply-adds",
        "memory": "3.0 MiB beyond the operands",
    }
    assert "tile" not in plan().rows(), "there are no blocks"
    assert plan(low=packed_bits(sr.boolean, np.dtype(bool))).rows()["elements"] == "packed bits, stored as bits"
    records = plan(low=general(sr.shortest_hops, sr.shortest_hops.default_dtype)).rows()["operation"]
    assert records.endswith("(cost float64, hops float64)")


def test_reasons_stand_behind_their_rows() -> None:
    made = plan(tile=64, reasons={"method": "as asked", "tile": "", "nothing": "of this name"})
    lines = str(made).splitlines()
    assert [line.split(" ")[0] for line in lines] == list(made.rows())
    assert "method     blocked  (as asked)" in lines and "tile       64" in lines
    assert lines[3] == f"elements   {LOW.name}, stored as float64  ({LOW.reason})"
    assert "of this name" not in str(made) and repr(made) == str(made)
    mended = plan(reasons={"elements": "said better"})
    assert "(said better)" in str(mended) and LOW.reason not in str(mended)


@pytest.mark.usefixtures("machine_code")
def test_the_place_is_the_engines_where_nothing_else_is_said() -> None:
    assert plan(place="a moon").device == "a moon"
    assert plan(place="").device == sr.plan("closure", np.zeros((3, 3)), sr.min_plus).rows()["device"] != ""


@pytest.mark.parametrize(("made", "text"), [
    (plan(), "the closure of 300 × 200 float64"), (plan("matmul"), "the 300 × 200 product"),
    (plan("rows", (7,)), "the rows of 7 float64"),
    (plan(low=packed_bits(sr.boolean, np.dtype(bool))), "the closure of 300 × 200 bits"),
])
def test_what_is_short_of_memory(made: Plan, text: str) -> None:
    assert made.shortage == (text, "use a narrower dtype or fewer vertices")
    assert replace(made, needs=("something else", "do less")).shortage == ("something else", "do less")


def test_to_run_is_to_call_the_runner_with_the_plan() -> None:
    made = plan(runner=lambda p: (p, "answer"))
    assert made.run() == (made, "answer")
    assert plan().run() is None, "nothing stands in a plan that is not run"
    assert plan() != plan(), "two plans are two, also of the same work"


def test_a_plan_of_every_verb_can_be_printed_and_run() -> None:
    A = np.array([[0, 3.0], [1.0, 0]])
    for verb, given in (("closure", (A, sr.min_plus)), ("matmul", (A, A, sr.min_plus)), ("factor", (A, sr.min_plus)),
                        ("solve", (A, A, sr.min_plus)), ("closure_rows", (A, sr.min_plus, [0])),
                        ("path", (A, sr.min_plus, 0, 1))):
        made = sr.plan(verb, *given)
        assert str(made).startswith(f"operation  {verb} over min-plus, ") and "multiply-adds" in str(made)
        assert made.run() is not None
