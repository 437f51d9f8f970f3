"""What a caller asks of a closure that goes to a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.scale.storing import bytes_of, storing


@pytest.mark.parametrize(("text", "expected"), [
    ("8G", 8 << 30), ("1.5 MiB", 3 << 19), ("100", 100), (7, 7), ("2kb", 2048), (8e9, 8 * 10**9),
    (np.int32(5), 5),
])
def test_amounts_of_memory(text: Any, expected: int) -> None:
    assert bytes_of(text) == expected


@pytest.mark.parametrize("text", [
    "", "G", "-1", "8X", "0", 0, -5, True, 1.5, None, "1e3", "0.5", np.inf, np.nan, 10**400,
    f"{'9' * 400}G", "99999999T",
])
def test_what_is_no_amount(text: Any) -> None:
    with pytest.raises(sr.SemiringError, match="memory must be a number of bytes"):
        bytes_of(text)


def test_what_belongs_together(tmp_path: Path) -> None:
    assert storing(None, None, None, False) is None
    found = storing(tmp_path / "c.npy", "1M", 5, True)
    assert found is not None
    assert found.folder == tmp_path / "c.npy.partial"
    assert (found.memory, found.checkpoint, found.resume) == (1 << 20, 5, True)
    assert storing(tmp_path / "c.npy", None, np.float32(0.5), False) == storing(tmp_path / "c.npy", None, 0.5, False)
    for arguments, why in (
        ((None, "1G", None, False), "pass out= too"), ((None, None, None, True), "pass out= too"),
        ((tmp_path / "c.txt", None, None, False), "must end in .npy or .zarr"),
        ((3, None, None, False), "must be a path"),
        ((tmp_path / "no" / "c.npy", None, None, False), "does not exist"),
        ((tmp_path / "c.npy", None, 0, False), "checkpoint must be a number"),
        ((tmp_path / "c.npy", None, True, False), "checkpoint must be a number"),
        ((tmp_path / "c.npy", None, None, "yes"), "resume must be"),
        ((tmp_path / "c\0.npy", None, None, False), "is not a possible name"),
        ((tmp_path / f"{'c' * 300}.npy", None, None, False), "is not a possible name"),
        ((tmp_path / f"{'c' * 245}.npy", None, None, False), "is not a possible name"),  # nor the folder beside it
    ):
        with pytest.raises(sr.SemiringError, match=why):
            storing(*arguments)


def test_what_is_there_and_would_be_lost(tmp_path: Path) -> None:
    for name, why in (("c.npy", "is a folder"), ("c.zarr", "is not a zarr array")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "thesis.txt").touch()
        with pytest.raises(sr.SemiringError, match=why):
            storing(tmp_path / name, None, None, False)
    (tmp_path / "c.zarr" / "zarr.json").touch()
    assert storing(tmp_path / "c.zarr", None, None, False) is not None


def test_a_folder_in_which_nothing_may_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(sr.SemiringError, match="is not writable"):
        storing(tmp_path / "c.npy", None, None, False)
