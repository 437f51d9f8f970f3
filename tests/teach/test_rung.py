"""A rung is a record that stays as it is."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import pytest

from semiring.teach.ladder_gpu import GPU_RUNGS
from semiring.teach.rung import Rung


def test_what_a_rung_says() -> None:
    assert [f.name for f in fields(Rung)] == (
        "name title year source idea limit filled_in device module refuses close".split())
    with pytest.raises(FrozenInstanceError):
        GPU_RUNGS[0].year = 0  # type: ignore[misc]
