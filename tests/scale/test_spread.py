"""A matrix over several processes: its rows in and out, and its closure, also when every message has many pieces."""

from __future__ import annotations

import pytest
from together import needs_mpi, run

from semiring.scale.spread import _owners


def test_who_has_rows() -> None:
    assert _owners([0, 3, 3, 10], slice(2, 5)) == [(0, slice(2, 3)), (2, slice(3, 5))]
    assert _owners([0, 10, 10], slice(4, 8)) == [(0, slice(4, 8))]
    assert _owners([0, 0], slice(0, 0)) == []


@pytest.mark.slow
@needs_mpi
@pytest.mark.parametrize("size", [2, 5, 6])
def test_rows_and_panels_in_pieces(size: int) -> None:
    done = run(size, "in_pieces")
    assert done.returncode == 0 and done.stdout.count("fine") == size, done.stderr
