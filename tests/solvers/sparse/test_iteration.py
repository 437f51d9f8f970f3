"""Equations by iteration, against elimination of the same; when it runs, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algorithms.sparse.minimum_degree import minimum_degree
from semiring.algorithms.sparse.ordering import may_need
from semiring.algorithms.sparse.pattern import symmetric
from semiring.cli import main
from semiring.solvers.sparse import iteration


def links(n: int, seed: int = 0, degree: int = 8) -> sp.csr_array:
    """Pages that link to some others, popular ones more often; a tenth link to none."""
    random = np.random.default_rng(seed)
    popular = 1 / np.arange(1, n + 1) ** 0.8
    tails = np.repeat(np.arange(n), degree)
    tails = tails[random.random(n)[tails] > 0.1]
    heads = random.choice(n, len(tails), p=popular / popular.sum())
    A = sp.csr_array((np.ones(len(tails)), (tails, heads)), (n, n))
    A.sum_duplicates()
    A.data[:] = 1
    return sp.csr_array(sp.diags_array(1 / np.maximum(A.sum(1), 1)) @ A)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("left", [False, True])
def test_page_rank_is_iterated(dtype: str, left: bool) -> None:
    n = 8000
    A, b = (0.85 * links(n)).astype(dtype), np.full(n, 0.15 / n, dtype)
    plan = sr.plan("solve", A, b, sr.plus_times, left=left)
    assert plan.method == "iteration" and "norm of A is 0.85" in str(plan)
    found = sr.solve(A, b, sr.plus_times, left=left)
    assert found.dtype == np.dtype(dtype) and found.shape == (n,)
    expected, wide = np.zeros(n), A.T.astype("c16") if left else A.astype("c16")
    for _ in range(300):  # the power series, of which 0.85³⁰⁰ is left
        expected = b + wide @ expected
    np.testing.assert_allclose(found, expected, rtol=3e-6 if dtype in ("f4", "c8") else 1e-13)


@settings(max_examples=40)
@given(st.integers(0, 12), st.integers(0, 2**32 - 1), st.sampled_from(["f4", "f8", "c8", "c16"]), st.integers(0, 3),
       st.booleans(), st.sampled_from([0.5, 0.95, 1.5, 3.0]))
def test_what_is_asked_for_equals_elimination_or_is_refused(
    n: int, seed: int, dtype: str, columns: int, left: bool, norm: float
) -> None:
    random = np.random.default_rng(seed)
    whole = random.integers(-4, 5, (n, n)) * (random.random((n, n)) < 0.5)
    A = sp.csr_array((whole * norm / max(abs(whole).sum(1).max(initial=0), 1)).astype(dtype))
    B = random.integers(-4, 5, (n, columns) if columns else n).astype(dtype)
    B = B.T if left else B
    condition = np.linalg.cond(np.eye(n) - A.toarray()) if n else 1.0
    try:
        found = sr.solve(A, B, sr.plus_times, left=left, method="iterative")
    except sr.SemiringError as e:
        assert condition > 1e3, e
        return
    assert found.shape == B.shape and found.dtype == B.dtype
    M = np.eye(n, dtype=dtype) - A.toarray()
    expected = np.linalg.solve(M.T, B.T if columns else B) if left else np.linalg.solve(M, B)
    expected = expected.T if left and columns else expected
    error = 1e3 * np.finfo(dtype).eps * condition * (1 + np.abs(expected).max(initial=0))
    np.testing.assert_allclose(found, expected, atol=error)


def test_names_graphs_and_byte_order_are_kept() -> None:
    roads = sr.as_graph([("a", "b", 0.5), ("b", "c", 0.25), ("c", "a", 0.5)])
    B = sr.Matrix(np.eye(3)[[2, 0, 1]], sr.plus_times, ["c", "a", "b"])
    expected = sr.solve(roads, B, sr.plus_times)
    found = sr.solve(roads, B, sr.plus_times, method="iterative")
    assert found.names == expected.names
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-14)
    A = sp.csr_array(np.array([[0, 0.5], [0.25, 0]]))
    turned = sr.solve(A, np.array([7.0, 0.0], ">f8"), sr.plus_times, method="iterative")
    assert turned.round(12).tolist() == [8.0, 2.0]
    np.testing.assert_allclose(sr.solve(A, np.array([7.0, 0.0]), "plus-times", rtol=1e-3), [8.0, 2.0], rtol=1e-2)
    numbers = sr.Semiring("numbers", "(R, +, ×, 0, 1)", add=np.add, mul=np.multiply, zero=0.0, one=1.0,
                          star=lambda a: 1 / (1 - a), carrier=np.isfinite)
    assert sr.solve(A, np.array([7.0, 0.0]), numbers, rtol=1e-9).round(6).tolist() == [8.0, 2.0]
    told: list[float] = []
    sr.solve(A, np.eye(2), sr.plus_times, method="iterative", progress=told.append)
    assert told[-1] == 1.0 and told == sorted(told)


def test_faster_ways_come_first() -> None:
    """Small matrices, those without fill, those without cycles, and many right-hand sides are eliminated."""
    n = 3000
    street = sp.diags_array([np.full(n - 1, 0.4999)] * 2, offsets=[-1, 1], format="csr")
    assert sr.plan("solve", street, np.ones(n), sr.plus_times).method == "SuperLU"
    assert sr.plan("solve", 0.85 * links(200), np.ones(200), sr.plus_times).method == "SuperLU"
    assert sr.plan("solve", sp.triu(0.1 * links(n), 1).tocsr(), np.ones(n), sr.plus_times).method == "substitution"
    many = sr.plan("solve", 0.85 * links(n), np.ones((n, 2000)), sr.plus_times)
    assert many.method == "elimination" and "of the dense matrix" in str(many)
    slow = sr.plan("solve", (1 - 1e-9) * links(n), np.ones(n), sr.plus_times)
    assert slow.method != "iteration"
    assert sr.plan("solve", links(n), np.zeros(n), sr.min_plus).method != "iteration"


def test_matrices_of_which_no_norm_is_small_are_tried_where_elimination_takes_long(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    n = 1500
    A, b = 0.3 * links(n), np.random.default_rng(1).random(n)
    A.data[A.indptr[0] : A.indptr[2]] *= 12  # two rows are larger, and the columns of popular pages are, too
    A = A + 1.5 * sp.eye_array(n)
    assert sr.plan("solve", A, b, sr.plus_times).method != "iteration"
    monkeypatch.setattr(iteration, "BEYOND", 1e-6)
    monkeypatch.setattr(iteration, "FIRST", 0.0)
    plan = sr.plan("solve", A, b, sr.plus_times)
    assert plan.method == "iteration" and "elimination would fill in" in str(plan)
    np.testing.assert_allclose(plan.run(), np.linalg.solve(np.eye(n) - A.toarray(), b), rtol=1e-9)
    shift = sp.csr_array((np.full(n, 2.0), (np.arange(n), np.random.default_rng(2).permutation(n))))
    assert sr.plan("solve", shift + 0.1 * links(n), b, sr.plus_times).method == "iteration"
    np.testing.assert_allclose(  # it is not reached there, and elimination takes over
        sr.solve(shift + 0.1 * links(n), b, sr.plus_times),
        np.linalg.solve(np.eye(n) - (shift + 0.1 * links(n)).toarray(), b), rtol=1e-9)


@pytest.mark.parametrize("rtol", [1e-2, 1e-5, 1e-8, 1e-12])
@pytest.mark.parametrize("dtype", ["f8", "c16"])
def test_a_large_residual_does_not_make_a_matrix_singular(dtype: str, rtol: float) -> None:
    """Equations that tell whether there is one solution are solved to rounding, if the norm of A is 1 or more."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        A = sp.random_array((30, 30), density=0.3, rng=rng).astype(dtype).tocsr()
        A.data *= np.exp(1j * rng.random(A.nnz)) if dtype == "c16" else rng.choice([-1, 1], A.nnz)
        A *= 0.9 / abs(np.linalg.eigvals(A.toarray())).max()
        assert min(abs(A).sum(0).max(), abs(A).sum(1).max()) > 1 and np.linalg.cond(np.eye(30) - A.toarray()) < 1e4
        B = rng.random((30, 2)).astype(dtype)
        X = sr.solve(A, B, sr.plus_times, method="iterative", rtol=rtol)
        assert (abs(A @ X + B - X) <= 1.01 * (rtol + 1e-13) * (abs(A) @ abs(X) + abs(X) + abs(B))).all()
    with pytest.raises(sr.SemiringError, match=r"rounding decides about the answer|whether I − A is singular"):
        sr.solve(sp.csr_array(np.array([[0.0, 1], [1, 0]], dtype)), np.ones(2, dtype), sr.plus_times, rtol=rtol)


@settings(max_examples=100)
@given(st.integers(2, 12), st.integers(0, 2**32 - 1), st.sampled_from(["f4", "f8", "c8", "c16"]),
       st.sampled_from([0.9, 1.5, 30.0]), st.sampled_from([None, 1e-3]), st.booleans())
@example(2, 3, "f8", 1.5, None, False)
@example(2, 15, "f8", 30.0, None, False)
def test_small_regular_matrices_are_not_taken_for_singular(
    n: int, seed: int, dtype: str, radius: float, rtol: float | None, left: bool
) -> None:
    """The residual that iteration leaves by itself counts, also if there are fewer vertices than its epsilons."""
    random = np.random.default_rng(seed)
    whole = random.random((n, n)) * (1j if np.dtype(dtype).kind == "c" else 1)
    A = (whole / abs(np.linalg.eigvals(whole)).max() * radius).astype(dtype)
    assume(np.linalg.cond(np.eye(n) - A) < 100)
    b = random.standard_normal(n).astype(dtype)
    found = sr.solve(sp.csr_array(A), b, sr.plus_times, left=left, method="iterative", rtol=rtol)
    wide = (A.T if left else A).astype("c16")
    allowed = (rtol or 0) + 40 * np.finfo(dtype).eps
    assert (abs(b + wide @ found - found) <= allowed * (abs(wide) @ abs(found) + abs(found) + abs(b))).all()


def test_what_has_no_solution_is_refused() -> None:
    b = np.array([1.0, 2.0])
    swap, ring = sp.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]])), sp.csr_array(np.roll(np.eye(60), 1, 1) * 2)
    with pytest.raises(sr.SemiringError, match=r"rounding decides about the answer|leave a residual"):
        sr.solve(swap, b, sr.plus_times, method="iterative")
    with pytest.raises(sr.SemiringError, match=r"rounding decides about the answer|leave a residual"):
        sr.solve(swap, np.array([1.0, -1.0]), sr.plus_times, method="iterative")  # it has many solutions
    try:
        found = sr.solve(ring, np.ones(60), sr.plus_times, method="iterative")
    except sr.SemiringError as e:
        assert "pass a larger rtol" in str(e) and "to eliminate" in str(e)
    else:
        np.testing.assert_allclose(found, -1.0)


@pytest.mark.parametrize(("A", "options", "words"), [
    (np.eye(2) / 2, {"method": "iterative"}, "A is an array: leave them out, or pass a sparse matrix"),
    (np.eye(2) / 2, {"rtol": 1e-3}, "A is an array"),
    (sp.csr_array(np.eye(2) / 2), {"method": "blocked"}, "method of solve must be 'auto' or 'iterative'"),
    (sp.csr_array(np.eye(2) / 2), {"rtol": -1.0}, r"rtol must be a number, 0 or more, and is -1\.0"),
    (sp.csr_array(np.eye(2) / 2), {"method": "iterative", "S": sr.min_plus}, "min-plus: iteration needs the sum"),
    (sp.csr_array(np.eye(2) / 2), {"method": "iterative", "tol": 0.1}, "leave out one of the two"),
    (sp.csr_array(np.eye(2) / 2), {"method": "iterative", "device": "gpu"}, "GPU"),
])
def test_refusals_say_what_to_do(A: Any, options: dict[str, Any], words: str) -> None:
    S = options.pop("S", sr.plus_times)
    for call in (sr.solve, lambda *given, **asked: sr.plan("solve", *given, **asked).run()):
        with pytest.raises(sr.SemiringError, match=words):
            call(A, np.ones(2), S, **options)


def eliminated(start: np.ndarray, neighbours: np.ndarray, order: np.ndarray) -> float:
    """Terms of an elimination, counted vertex by vertex: the square of how many vertices each of them joins."""
    beside = [set(neighbours[start[v] : start[v + 1]].tolist()) for v in range(len(order))]
    terms = 0.0
    for v in order.tolist():
        terms += len(beside[v]) ** 2.0
        for u in beside[v]:
            beside[u] |= beside[v] - {u}
            beside[u].discard(v)
    return terms


@given(st.integers(1, 40), st.integers(0, 2**32 - 1), st.floats(0, 9))
def test_the_search_for_an_order_ends_where_terms_run_out(n: int, seed: int, share: float) -> None:
    A = sp.random_array((n, n), density=0.2, rng=np.random.default_rng(seed)).tocsr()
    start, neighbours = symmetric(A.indptr.astype(np.int64), A.indices.astype(np.int64))
    whole = minimum_degree(start, neighbours)
    assert sorted(whole.tolist()) == list(range(n)) and may_need(start, neighbours, float(n) ** 3)
    found = minimum_degree(start, neighbours, int(share))
    assert len(set(found.tolist())) == len(found) <= n and (len(found) < n or np.array_equal(found, whole))
    assert may_need(start, neighbours, eliminated(start, neighbours, whole))
    assert not may_need(start, neighbours, eliminated(start, neighbours, whole) - 0.5)


def test_the_command_line_iterates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "A.csv").write_text("source,target,weight\na,b,0.5\nb,a,0.25\n")
    (tmp_path / "B.csv").write_text("vertex,value\na,7\nb,0\n")
    given = ["solve", str(tmp_path / "A.csv"), str(tmp_path / "B.csv"), "--algebra", "plus-times"]
    assert main([*given, "--method", "iterative", "--rtol", "1e-9"]) == 0
    assert "8" in capsys.readouterr().out
    assert main([*given, "--method", "blocked"]) != 0
    assert "must be 'auto' or 'iterative'" in capsys.readouterr().err
