"""Packed matrices in files: NumPy reads the words, a draft never stays, and other files are refused."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.errors import SemiringError
from semiring.kernels.blocks.bits import PackedRows, frozen
from semiring.kernels.cpu.bits import files
from semiring.kernels.cpu.bits.files import create, load, save

SHAPES = [(0, 0), (0, 5), (5, 0), (1, 1), (3, 63), (3, 64), (2, 65), (4, 512), (2, 513)]


def drawn(rows: int, columns: int, seed: int = 0) -> PackedRows:
    """Some bits, and none beyond the last column."""
    matrix = PackedRows.zeros(rows, columns)
    bits = np.zeros((rows, 8 * 8 * matrix.words.shape[1]), bool)
    bits[:, :columns] = np.random.default_rng(seed).random((rows, columns)) < 0.5
    matrix.words[...] = np.packbits(bits, axis=1, bitorder="little").view("<u8")
    return matrix


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "matrix.npy"


@pytest.mark.parametrize("shape", SHAPES)
def test_there_and_back(shape: tuple[int, int], path: Path) -> None:
    matrix = drawn(*shape)
    save(matrix, path)
    for mmap in (False, True, "r", "r+", "c"):
        found = load(PackedRows, path, mmap)
        assert type(found) is PackedRows and found.shape == shape and found == matrix
        del found
    assert os.listdir(path.parent) == [path.name]


def test_numpy_reads_the_words_and_then_the_shape(path: Path) -> None:
    matrix = drawn(3, 70)
    save(matrix, path)
    with open(path, "rb") as file:
        words, shape = np.load(file), np.load(file)
    assert words.dtype == "<u8" and words.shape == (3, 8) and shape.tolist() == [3, 70]
    assert (words == matrix.words).all()


def test_a_view_is_saved_in_rows_of_its_own(path: Path) -> None:
    matrix = drawn(9, 1000)
    save(matrix[2:7, 64:576], path)
    found = load(PackedRows, path, False)
    assert found == matrix[2:7, 64:576] and found.words.shape == (5, 8)


def test_piece_by_piece(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("semiring.kernels.blocks.bits.BLOCK", 32)
    matrix = drawn(7, 130)
    save(matrix, path)
    assert load(PackedRows, path, False) == matrix


class TestMaps:
    def test_what_may_be_written(self, path: Path) -> None:
        matrix = drawn(2, 65)
        save(matrix, path)
        for mmap in (True, "r"):
            assert not load(PackedRows, path, mmap).words.flags.writeable
        private = load(PackedRows, path, "c")
        private.words[0, 0] ^= np.uint64(1)
        assert private != matrix and load(PackedRows, path, False) == matrix
        own = load(PackedRows, path, False)
        own.words[0, 0] ^= np.uint64(1)
        assert load(PackedRows, path, False) == matrix

    @pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps a mapped file in place")
    def test_a_file_is_written_by_its_map_and_saved_over(self, path: Path) -> None:
        save(drawn(2, 65), path)
        shared = load(PackedRows, path, "r+")
        shared.words[1, 1] = 1
        del shared
        found = load(PackedRows, path, True)
        assert int(found.words[1, 1]) == 1
        save(found, path)
        assert load(PackedRows, path, False) == found

    @pytest.mark.parametrize("mmap", ["w", "w+", "", None, 3])
    def test_no_way_to_map(self, mmap: object, path: Path) -> None:
        save(drawn(1, 1), path)
        with pytest.raises(SemiringError, match="mmap is True, False, 'r', 'r\\+' or 'c', not"):
            load(PackedRows, path, mmap)  # type: ignore[arg-type]

    def test_a_file_of_zeros(self, path: Path) -> None:
        made = create(PackedRows, path, 3, 70)
        assert made.shape == (3, 70) and not made.words.any()
        made.words[2, 1] = 0b100000
        del made
        found = load(PackedRows, path, False)
        assert found.count() == 1 and (found.shape, int(found.words[2, 1])) == ((3, 70), 32)


class TestWriting:
    def test_a_failure_leaves_what_was_there(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        matrix = drawn(2, 65)
        save(matrix, path)

        def fail(*arguments: object) -> None:
            raise OSError("no space left")

        monkeypatch.setattr(files, "_write_shape", fail)
        with pytest.raises(OSError, match="no space left"):
            save(drawn(2, 65, seed=1), path)
        assert load(PackedRows, path, False) == matrix and os.listdir(path.parent) == [path.name]

    def test_a_link_stays_and_its_target_is_replaced(self, path: Path) -> None:
        link = path.with_name("link")
        try:
            link.symlink_to(path)
        except OSError:
            pytest.skip("no links here")
        save(drawn(2, 65), link)
        assert link.is_symlink() and load(PackedRows, path, False) == drawn(2, 65)

    @pytest.mark.parametrize("write", [
        lambda path: save(drawn(1, 1), path), lambda path: create(PackedRows, path, 1, 1)
    ], ids=["save", "create"])
    def test_no_folder(self, write: Callable[[Path], Any], tmp_path: Path) -> None:
        with pytest.raises(SemiringError, match="cannot be written: there is no folder"):
            write(tmp_path / "absent" / "matrix.npy")
        assert not (tmp_path / "absent").exists()

    def test_a_matrix_that_cannot_be_written_to_is_saved(self, path: Path) -> None:
        save(frozen(drawn(2, 65)), path)
        assert load(PackedRows, path, False) == drawn(2, 65)


class TestRefusals:
    def refused(self, path: Path, message: str, mmap: bool = False) -> None:
        with pytest.raises(SemiringError, match=message):
            load(PackedRows, path, mmap)

    @pytest.mark.parametrize("array", [
        np.zeros((2, 8)), np.zeros(8, "<u8"), np.zeros((2, 8), "<u8", "F"), np.zeros((2, 8), ">u8"),
        np.zeros((1, 2, 8), "<u8"),
    ], ids=lambda a: f"{a.dtype.str} {a.shape}")
    def test_other_arrays(self, array: np.ndarray, path: Path) -> None:
        np.save(path, array)
        self.refused(path, "holds no packed matrix as PackedMatrix.save writes it")

    def test_no_array_at_all(self, path: Path) -> None:
        for content in (b"", b"\x93NUMPY", b"something else", b"\x93NUMPY\x01\x00\x05\x00{}   "):
            path.write_bytes(content)
            self.refused(path, "holds no packed matrix")

    def test_objects_are_not_loaded(self, path: Path) -> None:
        np.save(path, np.array([[print]], object), allow_pickle=True)
        self.refused(path, "holds no packed matrix")

    @pytest.mark.parametrize("part", [0.3, 0.9, 0.99])
    def test_a_part_of_a_file(self, part: float, path: Path) -> None:
        save(drawn(9, 500), path)
        whole = path.read_bytes()
        path.write_bytes(whole[: int(part * len(whole))])
        self.refused(path, "holds no packed matrix")

    @pytest.mark.parametrize(("shape", "message"), [
        ([3, 65], "says it has 3 rows, and has 2"), ([2, 600], "600 columns do not fit 8 words"),
        ([2, -1], "-1 columns do not fit"), ([2], "holds no packed matrix"), ([2, 65, 1], "holds no packed matrix"),
    ])
    def test_another_shape(self, shape: list[int], message: str, path: Path) -> None:
        with open(path, "wb") as file:
            np.save(file, np.zeros((2, 8), "<u8"))
            np.save(file, np.array(shape))
        self.refused(path, message)

    @pytest.mark.parametrize(("word", "bit"), [(1, 1), (1, 63), (2, 0), (7, 63)])
    def test_bits_beyond_the_last_column(self, word: int, bit: int, path: Path) -> None:
        """Counts and products take whole words; a map is taken as it is, for to look would be to read it all."""
        matrix = drawn(3, 65)
        matrix.words[1, word] |= np.uint64(1 << bit)
        with open(path, "wb") as file:
            np.save(file, matrix.words)
            np.save(file, np.array([3, 65]))
        self.refused(path, "has bits set past its 65 columns")
        assert load(PackedRows, path, True).shape == (3, 65)

    def test_no_file(self, path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            load(PackedRows, path, False)


def test_a_shape_that_cannot_be_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    sr.pack([(0, 1)]).save(tmp_path / "kept.npy")
    with pytest.raises(sr.SemiringError, match="-1 rows and 5 columns"):
        sr.PackedMatrix.create(tmp_path / "kept.npy", -1, 5)
    assert sr.PackedMatrix.load(tmp_path / "kept.npy") == sr.pack([(0, 1)])
