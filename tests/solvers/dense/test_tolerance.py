"""Data that are consistent up to a tolerance: no cycle is refused that it explains, and answers agree."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from bridge import same_bits
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import semiring as sr

inf = np.inf
quick = settings(max_examples=60, suppress_health_check=list(HealthCheck))
WAYS: dict[str, tuple[sr.Semiring, Callable[[np.ndarray, float], np.ndarray]]] = {
    "min-plus": (sr.min_plus, lambda A, t: A + t), "max-plus": (sr.max_plus, lambda A, t: A - t),
    "max-times": (sr.max_times, lambda A, t: A / (1 + t)),
}


def everything(A: np.ndarray, S: sr.Semiring, tol: float | None) -> dict[str, Callable[[], np.ndarray]]:
    """All the ways to ask for a closure."""
    n, one = len(A), S.eye(len(A), A.dtype)
    i, j = np.nonzero(S.zero_in(A.dtype) != A)
    graph = sp.coo_array((A[i, j], (i, j)), A.shape).tocsr()
    named = sr.Matrix(A, S, [f"v{k}" for k in range(n)])
    return {
        "closure": lambda: sr.closure(A, S, tol=tol), "sparse": lambda: sr.closure(graph, S, tol=tol),
        "overwrite": lambda: sr.closure(A.copy(), S, tol=tol, overwrite=True),
        "eliminated": lambda: sr.closure(graph, S, tol=tol, method="sparse"),
        "stack": lambda: sr.closure(np.stack([A, A]), S, tol=tol)[1],
        "mask": lambda: sr.closure(A, S, tol=tol, on_divergence="mask").values,
        "factor": lambda: sr.factor(A, S, tol=tol).closure(), "rows": lambda: sr.closure_rows(A, S, range(n), tol=tol),
        "sparse factor": lambda: sr.factor(graph, S, tol=tol).rows(range(n)),
        "solve": lambda: sr.solve(A, one, S, tol=tol), "left": lambda: sr.solve(graph, one, S, tol=tol, left=True),
        "stacked": lambda: sr.solve(np.stack([A, A]), one, S, tol=tol)[0],
        "paths": lambda: np.asarray(sr.paths(named, S, tol=tol).weights),
        "path": lambda: np.array([[sr.path(A, S, u, v, tol=tol)[0] for v in range(n)] for u in range(n)]),
    }


@pytest.mark.parametrize("name", WAYS)
def test_prices_that_were_rounded(name: str) -> None:
    """Exchange rates, or their logarithms, to six digits: refused as they are, consistent to a part in 10⁵."""
    S, worse = WAYS[name]
    random = np.random.default_rng(0)
    height = np.exp(random.normal(size=9)) if "times" in name else random.normal(size=9)
    true = height[:, None] / height if "times" in name else height[:, None] - height
    A = np.round(true, 6)
    for way, call in everything(A, S, None).items():
        if way != "mask":
            with pytest.raises(sr.NoClosureError, match="is improving"):
                call()
    expected = sr.closure(worse(A, 1e-5), S)
    for way, call in everything(A, S, 1e-5).items():
        found = np.asarray(call())
        assert np.allclose(found, expected, rtol=1e-12, atol=1e-12), way
        assert np.allclose(found, true, rtol=1e-4, atol=1e-4) and (found.diagonal() == S.one).all(), way
    for way, call in everything(A, S, 1e-9).items():
        if way != "mask":
            with pytest.raises(sr.NoClosureError, match="is improving"):
                call()


@pytest.mark.parametrize("name", WAYS)
def test_a_refusal_has_the_weight_of_the_edges_as_given_and_says_what_tolerance_would_do(name: str) -> None:
    """Two rates with a product of 1.0000028, or amounts like it: shown so, also where a tolerance made edges worse."""
    S, _ = WAYS[name]
    A = np.full((2, 2), S.zero, float)
    sign = -1 if S is sr.min_plus else 1
    A[0, 1], A[1, 0] = (1.25, 1.0000028 / 1.25) if "times" in name else (2.5, -2.5 + sign * 2.8e-6)
    weight = A[0, 1] * A[1, 0] if "times" in name else A[0, 1] + A[1, 0]
    shown_ = "1.0000028" if "times" in name else "2.8e-06"
    for tol in (None, 1e-9, 1e-6):
        for way, call in everything(A, S, tol).items():
            if way == "mask":
                continue
            with pytest.raises(sr.NoClosureError) as caught:
                call()
            text = str(caught.value)
            assert caught.value.weight == weight and f"{shown_} is improving" in text, way
            assert ("each edge worse by tol=" in text) == bool(tol), way
            enough = re.search(r"how accurate they are: here tol=(\S+) or more", text)
            assert enough and enough[1] == "1.4e-06", way
    for way, call in everything(A, S, 1.4e-6).items():
        assert np.isfinite(np.asarray(call(), float)).all(), way
    A[1, 0] = 2 if "times" in name else sign * 5.0
    with pytest.raises(sr.NoClosureError, match=r"Remove or mend one of its edges$"):
        sr.closure(A, S)


@pytest.mark.parametrize("stored", [False, True])
def test_a_refusal_from_file_to_file_has_the_weight_of_the_edges_as_given(tmp_path: Path, stored: bool) -> None:
    A = np.array([[inf, 5.25], [-5.25 - 1.8e-12, inf]])
    np.save(tmp_path / "a.npy", A)
    for tol in (None, 1e-15):
        with pytest.raises(sr.NoClosureError, match=r"here tol=9\.1e-13 or more") as caught:
            sr.closure(tmp_path / "a.npy" if stored else A, sr.min_plus, out=tmp_path / "c.npy", tol=tol)
        assert caught.value.weight == A[0, 1] + A[1, 0]
        assert caught.value.cycle == [0, 1, 0]


@quick
@given(data=st.data())
def test_a_cycle_is_refused_if_it_is_better_by_more_than_its_edges_are_known(data: st.DataObject) -> None:
    """Whole and half weights, where nothing rounds: A′ has an improving cycle, or the answers are those of A or A′."""
    name = data.draw(st.sampled_from(["min-plus", "max-plus"]))
    S, worse = WAYS[name]
    n = data.draw(st.integers(1, 5))
    elements = st.sampled_from([S.zero, S.zero, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0])
    A = np.array(data.draw(st.lists(elements, min_size=n * n, max_size=n * n))).reshape(n, n)
    tol = data.draw(st.sampled_from([0, 0.25, 0.5, 1]))

    def closed(X: np.ndarray) -> np.ndarray | None:
        found = sr.closure(X, S, on_divergence="mask")
        return found.values if found.exists else None

    expected = closed(A)
    expected = closed(worse(A, tol)) if expected is None else expected
    for way, call in everything(A, S, tol).items():
        try:
            found = np.asarray(call())
        except sr.NoClosureError:
            # one row may do without the cycle, and one walk
            assert expected is None, way
        else:
            if expected is None:
                assert way in ("mask", "rows", "path")
            elif way not in ("rows", "path"):
                assert same_bits(found, expected), way


def test_paths_are_walks_of_the_weights_that_they_say() -> None:
    random = np.random.default_rng(1)
    height = random.normal(size=12)
    A = np.round(height[:, None] - height, 3)
    A[random.random(A.shape) < 0.4] = inf
    names = [f"v{k}" for k in range(12)]
    edges = zip(*np.nonzero(np.isfinite(A)), strict=True)
    graph = sr.as_graph([(names[i], names[j], float(A[i, j])) for i, j in edges])
    with pytest.raises(sr.NoClosureError):
        sr.paths(graph, sr.min_plus)
    for R in (sr.paths(graph, sr.min_plus, tol=1e-2), sr.paths(graph, sr.min_plus, sources=names, tol=1e-2),
              sr.plan("paths", graph, sr.min_plus, tol=1e-2).run()):
        assert len(R) == 12 * 11
        for a, b, weight, walk in R:
            assert len(set(walk)) == len(walk), "no walk goes round"
            taken = sum(w for *_, w in R.edges(a, b))
            assert weight == pytest.approx(taken, abs=1e-12)
            given_ = sum(A[names.index(u), names.index(v)] for u, v in pairwise(walk))
            assert weight == pytest.approx(given_ + 1e-2 * (len(walk) - 1), abs=1e-12)
        assert (R.predecessors >= 0).sum() == 12 * 11


def test_only_matrices_that_need_it_are_changed_where_each_stands_for_itself() -> None:
    good, bad = np.array([[inf, 1.0], [-0.5, inf]]), np.array([[inf, 1.0], [-1.25, inf]])
    worst = np.array([[inf, 1.0], [-3.0, inf]])
    found = sr.closure(np.stack([good, bad, worst]), sr.min_plus, tol=0.25, on_divergence="mask")
    assert found.exists.tolist() == [True, True, False]
    assert same_bits(found.values[0], sr.closure(good, sr.min_plus))
    assert same_bits(found.values[1], sr.closure(bad + 0.25, sr.min_plus))
    assert np.isinf(found.values[2]).all()
    with pytest.raises(sr.NoClosureError) as caught:
        sr.closure(np.stack([good, bad, worst]), sr.min_plus, tol=0.25)
    assert caught.value.index == (2,)
    plan = sr.plan("closure", np.stack([good, bad]), sr.min_plus, tol=0.25)
    for _ in range(2):
        assert same_bits(plan.run(), found.values[:2])


def test_where_no_cycle_improves_nothing_changes() -> None:
    A = np.array([[inf, 3.0, 10.0], [-3.0, inf, 4.0], [inf, inf, inf]])
    plain = sr.closure(A, sr.min_plus)
    for tol in (0, 1e-3, 5, np.float32(0.5)):
        assert same_bits(sr.closure(A, sr.min_plus, tol=tol), plain)
    assert sr.plan("closure", A, sr.min_plus, tol=0.1).method == sr.plan("closure", A, sr.min_plus).method
    twice = sr.plan("closure", A - 0.01, sr.min_plus, tol=0.1)
    assert same_bits(twice.run(), twice.run())


def test_what_has_no_tolerance() -> None:
    A = np.eye(2)
    for S in (sr.plus_times, sr.max_min, sr.log):
        with pytest.raises(sr.LawError, match="tol needs a selective ⊕, and a ⊗ that adds or multiplies numbers"):
            sr.closure(A, S, tol=0.1)
    for exact in (A.astype(int), A.astype(object)):
        with pytest.raises(sr.SemiringError, match="tol is for rounded weights"):
            sr.closure(exact, sr.min_plus, tol=0.1)
    wrong: list[Any] = [-1, inf, np.nan, "0.1", True, [0.1]]
    for tol in wrong:
        with pytest.raises(sr.SemiringError, match="tol must be a number, 0 or more, and is"):
            sr.closure(A, sr.min_plus, tol=tol)
