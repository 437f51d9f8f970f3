"""The numbers of chains of rows, and what their source says; test_chains.py compiles it for every algebra."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.cuda.choose import general_on_device
from semiring.kernels.cuda.compile.steps import COLUMN, step_geometry, step_source


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
def test_a_thread_holds_a_column(size: int) -> None:
    assert step_geometry(size, 1.5, 0) is None
    for n in range(1, 70):
        g = step_geometry(size, 1.5, n)
        if g is None:
            assert n > 64 or n * size > COLUMN
            continue
        assert g.N == n <= g.GROUP <= g.THREADS and g.THREADS % g.GROUP == 0 and g.GROUP & (g.GROUP - 1) == 0
        assert g.VECTOR * size <= max(16, size)


def test_heavy_operations_take_shorter_rows() -> None:
    assert step_geometry(4, 200.0, 8) and step_geometry(4, 200.0, 11) is None


def test_the_source_says_what_it_is_for() -> None:
    g = step_geometry(4, 2.0, 5)
    assert g
    by_terms, by_powers = (step_source(general_on_device(S, np.dtype("f4")), g) for S in (sr.min_plus, sr.log))
    assert g.constants() in by_terms and "constexpr bool LOOKS = true;\n" in by_terms
    assert "#define POWERS" in by_powers and "#define POWERS" not in by_terms
