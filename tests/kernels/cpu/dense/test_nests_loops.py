"""The compiled loops of nests and the module that fills in their numbers agree on these."""

from __future__ import annotations

from semiring.kernels.cpu.dense import nests, nests_loops


def test_both_modules_have_the_same_layout() -> None:
    assert (nests.HEAD, nests.MOST_LOOPS) == (nests_loops.HEAD, nests_loops.LOOPS)
