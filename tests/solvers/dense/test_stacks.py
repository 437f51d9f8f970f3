"""Stacks of small products by vectors: the answers, refusals and plans of the general way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from bridge import same_bits
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels import build
from semiring.kernels.cpu.dense import lanes, stacks
from semiring.kernels.lowering.general import general
from semiring.solvers.dense import schedules
from semiring.solvers.products import arrays

METHOD = "rows as vectors"


def in_general(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """`matmul` by tiles."""

    def product(*arguments: Any, **options: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(arrays, "stacks_repay", lambda *_: False)
            return sr.matmul(*arguments, **options)

    return product


@pytest.mark.usefixtures("machine_code")
@pytest.mark.parametrize(("name", "dtype"), [
    ("min_plus", "f4"), ("min_plus", "i2"), ("max_min", "f8"), ("boolean", "?"), ("gf2", "u1"),
    *(pytest.param(*case, marks=pytest.mark.slow) for case in [
        ("max_plus", "f8"), ("min_plus", "u8"), ("counting", "i4"), ("viterbi", "f4"), ("max_times", "f4"),
        ("min_max", "f2"), ("lukasiewicz", "f4"), ("bitset_may", "u2"), ("plus_times", "f8"), ("plus_times", "c8"),
    ]),
])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(data=st.data())
def test_stacks_have_the_bits_of_the_general_way(
    name: str, dtype: str, monkeypatch: pytest.MonkeyPatch, data: st.DataObject
) -> None:
    """At any shape and layout, with an array that is added to, and with matrices that repeat."""
    S, general = getattr(sr, name), in_general(monkeypatch)
    m, k, n = (data.draw(st.integers(0, 33) | st.integers(1, 8)) for _ in range(3))
    batch, repeats = data.draw(st.integers(2, 5) | st.just(40)), data.draw(st.booleans())
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))

    def matrices(*shape: int) -> np.ndarray:
        values = rng.integers(0, 2 if name in ("gf2", "boolean", "viterbi", "lukasiewicz") else 5, shape)
        array = np.array(values, dtype)
        if array.dtype.kind == "f" and name.startswith(("min_", "max_")) and "times" not in name:
            array[rng.random(shape) < 0.2] = S.zero
        return data.draw(st.sampled_from([array, np.asfortranarray(array), array[..., ::-1], array[:, ::-1]]))

    A, B = matrices(*(() if repeats else (batch,)), m, k) if not repeats else matrices(1, m, k), matrices(batch, k, n)
    C = data.draw(st.sampled_from([None, np.array(matrices(batch, m, n))]))
    A.flags.writeable = False
    before = None if C is None else C.copy()
    found, wanted = (product(A, B, S, accumulate=C) for product in (sr.matmul, general))
    assert same_bits(found, wanted) and found.dtype == wanted.dtype
    assert C is None or (before == C).all()
    if m and k and n:
        plan = sr.plan("matmul", A, B, S)
        assert (plan.method == METHOD) == lanes.fits(plan.lowering)
        assert plan.method == METHOD or name == "counting", "only it multiplies by a scalar function, which saturates"
    out = np.empty_like(found)
    assert sr.matmul(A, B, S, accumulate=C, out=out) is out and same_bits(out, wanted)


@pytest.mark.usefixtures("machine_code")
@pytest.mark.parametrize(("S", "dtype", "bad"), [
    (sr.min_plus, "f4", np.nan), (sr.viterbi, "f8", 1.5), (sr.max_min, "f4", np.nan), (sr.plus_times, "f8", np.nan),
    (sr.plus_times, "f4", np.inf),
])
def test_what_is_refused_is_refused_alike(
    S: sr.Semiring, dtype: str, bad: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    general = in_general(monkeypatch)
    for which in range(3):
        operands = [np.zeros((3, *shape), dtype) for shape in ((4, 5), (5, 2), (4, 2))]
        operands[which][1, 3, 1] = bad
        *factors, C = operands
        messages = []
        for product in (sr.matmul, general):
            out = np.full((3, 4, 2), 7, dtype)
            with pytest.raises(sr.SemiringError) as refused:
                product(*factors, S, accumulate=C, out=out)
            messages.append(str(refused.value))
            assert (out == 7).all() and sum(map(np.count_nonzero, operands)) == 1
        assert messages[0] == messages[1] and "[1, 3, 1]" in messages[0]


@pytest.mark.usefixtures("machine_code")
def test_numbers_that_leave_the_dtype_are_refused() -> None:
    A = np.full((2, 2, 2), 100, "i1")
    for S in (sr.counting, sr.min_plus):
        with pytest.raises(sr.SemiringError):
            sr.matmul(A, A, S)


@pytest.mark.usefixtures("machine_code")
@pytest.mark.parametrize("count", [1, 2, 7])
def test_any_number_of_threads_gives_the_same_bits(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    A = np.random.default_rng(0).random((3000, 6, 6))
    monkeypatch.setenv("SEMIRING_NUM_THREADS", str(count))
    wanted = np.stack([(a[:, :, None] + b).min(1) for a, b in zip(A, A[::-1], strict=True)])
    assert (sr.matmul(A, A[::-1], sr.min_plus) == wanted).all()
    A[2999, 5, 5] = np.nan
    with pytest.raises(sr.SemiringError, match=r"A\[2999, 5, 5\] is NaN"):
        sr.matmul(A, A[::-1], sr.min_plus)


@pytest.mark.usefixtures("machine_code")
@pytest.mark.parametrize(("name", "dtype"), [
    ("min_plus", "f4"), ("min_plus", "i4"), ("boolean", "?"),
    *(pytest.param(*case, marks=pytest.mark.slow) for case in [
        ("max_min", "f8"), ("min_plus", "f8"), ("max_plus", "i2"), ("shortest_count", None), ("bitset_may", "u1"),
        ("plus_times", "f8"), ("plus_times", "c16"), ("gf2", "u1"),
    ]),
])
def test_closures_of_stacks_are_those_of_the_general_way(
    name: str, dtype: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At any order and layout, and with matrices that have none."""
    S, rng = getattr(sr, name), np.random.default_rng(0)
    for n in (1, 2, 5, 8, 16, 17, 33, 64):
        A = np.zeros((6, n, n), dtype or S.element_dtype)
        part = A[A.dtype.names[0]] if A.dtype.names else A
        part[...] = rng.integers(0, 2, A.shape) if name in ("gf2", "boolean") else rng.integers(1, 9, A.shape)
        if A.dtype.names:
            A[A.dtype.names[1]] = 1
        if name == "plus_times":
            A /= 20 * n
            A[2, 0, 0] = 1  # which has no star, unless rows are exchanged
        if name in ("min_plus", "max_plus") and n > 1:
            A[3, 0, 1], A[3, 1, 0] = (-9, 1) if name == "min_plus" else (9, 1)  # no closure
            A[[0, 1, 2, 4, 5]] *= 1 if name == "min_plus" else -1
        for X in (A, np.asfortranarray(A), A[:, ::-1, ::-1]):
            found, exists = sr.closure(X, S, on_divergence="mask")
            with monkeypatch.context() as patch:
                patch.setattr(schedules, "stacks_repay", lambda *_: False)
                wanted, there = sr.closure(X, S, on_divergence="mask")
            assert (exists == there).all()
            if name == "plus_times":
                assert np.allclose(found, wanted, rtol=1e-12, atol=1e-13)
            else:
                assert same_bits(found, wanted)


LOOKED_AT = "each lane of a vector closes another matrix, and looks at its elements"


@pytest.mark.usefixtures("machine_code")
@pytest.mark.parametrize(("S", "dtype"), [(sr.min_plus, "f4"), (sr.shortest_hops, None)], ids=["numbers", "records"])
@pytest.mark.parametrize("shape", [(3000, 3, 3), (40, 30, 5, 5), (700, 8, 8)], ids=str)
def test_stacks_that_are_looked_at_have_the_closures_of_the_general_way(
    S: sr.Semiring, dtype: str | None, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In any layout, read-only, and repeated; nothing else is written."""
    A = np.ones(shape, dtype or S.element_dtype)
    (A if dtype else A["cost"])[...] = np.random.default_rng(0).integers(1, 9, shape)
    assert LOOKED_AT in str(sr.plan("closure", A, S))
    repeated = np.broadcast_to(A[:1], shape)
    beside = np.moveaxis(np.ascontiguousarray(np.moveaxis(A, 0, -1)), -1, 0)
    turned = A.swapaxes(-1, -2).copy().swapaxes(-1, -2)
    for X in (A, np.asfortranarray(A), turned, A[::-1, ..., ::-1, :], beside, repeated):
        before = X.copy()
        with monkeypatch.context() as patch:
            patch.setattr(schedules, "_looking", lambda _: None)
            wanted = sr.closure(X, S)
        assert same_bits(sr.closure(X, S), wanted) and same_bits(X, before)


@pytest.mark.usefixtures("machine_code")
@pytest.mark.parametrize(("name", "bad"), [("min_plus", np.nan), ("min_plus", -5.0), ("viterbi", 1.5), ("log", np.nan)])
def test_what_is_refused_where_matrices_are_looked_at(
    name: str, bad: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the message of the general way; the input is as it was."""
    S, A = getattr(sr, name), np.full((2000, 3, 3), -3.0 if name == "log" else 0.125)
    A[1234, 1, 1] = bad
    messages = []
    for looks in (True, False):
        X = A.copy()
        X.flags.writeable = False
        with monkeypatch.context() as patch:
            if not looks:
                patch.setattr(schedules, "_looking", lambda _: None)
            with pytest.raises(sr.SemiringError) as refused:
                sr.closure(X, S)
        assert same_bits(X, A)
        messages.append(str(refused.value))
    assert messages[0] == messages[1] and "1234" in messages[0]


def test_stacks_of_nothing() -> None:
    for shape in ((0, 3, 3), (4, 0, 0), (0, 0, 0), (2, 0, 8, 8)):
        assert sr.closure(np.zeros(shape), sr.min_plus).shape == shape
        assert sr.matmul(np.zeros(shape), np.zeros(shape), sr.min_plus).shape == shape


def test_pivots_without_a_star_leave_a_matrix_as_it_was() -> None:
    low = general(sr.plus_times, np.dtype("f8"))
    D = np.full((4, 3, 3), 0.125)
    D[1, 0, 0] = D[3, 2, 2] = 1.0
    D[3, 2, :2] = D[3, :2, 2] = 0.0
    given = D.copy()
    assert stacks.close_stack(low, D).tolist() == [-1, 0, -1, 2]
    assert (D[[1, 3]] == given[[1, 3]]).all()
    assert np.allclose(D[[0, 2]], np.linalg.inv(np.eye(3) - given[[0, 2]]))


@pytest.mark.usefixtures("machine_code")
@pytest.mark.parametrize("shape", [(12, 12), (3, 12, 12)])
def test_logarithms_of_sums_go_by_vectors_of_powers(shape: tuple[int, ...]) -> None:
    """Single matrices too: by tiles each term would take an exp."""
    A = np.random.default_rng(0).random(shape)
    assert sr.plan("matmul", A, A, sr.log).method == METHOD
    wanted = np.log(np.exp(A[..., None] + A[..., None, :, :]).sum(-2))
    assert np.allclose(sr.matmul(A, A, sr.log, accumulate=wanted), wanted + np.log(2), rtol=1e-15, atol=1e-15)
    A[..., 3, 5] = np.nan
    with pytest.raises(sr.SemiringError, match=r"3, 5\] is NaN"):
        sr.matmul(A, A, sr.log)


def test_vectors_are_compiled_where_that_repays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for a small stack, and at once for a large one; large matrices go by tiles."""
    monkeypatch.setenv("SEMIRING_COMPILE", "auto")
    monkeypatch.delenv("SEMIRING_CACHE_DIR", raising=False)
    monkeypatch.setattr(build, "_code", build._code.__wrapped__)
    S = sr.Semiring("steepest", add=np.minimum, mul=lambda a, b: np.maximum(a, b) + 1, zero=np.inf, product_only=True)
    A = np.zeros((3, 4, 4))
    assert sr.plan("matmul", A, A, S).method != METHOD
    monkeypatch.setenv("SEMIRING_COMPILE", "never")
    assert sr.plan("matmul", A, A, S).method != METHOD
    monkeypatch.setenv("SEMIRING_COMPILE", "always")
    assert sr.plan("matmul", A, A, S).method == METHOD
    big = np.zeros((2, 65, 65))
    assert sr.plan("matmul", big, big, S).method != METHOD
    assert sr.plan("matmul", A[0], A[0], S).method != METHOD


@pytest.mark.parametrize("compiled", ["never", pytest.param("always", marks=pytest.mark.slow)])
def test_several_axes_of_a_stack_are_added_to_in_any_order(compiled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", compiled)
    A, C = np.random.default_rng(0).random((2, 3, 4, 4)), np.asfortranarray(np.full((2, 3, 4, 4), 0.75))
    wanted = np.minimum(C, (A[..., None] + A[..., None, :, :]).min(-2))
    assert (sr.matmul(A, A, sr.min_plus, accumulate=C) == wanted).all()
