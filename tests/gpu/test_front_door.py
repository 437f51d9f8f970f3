"""The front door on a GPU: CuPy in, CuPy out, the same answers and the same errors as on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gpu.truths import closure, entries

import semiring as sr
from semiring.kernels.cpu.bits.matrix import PackedMatrix

inf = np.inf
CASES = [
    ("min_plus", "f4"), ("min_plus", "i4"), ("min_plus", "u1"), ("max_min", "f4"), ("boolean", "?"), ("viterbi", "f4"),
    ("counting", "i4"), ("log", "f8"), ("bitset_may", "u8"), ("shortest_hops", None),
]


def acyclic(S: sr.Semiring, n: int, dtype: Any) -> np.ndarray:
    """A random matrix without cycles, half of its entries absent."""
    rng = np.random.default_rng(n)
    dtype = S.default_dtype if dtype is None else np.dtype(dtype)
    values = [0, 1] if dtype.kind == "b" else [0, 1, 2, 3] if dtype.kind in "iu" else [0, 1, 0.5, 0.25]
    if S.is_record:
        elements = S.samples()
    else:
        elements = np.array(values, dtype)
        elements = elements[S.over(dtype).contains(elements)]
    A = elements[rng.integers(0, len(elements), (n, n))]
    edges = min(0.5, 6 / n) if S is sr.counting else 0.5  # 32 bits hold the number of walks
    A[(rng.random((n, n)) >= edges) | np.tri(n, dtype=bool)] = S.zero_in(dtype)
    return A


def same(x: Any, y: np.ndarray) -> bool:
    x = x.get() if hasattr(x, "get") else x
    if y.dtype.names:
        return all(same(x[f], y[f]) for f in y.dtype.names)
    return x.dtype == y.dtype and np.allclose(x.astype(float), y.astype(float), rtol=1e-5)


@pytest.mark.parametrize("n", [1, 70, 300])
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_answers_are_the_cpus_and_stay_on_the_device(name: str, dtype: Any, n: int) -> None:
    import cupy

    S = sr.catalogue[name]
    A = acyclic(S, n, dtype)
    D = cupy.asarray(A)
    for reflexive in (True, False):
        got = sr.closure(D, S, reflexive=reflexive)
        assert isinstance(got, cupy.ndarray)
        assert same(got, sr.closure(A, S, device="cpu", reflexive=reflexive))
    assert same(sr.matmul(D, D, S), sr.matmul(A, A, S, device="cpu"))
    assert same(D, A)


def test_host_arrays_come_back_to_the_host() -> None:
    A = acyclic(sr.min_plus, 50, "f4")
    answer = sr.closure(A, sr.min_plus, device="gpu")
    assert isinstance(answer, np.ndarray)
    assert np.array_equal(answer, sr.closure(A, sr.min_plus, device="cpu"))


def test_a_negative_cycle_is_named() -> None:
    import cupy

    A = np.array([[inf, 3.0, inf], [inf, inf, 4.0], [-20.0, inf, inf]])
    with pytest.raises(sr.NoClosureError) as caught:
        sr.closure(cupy.asarray(A), sr.min_plus)
    assert caught.value.cycle == [0, 1, 2, 0]
    assert caught.value.weight == -13


def test_nan_is_refused_with_its_place() -> None:
    import cupy

    A = np.zeros((3, 3), "f4")
    A[1, 2] = np.nan
    with pytest.raises(sr.SemiringError, match=r"A\[1, 2\] is NaN"):
        sr.closure(cupy.asarray(A), sr.min_plus)


def test_outside_the_carrier_is_refused_with_its_place() -> None:
    import cupy

    with pytest.raises(sr.SemiringError, match=r"A\[0, 0\] is 2"):
        sr.closure(cupy.full((2, 2), 2.0), sr.viterbi)


def test_solve_on_the_device() -> None:
    import cupy

    A = acyclic(sr.min_plus, 80, "f8")
    B = np.random.default_rng(0).random((80, 3))
    got = sr.solve(cupy.asarray(A), cupy.asarray(B), sr.min_plus)
    assert same(got, sr.solve(A, B, sr.min_plus))


def test_torch_through_dlpack() -> None:
    torch = pytest.importorskip("torch")
    A = acyclic(sr.min_plus, 40, "f4")
    answer = sr.closure(torch.from_numpy(A).cuda(), sr.min_plus)
    assert isinstance(answer, torch.Tensor)
    assert answer.is_cuda
    assert np.array_equal(answer.cpu().numpy(), sr.closure(A, sr.min_plus, device="cpu"))


@pytest.mark.parametrize("dtype", ["i2", "i4", "i8", "u2", "f4"])
@pytest.mark.parametrize("absent", [False, True])
def test_integers_with_and_without_absent_edges(dtype: str, absent: bool) -> None:
    import cupy

    rng = np.random.default_rng(8)
    A = rng.integers(0, 50, (150, 150)).astype(dtype)
    if absent:
        A[rng.random(A.shape) < 0.9] = sr.min_plus.zero_in(A.dtype)
    D = cupy.asarray(A)
    for _ in range(2):
        for reflexive in (True, False):
            got = sr.closure(D, sr.min_plus, reflexive=reflexive)
            assert same(got, sr.closure(A, sr.min_plus, device="cpu", reflexive=reflexive))
        assert same(sr.matmul(D, D, sr.min_plus), sr.matmul(A, A, sr.min_plus, device="cpu"))
    empty = sr.matmul(D[:, :0], D[:0], sr.min_plus)
    assert bool((empty == sr.min_plus.zero_in(A.dtype)).all())


def test_plan_says_what_will_run(monkeypatch: pytest.MonkeyPatch) -> None:
    import cupy

    from semiring.solvers.dense import narrow

    tried = []
    closure = narrow.saturating_closure
    monkeypatch.setattr(narrow, "saturating_closure", lambda *arguments: tried.append(1) or closure(*arguments))
    edges = cupy.full((6200, 6200), 3, np.int32)
    assert sr.plan("closure", edges, sr.min_plus).method == "16 bits"
    sr.closure(edges, sr.min_plus)
    assert tried, "and they were"
    nothing_but_one = cupy.zeros((6200, 6200), np.int32)
    assert "packed bits" in str(sr.plan("closure", nothing_but_one, sr.min_plus)), "two values need one bit"
    sr.closure(nothing_but_one, sr.min_plus)
    assert len(tried) == 1


def test_a_path_in_a_matrix_on_the_device() -> None:
    import cupy

    A = acyclic(sr.min_plus, 40, "f4")
    assert sr.path(cupy.asarray(A), sr.min_plus, 0, 39) == sr.path(A, sr.min_plus, 0, 39)


@pytest.mark.parametrize("n", [3, 400, 700, 1100])
@pytest.mark.parametrize(("name", "dtype"), [("boolean", "?"), ("boolean", "u1"), ("max_min", "f4"), ("viterbi", "f8")])
def test_two_values_run_as_bits(name: str, dtype: str, n: int) -> None:
    """Array in, array out; packed only on demand, and the lowering is the packed one where that pays."""
    import cupy

    S = sr.catalogue[name]
    kind = S.resolve_dtype(np.dtype(dtype))
    A = np.where(np.random.default_rng(n).random((n, n)) < 1.3 / n, S.one_in(kind), S.zero_in(kind)).astype(kind)
    D = cupy.asarray(A)
    assert (sr.plan("closure", D, S).lowering.name == "packed bits") == (n >= 512)
    for check in (True, False):
        for reflexive in (True, False):
            got = sr.closure(D, S, reflexive=reflexive, check=check)
            assert isinstance(got, cupy.ndarray)
            assert same(got, sr.closure(A, S, device="cpu", reflexive=reflexive))
        assert same(sr.matmul(D, D[:, : n // 2], S, check=check), sr.matmul(A, A[:, : n // 2], S, device="cpu"))
    assert same(D, A)
    if name == "boolean" and dtype == "?":
        R = sr.closure(D, S, packed=True)
        assert np.array_equal(R.get().to_dense(), sr.closure(A, S, device="cpu"))
        assert np.array_equal(sr.matmul(R, R, S).get().to_dense(), sr.closure(A, S, device="cpu"))
    for method in ("blocked", "r-kleene", "squaring", "elimination"):
        assert same(sr.closure(D, S, method=method), sr.closure(A, S, device="cpu"))


@pytest.mark.parametrize("reflexive", [False, True])
def test_from_the_host_and_back(reflexive: bool) -> None:
    A = entries((1500, 1500), 1.2 / 1500)
    wanted = closure(A) | (np.eye(1500, dtype=bool) & reflexive)
    for given in (A, np.asfortranarray(A), A.astype("f8"), PackedMatrix.from_dense(A)):
        got = sr.closure(given, sr.boolean, packed=True, reflexive=reflexive, device="gpu")
        np.testing.assert_array_equal(got.to_dense(), wanted)
