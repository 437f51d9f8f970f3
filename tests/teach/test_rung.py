"""Every rung says what it has to."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from importlib import import_module
from pathlib import Path

import pytest

from semiring.teach.ladder import RUNGS
from semiring.teach.rung import Rung


@pytest.mark.parametrize("rung", RUNGS, ids=lambda rung: rung.name)
def test_a_rung_names_its_source_its_limit_and_a_page_of_code(rung: Rung) -> None:
    assert rung.name == rung.name.lower() and " " not in rung.name
    assert rung.device in ("cpu", "gpu") and 1962 <= rung.year <= 2026
    for text in (rung.title, rung.source, rung.idea, rung.limit):
        assert text and not text.startswith(" ")
    assert rung.limit.endswith(".") and rung.idea.endswith(".")
    if rung.device == "cpu":
        assert Path(str(import_module(rung.module).__file__)).suffix == ".py"


def test_names_are_different() -> None:
    assert len({rung.name for rung in RUNGS}) == len(RUNGS)


def test_a_rung_has_what_both_ladders_agreed_on_and_stays_as_it_is() -> None:
    assert [f.name for f in fields(Rung)] == (
        "name title year source idea limit filled_in device module refuses close".split())
    with pytest.raises(FrozenInstanceError):
        RUNGS[0].year = 0  # type: ignore[misc]
