"""Arrays in a file: read back as they were, mapped, and refused where the file was damaged."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

import semiring as sr
from semiring.files import bundles
from semiring.files.bundles import PAGE, Bundle, path_of, write_bundle

ARRAYS = {"a": np.arange(1000, dtype=np.int32), "b": np.linspace(0, 1, 77), "none": np.empty(0, np.int64)}


def written(folder: Path) -> Path:
    path = folder / "some.bundle"
    write_bundle(path, "numbers", {"note": "ü"}, ARRAYS)
    return path


def test_read_back(tmp_path: Path) -> None:
    path = written(tmp_path)
    file = Bundle(path, "numbers")
    assert file.about["note"] == "ü"
    for name, array in ARRAYS.items():
        for mapped in (False, True):
            found = file.array(name, array.dtype, len(array), mapped)
            assert np.array_equal(found, array) and found.dtype == array.dtype
    assert file.array("b", "f8", mapped=True).ctypes.data % PAGE == 0
    with np.load(path) as archive:
        assert np.array_equal(archive["a"], ARRAYS["a"])
    for name, dtype, length in (("c", "i4", None), ("a", "i8", None), ("a", "i4", 999)):
        with pytest.raises(sr.SemiringError, match=f"array '{name}' is missing, damaged, or of another"):
            file.array(name, dtype, length)


def test_what_is_something_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path)
    with pytest.raises(sr.SemiringError, match=r"it holds numbers, not letters"):
        Bundle(path, "letters")
    with monkeypatch.context() as patch:
        patch.setattr(bundles, "VERSION", 2)
        with pytest.raises(sr.SemiringError, match=r"it has version 1 of this format, but this library reads 2"):
            Bundle(path, "numbers")
    with monkeypatch.context() as patch:
        patch.setattr(bundles.sys, "byteorder", "middle")
        with pytest.raises(sr.SemiringError, match=r"another byte order"):
            Bundle(path, "numbers")
    with pytest.raises(FileNotFoundError):
        Bundle(tmp_path / "nowhere", "numbers")
    np.save(tmp_path / "x.npy", np.eye(2))
    np.savez(tmp_path / "x.npz", a=np.eye(2))
    (tmp_path / "x.gzip").write_bytes(gzip.compress(path.read_bytes()))
    for name in ("x.npy", "x.npz", "x.gzip"):
        with pytest.raises(sr.SemiringError, match=r"it is not a file of numbers, or damaged or cut short; write it"):
            Bundle(tmp_path / name, "numbers")


def test_every_cut(tmp_path: Path) -> None:
    path = written(tmp_path)
    data = path.read_bytes()
    for length in [*range(0, len(data), 97), *range(len(data) - 60, len(data))]:
        path.write_bytes(data[:length])
        with pytest.raises(sr.SemiringError, match=r"damaged or cut short"):
            Bundle(path, "numbers")


@pytest.mark.slow
def test_flipped_bits(tmp_path: Path) -> None:
    path = written(tmp_path)
    data = path.read_bytes()
    missed = 0
    for at in range(0, len(data), 23):
        path.write_bytes(data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :])
        try:
            file = Bundle(path, "numbers")
            for name, array in ARRAYS.items():
                assert np.array_equal(file.array(name, array.dtype, len(array)), array)
            assert file.about["note"] == "ü"
            missed += 1  # in what nothing depends on, as the padding
        except sr.SemiringError:
            pass
    assert missed < len(data) // 23


def test_an_interrupted_write_leaves_what_was_there(tmp_path: Path) -> None:
    path = written(tmp_path)
    before = path.read_bytes()
    with pytest.raises(TypeError):
        write_bundle(path, "numbers", {"x": object()}, ARRAYS)
    with pytest.raises(TypeError):
        write_bundle(path, "numbers", {}, {**ARRAYS, "bad": np.array([object()])})
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("path", [None, 3, b"x", "a\0b", "roads.gz"])
def test_what_is_no_path(path: object) -> None:
    with pytest.raises(sr.SemiringError, match=r"path must be|cannot be compressed"):
        path_of(path)
