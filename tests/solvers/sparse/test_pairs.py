"""How labels are asked, and when they cannot be made."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring.kernels.cpu.compile import price
from semiring.machine import memory
from semiring.solvers.sparse import pairs

ROADS = sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0), ("a", "c", 9.0), ("d", "a", 0.5)])


def test_labels_by_name() -> None:
    F = sr.factor(ROADS, sr.min_plus)
    L = F.labels()
    assert repr(L).startswith("Labels of 4 vertices over min-plus, float64: 4 elements each way for each")
    assert L.semiring is F.semiring and L.nbytes == 2 * 4 * 4 * 8
    assert L.weight("d", "c") == 7.5 and type(L.weight("d", "c")) is float and L.weight("c", "c") == 0
    assert L.weight(["d", "c"], "a").tolist() == [0.5, np.inf]
    assert L.table(["d", "a"], "c")["d", "c"] == 7.5
    with pytest.raises(sr.GraphError, match="'e'"):
        L.weight("a", "e")
    with pytest.raises(sr.SemiringError, match="2 sources and 3 targets"):
        L.weight(["a", "b"], ["a", "b", "c"])
    del F
    assert L.weight("a", "b") == 3


@pytest.mark.parametrize("n", [0, 1])
def test_labels_of_next_to_nothing(n: int) -> None:
    L = sr.factor(sp.csr_array((n, n)), sr.min_plus).labels()
    assert L.weight(range(n), range(n)).tolist() == [0.0] * n
    assert L.table(range(n), range(n)).shape == (n, n)


def test_what_cannot_have_labels_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(sr.SemiringError, match="machine numbers"):
        sr.factor(sr.as_graph([(0, 1, frozenset([frozenset("x")]))]), sr.why).labels()
    F = sr.factor(ROADS, sr.min_plus)
    with monkeypatch.context() as patch:
        patch.setattr(pairs, "has_numba", lambda: False)
        with pytest.raises(sr.SemiringError, match="install numba"):
            F.labels()
    monkeypatch.setattr(memory, "available_bytes", lambda: 64)
    with pytest.raises(sr.SemiringError, match="the labels of 4 vertices"):
        F.labels()
    assert price.has_numba()
