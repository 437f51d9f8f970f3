"""The dense step of a front, and the error for a vertex without a star, in every engine."""

from __future__ import annotations

import numpy as np
import pytest
from sparse_patterns import rows

import semiring as sr
from semiring.algorithms.blocks import UndefinedStar
from semiring.algorithms.sparse.analysis import analyse
from semiring.algorithms.sparse.elimination import close_front, factor
from semiring.kernels.build import element_kernel, kernel
from semiring.kernels.cpu.sparse import fronts
from semiring.kernels.lowering.general import general
from semiring.kernels.lowering.objects import python_objects
from semiring.kernels.numpy.fronts import ArrayFronts


@pytest.mark.parametrize("s", [0, 1, 5, 9])
def test_a_front_is_eliminated_as_its_picture_says(s: int) -> None:
    T = sr.min_plus
    F = np.random.default_rng(s).integers(1, 50, (9, 9)).astype(float)
    D, R, C, X = F[:s, :s], F[:s, s:], F[s:, :s], F[s:, s:]
    star = sr.closure(D.copy(), T)
    expected = np.block([
        [star, sr.matmul(star, R, T)],
        [sr.matmul(C, star, T), np.minimum(X, sr.matmul(sr.matmul(C, star, T), R, T)) if s else X],
    ])
    close_front(F, s, kernel(general(T, F.dtype)), 0)
    np.testing.assert_array_equal(F, expected)


@pytest.mark.parametrize("engine", ["compiled", "dense step", "numpy", "objects"])
def test_the_vertex_without_a_star_is_named(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if engine == "dense step":
        monkeypatch.setattr(fronts, "LARGE_ORDER", 1)
        monkeypatch.setattr(fronts, "LARGE_PIVOTS", 1)
    n, bad = 40, 23
    edges = sorted([(v, v + 1) for v in range(n - 1)] + [(v + 1, v) for v in range(n - 1)] + [(bad, bad)])
    weights = np.array([1.0 if u == v else 0.01 for u, v in edges])
    analysis = analyse(*rows(n, edges), method="levels", leaf=4)
    # Nothing comes before the vertex in the order of elimination that changes its pivot.
    weights[[u == bad and v != bad for u, v in edges]] = 0
    if engine in ("numpy", "objects"):
        low = general(sr.plus_times, np.dtype("f8")).interpreted
        if engine == "objects":
            low, weights = python_objects(sr.plus_times, np.dtype(object), "for the test"), weights.astype(object)
        made = ArrayFronts(analysis, low, element_kernel(low, "fronts"))
    else:
        made = fronts.Fronts(analysis, general(sr.plus_times, np.dtype("f8")))
    with pytest.raises(UndefinedStar) as e:
        factor(made, weights)
    assert analysis.order[e.value.pivot] == bad
