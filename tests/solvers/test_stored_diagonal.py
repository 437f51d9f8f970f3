"""The diagonal of walks with an edge, block by block of two files, and how it is kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import semiring as sr
from semiring.algorithms.r_kleene import r_kleene
from semiring.scale.program import program
from semiring.scale.stores import ArraySource, Output
from semiring.solvers import forms
from semiring.solvers.stored_diagonal import KEPT, keep, kept, of_walks_with_edges, put


@pytest.mark.parametrize("block", [1, 7, 512])
@pytest.mark.parametrize("n", [0, 1, 30])
def test_it_is_the_diagonal_of_the_product(n: int, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "DIAGONAL_BLOCK", block)
    random = np.random.default_rng(n)
    A, X = random.random((n, n)), random.random((n, n))
    output = Output(tmp_path / "c.npy", tmp_path, program(r_kleene, n, 8, 8), *[np.dtype("f8")] * 2, False)
    try:
        output.write_block(slice(0, n), slice(0, n), X)
        found = of_walks_with_edges(sr.plus_times, ArraySource(A), output)
        np.testing.assert_allclose(found, (A @ X).diagonal(), rtol=1e-12)
        put(found, output)
        assert np.array_equal(output.diagonal(), found)
    finally:
        output.close()


def test_what_is_kept_comes_back_or_is_refused(tmp_path: Path) -> None:
    for values in (np.arange(5.0), np.array([(1.0, 2)], [("cost", "f8"), ("hops", "i4")])):
        keep(tmp_path, values)
        assert np.array_equal(kept(tmp_path), values)
    (tmp_path / KEPT).write_bytes(b"torn")
    with pytest.raises(sr.SemiringError, match="is damaged: remove the folder"):
        kept(tmp_path)
