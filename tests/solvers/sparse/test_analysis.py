"""What elimination by fronts begins with: analyses that are kept, the lowering, and the engine."""

from __future__ import annotations

import sys
from threading import Thread

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring.algorithms.sparse.elimination import factor
from semiring.kernels.cpu.sparse.fronts import Fronts
from semiring.kernels.numpy.fronts import ArrayFronts
from semiring.operands.read import read
from semiring.operands.sparse import Sparse
from semiring.solvers.sparse.analysis import ANALYSES, _analyses, analysis_of, lowering_of
from semiring.solvers.sparse.substitution import HOST


def path_of(n: int, weight: float = 1.0, dtype: str = "f8") -> Sparse:
    """The matrix of a path."""
    edges = sp.diags_array([np.full(n - 1, weight, dtype)], offsets=[1], shape=(n, n), dtype=dtype)
    given = read(sp.csr_array(edges), sr.min_plus)
    assert isinstance(given, Sparse)
    return given


def test_other_weights_on_the_same_edges_share_an_analysis() -> None:
    first = analysis_of(path_of(7), "natural")
    assert analysis_of(path_of(7, 2.5, "f4"), "natural") is first
    assert analysis_of(path_of(7), "levels") is not first
    assert analysis_of(path_of(8), "natural") is not first


def test_the_structure_that_was_used_last_is_kept_longest() -> None:
    kept = analysis_of(path_of(20), "natural")
    for n in range(21, 21 + ANALYSES - 1):
        analysis_of(path_of(n), "natural")
    assert analysis_of(path_of(20), "natural") is kept
    gone = analysis_of(path_of(21), "natural")
    for n in range(30, 30 + ANALYSES):
        analysis_of(path_of(n), "natural")
    assert analysis_of(path_of(21), "natural") is not gone


def test_threads_share_the_analyses() -> None:
    structures = [sp.csr_array(sp.diags_array([np.ones(9 - k)], offsets=[k], shape=(9, 9))) for k in range(1, 9)]
    failed: list[BaseException] = []

    def work(seed: int) -> None:
        random = np.random.default_rng(seed)
        try:
            for k in random.integers(0, len(structures), 300):
                analysis_of(read(structures[k], sr.min_plus), "natural")
        except BaseException as e:
            failed.append(e)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        workers = [Thread(target=work, args=(seed,)) for seed in range(8)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        sys.setswitchinterval(before)
    assert not failed
    assert len(_analyses) <= ANALYSES


def test_sums_with_right_hand_sides_find_room() -> None:
    given = path_of(9, 100, "i2")
    low, roomy = lowering_of(given, room=False), lowering_of(given, room=True)
    assert low.storage.itemsize < roomy.storage.itemsize == 8
    assert lowering_of(path_of(9), room=True).storage == np.float64


@pytest.mark.parametrize("interpreted", [False, True])
def test_the_engine_is_that_of_the_lowering(interpreted: bool) -> None:
    given = path_of(6, 2.0)
    low = lowering_of(given, room=False)
    fronts = HOST.fronts(low.interpreted if interpreted else low, analysis_of(given, "natural"), 1)
    assert type(fronts) is (ArrayFronts if interpreted else Fronts)
    factor(fronts, low.encode(given.values, True))
    out = np.empty((1, 6))
    fronts.rows(np.array([0]), out)
    assert out.tolist() == [[0, 2, 4, 6, 8, 10]]


def test_objects_have_an_engine_of_arrays() -> None:
    integers = read(sr.Graph(np.array([0]), np.array([1]), 2, weights=np.array([2**70], object)), sr.min_plus)
    assert isinstance(integers, Sparse)
    low = lowering_of(integers, room=False)
    assert low.kind == "objects" and type(HOST.fronts(low, analysis_of(integers), 1)) is ArrayFronts
