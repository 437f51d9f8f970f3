"""Why a closure from file to file does not exist: the cycles of the matrix, found without holding it."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import semiring as sr

SMALL = 64 * 64 * 8 * 24  # bytes


def test_a_cycle_is_told_by_name(tmp_path: Path) -> None:
    edges = [("a", "b", 1.0), ("b", "c", -3.0), ("c", "b", 2.0), ("c", "d", 1.0)]
    with pytest.raises(sr.NoClosureError) as error:
        sr.closure(sr.as_graph(edges), sr.min_plus, out=tmp_path / "c.npy")
    assert error.value.cycle is not None
    assert set(error.value.cycle) == {"b", "c"}
    assert error.value.weight == -1
    with pytest.raises(sr.NoClosureError, match="going round the cycle c → b → c of weight 1 has no limit"):
        sr.closure(sr.as_graph([("a", "b", 1.0), ("b", "c", 2.0), ("c", "b", 0.5)]), sr.plus_times,
                   out=tmp_path / "c.npy")


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_the_cycle_improves_and_is_one(seed: int, dtype: str, tmp_path: Path) -> None:
    """As in core: whether there is one is the same, and the error names a cycle of the matrix that improves."""
    random = np.random.default_rng(seed)
    n, kind = 60, np.dtype(dtype)
    zero = sr.min_plus.zero_in(kind)
    A = np.where(random.random((n, n)) < 0.06, random.integers(-1, 30, (n, n)), zero).astype(kind)
    if kind.kind == "f":
        A /= 7
    np.save(tmp_path / "w.npy", A)
    options = {"out": tmp_path / "c.npy", "tile": 16, "memory": SMALL}
    try:
        expected = sr.closure(A, sr.min_plus)
    except sr.NoClosureError:
        with pytest.raises(sr.NoClosureError) as error:
            sr.closure(tmp_path / "w.npy", sr.min_plus, **options)
        cycle = error.value.cycle
        assert cycle is not None
        assert cycle[0] == cycle[-1]
        assert sum(float(A[u, v]) for u, v in itertools.pairwise(cycle)) < 0
        return
    np.testing.assert_allclose(sr.closure(tmp_path / "w.npy", sr.min_plus, **options), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("S", [sr.min_plus, sr.max_plus])
@pytest.mark.parametrize("values", [
    (np.nan,), (2**62, -(2**62) - 1), (0.1, 0.2, -0.3), (0.1, 0.2, -0.30000000000000004),
])
def test_the_verdict_is_that_of_the_matrix_in_memory(S: sr.Semiring, values: tuple[float, ...], tmp_path: Path) -> None:
    """On rounded sums, infinitely good edges and large integers too."""
    n, endless = 40, np.isnan(values[0])
    dtype = np.dtype("i8" if isinstance(values[0], int) else "f8")
    A = np.full((n, n), S.zero_in(dtype), dtype)
    weights = (1.0, -np.inf if S is sr.min_plus else np.inf) if endless else values
    sign = 1 if S is sr.min_plus or endless else -1
    for k, weight in enumerate(weights):
        A[10 + k, 10 + (k + 1) % len(weights)] = sign * weight
    np.save(tmp_path / "w.npy", A)

    def told(**options: object) -> object:
        try:
            return np.asarray(sr.closure(tmp_path / "w.npy" if options else A, S, **options)).tolist()
        except sr.NoClosureError as error:
            return error.cycle is not None and set(error.cycle), error.weight

    assert told(out=tmp_path / "c.npy", tile=16, memory=SMALL) == told()
