"""Every operation of the CPU engine against plain loops in NumPy, over shapes, layouts, programs and thread counts."""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from noted import noted

from semiring.kernels.cpu.compile.program import has_fma
from semiring.kernels.cpu.dense import engine
from semiring.kernels.cpu.dense.engine import CpuKernel, tiling
from semiring.kernels.cpu.dense.walk import Walk
from semiring.machine import threads

_spec = importlib.util.spec_from_file_location("cpu_preludes", Path(__file__).with_name("preludes.py"))
preludes = importlib.util.module_from_spec(_spec)
sys.modules["cpu_preludes"] = preludes
_spec.loader.exec_module(preludes)
Case, join, split = preludes.Case, preludes.join, preludes.split

CASES = {
    name: case for name, case in preludes.CASES.items() if has_fma() or "fma" not in name
}
ALIKE = ["min-plus-float32", "min-plus-float64", "min-plus-int16", "max-times-float32", "or-and-uint8"]  # as others are
SHAPES = [
    (1, 1, 1), (2, 3, 1), (3, 2, 5), (5, 1, 7), (1, 5, 64), (63, 64, 65), (64, 65, 3), (100, 17, 37), (65, 257, 100),
    (257, 100, 38), (0, 3, 2), (3, 0, 2), (3, 2, 0),
]


@pytest.fixture(scope="module", autouse=True, params=["machine code walks", "NumPy walks"])
def way(request: pytest.FixtureRequest) -> Iterator[None]:
    """Each test runs with either walk over the tiles."""
    compiled = request.param == "machine code walks"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Walk, "compiles_product", lambda *_: compiled)
        patch.setattr(Walk, "compiles_close", lambda *_: compiled)
        yield


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.slow if name in ALIKE else ()) for name in CASES])
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


def kernel(case: Case, count: int = 1) -> CpuKernel:
    return CpuKernel(case.program, threads=count)


def product(case: Case, C: np.ndarray, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """C ⊕ A ⊗ B, one k after the other."""
    x, a, b = split(C), split(A), split(B)
    for k in range(A.shape[1]):
        left, right = tuple(part[:, k, None] for part in a), tuple(part[None, k] for part in b)
        x = case.plus(x, case.times(left, right))
    return join(x, C.dtype)


def zeros(case: Case, *shape: int) -> np.ndarray:
    parts = tuple(np.full(shape, z, c) for z, c in zip(case.program.zero, case.program.components, strict=True))
    return join(parts, case.program.dtype)


def gauss_jordan(case: Case, A: np.ndarray) -> np.ndarray:
    """A* by scalar pivots, straight from the equations."""
    n, dtype = len(A), A.dtype
    A = A.copy()
    for k in range(n):
        others = np.arange(n) != k
        s = case.star(split(A[k, k, None]))
        A[k, others] = join(case.times(s, split(A[k, others])), dtype)
        column = A[others, k][:, None]
        block = A[np.ix_(others, others)]
        terms = case.times(split(column), split(A[k, others][None]))
        A[np.ix_(others, others)] = join(case.plus(split(block), terms), dtype)
        A[others, k] = join(case.times(split(column[:, 0]), s), dtype)
        A[k, k] = join(s, dtype)[0]
    return A


def assert_same(found: np.ndarray, wanted: np.ndarray) -> None:
    """Equal bit for bit (records by field: padding bytes carry nothing)."""
    for left, right in zip(split(found), split(wanted), strict=True):
        assert left.shape == right.shape
        assert np.ascontiguousarray(left).tobytes() == np.ascontiguousarray(right).tobytes()


def assert_near(case: Case, found: np.ndarray, wanted: np.ndarray) -> None:
    """Equal up to the rounding of another order of operations; exactly equal where nothing rounds."""
    if case.exact:
        assert_same(found, wanted)
    else:
        tolerance = 1e-5 if split(found)[0].dtype.itemsize == 4 else 1e-12
        for left, right in zip(split(found), split(wanted), strict=True):
            np.testing.assert_allclose(left, right, rtol=tolerance)


def strided(array: np.ndarray, layout: str) -> np.ndarray:
    """The same values in another memory layout."""
    m, n = array.shape
    if layout == "fortran":
        return np.asfortranarray(array)
    if layout == "reversed":
        return array[::-1, ::-1].copy()[::-1, ::-1]
    if layout == "sliced":
        room = np.zeros((2 * m + 1, 3 * n + 2), array.dtype)
        view = room[1 : 2 * m + 1 : 2, 2::3]
        view[...] = array
        return view
    return array.copy()


def test_products_of_odd_shapes(case: Case) -> None:
    for m, k, n in SHAPES:
        with noted(m, k, n):
            rng = np.random.default_rng(m + 7 * k + 31 * n)
            A, B, C = case.draw(rng, (m, k)), case.draw(rng, (k, n)), case.draw(rng, (m, n))
            wanted, bare = product(case, C, A, B), product(case, zeros(case, m, n), A, B)
            engine_kernel = kernel(case)
            engine_kernel.multiply_add(C, A, B)
            assert_same(C, wanted)
            engine_kernel.multiply(C, A, B)
            assert_same(C, bare)


@given(
    st.sampled_from(sorted(CASES)),
    st.tuples(*[st.integers(0, 70)] * 3),
    st.tuples(*[st.sampled_from(["c", "fortran", "reversed", "sliced"])] * 3),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=150)
def test_products_of_any_layout(
    name: str, shape: tuple[int, int, int], layouts: tuple[str, str, str], seed: int
) -> None:
    case, (m, k, n), rng = CASES[name], shape, np.random.default_rng(seed)
    A = strided(case.draw(rng, (m, k)), layouts[0])
    B = strided(case.draw(rng, (k, n)), layouts[1])
    C = strided(case.draw(rng, (m, n)), layouts[2])
    around = None if C.base is None else C.base.copy()
    A.flags.writeable = B.flags.writeable = False
    wanted = product(case, C, A, B)
    kernel(case).multiply_add(C, A, B)
    assert_same(C, wanted)
    if around is not None:  # nothing outside the view was written
        view = np.ndarray(C.shape, C.dtype, around, _offset(C), C.strides)
        view[...] = wanted
        assert_same(C.base, around)


def _offset(view: np.ndarray) -> int:
    return view.__array_interface__["data"][0] - view.base.__array_interface__["data"][0]


def test_left_and_right(case: Case) -> None:
    for n in (1, 2, 3, 5, 63, 64, 65, 100):
        with noted(n):
            rng = np.random.default_rng(n)
            D, R = case.draw(rng, (n, n)), case.draw(rng, (n, n + 3))
            C = R.T.copy()
            left, right = product(case, zeros(case, n, n + 3), D, R), product(case, zeros(case, n + 3, n), C, D)
            kernel(case).left(D, R)
            assert_same(R, left)
            kernel(case).right(C, D)
            assert_same(C, right)


@pytest.mark.parametrize("shape", [(150, 400), (400, 150), (150, 0), (0, 5)])
def test_left_and_right_by_strips(case: Case, shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "STRIP_BYTES", 20_000)
    monkeypatch.setattr(engine, "PARALLEL", 1000)
    tiling.cache_clear()
    rng = np.random.default_rng(1)
    k, n = shape
    D, R = case.draw(rng, (k, k)), np.asfortranarray(case.draw(rng, (k, n)))
    C = R.T.copy()
    left, right = product(case, zeros(case, k, n), D, R), product(case, zeros(case, n, k), C, D)
    kernel(case, 2).left(D, R)
    assert_same(R, left)
    kernel(case, 2).right(C, D)
    assert_same(C, right)
    tiling.cache_clear()


def test_close(case: Case) -> None:
    for n in (0, 1, 2, 3, 5, 6, 7, 63, 64, 65, 100, 257):
        D = case.draw(np.random.default_rng(n), (n, n))
        wanted = gauss_jordan(case, D)
        for layout in ("c", "fortran", "sliced"):
            with noted(n, layout):
                closed = strided(D.copy(), layout)
                assert kernel(case).close(closed) == -1
                assert_near(case, closed, wanted)


def test_close_is_the_star() -> None:
    """(I − A)⁻¹ by another method, for the one algebra where NumPy has one."""
    case = preludes.plus_times()
    D = case.draw(np.random.default_rng(0), (77, 77))
    wanted = np.linalg.inv(np.eye(77) - D)
    kernel(case).close(D)
    np.testing.assert_allclose(D, wanted, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("pivot", [0, 5, 6, 40])
def test_close_names_the_pivot_and_leaves_the_block(pivot: int) -> None:
    case = preludes.min_plus("float32")
    D = case.draw(np.random.default_rng(0), (41, 41))
    D[pivot, pivot] = -1
    before = D.copy()
    assert kernel(case).close(D) == pivot
    assert_same(D, before)


@pytest.mark.parametrize("count", [1, 3])
def test_close_stack(case: Case, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "PARALLEL", 0)
    D = case.draw(np.random.default_rng(0), (9, 20, 20))
    wanted = [gauss_jordan(case, block) for block in D]
    assert kernel(case, count).close_stack(D).tolist() == [-1] * 9
    for block, closed in zip(D, wanted, strict=True):
        assert_near(case, block, closed)


def test_close_stack_reports_each_failure() -> None:
    case = preludes.min_plus("float64")
    D = case.draw(np.random.default_rng(0), (4, 7, 7))
    D[1, 3, 3] = D[3, 0, 0] = -1
    before = D.copy()
    assert kernel(case).close_stack(D).tolist() == [-1, 3, -1, 0]
    assert_same(D[1], before[1])
    assert kernel(case).close_stack(D[:0]).tolist() == []


def test_diagonal(case: Case) -> None:
    rng = np.random.default_rng(0)
    for m, k in ((1, 1), (7, 12), (40, 3), (5, 0), (0, 5)):
        A, D = case.draw(rng, (m, k)), np.asfortranarray(case.draw(rng, (k, m)))
        wanted = product(case, zeros(case, m, m), A, D).diagonal()
        assert_same(kernel(case).diagonal(A, D), wanted)


@pytest.mark.parametrize("count", [1, 3])
def test_stacks_with_repeated_operands(case: Case, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "PARALLEL", 0)
    tiling.cache_clear()
    rng = np.random.default_rng(0)
    A, B, C = case.draw(rng, (5, 9, 11)), case.draw(rng, (11, 8)), case.draw(rng, (5, 9, 8))
    repeated = np.broadcast_to(B, (5, 11, 8))
    wanted = [product(case, c, a, B) for c, a in zip(C, A, strict=True)]
    kernel(case, count).multiply_add_stack(C, A, repeated)
    assert_same(C, np.array(wanted))
    wanted = [product(case, zeros(case, 9, 8), a, B) for a in A]
    kernel(case, count).multiply_stack(C, A, repeated)
    assert_same(C, np.array(wanted))
    tiling.cache_clear()


def test_results_do_not_depend_on_the_number_of_threads(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "PARALLEL", 1000)
    tiling.cache_clear()
    rng = np.random.default_rng(0)
    A, B, C = case.draw(rng, (157, 111)), case.draw(rng, (111, 301)), case.draw(rng, (157, 301))
    D, R = case.draw(rng, (111, 111)), case.draw(rng, (111, 301))
    answers = []
    for count in (1, 2, 3, 4):
        one, two, three = C.copy(), R.copy(), np.ascontiguousarray(R.T)
        kernel(case, count).multiply_add(one, A, B)
        kernel(case, count).left(D, two)
        kernel(case, count).right(three, D)
        answers.append((one, two, three))
    for answer in answers[1:]:
        for found, wanted in zip(answer, answers[0], strict=True):
            assert_same(found, wanted)
    assert_same(answers[0][0], product(case, C, A, B))
    tiling.cache_clear()


def test_large_product_in_tiles_of_every_kind() -> None:
    """More than one tile and more than one chunk in every direction, at full size."""
    case, rng = preludes.min_plus("float32"), np.random.default_rng(0)
    A, B, C = case.draw(rng, (801, 75)), case.draw(rng, (75, 523)), case.draw(rng, (801, 523))
    wanted = product(case, C, A, B)
    for count in (1, 2, 4):
        found = C.copy()
        kernel(case, count).multiply_add(found, A, B)
        assert_same(found, wanted)


def test_nan_terms_are_dropped_and_zero_absorbs_in_the_padding() -> None:
    case = preludes.min_plus("float32", fma=has_fma())
    A = np.array([[np.inf, 1]], "f4")
    B = np.array([[-np.inf], [2]], "f4")
    C = np.array([[np.inf]], "f4")
    kernel(case).multiply_add(C, A, B)
    assert C[0, 0] == 3


def test_shapes_that_do_not_fit_are_refused() -> None:
    one = kernel(preludes.min_plus("float32"))
    M = np.zeros((3, 4), "f4")
    for C, A, B in ((M, M, M), (M, M[:, :3], M.T[:3]), (M[:, :2], M[:, :3], M[:3])):
        with pytest.raises(ValueError, match="do not fit"):
            one.multiply(C.copy(), A, B)
    with pytest.raises(ValueError, match="square"):
        one.close(M)
    with pytest.raises(ValueError, match="do not fit"):
        one.diagonal(M, M)


@pytest.mark.parametrize("dtype", ["f8", "i4", ">f4", "f4,f4"])
def test_other_types_are_refused(dtype: str) -> None:
    one = kernel(preludes.min_plus("float32"))
    wrong, right = np.zeros((2, 2), dtype), np.zeros((2, 2), "f4")
    for operands in ((wrong, right, right), (right, wrong, right), (right, right, wrong)):
        with pytest.raises(TypeError, match="kernel for float32"):
            one.multiply(*operands)


def test_records_by_any_field_names_but_one_layout() -> None:
    case = preludes.cost_hops()
    named = np.dtype([("cost", "f4"), ("hops", "i4")], align=True)
    D = case.draw(np.random.default_rng(0), (9, 9))
    wanted = gauss_jordan(case, D)
    block = D.view(named)
    assert kernel(case).close(block) == -1
    assert_same(block.view(D.dtype), wanted)
    swapped = np.zeros((2, 2), np.dtype([("hops", "i4"), ("cost", "f4")], align=True))
    with pytest.raises(TypeError, match="kernel for"):
        kernel(case).close(swapped)


def test_concurrent_callers() -> None:
    case, rng = preludes.min_plus("float32"), np.random.default_rng(0)
    A, B = case.draw(rng, (200, 200)), case.draw(rng, (200, 200))
    wanted = product(case, zeros(case, 200, 200), A, B)
    wrong: list[int] = []

    def call(number: int) -> None:
        C = np.empty_like(A)
        for _ in range(20):
            C[...] = number
            kernel(case, 3).multiply(C, A, B)
            if not np.array_equal(C, wanted):
                wrong.append(number)

    callers = [threading.Thread(target=call, args=(number,)) for number in range(6)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(60)
        assert not caller.is_alive()
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process.*multi-threaded:DeprecationWarning")
def test_a_forked_child_starts_its_own_threads() -> None:
    case, rng = preludes.min_plus("float32"), np.random.default_rng(0)
    A, B = case.draw(rng, (200, 200)), case.draw(rng, (200, 200))
    wanted = product(case, zeros(case, 200, 200), A, B)
    C = np.empty_like(A)
    kernel(case, 3).multiply(C, A, B)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            C[...] = 0
            kernel(case, 3).multiply(C, A, B)
            status = 0 if np.array_equal(C, wanted) and threads.pool._size == 2 else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    kernel(case, 3).multiply(C, A, B)
    assert_same(C, wanted)


class TestTiling:
    @given(
        *[st.integers(0, 3000)] * 3, st.integers(0, 3), st.integers(1, 64), st.sampled_from(sorted(CASES))
    )
    @settings(max_examples=200)
    def test_tiles_cover_the_matrix_and_fit_the_cache(
        self, m: int, n: int, k: int, batch: int, count: int, name: str
    ) -> None:
        sizes = engine.geometry(CASES[name].program.components)
        plan = tiling(sizes, batch, m, n, k, count)
        assert plan.tasks == batch * -(-m // plan.height) * -(-n // plan.width)
        assert plan.width % sizes.lanes == 0
        assert plan.height % sizes.rows == 0
        assert plan.height <= engine.TILE_ROWS + sizes.rows
        assert plan.helpers < max(min(count, plan.tasks), 1)
        assert plan.scratch <= 800_000

    def test_the_last_wave_is_full(self) -> None:
        sizes = engine.geometry((np.dtype("f4"),))
        for n in (256, 1000, 1024, 2048):
            for count in (2, 3, 4, 8):
                plan = tiling(sizes, 1, n, n, n, count)
                waves = -(-plan.tasks // count)
                busy = n * n / (waves * count * plan.height * plan.width)
                assert busy > 0.75
