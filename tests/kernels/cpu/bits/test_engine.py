"""Packed Boolean products and closures on the CPU against plain NumPy booleans, and the kernel interface over them."""

from __future__ import annotations

import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reachable import same
from scratch import every_thread_keeps_scratch

from semiring.errors import SemiringError
from semiring.kernels.cpu.bits import engine
from semiring.kernels.cpu.bits.matrix import PackedMatrix

EDGES = (0, 1, 2, 3, 16, 63, 64, 65, 127, 128, 129, 200, 511, 512, 513)  # around words and vectors
CLOSURES = (engine.four_russians_closure, engine.closure_by_components, engine.transitive_closure)
SETTINGS = settings(max_examples=60)
sizes = st.one_of(st.sampled_from(EDGES[:12]), st.integers(0, 140))
seeds = st.integers(0, 2**32 - 1)


def random_matrix(rng: np.random.Generator, rows: int, columns: int, density: float) -> np.ndarray:
    return rng.random((rows, columns)) < density


def digraphs(n: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Named digraphs on n vertices, each in random order of the vertices."""
    rng = np.random.default_rng(seed)
    path = np.eye(n, k=1, dtype=bool)
    cycle = np.roll(np.eye(n, dtype=bool), 1, axis=1)
    layers = np.zeros((n, n), bool)  # every edge of the first two layers belongs to the transitive reduction
    third = n // 3
    layers[:third, third : 2 * third] = True
    layers[third : 2 * third, 2 * third : 3 * third] = np.eye(third, dtype=bool)
    graphs = {
        "empty": np.zeros((n, n), bool),
        "full": np.ones((n, n), bool),
        "loops": np.diag(rng.random(n) < 0.5),
        "path": path,
        "cycle": cycle,
        "two cycles": cycle & (np.arange(n)[:, None] % 2 == np.arange(n) % 2) | path & (rng.random(n) < 0.9),
        "layers": layers,
        "total order": np.triu(np.ones((n, n), bool), 1),
        "sparse DAG": np.triu(rng.random((n, n)) < 3 / max(n, 1), 1),
        "below the threshold": rng.random((n, n)) < 0.9 / max(n, 1),
        "above the threshold": rng.random((n, n)) < 1.5 / max(n, 1),
        "half": rng.random((n, n)) < 0.5,
    }
    order = rng.permutation(n)
    return {name: graph[np.ix_(order, order)] for name, graph in graphs.items()}


def warshall(matrix: np.ndarray, reflexive: bool) -> np.ndarray:
    result = matrix.astype(bool)
    for k in range(len(result)):
        result |= result[:, k, None] & result[k]
    return result | np.eye(len(result), dtype=bool) if reflexive else result


def doubled(matrix: np.ndarray) -> np.ndarray:
    """A⁺ by A ← A | A A until nothing changes."""
    while True:
        more = matrix | (matrix.astype(np.float32) @ matrix.astype(np.float32) > 0)
        if np.array_equal(more, matrix):
            return more
        matrix = more


def product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return left.astype(np.float32) @ right.astype(np.float32) > 0


def test_the_two_oracles_agree():
    for matrix in digraphs(40).values():
        assert np.array_equal(warshall(matrix, False), doubled(matrix))


@SETTINGS
@given(sizes, sizes, sizes, seeds, st.sampled_from([0.0, 0.01, 0.1, 0.5, 1.0]))
def test_product(m, k, n, seed, density):
    rng = np.random.default_rng(seed)
    A, B, C = (random_matrix(rng, *shape, density) for shape in ((m, k), (k, n), (m, n)))
    left, right, result = (PackedMatrix.from_dense(array) for array in (A, B, C))
    engine.multiply(result, left, right, accumulate=True)
    same(result, C | product(A, B))
    engine.multiply(result, left, right)
    same(result, product(A, B))
    same(left, A)
    same(right, B)


@pytest.mark.parametrize("density", [0.0, 1e-4, 0.5, 1.0])
def test_product_of_more_pivots_than_sixteen_bits_count(density):
    m, k, n = 65, 65_536 + 129, 70
    rng = np.random.default_rng(7)
    A, B = random_matrix(rng, m, k, density), random_matrix(rng, k, n, density)
    A[3], B[:, 5] = False, False
    A[3, [0, 65_535, 65_536, k - 1]] = True
    B[k - 1, 5] = True
    result = PackedMatrix.zeros(m, n)
    engine.multiply(result, PackedMatrix.from_dense(A), PackedMatrix.from_dense(B))
    same(result, product(A, B))
    assert result[3, 5]


@pytest.mark.parametrize("n", EDGES)
def test_product_around_every_edge(n):
    rng = np.random.default_rng(n)
    for m, k in ((n, 64), (64, n), (n, n), (1, n), (n, 1)):
        for density in (0.0, 0.02, 0.5, 1.0):
            A, B = random_matrix(rng, m, k, density), random_matrix(rng, k, n, density)
            result = PackedMatrix.from_dense(np.ones((m, n), bool))
            engine.multiply(result, PackedMatrix.from_dense(A), PackedMatrix.from_dense(B))
            same(result, product(A, B))


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("shape", [(2500, 1100, 1030), (70, 600, 9000), (1025, 513, 512), (3000, 64, 64)])
def test_large_product_on_threads(shape, threads):
    m, k, n = shape
    rng = np.random.default_rng(6)
    A, B, C = (random_matrix(rng, *part, 2 / np.sqrt(k)) for part in ((m, k), (k, n), (m, n)))
    result = PackedMatrix.from_dense(C)
    engine.multiply(result, PackedMatrix.from_dense(A), PackedMatrix.from_dense(B), threads, accumulate=True)
    same(result, C | product(A, B))


def test_product_of_views_touches_nothing_else():
    rng = np.random.default_rng(8)
    dense = random_matrix(rng, 700, 700, 0.05)
    matrix = PackedMatrix.from_dense(dense)
    engine.multiply(matrix[5:600, 128:], matrix[100:695, 64:128], matrix[300:364, 128:].copy(), accumulate=True)
    dense[5:600, 128:] |= product(dense[100:695, 64:128], dense[300:364, 128:])
    same(matrix, dense)


@pytest.mark.parametrize("n", EDGES)
def test_all_closures_agree_with_warshall(n):
    for name, graph in digraphs(n, seed=n).items():
        for reflexive in (True, False):
            expected = warshall(graph, reflexive)
            for closure in CLOSURES:
                matrix = PackedMatrix.from_dense(graph)
                closure(matrix, reflexive, 2)
                try:
                    same(matrix, expected)
                except AssertionError as error:
                    error.add_note(f"{closure.__name__}, {name}, reflexive={reflexive}")
                    raise


@SETTINGS
@given(sizes, seeds, st.floats(0, 4), st.booleans(), st.booleans())
def test_closures_of_random_digraphs(n, seed, degree, acyclic, reflexive):
    rng = np.random.default_rng(seed)
    graph = random_matrix(rng, n, n, degree / max(n, 1))
    if acyclic:
        graph = np.triu(graph, 1)
    order = rng.permutation(n)
    graph = graph[np.ix_(order, order)]
    for closure in CLOSURES:
        matrix = PackedMatrix.from_dense(graph)
        closure(matrix, reflexive)
        same(matrix, warshall(graph, reflexive))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_large_closures_on_threads(threads):
    for name, graph in digraphs(1200, seed=threads).items():
        expected = PackedMatrix.from_dense(graph)
        engine.four_russians_closure(expected, True, threads)
        for closure in (engine.closure_by_components, engine.transitive_closure):
            matrix = PackedMatrix.from_dense(graph)
            closure(matrix, True, threads)
            assert matrix == expected, name
        if name in ("above the threshold", "layers"):
            same(expected, warshall(graph, True))


def test_propagation_that_takes_too_long_is_left_to_four_russians():
    n = 900
    layers = np.zeros((n, n), bool)
    layers[:300, 300:600] = True
    layers[300:600, 600:] = np.eye(300, dtype=bool)
    matrix = PackedMatrix.from_dense(layers)
    room = np.zeros(matrix.words.shape[1] + 8, np.uint64)
    row = -(-room.ctypes.data // 64) * 64
    address, stride = matrix.words.ctypes.data, matrix.words.shape[1]
    assert not engine.propagate(address, stride, n, 1000, row)
    engine.four_russians_closure(matrix)
    same(matrix, warshall(layers, True))


@pytest.mark.own_scratch
@pytest.mark.parametrize("name", ["above the threshold", "layers"])
def test_a_closure_takes_room_for_one_more_matrix(name):
    graph = PackedMatrix.from_dense(digraphs(2500, 4)[name])
    engine.transitive_closure(graph.copy(), True, 2)  # compiled
    every_thread_keeps_scratch()
    tracemalloc.start()
    try:
        engine.transitive_closure(graph, True, 2)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert graph.nbytes < peak < 1.25 * graph.nbytes


def test_closure_of_a_view_touches_nothing_else():
    rng = np.random.default_rng(9)
    dense = random_matrix(rng, 2000, 2000, 0.001)
    for closure in CLOSURES:
        for part in (slice(64, 128), slice(128, 640), slice(192, 1216), slice(1024, 2000)):
            matrix, expected = PackedMatrix.from_dense(dense), dense.copy()
            closure(matrix[part, part], False)
            expected[part, part] = warshall(dense[part, part], False)
            same(matrix, expected)


def test_kernel_runs_a_blocked_schedule():
    kernel = engine.BooleanKernel(threads=2)
    assert kernel.tile % 64 == 0
    n, tile = 300, 64
    graph = digraphs(n, 2)["above the threshold"]
    A = PackedMatrix.from_dense(graph)
    bounds = [(k, min(k + tile, n)) for k in range(0, n, tile)]
    for k in bounds:
        D = A[slice(*k), slice(*k)]
        assert kernel.close(D) == -1
        others = [i for i in bounds if i != k]
        for j in others:
            kernel.left(D, A[slice(*k), slice(*j)])
        for i in others:
            for j in others:
                kernel.multiply_add(A[slice(*i), slice(*j)], A[slice(*i), slice(*k)], A[slice(*k), slice(*j)])
            kernel.right(A[slice(*i), slice(*k)], D)
    same(A, warshall(graph, True))

    D = PackedMatrix.from_dense(graph)
    assert kernel.close_plus(D) == -1
    same(D, warshall(graph, False))
    kernel.multiply(A, D, D)
    same(A, product(D.to_dense(), D.to_dense()))


def test_left_and_right_take_any_square_matrix():
    rng = np.random.default_rng(10)
    kernel = engine.BooleanKernel()
    D, R, C = random_matrix(rng, 130, 130, 0.02), random_matrix(rng, 130, 600, 0.1), random_matrix(rng, 77, 130, 0.1)
    packed_D, packed_R, packed_C = (PackedMatrix.from_dense(array) for array in (D, R, C))
    kernel.left(packed_D, packed_R)
    kernel.right(packed_C, packed_D)
    same(packed_R, product(D, R))
    same(packed_C, product(C, D))


def test_what_cannot_be_computed_is_refused():
    matrix = PackedMatrix.zeros(10, 100)
    with pytest.raises(SemiringError, match="square"):
        engine.transitive_closure(matrix)
    with pytest.raises(SemiringError, match="shapes"):
        engine.multiply(matrix, matrix, matrix)
    frozen = PackedMatrix.identity(4)
    frozen.words.flags.writeable = False
    for change in (*CLOSURES, lambda C: engine.multiply(C, PackedMatrix.identity(4), PackedMatrix.identity(4))):
        with pytest.raises(SemiringError, match="read-only"):
            change(frozen)
    same(frozen, np.eye(4, dtype=bool))


def closed(graph, reflexive=True, threads=None):
    """The transitive closure of an array, packed on the way."""
    matrix = PackedMatrix.from_dense(graph, threads)
    engine.transitive_closure(matrix, reflexive, threads)
    return matrix.to_dense(threads=threads)


@pytest.mark.parametrize("n", [0, 1, 16, 100, 900])
def test_dense_closure(n):
    graph = digraphs(n, 3)["above the threshold"]
    kept = graph.copy()
    for reflexive in (True, False):
        expected = warshall(graph, reflexive)
        assert np.array_equal(closed(graph, reflexive, 2), expected)
        assert np.array_equal(closed(graph.astype(np.float32), reflexive), expected)
    assert np.array_equal(graph, kept)


def test_many_callers_at_once():
    graphs = [digraphs(1000, seed)["above the threshold"] for seed in range(4)]
    expected = [closed(graph, threads=1) for graph in graphs]
    with ThreadPoolExecutor(4) as callers:
        for _ in range(3):
            results = callers.map(lambda graph: closed(graph, threads=3), graphs)
            assert all(np.array_equal(result, right) for result, right in zip(results, expected, strict=True))
    M = PackedMatrix.from_dense(graphs[0])
    copies = [M.copy() for _ in range(4)]
    with ThreadPoolExecutor(4) as callers:
        list(callers.map(lambda copy: engine.four_russians_closure(copy, True, 3), copies))
    for copy in copies:
        same(copy, expected[0])


@SETTINGS
@given(sizes, st.integers(0, 140), seeds)
def test_the_operations_of_the_interface(n, m, seed):
    rng, kernel = np.random.default_rng(seed), engine.BooleanKernel()
    A, D, values = random_matrix(rng, n, m, 0.1), random_matrix(rng, m, n, 0.1), rng.random(n) < 0.5
    left, right = PackedMatrix.from_dense(A), PackedMatrix.from_dense(D)
    assert np.array_equal(kernel.diagonal(left, right), product(A, D).diagonal())
    square = random_matrix(rng, n, n, 0.5)
    matrix = PackedMatrix.from_dense(square)
    other = kernel.like(matrix)
    assert other.shape == matrix.shape and type(other) is PackedMatrix and not other.count()
    assert kernel.equal(other, matrix) == (not square.any())
    kernel.assign(other, matrix)
    assert kernel.equal(other, matrix) and not np.shares_memory(other.words, matrix.words)
    kernel.set_diagonal(other, values)
    same(other, np.where(np.eye(n, dtype=bool), values[:, None], square))
    kernel.add_one(matrix)
    same(matrix, square | np.eye(n, dtype=bool))


def test_a_kernel_runs_where_it_says(monkeypatch):
    for threads, place in (("1", "CPU, 1 thread"), ("3", "CPU, 3 threads")):
        monkeypatch.setenv("SEMIRING_NUM_THREADS", threads)
        kernel = engine.BooleanKernel()
        assert kernel.place == place and kernel.threads == int(threads)
        assert kernel.closes_whole(10**6) and kernel.unchecked is kernel


def test_assigning_a_block_touches_nothing_else():
    matrix, ones = PackedMatrix.zeros(5, 300), ~PackedMatrix.zeros(2, 64)
    engine.BooleanKernel().assign(matrix[1:3, 64:128], ones)
    expected = np.zeros((5, 300), bool)
    expected[1:3, 64:128] = True
    same(matrix, expected)
