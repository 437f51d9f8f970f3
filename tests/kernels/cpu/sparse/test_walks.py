"""Walks back along rows of compiled fronts, against the rule in Python on whole rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algorithms.sparse.analysis import analyse
from semiring.algorithms.sparse.elimination import factor
from semiring.algorithms.trees import Edges, walk_back
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.sparse.fronts import Fronts
from semiring.kernels.cpu.sparse.structure import transpose
from semiring.kernels.cpu.sparse.walks import code, last_edge
from semiring.kernels.lowering.general import general

HOPS = sr.shortest_hops.default_dtype
ALGEBRAS: dict[str, tuple[sr.Semiring, np.ndarray]] = {
    "sums that round": (sr.min_plus, np.array([0.1, 0.2, 0.3, 0.7, 1.1])),
    "edges of length 0": (sr.min_plus, np.array([0.0, 0.0, 1.0, 2.0])),
    "records": (sr.shortest_hops, np.array([(0.1, 1.0), (0.2, 1.0), (0.3, 1.0), (0.0, 1.0)], HOPS)),
}


@pytest.mark.parametrize("name", ALGEBRAS)
def test_they_are_those_of_whole_rows(name: str) -> None:
    S, weights = ALGEBRAS[name]
    low = general(S, weights.dtype)
    T, zero = S.over(weights.dtype), S.zero_in(weights.dtype)

    @settings(max_examples=40)
    @given(st.integers(1, 30), st.sampled_from([0.5, 1.5, 3.0]), st.sampled_from(["levels", "natural"]),
           st.sampled_from([0, 2, 32]), st.integers(0, 2**32 - 1))
    def check(n: int, degree: float, method: str, leaf: int, seed: int) -> None:
        """Loops, several components and vertices that are not reached among them."""
        random = np.random.default_rng(seed)
        rows, columns = np.nonzero(random.random((n, n)) < degree / n)
        offsets = np.searchsorted(rows, np.arange(n + 1))
        values = random.choice(weights, len(rows))
        F = Fronts(analyse(offsets, columns, method=method, leaf=leaf), low, 1)
        factor(F, values)
        turned = transpose(Rows(offsets, columns.astype(np.int32), values, n))
        edges = Edges(turned.offsets, turned.columns, turned.values, (offsets, columns))
        for source in random.integers(0, n, 3).tolist():
            x = np.empty((1, n), weights.dtype)
            F.rows(np.array([source]), x)
            for target in [source, *random.integers(0, n, 4).tolist()]:
                ends, found = F.walk(source, target, last_edge(low))
                assert ends.tolist() == x[0, [source, target]].tolist()
                reached = x[0, target] != zero
                expected = walk_back(edges, T, x[0], source, target) if reached else None
                if expected is None:
                    assert found is None
                    continue
                assert found is not None
                assert [source, *columns[found].tolist()] == expected
                assert rows[found].tolist() == expected[:-1]

    check()


def test_the_names_on_disk() -> None:
    assert [function.name for function in code(general(sr.min_plus, np.dtype("f8")))] == ["last_edge", "walk_back"]
