"""Matrices in files: read as a whole where a verb needs all of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from layouts import hops_and_costs, laid_out, layouts, same

import semiring as sr
from semiring.operands import stored
from semiring.operands.read import read
from semiring.scale.stores import ArraySource

A = np.array([[0.0, 3.0], [np.inf, 0.0]])


def test_verbs_take_paths(tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", A)
    path = tmp_path / "w.npy"
    assert np.array_equal(sr.closure(path, sr.min_plus), sr.closure(A, sr.min_plus))
    assert np.array_equal(sr.matmul(path, str(path), sr.min_plus), sr.matmul(A, A, sr.min_plus))
    assert sr.path(path, sr.min_plus, 0, 1) == (3.0, [0, 1])


def test_other_dtypes_and_orders_of_bytes(tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", A.astype(">f4"))
    found = read(tmp_path / "w.npy", sr.min_plus)
    assert found.dtype == np.float32
    assert np.array_equal(found.array, A)  # type: ignore[attr-defined]


def test_what_is_no_matrix(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.zeros(3))
    np.save(tmp_path / "text.npy", np.array([["a"]]))
    (tmp_path / "folder").mkdir()
    for name, why in (("nowhere.npy", "nowhere.npy', and there is no such file"), ("v.npy", "1 axes"),
                      ("text.npy", "cannot live in"), ("folder", "a folder without a zarr array")):
        with pytest.raises(sr.SemiringError, match=why):
            sr.closure(tmp_path / name, sr.min_plus)


def test_a_data_set_whose_file_is_closed(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "w.h5", "w") as file:
        data = file.create_dataset("w", data=A)
        assert np.array_equal(sr.closure(data, sr.min_plus), A)
    for more in ({}, {"out": tmp_path / "c.npy"}):
        with pytest.raises(sr.SemiringError, match="whose file has been closed"):
            sr.closure(data, sr.min_plus, **more)


def test_what_does_not_fit_in_memory_says_what_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_much(nbytes: int, what: str, advice: str) -> None:
        raise sr.SemiringError(f"{what} {nbytes}: {advice}")

    monkeypatch.setattr(stored, "require", too_much)
    with pytest.raises(sr.SemiringError, match="out=…, memory=…"):
        sr.closure(stored.Stored(ArraySource(A), sr.min_plus, "A"), sr.min_plus)


def test_records_in_any_layout(tmp_path: Path) -> None:
    S, rng = hops_and_costs(), np.random.default_rng(5)
    A = S.eye(70)
    for f, highest in (("hops", 30), ("costs", 9)):
        A[f] = rng.integers(1, highest, A[f].shape)
    A[rng.random(A.shape) < 0.8] = S.eye(2)[0, 1]
    expected = sr.closure(A, S)
    for dtype in layouts(S):
        np.save(tmp_path / "A.npy", laid_out(A, dtype))
        found = sr.closure(tmp_path / "A.npy", S)
        assert found.dtype == dtype and same(found, expected), dtype
        sr.closure(tmp_path / "A.npy", S, out=tmp_path / "C.npy", memory="1M")
        found = np.load(tmp_path / "C.npy")
        assert found.dtype == dtype and same(found, expected), dtype
