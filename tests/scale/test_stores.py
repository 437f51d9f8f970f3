"""Where tiles come from and go to."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algebra.vectors import convert
from semiring.algorithms.r_kleene import r_kleene
from semiring.kernels.blocks.rows import Rows
from semiring.scale import stores
from semiring.scale.program import program
from semiring.scale.stores import ArraySource, Output, RowsSource, opened


@pytest.mark.parametrize("ending", [".npy", ".zarr"])
def test_an_output_is_not_there_before_it_is_whole(tmp_path: Path, ending: str) -> None:
    if ending == ".zarr":
        pytest.importorskip("zarr")
    made = program(r_kleene, 5, 2, 4)
    folder, path = tmp_path / "partial", tmp_path / f"c{ending}"
    folder.mkdir()
    A = np.arange(25.0).reshape(5, 5)
    output = Output(path, folder, made, A.dtype, A.dtype, False)
    for tile in made.cells:
        output.write_block(*made.block(tile), A[made.block(tile)])
    output.sync()
    output = Output(path, folder, made, A.dtype, A.dtype, True)
    assert np.array_equal(output.diagonal(), A.diagonal())
    output.write_diagonal([3], np.array(-1.0))
    assert not path.exists()
    output.finish()
    A[3, 3] = -1
    assert np.array_equal(opened(path).array[:], A)


def test_a_source_knows_itself_again(tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.zeros((2, 3)))
    first = opened(tmp_path / "w.npy").identity()
    assert first == opened(tmp_path / "w.npy").identity()
    np.save(tmp_path / "w.npy", np.ones((2, 3)))
    assert first != opened(tmp_path / "w.npy").identity()
    arrays = [np.zeros((2, 3)), np.ones((2, 3)), np.ones((3, 2)), np.ones((2, 3), "f4")]
    assert ArraySource(arrays[0]).identity() == ArraySource(arrays[0].copy()).identity()
    assert len({str(ArraySource(A).identity()) for A in arrays}) == len(arrays), "told by their elements"


def test_a_chunk_that_changes_makes_another_source(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(tmp_path / "w.zarr", shape=(4, 4), chunks=(2, 2), dtype="f8")
    array[:] = 1.0
    first = opened(tmp_path / "w.zarr").identity()
    assert first == opened(tmp_path / "w.zarr").identity()
    array[3, 3] = 2.0
    assert first != opened(tmp_path / "w.zarr").identity()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(5, 7), (1, 1), (4, 1), (1, 4)])
def test_parts_of_a_file(tmp_path: Path, order: Any, shape: tuple[int, int]) -> None:
    A = np.asarray(np.arange(float(np.prod(shape))).reshape(shape), order=order)
    np.save(tmp_path / "w.npy", A)
    source = opened(tmp_path / "w.npy")
    for rows in (slice(0, shape[0]), slice(shape[0] // 2, shape[0])):
        for columns in (slice(0, shape[1]), slice(0, (shape[1] + 1) // 2)):
            out = np.empty(A[rows, columns].shape)
            source.read(rows, columns, out)
            assert np.array_equal(out, A[rows, columns])


def test_a_file_that_was_cut_is_noticed(tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.zeros((8, 8)))
    source = opened(tmp_path / "w.npy")
    os.truncate(tmp_path / "w.npy", 300)
    with pytest.raises(sr.SemiringError, match="has become shorter than its header says"):
        source.read(slice(0, 8), slice(0, 8), np.empty((8, 8)))


@given(st.integers(0, 9), st.integers(0, 2**32 - 1), st.data())
@settings(max_examples=60)
def test_tiles_of_a_sparse_matrix_are_those_of_the_dense_one(n: int, seed: int, data: Any) -> None:
    random = np.random.default_rng(seed)
    A = np.where(random.random((n, n)) < 0.4, random.random((n, n)), np.inf)
    rows, columns = np.nonzero(np.isfinite(A))
    offsets = np.concatenate([[0], np.cumsum(np.isfinite(A).sum(axis=1))]).astype(np.int64)
    source = RowsSource(Rows(offsets, columns.astype(np.int32), A[rows, columns], n), np.inf)
    cuts = [sorted(data.draw(st.integers(0, n)) for _ in range(2)) for _ in range(2)]
    part = slice(*cuts[0]), slice(*cuts[1])
    out = np.empty(A[part].shape)
    source.read(*part, out)
    assert np.array_equal(out, A[part])


def test_a_sparse_matrix_is_told_by_places_and_elements() -> None:
    def identity(offsets: list[int], columns: list[int], values: list[float]) -> str:
        rows = Rows(np.array(offsets), np.array(columns, np.int32), np.array(values), 2)
        return str(RowsSource(rows, np.inf).identity())

    given = [([0, 1, 2], [0, 1], [1.0, 2.0]), ([0, 1, 2], [1, 0], [1.0, 2.0]), ([0, 2, 2], [0, 1], [1.0, 2.0]),
             ([0, 1, 2], [0, 1], [1.0, 3.0])]
    assert len({identity(*g) for g in given}) == len(given)
    assert identity(*given[0]) == identity(*given[0])


@given(st.tuples(st.integers(0, 30), st.integers(0, 30)), st.none() | st.tuples(st.integers(1, 9), st.integers(1, 9)),
       st.integers(1, 400))
def test_slabs_are_the_matrix_each_element_once(
    shape: tuple[int, int], chunks: tuple[int, int] | None, most: int
) -> None:
    array = np.zeros(shape)
    source = ArraySource(array)
    source.chunks = chunks
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(stores, "SLAB_BYTES", 8 * most)
        for rows, columns in stores.slabs(source):
            array[rows, columns] += 1
            size = (rows.stop - rows.start) * (columns.stop - columns.start)
            assert 0 < size <= max(most, np.prod(chunks or (1, shape[1])))
            for part, side in zip((rows, columns), chunks or (1, max(shape[1], 1)), strict=True):
                assert part.start % side == 0, "no chunk is read twice"
    assert (array == 1).all()


@pytest.mark.parametrize("told", [">f8", [("h", ">i4"), ("d", "f8", 2)]], ids=["numbers", "records"])
def test_a_file_has_its_own_order_of_bytes_and_fields(tmp_path: Path, told: Any) -> None:
    of_file = np.dtype(told)
    plain = np.dtype([("d.0", "f8"), ("d.1", "f8"), ("h", "i4")], align=True) if of_file.names else np.dtype("f8")
    A = np.zeros((5, 5), plain)
    for k, part in enumerate([A[f] for f in plain.names] if plain.names else [A]):
        part[...] = np.arange(25).reshape(5, 5) + 100 * k
    made = program(r_kleene, 5, 2, 4)
    for again in (False, True):
        output = Output(tmp_path / "c.npy", tmp_path, made, plain, of_file, again)
        for tile in made.cells:
            rows, columns = made.block(tile)
            if not again:
                output.write_block(rows, columns, A[rows, columns])
            assert output.read_block(rows, columns).dtype == plain
            assert np.array_equal(output.read_block(rows, columns), A[rows, columns])
        assert np.array_equal(output.diagonal(), A.diagonal())
        output.close()
    found = np.load(tmp_path / "output.npy")
    assert found.dtype == of_file
    assert np.array_equal(convert(found, plain), A)


def test_an_older_folder_makes_room_at_the_last_moment(tmp_path: Path) -> None:
    pytest.importorskip("zarr")
    made = program(r_kleene, 5, 2, 4)
    for value in (1.0, 2.0):
        folder = tmp_path / "partial"
        folder.mkdir()
        output = Output(tmp_path / "c.zarr", folder, made, *[np.dtype("f8")] * 2, False)
        output.write_block(slice(0, 5), slice(0, 5), np.full((5, 5), value))
        assert not (tmp_path / "c.zarr").exists() or opened(tmp_path / "c.zarr").array[0, 0] == 1
        output.finish()
        shutil.rmtree(folder)
    assert (opened(tmp_path / "c.zarr").array[:] == 2).all()


def test_a_folder_that_is_no_zarr_array(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    zarr.create_group(tmp_path / "group.zarr")
    zarr.create_array(tmp_path / "cut.zarr", shape=(3, 3), dtype="f8")
    (tmp_path / "cut.zarr" / "zarr.json").write_text("{")
    (tmp_path / "empty.npy").mkdir()
    (tmp_path / "file.zarr").write_text("a")
    for name, why in (("group.zarr", "cannot be read as a zarr array"), ("cut.zarr", "cannot be read as a zarr array"),
                      ("empty.npy", "is a folder without a zarr array"), ("file.zarr", "is a file, and no folder of")):
        with pytest.raises(sr.SemiringError, match=f"{name} {why}"):
            opened(tmp_path / name)


def test_what_is_no_matrix(tmp_path: Path) -> None:
    (tmp_path / "w.npy").write_bytes(b"hello")
    with pytest.raises(sr.SemiringError, match=r"w\.npy is not a \.npy file"):
        opened(tmp_path / "w.npy")
    (tmp_path / "w.npy").write_bytes(b"\x93NUMPY\x01\x00")
    with pytest.raises(sr.SemiringError, match=r"w\.npy: "):
        opened(tmp_path / "w.npy")
    np.save(tmp_path / "w.npy", np.array([[None]]))
    with pytest.raises(sr.SemiringError, match="Python objects"):
        opened(tmp_path / "w.npy")
    with pytest.raises(sr.SemiringError, match=r"only a \.npy file or a zarr array"):
        opened(tmp_path / "w.csv")
