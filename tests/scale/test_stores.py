"""Where tiles come from and go to."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import semiring as sr
from semiring.algorithms.r_kleene import r_kleene
from semiring.scale.program import program
from semiring.scale.stores import ArraySource, Output, block, opened


@pytest.mark.parametrize("ending", [".npy", ".zarr"])
def test_an_output_is_not_there_before_it_is_whole(tmp_path: Path, ending: str) -> None:
    if ending == ".zarr":
        pytest.importorskip("zarr")
    made = program(r_kleene, 5, 2, 4)
    folder, path = tmp_path / "partial", tmp_path / f"c{ending}"
    folder.mkdir()
    A = np.arange(25.0).reshape(5, 5)
    output = Output(path, folder, made, A.dtype, False)
    for tile in made.cells:
        output.write(tile, A[block(made, tile)])
    output.sync()
    output = Output(path, folder, made, A.dtype, True)
    assert np.array_equal(output.diagonal(), A.diagonal())
    output.write_diagonal(np.array([3]), -1.0)
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
    assert ArraySource(np.zeros((2, 3))).identity() == {"shape": [2, 3], "dtype": "<f8"}


def test_what_is_no_matrix(tmp_path: Path) -> None:
    (tmp_path / "w.npy").write_bytes(b"hello")
    with pytest.raises(sr.SemiringError, match=r"w\.npy"):
        opened(tmp_path / "w.npy")
    with pytest.raises(sr.SemiringError, match=r"from a \.npy file or a zarr array"):
        opened(tmp_path / "w.csv")
