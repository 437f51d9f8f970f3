"""Closures along edges: the kernels run on the host, against elimination; they compile for every algebra and device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from engines import slow_but
from gpu import nvrtc
from gpu.compiled import Compiled
from gpu.elements import assert_equal, closable, closure_reference, dtype_of
from gpu.nvrtc import needs_compiler

import semiring as sr
from semiring.algorithms.history.harish_narayanan import Unsettled, harish_narayanan
from semiring.algorithms.history.kemp import kemp
from semiring.algorithms.history.tran import relaxation
from semiring.kernels.cuda.choose import without_facts
from semiring.kernels.cuda.compile.program import OPTIONS
from semiring.kernels.cuda.history import edges
from semiring.kernels.cuda.history.edges import HarishNarayananKernel, KempKernel, TranKernel, source

ALGORITHMS: dict[type, Callable[[Any], None]] = {
    HarishNarayananKernel: harish_narayanan, KempKernel: kemp, TranKernel: relaxation,
}
SELECTIVE = [S for S in sr.catalogue.values() if S.traced and S.selective]


def closed(play: Compiled, kind: type, S: sr.Semiring, A: np.ndarray) -> np.ndarray:
    kernel = kind(without_facts(S, A.dtype), play.host.array(A))
    ALGORITHMS[kind](kernel)
    return np.array(kernel.answer)


@pytest.mark.parametrize("kind", ALGORITHMS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name, dtype", [
    ("min_plus", "f4"), ("min_plus", "i8"), ("max_min", "i2"), ("boolean", None), ("viterbi", "f8"),
])
@pytest.mark.parametrize("n", slow_but([[1], [2], [33], [90]], 2))
def test_closures(
    play: Callable[..., Compiled], rng: np.random.Generator, kind: type, name: str, dtype: str | None, n: int
) -> None:
    S = sr.catalogue[name]
    A = closable(S, dtype_of(S, dtype), n, rng)
    assert_equal(S, closed(play(n), kind, S, A), closure_reference(S, A))


def test_several_batches_of_sources(
    play: Callable[..., Compiled], rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edges, "LABELS", 7 * 50)
    A = closable(sr.min_plus, np.dtype("f4"), 50, rng)
    assert_equal(sr.min_plus, closed(play(), KempKernel, sr.min_plus, A), closure_reference(sr.min_plus, A))
    monkeypatch.setattr(edges, "MOST_ROWS", 13)
    assert_equal(sr.min_plus, closed(play(), TranKernel, sr.min_plus, A), closure_reference(sr.min_plus, A))


def test_a_path_takes_as_many_rounds_as_it_has_edges(play: Callable[..., Compiled]) -> None:
    """The last vertex is settled by the last of the rounds that are allowed but one, which finds nothing."""
    n = 20
    A = np.full((n, n), np.inf)
    A[np.arange(n - 1), np.arange(1, n)] = 1
    for kind in ALGORITHMS:
        played = play()
        steps = np.subtract.outer(np.arange(n), np.arange(n)).T.astype(float)
        np.testing.assert_array_equal(closed(played, kind, sr.min_plus, A), np.where(steps < 0, np.inf, steps))
    assert played.launched.count("relax_pairs") == n


@pytest.mark.parametrize("kind", ALGORITHMS, ids=lambda kind: kind.__name__)
def test_a_cycle_that_improves_is_noticed(play: Callable[..., Compiled], kind: type) -> None:
    A = np.full((5, 5), np.inf)
    A[0, 1], A[1, 2], A[2, 1] = 1, 2, -3
    with pytest.raises(Unsettled) as raised:
        closed(play(), kind, sr.min_plus, A)
    assert 0 in raised.value.sources


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("S", SELECTIVE, ids=lambda S: S.name)
def test_they_compile(S: sr.Semiring) -> None:
    for i, dtype in enumerate(d for d in S.dtypes if d.kind not in "Oc"):
        target = ("compute_80", "compute_89", "compute_90a")[i % 3]
        text = source(without_facts(S, dtype))
        assert not nvrtc.complaint(text, *OPTIONS, f"--gpu-architecture={target}", "--device-debug")


@pytest.mark.slow
@needs_compiler
def test_they_become_machine_code_and_broken_ones_are_noticed() -> None:
    for dtype in ("f4", "f8"):
        text = source(without_facts(sr.min_plus, np.dtype(dtype)))
        for target in ("sm_80", "sm_89", "sm_90a"):
            assert not nvrtc.complaint(text, *OPTIONS, f"--gpu-architecture={target}")
        assert "same" in nvrtc.complaint(text.replace("DEVICE bool same(", "DEVICE bool other("), *OPTIONS)
