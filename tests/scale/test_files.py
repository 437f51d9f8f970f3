"""Files that are read and written at places: nothing but what was written there, one process at a time."""

from __future__ import annotations

import errno
import mmap
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from semiring.errors import SemiringError
from semiring.scale import files
from semiring.scale.files import Mapped, claimed, read_at, reserve, write_at, writing_rate


@pytest.mark.parametrize("positioned", [True, False])
def test_what_is_written_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, positioned: bool) -> None:
    if not positioned:  # as on Windows
        monkeypatch.delattr(os, "preadv", raising=False)
        monkeypatch.delattr(os, "pwrite", raising=False)
    file = os.open(tmp_path / "x", os.O_RDWR | os.O_CREAT | files.BINARY)
    numbers = np.arange(12, dtype="i4")
    write_at(file, numbers[4:], 16)
    write_at(file, numbers[:4], 0)
    out = np.empty((3, 4), "i4")
    read_at(file, out, 0)
    assert np.array_equal(out.ravel(), numbers)
    with pytest.raises(EOFError):
        read_at(file, out, 4)
    os.close(file)


def test_writes_that_are_cut_short_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = files._write
    monkeypatch.setattr(files, "_write", lambda file, view, at: real(file, view[:5], at))
    file = os.open(tmp_path / "x", os.O_RDWR | os.O_CREAT | files.BINARY)
    write_at(file, np.arange(10), 3)
    out = np.empty(10, int)
    read_at(file, out, 3)
    os.close(file)
    assert np.array_equal(out, np.arange(10))


def test_room_is_reserved_or_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = os.open(tmp_path / "x", os.O_RDWR | os.O_CREAT | files.BINARY)
    reserve(file, 1000)
    assert os.fstat(file).st_size == 1000

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    def unknown(*_: object) -> None:
        raise OSError(errno.EOPNOTSUPP, "not supported")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(OSError, match="no space"):
        reserve(file, 2000)
    monkeypatch.setattr(os, "posix_fallocate", unknown)
    reserve(file, 2000)
    assert os.fstat(file).st_size == 2000
    os.close(file)


def test_zeros_are_written_where_nothing_promises_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    monkeypatch.setattr(files, "ZEROS_BYTES", 300)
    file = os.open(tmp_path / "x", os.O_RDWR | os.O_CREAT | files.BINARY)
    write_at(file, np.full(10, 7, np.uint8), 0)
    reserve(file, 1000)
    os.close(file)
    assert (tmp_path / "x").read_bytes() == bytes([7] * 10 + [0] * 990)


@pytest.mark.parametrize(("at", "shape"), [(128, (5, 7)), (0, (1, 1)), (8, (3000, 40))])
def test_blocks_of_a_map(tmp_path: Path, at: int, shape: tuple[int, int]) -> None:
    A = np.arange(float(np.prod(shape))).reshape(shape)
    file = os.open(tmp_path / "x", os.O_RDWR | os.O_CREAT | files.BINARY)
    reserve(file, at + A.nbytes)
    mapped = Mapped(file, at, shape, A.dtype, writable=True)
    half = shape[0] // 2, shape[1] // 2
    for rows in (slice(0, half[0]), slice(half[0], shape[0])):
        for columns in (slice(0, half[1]), slice(half[1], shape[1])):
            mapped.write(rows, columns, A[rows, columns])
    out = np.empty(A[half[0] :, : half[1]].shape)
    mapped.read(slice(half[0], shape[0]), slice(0, half[1]), out)
    assert np.array_equal(out, A[half[0] :, : half[1]])
    mapped.sync()
    mapped.close()
    os.close(file)
    assert (tmp_path / "x").read_bytes() == bytes(at) + A.tobytes()


def test_a_map_is_flushed_before_its_file_is_made_safe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is lost with the power only: nothing else would show it."""
    flushed = []

    class Noting(mmap.mmap):
        def flush(self, *part: int) -> None:
            flushed.append(bytes(self[:8]))
            super().flush(*part)

    monkeypatch.setattr(files.mmap, "mmap", Noting)
    file = os.open(tmp_path / "x", os.O_RDWR | os.O_CREAT | files.BINARY)
    reserve(file, 8)
    mapped = Mapped(file, 0, (1, 1), np.dtype("f8"), writable=True)
    mapped.write(slice(0, 1), slice(0, 1), np.array([[2.5]]))
    assert flushed == []
    mapped.sync()
    assert flushed == [np.float64(2.5).tobytes()]
    mapped.close()
    os.close(file)


def test_a_folder_is_for_one_process(tmp_path: Path) -> None:
    folder = tmp_path / "claimed"
    with claimed(folder):
        with pytest.raises(SemiringError, match="another process is working"), claimed(folder):
            pass
        other = (f"from pathlib import Path; from semiring.scale.files import claimed\n"
                 f"with claimed(Path({str(folder)!r})): pass")
        done = subprocess.run([sys.executable, "-c", other], capture_output=True, text=True, check=False)
        assert "another process is working" in done.stderr
    assert not folder.exists(), "an empty one goes"
    with pytest.raises(KeyError), claimed(folder):
        (folder / "kept").touch()
        raise KeyError
    assert (folder / "kept").exists()
    with claimed(folder):  # and may be claimed again
        (folder / "kept").unlink()
    assert not folder.exists()


def test_a_claim_ends_with_its_process(tmp_path: Path) -> None:
    code = (f"import os; from pathlib import Path; from semiring.scale.files import claimed\n"
            f"with claimed(Path({str(tmp_path / 'c')!r})): os._exit(0)")
    subprocess.run([sys.executable, "-c", code], check=True)
    with claimed(tmp_path / "c"):
        pass


def test_the_rate_leaves_nothing(tmp_path: Path) -> None:
    assert writing_rate(tmp_path, 1 << 16) > 0
    assert list(tmp_path.iterdir()) == []
