"""Matrices of bits as operands: who may have them, closures and products that stay packed, and whose memory is used."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from gpu.host import Host
from gpu.played_bits import Bits
from hypothesis import given, settings
from hypothesis import strategies as st
from reachable import drawn, makes, refused, same, warshall

import semiring as sr
from semiring import SemiringError
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.operands import devices
from semiring.operands.packed import Packed, check_boolean, read_packed
from semiring.operands.read import read

SIZES = st.one_of(st.sampled_from([0, 1, 63, 64, 65, 128, 511, 512, 513]), st.integers(0, 200))
SEEDS = st.integers(0, 2**32 - 1)
packed_closure = partial(sr.closure, packed=True)


@settings(max_examples=25)
@given(SIZES, SEEDS, st.booleans(), st.sampled_from(["auto", "blocked", "r-kleene", "squaring", "elimination"]))
def test_packed_closure(n: int, seed: int, reflexive: bool, method: str) -> None:
    dense = drawn(n, n, seed) & (np.random.default_rng(seed).random((n, n)) < 2 / max(n, 1))
    expected = warshall(dense, reflexive)
    tile = None if method == "auto" else 64
    given_ = PackedMatrix.from_dense(dense)
    same(packed_closure(given_, "boolean", method=method, reflexive=reflexive, tile=tile), expected)
    same(given_, dense)
    assert packed_closure(given_, sr.boolean, reflexive=reflexive, overwrite=True) is given_
    same(given_, expected)


@pytest.mark.parametrize("reflexive", [True, False])
def test_packed_closure_of_every_make(reflexive: bool) -> None:
    dense = drawn(90, 90, 1) & (np.random.default_rng(1).random((90, 90)) < 0.02)
    expected = warshall(dense, reflexive)
    for name, graph in makes(dense).items():
        if name == "min-plus":  # its elements are not those of boolean
            for call in (packed_closure, sr.closure):
                refused("^A is a matrix over min-plus, but S is boolean", call, graph, sr.boolean)
        else:
            same(packed_closure(graph, sr.boolean, reflexive=reflexive), expected)
    same(packed_closure(dense.tolist(), sr.boolean, reflexive=reflexive), expected)
    for empty in (np.zeros((0, 0)), np.zeros((0, 0), bool), sp.csr_array((0, 0), dtype=bool)):
        same(packed_closure(empty, sr.boolean, reflexive=reflexive), np.zeros((0, 0), bool))
    frozen = PackedMatrix.from_dense(dense)
    frozen.words.flags.writeable = False
    same(packed_closure(frozen, sr.boolean, reflexive=reflexive, overwrite=True), expected)
    same(frozen, dense)
    done: list[float] = []
    same(packed_closure(dense, sr.boolean, reflexive=reflexive, progress=done.append), expected)
    assert done[-1] == 1.0


def test_packed_product() -> None:
    a, b, c = drawn(70, 130, 1), drawn(130, 65, 2), drawn(70, 65, 1)
    expected = a.astype("f4") @ b.astype("f4") > 0
    A, B, C = (PackedMatrix.from_dense(x) for x in (a, b, c))
    for left, right in ((A, B), (A, b), (a, B), (sp.csr_array(a), B)):
        same(sr.matmul(left, right, "boolean"), expected)
    same(sr.matmul(A, B, sr.boolean, accumulate=C), expected | c)
    same(sr.matmul(A, B, sr.boolean, accumulate=c), expected | c)
    same(C, c)
    refused("A has 65 columns, B has 130 rows", sr.matmul, C, B, "boolean")
    refused("accumulate has shape", sr.matmul, A, B, "boolean", accumulate=A)
    wide = PackedMatrix.from_dense(np.ones((70, 200), bool))
    out = wide[:, 64:129]
    with pytest.raises(SemiringError, match="read-only"):
        sr.matmul(A, B, "boolean", out=out)
    out = C.copy()
    assert sr.matmul(A, B, "boolean", out=out, accumulate=out) is out
    same(out, expected | c)
    for bad in (A, np.empty((70, 65), bool)):
        refused(r"out must be a PackedMatrix of shape \(70, 65\)", sr.matmul, A, B, "boolean", out=bad)


def test_what_has_no_packed_closure() -> None:
    for S in ("min-plus", "shortest-count", "regex", "bitset-must", "gf2", "max-min"):
        refused("enough for algebras of False and True", packed_closure, np.eye(3, dtype=bool), S)
    parity = sr.Semiring("parity", add=np.logical_xor, mul=np.logical_and, zero=False, one=True, dtypes="b")
    refused("need the algebra of or and and", packed_closure, np.eye(3, dtype=bool), parity)
    fuzzy = sr.Semiring("fuzzy", add=np.maximum, mul=np.minimum, zero=0, one=1, dtypes="bf",
                        carrier=lambda a: (a >= 0) & (a <= 1))
    same(packed_closure(np.eye(3, k=1), fuzzy), np.triu(np.ones((3, 3), bool)))
    refused("entries other than the 0 and 1 of fuzzy", packed_closure, np.eye(3) / 2, fuzzy)
    if devices.gpu_name() is None:
        refused("no GPU was found", packed_closure, np.eye(3, dtype=bool), "boolean", device="gpu")
    refused("device must be 'cpu' or 'gpu'", packed_closure, np.eye(3, dtype=bool), "boolean", device="tpu")
    refused("must be a square matrix or a stack", packed_closure, np.zeros((2, 3), bool), "boolean")
    refused("must be one matrix", packed_closure, np.zeros((2, 3, 3), bool), "boolean")
    refused(r"A\[1, 1\] is 2: it is outside the carrier", packed_closure, np.diag([1, 2]), "boolean")
    refused("unknown method", packed_closure, np.eye(3, dtype=bool), "boolean", method="fast")


def test_who_may_have_a_bit_an_element() -> None:
    check_boolean(sr.boolean)
    parity = sr.Semiring("parity", add=np.logical_xor, mul=np.logical_and, zero=False, one=True, dtypes="b")
    for S in (sr.min_plus, sr.max_min, sr.bitset_may, sr.shortest_hops, sr.regex, sr.gf2):
        text = f"^one bit per pair is only enough for algebras of False and True, .*, not {S.name}$"
        refused(text, check_boolean, S)
    text = "^packed matrices need the algebra of or and and, sr.boolean, not parity$"
    for call in (check_boolean, partial(read_packed, PackedMatrix.zeros(2, 2), what="A")):
        refused(text, call, S=parity)


@pytest.mark.parametrize("shape", [(0, 0), (3, 70), (1, 513), (64, 0)])
def test_what_is_known_without_looking(shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = PackedMatrix.from_dense(drawn(*shape, 3))
    given_ = read(matrix, sr.boolean, "B")
    assert isinstance(given_, Packed) and given_.matrix is matrix and not given_.mine and not given_.on_gpu
    assert (given_.kind, given_.what, given_.shape, given_.names) == ("packed", "B", shape, None)
    assert given_.dtype == given_.callers_dtype == np.dtype(bool) and given_.nbytes == matrix.words.nbytes
    facts, low = given_.form(5)
    assert facts.two_valued and given_.facts.two_valued and low.kind == "packed" and not low.on_gpu
    assert given_.lowering(facts, 5, in_place=True) is low
    Bits(Host(), monkeypatch)
    there = read(matrix.to_device("gpu"), sr.boolean, "B")
    assert isinstance(there, Packed)
    assert there.on_gpu and there.form(5)[1].on_gpu and there.form(5)[1].kind == "packed"


def test_words_are_used_where_they_may_be_written_to() -> None:
    matrix = PackedMatrix.from_dense(drawn(5, 70, 3))
    given_ = Packed(matrix, sr.boolean)
    low = given_.form(5)[1]
    assert given_.stored(low, False) is matrix
    copy = given_.stored(low, True)
    assert copy == matrix and not np.shares_memory(copy.words, matrix.words)
    matrix.words.flags.writeable = False
    frozen = given_.stored(low, False)
    assert frozen == matrix and frozen.words.flags.writeable and not np.shares_memory(frozen.words, matrix.words)


def test_an_answer_goes_back_as_it_was_asked() -> None:
    matrix, seen = PackedMatrix.zeros(2, 2), []

    def wrap(answer: Any) -> str:
        seen.append(answer)
        return "wrapped"

    low = Packed(matrix, sr.boolean).form(2)[1]
    assert Packed(matrix, sr.boolean).unstored(low, matrix) is matrix
    assert Packed(matrix, sr.boolean, answers=wrap).unstored(low, matrix) == "wrapped" and seen == [matrix]


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Bits:
    """A GPU, in the host's memory."""
    monkeypatch.setattr(devices, "gpu_name", lambda: "played")
    monkeypatch.setattr("semiring.kernels.cuda.bits.engine.device_name", lambda: "played")
    return Bits(Host(), monkeypatch)


def is_there(answer: PackedMatrix, expected: np.ndarray, on_gpu: bool) -> None:
    """The answer is in that memory, and as expected."""
    assert isinstance(answer, PackedMatrix) and (answer.device != "cpu") == on_gpu
    same(answer.get(), expected)


def test_products_are_where_one_of_the_operands_is(played: Bits) -> None:
    """Unless `device` or `out` says otherwise, operands of both memories meet on the GPU."""
    A, B, C = drawn(70, 90, 1), np.random.default_rng(2).random((90, 40)) < 0.1, np.eye(70, 40, dtype=bool)
    wanted = A.astype(int) @ B > 0
    here = [sr.pack(X) for X in (A, B, C)]
    there = [X.to_device("gpu") for X in here]
    for x in (here[0], there[0]):
        for y in (here[1], there[1]):
            on_gpu = "cpu" not in (x.device, y.device) or x.device != y.device
            for device in (None, "cpu", "gpu"):
                is_there(sr.matmul(x, y, sr.boolean, device=device), wanted, on_gpu)
            is_there(sr.matmul(x, y, sr.boolean, accumulate=here[2]), wanted | C, on_gpu)
            is_there(sr.matmul(x, y, sr.boolean, accumulate=there[2]), wanted | C, True)
            for out in (PackedMatrix.zeros(70, 40), PackedMatrix.zeros(70, 40).to_device("gpu")):
                assert sr.matmul(x, y, sr.boolean, out=out) is out
                is_there(out, wanted, out.device != "cpu")
    assert there[2] == here[2] == sr.pack(C), "operands stay as they are"


@pytest.mark.parametrize("device", [None, "cpu", "gpu"])
@pytest.mark.parametrize("on_gpu", [False, True])
def test_closures_and_powers_are_where_the_matrix_is(on_gpu: bool, device: str | None, played: Bits) -> None:
    n = 90
    A = np.random.default_rng(3).random((n, n)) < 1.5 / n
    M, one, plus = sr.pack(A).to_device("gpu" if on_gpu else "cpu"), np.eye(n, dtype=bool), warshall(A, False)
    is_there(sr.closure(M, sr.boolean, device=device), plus | one, on_gpu)
    is_there(sr.closure(M, sr.boolean, device=device, reflexive=False), plus, on_gpu)
    is_there(sr.closure(M, sr.boolean, device=device, on_divergence="mask").values, plus | one, on_gpu)
    is_there(sr.closure(sr.prepare(M, sr.boolean), sr.boolean, device=device), plus | one, on_gpu)
    for method in ("blocked", "r-kleene", "squaring", "floyd-warshall", "elimination"):
        is_there(sr.closure(M, sr.boolean, device=device, method=method), plus | one, on_gpu)
    power = upto = one
    for k in range(4):
        is_there(sr.power(M, sr.boolean, k, device=device), power, on_gpu)
        is_there(sr.closure(M, sr.boolean, device=device, max_edges=k), upto, on_gpu)
        power = power.astype(int) @ A > 0
        upto = upto | power
    same(M.get(), A)


def test_large_matrices_of_the_host_travel_in_parts(played: Bits, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their own memory is used again where it may be; with a report of progress they travel as a whole."""
    monkeypatch.setattr("semiring.operands.packed.TRAVELS", 1)
    monkeypatch.setattr("semiring.kernels.cuda.bits.closure.SMALLEST", 64)
    A = np.random.default_rng(4).random((100, 100)) < 0.02
    wanted, M = warshall(A, True), sr.pack(A)
    is_there(sr.closure(M, sr.boolean, device="gpu"), wanted, False)
    same(M, A)
    shares: list[float] = []
    is_there(sr.closure(M, sr.boolean, device="gpu", progress=shares.append), wanted, False)
    assert shares[-1] == 1.0
    assert sr.closure(M, sr.boolean, device="gpu", overwrite=True) is M
    same(M, wanted)
    is_there(sr.closure(A, sr.boolean, device="gpu", packed=True), wanted, False)
    sr.plan("closure", M, sr.boolean, device="gpu")


@pytest.mark.parametrize("way", ["ring", "many sources", "few steps"])
def test_rows_of_a_closure_are_computed_where_the_matrix_is(way: str, played: Bits) -> None:
    """By products as long as rows change, or by the closure; they come to the host, as those of all arrays."""
    n = 130
    A = np.random.default_rng(5).random((n, n)) < 6 / n
    if way == "ring":
        A = np.eye(n, k=1, dtype=bool)
    sources = list(range(0, n, 3)) if way == "many sources" else [5, 0, 5]
    M, wanted = sr.pack(A).to_device("gpu"), warshall(A, True)
    plan = sr.plan("closure_rows", M, sr.boolean, sources)
    assert plan.method == "products of packed rows" and plan.shape == (len(sources), n)
    rows = sr.closure_rows(M, sr.boolean, sources)
    assert type(rows) is np.ndarray
    np.testing.assert_array_equal(rows, wanted[sources])
    assert ("close_bits" in played.launched) == (way != "few steps")
    np.testing.assert_array_equal(sr.closure_rows(M, sr.boolean, 7), wanted[7])
    found = sr.closure_rows(M, sr.boolean, sources, targets=[2, 9])
    np.testing.assert_array_equal(found.to_numpy(), wanted[sources][:, [2, 9]])
    here = sr.closure_rows(M, sr.boolean, sources, device="cpu")
    np.testing.assert_array_equal(here, wanted[sources])
    rows, _ = sr.closure_rows(M, sr.boolean, [5], predecessors=True)
    np.testing.assert_array_equal(rows, wanted[[5]])
    assert sr.plan("closure_rows", M.get(), sr.boolean, sources).method != plan.method
