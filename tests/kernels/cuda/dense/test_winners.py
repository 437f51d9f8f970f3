"""Which terms of products on a GPU won: what is launched, its kernels played by NumPy; and that the kernels compile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from gpu import nvrtc
from gpu.host import Host
from gpu.nvrtc import needs_compiler
from gpu.winners import Tracking
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.cuda.choose import choose, general_on_device
from semiring.kernels.cuda.compile.geometry import product_geometries
from semiring.kernels.cuda.compile.program import OPTIONS, Program, program
from semiring.kernels.cuda.dense import engine, winners
from semiring.kernels.cuda.dense.engine import CudaKernel
from semiring.kernels.cuda.dense.winners import CudaWinnersKernel
from semiring.kernels.facts import DeviceFacts

SELECTIVE = [S for S in sr.catalogue.values() if S.traced and S.selective]


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Iterator[Tracking]:
    yield stand_in(monkeypatch)


def stand_in(monkeypatch: pytest.MonkeyPatch) -> Tracking:
    tracking = Tracking(Host(), "f8", np.minimum, np.add, np.inf)
    tracking.host.stand_in(monkeypatch)
    for module in (winners, engine):
        monkeypatch.setattr(module, "Module", tracking.module)
    return tracking


def place(played: Tracking) -> Any:
    """`place` of elements.cu: target ← source, zeros beyond it."""

    def launch(rows: int, batch: int, A: int, lda: int, next_a: int, m: int, n: int, T: int, ld: int, following: int,
               wide: int) -> None:
        for s in range(batch):
            target = played.at(T + s * following, ld, rows, wide)
            target[...] = played.zero
            target[:m, :n] = played.at(A + s * next_a, lda, m, n)

    return launch


def kernel(played: Tracking) -> CudaWinnersKernel:
    whole = CudaKernel(general_on_device(sr.min_plus, np.dtype("f8")))
    whole.__dict__["_elements"] = (None, None, None, place(played))
    return CudaWinnersKernel(whole)


def expected(A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    terms = A[..., None] + B[..., None, :, :]
    values = terms.min(axis=-2, initial=np.inf)
    if not terms.shape[-2]:
        return values, np.full(values.shape, -1)
    return values, np.where(values == np.inf, -1, terms.argmin(axis=-2))


@settings(max_examples=40)
@given(
    m=st.sampled_from([0, 1, 5, 33, 96, 130]), k=st.sampled_from([0, 1, 15, 16, 17, 97, 128]),
    n=st.sampled_from([0, 1, 31, 96, 100]), batch=st.integers(1, 3), most=st.integers(1, 3), again=st.booleans(),
    pad=st.integers(0, 1), highest=st.sampled_from([1, 4, 1000]), seed=st.integers(0, 99),
)
def test_the_least_of_the_best_steps(
    m: int, k: int, n: int, batch: int, most: int, again: bool, pad: int, highest: int, seed: int
) -> None:
    """Of any shape, many of them equal, some of which no term reaches; stacks of more than one launch takes."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        played, random = stand_in(monkeypatch), np.random.default_rng(seed)
        for module in (winners, engine):
            monkeypatch.setattr(module, "MOST_STACKED", most)

        def stack(count: int, rows: int, columns: int) -> Any:
            memory = played.host.empty((count, rows, columns + pad))
            memory[...] = random.integers(0, highest, memory.shape)
            memory[random.random(memory.shape) < 0.6] = np.inf
            return memory[:, :, :columns]

        A, B = stack(batch, m, k), stack(1 if again else batch, k, n)
        B = np.broadcast_to(B, (batch, k, n), subok=True)
        values, which = kernel(played).multiply(A, B)
        least, first = expected(np.asarray(A), np.asarray(B))
    assert which.dtype == np.int32
    np.testing.assert_array_equal(values, least)
    np.testing.assert_array_equal(which, first)


def test_whole_tiles_where_operands_are_large(played: Tracking) -> None:
    A = played.host.array(np.random.default_rng(0).random((1, 130, 100)))
    B = played.host.array(np.random.default_rng(1).random((1, 100, 97)))
    kernel(played).multiply(A, B)
    assert played.launched == ["product", "turn", "settle"]
    kernel(played).multiply(A[:, :5], B)
    assert played.launched[3:] == ["product_edge", "turn", "settle"]


def test_answers_have_the_operands_own_fields(played: Tracking) -> None:
    """The engine numbers the fields of its elements; callers have names."""
    A = played.host.array(np.random.default_rng(0).random((1, 4, 5)))
    B = played.host.array(np.random.default_rng(1).random((1, 5, 3)))
    named = np.dtype([("dist", "f8")])
    values, which = kernel(played).multiply(A.view(named), B.view(named))
    least, first = expected(np.asarray(A), np.asarray(B))
    assert values.dtype == named
    np.testing.assert_array_equal(values["dist"], least)
    np.testing.assert_array_equal(which, first)


def sources(text: Program) -> Iterator[str]:
    g = product_geometries(text.size, text.weight)[1]
    yield text.tracked(g, False)
    yield text.winners(g)
    if g.has_whole_tiles(text.size):
        yield text.tracked(g, True)


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("S", SELECTIVE, ids=lambda S: S.name)
def test_every_kernel_compiles(S: sr.Semiring) -> None:
    known = DeviceFacts(largest=2**10, least=0)
    for i, dtype in enumerate(d for d in S.dtypes if d.kind not in "Oc"):
        target = "compute_90a" if i % 2 else "compute_80"
        for text in sources(program(choose(S, dtype, known, 3, in_place=False))):
            assert not nvrtc.complaint(text, *OPTIONS, f"--gpu-architecture={target}", "--device-debug")


@pytest.mark.slow
@needs_compiler
def test_kernels_become_machine_code_and_broken_ones_are_noticed() -> None:
    for S, dtype in ((sr.min_plus, "f4"), (sr.min_plus, "f8"), (sr.shortest_hops, sr.shortest_hops.dtypes[0])):
        for text in sources(program(choose(S, np.dtype(dtype), DeviceFacts(largest=1, least=0), 3, in_place=False))):
            assert not nvrtc.complaint(text, *OPTIONS, "--gpu-architecture=sm_90a")
            broken = text.replace("DEVICE bool same(", "DEVICE bool other(")
            assert "same" in nvrtc.complaint(broken, *OPTIONS)
