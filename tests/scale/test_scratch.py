"""Slots and commits: whatever is lost after a commit, what it refers to is whole."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring.scale.scratch as scratch_module
from semiring.errors import SemiringError
from semiring.scale.scratch import (
    DIAGONAL,
    MANIFEST,
    SLOTS,
    Scratch,
    keep_diagonal,
    kept_diagonal,
    read_manifest,
    write_manifest,
)

ACTIONS = st.lists(st.one_of(
    st.tuples(st.just("write"), st.integers(0, 5)), st.tuples(st.just("drop"), st.integers(0, 5)),
    st.tuples(st.just("commit"), st.just(0)),
), max_size=40)


@given(ACTIONS, st.data())
@settings(max_examples=60)
def test_a_power_cut_at_any_moment_loses_what_came_after_the_commit(
    tmp_path_factory: pytest.TempPathFactory, actions: list[tuple[str, int]], data: Any
) -> None:
    """What was written after the last commit is torn, wholly or in part, as if it had not reached the disk."""
    folder = tmp_path_factory.mktemp("slots")
    scratch = Scratch(folder, 8)
    write_manifest(folder, {"slots": {}})
    held: dict[int, int] = {}
    committed: dict[int, int] = {}
    at_commit = b""
    for number, (action, cell) in enumerate(actions):
        if action == "write":
            scratch.write(cell, np.array([number]))
            held[cell] = number
        elif action == "drop":
            scratch.drop(cell)
            held.pop(cell, None)
        else:
            scratch.commit({"number": number})
            committed, at_commit = dict(held), (folder / SLOTS).read_bytes()
        for known, value in held.items():
            out = np.empty(1, int)
            scratch.read(known, out)
            assert out[0] == value
    scratch.close()
    after = bytearray((folder / SLOTS).read_bytes())
    for slot in range(len(after) // 8):
        if after[8 * slot : 8 * slot + 8] != at_commit[8 * slot : 8 * slot + 8] and data.draw(st.booleans()):
            after[8 * slot : 8 * slot + 8] = b"\xff" * 8  # never reached the disk, or half of it
    (folder / SLOTS).write_bytes(bytes(after))
    saved = read_manifest(folder)
    assert saved is not None
    again = Scratch(folder, 8, {int(c): s for c, s in saved["slots"].items()})
    for cell, value in committed.items():
        out = np.empty(1, int)
        again.read(cell, out)
        assert out[0] == value
    again.close()


def test_a_manifest_is_whole_or_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_manifest(tmp_path, {"operation": 1})

    def fails(*_: Any) -> None:
        raise OSError("power cut")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(OSError, match="power cut"):
        write_manifest(tmp_path, {"operation": 2})
    assert read_manifest(tmp_path) == {"operation": 1}
    assert json.loads((tmp_path / MANIFEST).read_text()) == {"operation": 1}


def test_data_reach_the_disk_before_the_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order = []
    for module, name in ((scratch_module, "sync"), (os, "fsync"), (os, "replace"), (scratch_module, "sync_folder")):
        real = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, name=name, real=real: (order.append(name), real(*a))[1])
    scratch = Scratch(tmp_path, 8)
    scratch.write(0, np.array([7]))
    scratch.commit({})
    scratch.close()
    assert order[:3] == ["sync", "fsync", "replace"]
    assert order[3] == "sync_folder"


def test_a_file_that_was_cut_is_noticed(tmp_path: Path) -> None:
    scratch = Scratch(tmp_path, 8)
    scratch.write(0, np.array([7]))
    os.truncate(tmp_path / SLOTS, 3)
    with pytest.raises(SemiringError, match="shorter"):
        scratch.read(0, np.empty(1, int))
    scratch.close()


def test_a_kept_diagonal_comes_back_or_is_refused(tmp_path: Path) -> None:
    for values in (np.arange(5.0), np.array([(1.0, 2)], [("cost", "f8"), ("hops", "i4")])):
        keep_diagonal(tmp_path, values)
        assert np.array_equal(kept_diagonal(tmp_path), values)
    (tmp_path / DIAGONAL).write_bytes(b"torn")
    with pytest.raises(SemiringError, match="is damaged: remove the folder"):
        kept_diagonal(tmp_path)
