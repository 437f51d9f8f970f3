"""Three phases in each version: the kernels run on the host, threads and streams in any order; they compile."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from engines import slow_but
from gpu import nvrtc
from gpu.compiled import Compiled
from gpu.elements import assert_equal, closable, closure_reference, dtype_of
from gpu.nvrtc import needs_compiler

import semiring as sr
from semiring.algorithms.history.katz_kider import katz_kider
from semiring.algorithms.history.zuccato_lena import in_parts
from semiring.kernels.cuda.choose import without_facts
from semiring.kernels.cuda.compile.program import OPTIONS
from semiring.kernels.cuda.history import blocks
from semiring.kernels.cuda.history.blocks import KATZ_KIDER, PartsKernel, PhaseKernel, RecordedParts, Variant, source

VARIANTS = [
    KATZ_KIDER, Variant(shared=False, down=True), Variant(down=True), Variant(down=True, padded=True),
    Variant(down=True, padded=True, hops=True),
]
KINDS = [("min_plus", "f4"), ("min_plus", "i8"), ("boolean", None), ("plus_times", "f8"), ("gf2", "u1"),
         ("shortest_hops", None)]


PAIRS = [
    pytest.param(variant, *kind, marks=() if variant in VARIANTS[:1] or kind in KINDS[:1] else pytest.mark.slow,
                 id=f"{variant}-{kind}")
    for variant in VARIANTS for kind in KINDS if sr.catalogue[kind[0]].selective or not variant.hops
]


@pytest.mark.parametrize("variant, name, dtype", PAIRS)
@pytest.mark.parametrize("n", slow_but([[1], [33], [70]], 1))
def test_closures(
    play: Callable[..., Compiled], rng: np.random.Generator, variant: Variant, name: str, dtype: str | None, n: int
) -> None:
    S = sr.catalogue[name]
    A = closable(S, dtype_of(S, dtype), n, rng)
    kernel = PhaseKernel(without_facts(S, A.dtype), play(n).host.array(A), variant)
    katz_kider(kernel)
    assert kernel.failed() == -1
    assert_equal(S, np.array(kernel.answer), closure_reference(S, A))


@pytest.mark.parametrize("name, dtype", slow_but([("min_plus", "f4"), ("plus_times", "f8")], 0))
@pytest.mark.parametrize("n, parts", [(20, 4), (130, 2), (170, 4)])
def test_streams_wait_for_what_they_read(
    play: Callable[..., Compiled], rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, name: str, dtype: str,
    n: int, parts: int,
) -> None:
    monkeypatch.setattr(blocks, "PARTS", parts)
    S = sr.catalogue[name]
    A = closable(S, np.dtype(dtype), n, rng)
    for seed in range(3):
        played = play(seed, True)
        kernel = PartsKernel(without_facts(S, A.dtype), played.host.array(A), KATZ_KIDER)
        kernel.run(in_parts)
        played.host.finish()
        assert_equal(S, np.array(kernel.answer), closure_reference(S, A))


def test_what_is_recorded_once_closes_one_matrix_after_another(
    play: Callable[..., Compiled], rng: np.random.Generator
) -> None:
    host = play().host
    low = without_facts(sr.plus_times, np.dtype("f8"))
    first, second = (closable(sr.plus_times, np.dtype("f8"), 70, rng) for _ in range(2))
    parts = RecordedParts(low, 70, KATZ_KIDER, in_parts)
    for A in (first, np.eye(70), second):
        parts._graph.launch = lambda stream: parts._parts.run(in_parts)  # what is recorded here was done at once
        work = host.array(A)
        assert parts.close(work) == (0 if A is not first and A is not second else -1)
        if A is first or A is second:
            assert_equal(sr.plus_times, np.array(work), closure_reference(sr.plus_times, A))


def test_a_stream_that_does_not_wait_is_noticed(
    play: Callable[..., Compiled], rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PartsKernel, "wait", lambda self, part, mark: None)
    A = closable(sr.min_plus, np.dtype("f4"), 130, rng)
    right = closure_reference(sr.min_plus, A)
    wrong = 0
    for seed in range(5):
        played = play(seed, True)
        kernel = PartsKernel(without_facts(sr.min_plus, A.dtype), played.host.array(A), KATZ_KIDER)
        kernel.run(in_parts)
        played.host.finish()
        wrong += not np.array_equal(kernel.answer, right)
    assert wrong


@pytest.mark.parametrize("seed", range(4))
def test_next_hops_lead_to_the_target(play: Callable[..., Compiled], seed: int) -> None:
    """Many walks are equally short; there are loops, and edges of length 0, which are on no cycle of length 0."""
    n, rng = 70, np.random.default_rng(seed)
    A = rng.integers(1, 3, (n, n)).astype("f4")
    A[np.triu_indices(n)] -= seed % 2
    A[rng.random((n, n)) < 0.93] = np.inf
    kernel = PhaseKernel(without_facts(sr.min_plus, A.dtype), play(seed).host.array(A), VARIANTS[-1])
    katz_kider(kernel)
    assert not kernel.has_cycle_of_one(play(seed).host.array(A))
    D, H = np.array(kernel.answer), np.array(kernel.hops)
    np.testing.assert_array_equal(D, closure_reference(sr.min_plus, A))
    np.testing.assert_array_equal(H == -1, np.isinf(D))
    assert (H.diagonal() == np.arange(n)).all()
    for i, j in np.argwhere(np.isfinite(D)).tolist():
        at, total, edges = i, 0.0, 0
        while at != j:
            total, at, edges = total + A[at, H[at, j]], int(H[at, j]), edges + 1
            assert edges < n
        assert total == D[i, j]


def test_a_cycle_of_length_0_is_found_and_hops_are_on_best_walks_all_the_same(play: Callable[..., Compiled]) -> None:
    n, rng = 70, np.random.default_rng(1)
    A = rng.integers(0, 3, (n, n)).astype("f4")
    A[rng.random((n, n)) < 0.93] = np.inf
    played = play()
    kernel = PhaseKernel(without_facts(sr.min_plus, A.dtype), played.host.array(A), VARIANTS[-1])
    katz_kider(kernel)
    assert kernel.has_cycle_of_one(played.host.array(A))
    D, H = np.array(kernel.answer), np.array(kernel.hops)
    i, j = np.nonzero(np.isfinite(D) & ~np.eye(n, dtype=bool))
    np.testing.assert_array_equal(A[i, H[i, j]] + D[H[i, j], j], D[i, j])


@pytest.mark.parametrize("variant", VARIANTS[:4], ids=str)
def test_a_pivot_without_a_star_is_named(play: Callable[..., Compiled], variant: Variant) -> None:
    A = np.eye(40) / 2
    A[35, 35] = 1.0
    kernel = PhaseKernel(without_facts(sr.plus_times, A.dtype), play().host.array(A), variant)
    katz_kider(kernel)
    assert kernel.failed() == 35


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("S", [S for S in sr.catalogue.values() if S.traced], ids=lambda S: S.name)
def test_they_compile(S: sr.Semiring) -> None:
    for i, dtype in enumerate(d for d in S.dtypes if d.kind not in "Oc"):
        target = ("compute_80", "compute_89", "compute_90a")[i % 3]
        variant = VARIANTS[i % (5 if S.selective else 4)]
        text = source(without_facts(S, dtype), variant)
        assert not nvrtc.complaint(text, *OPTIONS, f"--gpu-architecture={target}", "--device-debug")


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_they_become_machine_code_and_broken_ones_are_noticed(variant: Variant) -> None:
    for dtype in ("f4", "f8"):
        text = source(without_facts(sr.min_plus, np.dtype(dtype)), variant)
        for target in ("sm_80", "sm_89", "sm_90a"):
            assert not nvrtc.complaint(text, *OPTIONS, f"--gpu-architecture={target}")
        assert "relax" in nvrtc.complaint(text.replace("DEVICE Value relax(", "DEVICE Value other("), *OPTIONS)
