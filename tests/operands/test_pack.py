"""The packed matrix as people hold it: made from anything, indexed, combined, counted, saved and given away."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from exported import Exported
from gpu.host import Host
from gpu.played_bits import Bits
from hypothesis import given, settings
from hypothesis import strategies as st
from reachable import drawn, makes, refused, same, warshall

import semiring as sr
from semiring import SemiringError
from semiring.kernels.blocks import bits as packed_rows
from semiring.kernels.cpu.bits import conversions as packed_conversions
from semiring.kernels.cpu.bits import indexing as packed_indexing
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.machine import memory
from semiring.operands.pack import pack

SIZES = st.one_of(st.sampled_from([0, 1, 63, 64, 65, 128, 511, 512, 513]), st.integers(0, 200))
SEEDS = st.integers(0, 2**32 - 1)
SETTINGS = settings(max_examples=50)
SPARSE = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]


packed_closure = partial(sr.closure, packed=True)

# Made from


@SETTINGS
@given(SIZES, SIZES, SEEDS)
def test_edges(rows: int, columns: int, seed: int) -> None:
    dense = drawn(rows, columns, seed)
    i, j = np.nonzero(dense)
    order = np.random.default_rng(seed).permutation(2 * len(i)) % max(len(i), 1)
    for kind in (np.int64, np.int32, np.uint16):
        same(PackedMatrix.from_edges(i[order].astype(kind), j[order].astype(kind), (rows, columns)), dense)
    same(PackedMatrix.from_edges(i.tolist(), j.tolist(), (rows, columns)), dense)


def test_edges_in_many_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_conversions, "ENTRIES", 7)
    dense = drawn(90, 200, 4)
    same(PackedMatrix.from_edges(*np.nonzero(dense), (90, 200)), dense)
    same(PackedMatrix.from_edges(*np.nonzero(dense[:, :90]), 90), dense[:, :90])


@pytest.mark.parametrize("form", SPARSE)
@pytest.mark.parametrize("dtype", [bool, np.int8, np.float64])
@pytest.mark.parametrize("kind", [sp.coo_array, sp.coo_matrix])
def test_sparse(form: str, dtype: type, kind: type) -> None:
    dense = drawn(70, 130, 2) & (np.arange(130) % 3 > 0)
    matrix = kind(dense.astype(dtype)).asformat(form)
    same(PackedMatrix.from_sparse(matrix), dense)


def test_explicit_entries_of_sparse_matrices() -> None:
    i, j, data = [0, 0, 0, 1], [1, 1, 2, 2], [1.0, -1.0, 0.0, np.nan]
    expected = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]], bool)
    for form in ("coo", "csr", "csc"):  # duplicates, a stored zero, unsorted columns
        same(PackedMatrix.from_sparse(sp.coo_array((data, (i, j)), shape=(3, 3)).asformat(form)), expected)
    stored_false = sp.csr_array(([True, False], ([0, 1], [1, 2])), shape=(3, 3))
    same(PackedMatrix.from_sparse(stored_false), np.eye(3, k=1, dtype=bool) & [[True], [False], [False]])


def test_device_arrays_are_packed_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their bits stay on the GPU, which is the host's memory here; unclear entries are refused with their places."""
    cupy = Bits(host := Host(), monkeypatch).host.stand_in(monkeypatch)
    for shape in ((0, 5), (5, 0), (1, 1), (70, 130), (13, 600)):
        dense = drawn(*shape, 11)
        for array in (dense, dense * 2.5, dense.astype("i2"), dense * 1j, dense.view("u1") * np.uint8(6)):
            M = pack(host.array(array))
            assert M.device == cupy.cuda.Device(0) and isinstance(M, PackedMatrix)
            same(M.get(), dense)
            assert type(PackedMatrix.from_dense(host.array(array))) is type(M)
    refused("2-D", PackedMatrix.from_dense, host.array(np.zeros(3)))
    for wrong in (np.nan, np.inf, -np.inf, complex(0, np.inf)):
        array = np.zeros((3, 70), type(wrong))
        array[1, 66] = wrong
        refused(r"A\[1, 66\] is ", pack, host.array(array))
        assert PackedMatrix.from_dense(host.array(array)).count() == 1
    for limit in (np.iinfo("i1").min, np.iinfo("i1").max):
        refused(rf"A\[0, 0\] is {limit}, which is an absent edge", pack, host.array(np.array([[limit]], "i1")))
    assert pack(host.array(np.array([[255, 0]], "u1"))).count() == 1
    assert pack(host.array(np.array([[-0.0, 5e-324]]))).get().to_dense().tolist() == [[False, True]]


def test_entries_are_added_in_place() -> None:
    dense = drawn(60, 200, 7)
    M = PackedMatrix.zeros(60, 300)
    part = M[:, 64:264]
    with pytest.raises(SemiringError, match="read-only"):
        part.set([0], [0])
    part = M[:, 64:256]
    part.set(*np.nonzero(dense[:, :192]))
    part[:0].set([], [])
    M[59:60, 64:256].set([0, 0], [191, 0])
    dense[59, [0, 191]] = True
    same(M[:, 64:256], dense[:, :192])
    assert M.count() == dense[:, :192].sum()
    refused(r"columns\[0\] is 192, outside", part.set, [0], [192])


def test_what_cannot_be_made() -> None:
    make = PackedMatrix.from_edges
    refused(r"rows\[1\] is 3, outside 0 … 2", make, [0, 3], [0, 0], 3)
    refused(r"columns\[0\] is -1, outside 0 … 2", make, [0], [-1], 3)
    refused("2 rows and 1 columns", make, [0, 1], [0], 3)
    refused("1-D array of integers, not 1-D float64", make, [0.0], [0], 3)
    refused("not 2-D int64", make, [[0]], [0], 3)
    refused("of 3 rows and -1 columns", make, [], [], (3, -1))
    refused("not ndarray", PackedMatrix.from_sparse, np.eye(3))
    refused("2-D bool or numeric array can be packed, not 1-D", PackedMatrix.from_dense, [1, 2])
    refused("not 2-D <U1", PackedMatrix.from_dense, [["a"]])


def test_too_large_a_matrix_is_refused_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 10**9)
    refused("a packed 1000000 × 1000000 matrix needs 116.5 GiB of memory", PackedMatrix.from_edges, [0], [1], 10**6)


# Indexed


def keys(rows: int, columns: int, draw) -> tuple:
    def part(length: int) -> object:
        bounds = st.integers(-length - 2, length + 2) | st.none()
        kinds = [st.builds(slice, bounds, bounds), st.builds(slice, bounds, bounds, st.sampled_from([2, 3, -1]))]
        if length:
            position = st.integers(-length, length - 1)
            kinds += [position, st.lists(position, max_size=9).map(lambda x: np.array(x, np.int64))]
        return draw(st.one_of(kinds))

    return part(rows), part(columns)


@settings(max_examples=300)
@given(SIZES, SIZES, SEEDS, st.data())
def test_indexing_is_numpys(rows: int, columns: int, seed: int, data) -> None:
    dense = drawn(rows, columns, seed)
    i, j = keys(rows, columns, data.draw)
    M = PackedMatrix.from_dense(dense)
    if isinstance(i, np.ndarray) and isinstance(j, np.ndarray):
        j = np.resize(j, len(i)) if len(j) else i % max(columns, 1)
        if columns == 0:
            return
    found, expected = M[i, j], dense[i, j]
    if isinstance(found, PackedMatrix):
        same(found, expected)
    else:
        assert np.array_equal(found, expected) and np.asarray(found).dtype == bool
    if not isinstance(i, tuple):
        row = M[i]
        same(row, dense[i]) if isinstance(row, PackedMatrix) else np.testing.assert_array_equal(row, dense[i])
    same(M, dense)


def test_entries_in_bulk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_indexing, "PAIRS", 10)
    rng = np.random.default_rng(1)
    dense = drawn(80, 300, 2)
    M = PackedMatrix.from_dense(dense)
    i, j = rng.integers(-80, 80, (6, 7)), rng.integers(-300, 300, 7)
    assert np.array_equal(M[i, j], dense[i, j])
    assert np.array_equal(M[5, j], dense[5, j]) and np.array_equal(M[i, -1], dense[i, -1])
    assert np.array_equal(M[np.ix_([3, 1], [299, 0, 64])], dense[np.ix_([3, 1], [299, 0, 64])])
    chosen = rng.random(80) < 0.3
    same(M[chosen], dense[chosen])
    assert isinstance(M[0, 0], bool)


def test_a_block_of_whole_words_is_a_view_and_any_other_cannot_be_written_to() -> None:
    M = PackedMatrix.zeros(100, 300)
    for view in (M[3:50, 64:192], M[10:, 256:], M[:, 128:300], M[5:5], M):
        assert np.shares_memory(view.words, M.words) or not view.words.size
        assert view.words.flags.writeable
    M[3:50, 64:128].words[0, 0] = np.uint64(1)
    assert M[3, 64] and M.count() == 1
    for part in (M[:, 1:65], M[:, :65], M[[0, 1]], M[::2], M[:, [1, 2]], M[:, ::-1]):
        assert not np.shares_memory(part.words, M.words)
        with pytest.raises(SemiringError, match="read-only"):
            part |= part
        changed = part.copy()
        changed |= changed


def test_what_is_no_index() -> None:
    M = PackedMatrix.zeros(10, 100)
    for key in ((10, 0), (0, 100), (-11, 0), ([0, 10], 0), np.array([3, -11]), (0, [1, 100])):
        with pytest.raises(IndexError, match="is out of range"):
            M[key]
    assert M[(3,)].shape == (100,)
    for key in (1.0, ("a", 0), ([0.5], 0), np.zeros(10), (1, 2, 3), (), ..., (0, None), True, np.ones(9, bool)):
        refused("indexed by integers", M.__getitem__, key)
    refused("do not broadcast", M.__getitem__, ([1, 2, 3], [1, 2]))
    refused("1-D array", M.__getitem__, (np.zeros((2, 2), int), slice(None)))


# Combined and counted


@SETTINGS
@given(SIZES, SIZES, SEEDS)
def test_entry_by_entry(rows: int, columns: int, seed: int) -> None:
    a, b = drawn(rows, columns, seed), drawn(rows, columns, seed + 1)
    A, B = PackedMatrix.from_dense(a), PackedMatrix.from_dense(b)
    same(A | B, a | b)
    same(A & B, a & b)
    same(A ^ B, a ^ b)
    same(~A, ~a)
    same(A.transpose(), a.T)
    C = A.copy()
    C |= B
    C &= ~A
    C ^= A
    same(C, ((a | b) & ~a) ^ a)
    same(A, a)
    assert (A == B) == np.array_equal(a, b) and A == A.copy()  # noqa: SIM300
    if columns > 64:
        same(A[:, 64:] | B[:, 64:], (a | b)[:, 64:])
        same(~A[:, 64:], ~a[:, 64:])


@pytest.mark.parametrize("block", [8, 1000, 1 << 25])
def test_counts(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(packed_rows, "BLOCK", block)
    monkeypatch.setattr("semiring.kernels.cpu.bits.matrix.BLOCK", block)
    for rows, columns in ((0, 0), (3, 0), (0, 3), (1, 1), (90, 1300), (700, 65)):
        dense = drawn(rows, columns, 3)
        M = PackedMatrix.from_dense(dense)
        assert M.row_degrees().tolist() == dense.sum(1).tolist()
        assert M.column_degrees().tolist() == dense.sum(0).tolist()
        assert M.count() == dense.sum() and type(M.count()) is int
        assert M.density == (dense.mean() if dense.size else 0)
        assert PackedMatrix.from_dense(dense) == M
        if dense.size:
            assert M != ~M


def test_what_does_not_combine() -> None:
    M = PackedMatrix.zeros(3, 4)
    refused(r"shapes \(3, 4\) and \(4, 3\)", lambda: M | M.transpose())
    for other in (np.zeros((3, 4), bool), 1, None):
        with pytest.raises(TypeError):
            M | other
        with pytest.raises(TypeError):
            other & M
        assert other != M
    with pytest.raises(TypeError):
        hash(M)


def test_repr_of_a_matrix_too_large_to_read(monkeypatch: pytest.MonkeyPatch) -> None:
    M = PackedMatrix.from_dense(np.arange(4096)[:, None] % 2 * np.ones((1, 100)))
    assert repr(M) == "PackedMatrix(4,096 × 100, density 0.5, 256.0 KiB)"
    monkeypatch.setattr(packed_rows, "BLOCK", 1 << 13)
    found = re.fullmatch(r"PackedMatrix\(4,096 × 100, density about (.*), 256.0 KiB\)", repr(M))
    assert found and 0.45 < float(found[1]) < 0.55


# Files


@SETTINGS
@given(SIZES, SIZES, SEEDS)
def test_files(tmp_path_factory, rows: int, columns: int, seed: int) -> None:
    path = tmp_path_factory.mktemp("packed") / "m.npy"
    dense = drawn(rows, columns, seed)
    M = PackedMatrix.from_dense(dense)
    M.save(path)
    same(PackedMatrix.load(path), dense)
    for mode in (True, "r", "r+", "c"):
        same(PackedMatrix.load(path, mmap=mode), dense)
    with path.open("rb") as file:  # as the documentation says that NumPy reads it
        words, shape = np.load(file), np.load(file)
    bits = np.unpackbits(words.view("u1"), axis=1, bitorder="little")[:, : shape[1]]
    assert tuple(shape) == dense.shape and np.array_equal(bits, dense)
    assert np.array_equal(np.load(path, mmap_mode="r"), M.words)
    if columns > 64:
        M[:, 64:].save(path)
        same(PackedMatrix.load(path), dense[:, 64:])
    assert [p.name for p in path.parent.iterdir()] == ["m.npy"]


def test_a_mapped_matrix_computes_and_saves_over_its_own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from semiring.kernels.cpu.bits.engine import multiply, transitive_closure

    monkeypatch.setattr(packed_rows, "BLOCK", 5000)
    path = tmp_path / "m.npy"
    dense = drawn(600, 600, 8) & (np.random.default_rng(1).random((600, 600)) < 0.003)
    PackedMatrix.from_dense(dense).save(path)
    M = PackedMatrix.load(path, mmap=True)
    assert M.words.ctypes.data % 64 == 0
    P = PackedMatrix.zeros(600, 600)
    multiply(P, M, M)
    same(P, dense.astype("f4") @ dense.astype("f4") > 0)
    with pytest.raises(SemiringError, match="read-only"):
        transitive_closure(M)
    M.save(path)
    same(PackedMatrix.load(path), dense)
    same(M, dense)
    writable = PackedMatrix.load(path, mmap="r+")
    transitive_closure(writable)
    same(PackedMatrix.load(path), writable.to_dense())
    private = PackedMatrix.load(path, mmap="c")
    private.words[:] = 0
    assert PackedMatrix.load(path) == writable


def test_a_file_filled_block_by_block(tmp_path: Path) -> None:
    dense = drawn(300, 700, 5)
    for shape in ((300, 700), (0, 0), (2, 0)):
        M = PackedMatrix.create(tmp_path / "m.npy", *shape)
        same(M, np.zeros(shape, bool))
    M = PackedMatrix.create(tmp_path / "m.npy", 300, 700)
    for a in range(0, 300, 64):
        block = M[a : a + 64]
        block |= PackedMatrix.from_dense(dense[a : a + 64])
    del M, block
    same(PackedMatrix.load(tmp_path / "m.npy", mmap=True), dense)


def test_what_is_no_file_of_a_packed_matrix(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    for content in (b"", b"nonsense"):
        path.write_bytes(content)
        refused("holds no packed matrix", PackedMatrix.load, path)
    for array in (np.zeros((3, 8), np.uint64), np.zeros(3), np.zeros((3, 8)), np.array([None])):
        np.save(path, array)
        refused("holds no packed matrix", PackedMatrix.load, path)
        refused("holds no packed matrix", PackedMatrix.load, path, mmap=True)
    PackedMatrix.zeros(9, 70).save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:300])
    refused("holds no packed matrix", PackedMatrix.load, path)
    path.write_bytes(whole[:-16] + (8).to_bytes(8, "little") + (70).to_bytes(8, "little"))
    refused("says it has 8 rows, and has 9", PackedMatrix.load, path)
    path.write_bytes(whole[:-8] + (700).to_bytes(8, "little"))
    refused("700 columns do not fit", PackedMatrix.load, path)
    for bit in (70, 128, 511):
        stray = bytearray(whole)
        stray[128 + bit // 8] |= 1 << bit % 8
        path.write_bytes(stray)
        refused("bits set past its 70 columns", PackedMatrix.load, path)
    refused("mmap is", PackedMatrix.load, path, mmap="w")
    refused("there is no folder", PackedMatrix.zeros(1, 1).save, tmp_path / "no" / "x.npy")
    with pytest.raises(FileNotFoundError):
        PackedMatrix.load(tmp_path / "none.npy")


# Given away


@SETTINGS
@given(SIZES, SIZES, SEEDS, st.integers(1, 400))
def test_neighbours_and_sparse(rows: int, columns: int, seed: int, entries: int) -> None:
    dense = drawn(rows, columns, seed)
    M = PackedMatrix.from_dense(dense)
    row = 0
    for first, offsets, found in M.neighbours(entries):
        assert first == row and offsets[0] == 0 and offsets[-1] == len(found)
        assert len(found) <= entries or len(offsets) == 2
        for k in range(len(offsets) - 1):
            assert found[offsets[k] : offsets[k + 1]].tolist() == np.flatnonzero(dense[row]).tolist()
            row += 1
    assert row == rows
    S = M.to_sparse()
    assert S.format == "csr" and S.dtype == bool and S.has_canonical_format
    assert S.shape == dense.shape and np.array_equal(S.toarray(), dense)
    same(PackedMatrix.from_sparse(S), dense)
    refused("give 1 or more", lambda: next(M.neighbours(0)))


def test_as_an_array() -> None:
    dense = drawn(40, 70, 6)
    M = PackedMatrix.from_dense(dense)
    assert np.asarray(M).dtype == bool and np.array_equal(M, dense)
    assert np.array_equal(np.asarray(M, np.float32), dense.astype(np.float32))
    with pytest.raises(ValueError, match="copy"):
        np.array(M, copy=False)


# Graphs and matrices of every make


@pytest.mark.parametrize("n", [0, 1, 64, 130])
def test_pack(n: int) -> None:
    dense = drawn(n, n, n)
    for name, graph in makes(dense).items():
        packed = pack(graph)
        same(packed, dense)
        same(pack(graph, n), dense)
        assert (packed is graph) == (name == "packed")


def test_pack_edges() -> None:
    named = [("a", "b"), ("c", "b")]
    same(pack(named), np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0]], bool))
    same(pack(named, directed=False), np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], bool))
    same(pack([(0, 1)], 3), np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]], bool))
    same(pack(np.eye(3, k=1), directed=False), np.eye(3, k=1, dtype=bool) | np.eye(3, k=-1, dtype=bool))
    chosen = sr.Graph(np.array([0, 1]), np.array([1, 2]), 3, np.array([True, False]))
    same(pack(chosen), np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]], bool))
    far = pack([(0, 20_000)])
    assert far.shape == (20_001, 20_001) and far.count() == 1 and far[0, 20_000]


def test_pack_refuses() -> None:
    holed = np.eye(4)
    holed[2, 1] = np.nan
    for bad in (holed, sp.coo_array(holed), sp.csc_array(holed)):
        refused(r"A\[2, 1\] is NaN", pack, bad)
    refused("n = 3, but the matrix has shape", pack, np.eye(4), 3)
    refused("an undirected graph has a square matrix", pack, np.zeros((2, 3)), directed=False)
    refused("is not a set of edges", pack, 5)


P = PackedMatrix.identity(2)
BOOLEAN_VERBS = {
    "closure": lambda A: sr.closure(A, sr.boolean), "packed closure": lambda A: packed_closure(A, sr.boolean),
    "product": lambda A: sr.matmul(P, A, sr.boolean), "pack": pack, "reach": sr.reach,
    "transitive_reduction": sr.transitive_reduction, "condensation": sr.condensation,
    "components": sr.components, "find_cycle": sr.find_cycle, "bridges": sr.bridges,
}


@pytest.mark.parametrize("verb", BOOLEAN_VERBS)
@pytest.mark.parametrize(
    ("entry", "dtype", "message"),
    [(np.nan, "f8", "NaN: NaN is not an element of any algebra"), (np.nan, "f4", "NaN: NaN is"),
     (0.5, "f8", "0.5: it is outside the carrier of boolean"), (3, "i4", "3: it is outside the carrier of boolean")],
)
def test_what_is_no_element_is_refused_by_every_verb(verb: str, entry: float, dtype: str, message: str) -> None:
    A = sr.Matrix(np.array([[0, entry], [0, 0]], dtype), sr.boolean, ["a", "b"])
    refused(rf"^[AB]\[0, 1\] is {message}", BOOLEAN_VERBS[verb], A)
    A.array[0, 1] = 1
    BOOLEAN_VERBS[verb](A)


def test_a_matrix_over_another_algebra() -> None:
    M = sr.adjacency([("a", "b", 2.0)], sr.min_plus)
    for verb in ("closure", "packed closure", "product"):
        refused("^[AB] is a matrix over min-plus, but S is boolean", BOOLEAN_VERBS[verb], M)
    same(pack(M), np.array([[False, True], [False, False]]))
    assert sr.reach(M).descendants("a") == ["b"]
    refused(r"^A\[0, 0\] is NaN: NaN is not an element", pack, sr.Matrix(np.full((1, 1), np.nan), sr.min_plus))
    hops = sr.adjacency([("a", "b", (2.0, 1))], sr.shortest_hops)
    same(pack(hops), np.array([[False, True], [False, False]]))
    hops.array["cost"][1, 0] = np.nan
    refused(r"^A\[1, 0\] is NaN", pack, hops)


@pytest.mark.parametrize("dtype", ["?", "u1", "i4", "f2", "f8"])
def test_dlpack(dtype: str) -> None:
    dense = drawn(70, 70, 3)
    A = Exported(dense.astype(dtype))
    same(pack(A), dense)
    same(pack(A, 70, directed=False), dense | dense.T)
    same(sr.reach(A).closure, warshall(dense, True))
    same(packed_closure(A, sr.boolean), warshall(dense, True))
    assert sr.condensation(A)[0] == sr.condensation(dense)[0]
    refused("square", sr.reach, Exported(dense[:3].astype(dtype)))
    refused("not 1-D", pack, Exported(dense[0].astype(dtype)))
    refused(r"^A\[0, 1\] is NaN; mark an absent edge with 0", pack, Exported(np.array([[0, np.nan], [0, 0]])))


def test_infinities_do_not_tell_whether_there_is_an_edge() -> None:
    """Over min-plus ∞ is an absent edge, over max-plus −∞."""
    far = np.array([[0.0, np.inf], [3.0, 0.0]])
    for A in (far, -far, Exported(far), far.astype("f2"), far.astype(complex)):
        refused(r"^A\[0, 1\] is .*inf.*semiring.Matrix\(A, semiring.min_plus\)", pack, A)
        refused(r"^A\[0, 1\] is .*inf", sr.components, A)
    for make in (sp.csr_array, sp.lil_array, sp.bsr_array, sp.dia_array):
        refused(r"^A\[0, 1\] is ", pack, make(far))
        for verb in (sr.components, sr.find_cycle, sr.reach, sr.topological_order):
            refused(r"^A\[0, 1\] is ", verb, make(far))
    same(pack(sr.Matrix(far, sr.min_plus)), np.isfinite(far))


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8"])
def test_nor_do_the_integers_that_stand_for_infinities(dtype: str) -> None:
    """The array of a matrix of integers, given without its algebra, was a graph with all edges."""
    roads = sr.adjacency([(0, 1, 3), (1, 2, 0)], sr.min_plus, dtype=dtype)
    for S, limit in ((sr.min_plus, "max"), (sr.max_plus, "min")):
        M = sr.adjacency([(0, 1, 3), (1, 2, 0)], S, dtype=dtype)
        A = M.array
        assert A.dtype == dtype
        for verb in (pack, sr.components, sr.find_cycle, sr.reach, sr.bridges):
            refused(rf"^A\[0, 0\] is {getattr(np.iinfo(dtype), limit)}, which is an absent edge", verb, A)
            refused(rf"^A\[0, 0\] is {S.zero}, which is an absent edge", verb, M.to_numpy())
    assert [part.tolist() for part in sr.components(roads)] == [[0], [1], [2]]
    near = np.array([[0, np.iinfo(dtype).max - 1], [0, 0]], dtype)
    same(pack(near), near != 0)
    same(pack(near.astype(f"u{dtype[1]}") * 0 + 255), np.ones((2, 2), bool))


def test_lists_that_could_be_a_matrix() -> None:
    for n in (2, 3):
        Z = np.zeros((n, n))
        for verb in (pack, sr.reach, sr.transitive_reduction, sr.condensation):
            verb(Z)
            for rows in (Z.tolist(), list(Z), (Z > 0).tolist(), list(Z > 0)):
                refused(
                    f"^a list of {n} lists of {n} numbers could be {n} edges or a matrix of {n} vertices: pass edges "
                    "as tuples, and a matrix as a NumPy array$", verb, rows,
                )
    path = np.eye(3, k=1, dtype=bool)
    for edges in ([(0, 1), (1, 2)], [["a", "b"], ["b", "c"]], [["a", "b", 1], ["b", "c", 2], ["b", "c", 3]]):
        same(pack(edges), path)
        assert sr.reach(edges).closure.count() == 6
    same(pack([[0, 1], [1, 2], [1, 2]]), path)
    refused("edge 0 has 4 entries|an edge is", pack, np.eye(4).tolist())
