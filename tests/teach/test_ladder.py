"""Closures by rungs: what goes in, what comes out, and which errors are raised."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import semiring as sr
from semiring.teach import ladder
from semiring.teach.ladder import RUNGS, close, named


def test_the_story_is_in_order_on_each_device() -> None:
    for device in ("cpu", "gpu"):
        assert [r.name for r in RUNGS if r.device == device][:1] != ["closure"]
    cpu = [rung.year for rung in RUNGS if rung.device == "cpu"]
    assert cpu == sorted(cpu) and RUNGS[len(cpu) - 1].name == "closure"


def test_whatever_the_verbs_read_is_read() -> None:
    A = np.array([[np.inf, 3.0, np.inf], [np.inf, np.inf, 1.0], [2.0, np.inf, np.inf]])
    expected = sr.closure(A, sr.min_plus)
    assert (close(A, sr.min_plus) == expected).all()
    assert (close(A.tolist(), "min_plus", rung="venkataraman") == expected).all()
    rows, columns = np.nonzero(np.isfinite(A))
    assert (close(csr_array((A[rows, columns], (rows, columns)), A.shape), sr.min_plus) == expected).all()
    named_vertices = close(sr.as_graph([("a", "b", 3), ("b", "c", 1)]), sr.min_plus, rung="r-kleene")
    assert named_vertices["a", "c"] == 4
    assert (close(sr.pack(A < 9), sr.boolean, rung="warshall") == sr.closure(A < 9, sr.boolean)).all()
    M = sr.adjacency([("a", "b", 3)], sr.max_min)
    assert close(M, rung="squaring").semiring is sr.max_min


def test_what_cannot_be_done_is_refused_in_words() -> None:
    A = np.array([[0.0, 1.0], [2.0, 0.0]])
    with pytest.raises(sr.SemiringError, match="did you mean 'floyd'"):
        close(A, sr.min_plus, rung="floid")
    with pytest.raises(sr.SemiringError, match="unknown rung 3: it is one of floyd"):
        close(A, sr.min_plus, rung=3)  # type: ignore[arg-type]
    with pytest.raises(sr.SemiringError, match=r"'squaring' cannot close this matrix over plus-times: .*idempotent"):
        close(A, sr.plus_times, rung="squaring")
    with pytest.raises(sr.SemiringError, match="runs on the CPU, not on device='gpu'"):
        close(A, sr.min_plus, device="gpu")
    with pytest.raises(sr.SemiringError, match="must be one square matrix"):
        close(np.zeros((3, 2, 2)), sr.min_plus)
    with pytest.raises(sr.SemiringError, match="square"):
        close(np.zeros((3, 2)), sr.min_plus)
    with pytest.raises(sr.SemiringError, match=r"NaN|nan"):
        close(np.array([[np.nan]]), sr.min_plus)
    with pytest.raises(sr.LawError):
        close(A, sr.Semiring("distance", add=np.add, mul=lambda a, b: np.abs(a - b), zero=0.0, product_only=True))


def test_a_cycle_is_named_by_its_vertices() -> None:
    for rung in ("floyd", "squaring", "all-cores"):
        with pytest.raises(sr.NoClosureError) as caught:
            close(sr.as_graph([("mill", "shop", 1), ("shop", "mill", -2)]), sr.min_plus, rung=rung)
        assert set(caught.value.cycle or ()) == {"mill", "shop"}
    with pytest.raises(sr.NoClosureError) as caught:
        close(np.diag([0.5, 1.0]), sr.plus_times, rung="venkataraman")
    assert caught.value.vertex == 1


def test_what_the_library_forgives_a_rung_still_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ladder, "compute", lambda task: None)
    with pytest.raises(sr.NoClosureError):
        close(sr.as_graph([("mill", "shop", 1), ("shop", "mill", -2)]), sr.min_plus)


def test_a_rung_is_found_by_its_name() -> None:
    assert all(named(rung.name) is rung for rung in RUNGS)
