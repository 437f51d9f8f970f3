"""How a caller names processes, and what is said where there are none."""

from __future__ import annotations

import importlib.util
import sys

import numpy as np
import pytest
from together import needs_mpi

import semiring as sr
from semiring.scale.connection import MPI, Rows


@pytest.mark.parametrize("kind", ["dask", None, 3, object()])
def test_what_is_not_a_connection(kind: object) -> None:
    with pytest.raises(sr.SemiringError, match="'mpi' or 'ray', or a communicator"):
        sr.connect(kind)


@pytest.mark.parametrize(("kind", "package"), [("mpi", "mpi4py"), ("ray", "ray")])
def test_a_missing_package_is_named(kind: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(sr.SemiringError, match=f"needs the package {package}: pip install"):
        sr.connect(kind)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def __getattr__(self, name: str) -> None:
            raise RuntimeError("cannot load MPI library\nlibmpi.so: no such file")

    monkeypatch.setitem(sys.modules, "mpi4py", Broken())
    with pytest.raises(sr.SemiringError, match=r"no MPI library \(cannot load MPI library\): pip install mpich"):
        sr.connect("mpi")


def test_rows_are_arrays() -> None:
    for part in (None, [[1.0]], np.zeros(3), np.zeros((1, 1, 1))):
        with pytest.raises(sr.SemiringError, match="an array with two axes"):
            Rows(part)
    assert Rows(np.zeros((0, 3))).part.shape == (0, 3)


@pytest.mark.slow
@needs_mpi
def test_a_communicator_is_a_connection() -> None:
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is missing")
    from mpi4py import MPI as library

    here = sr.connect(library.COMM_SELF)
    assert isinstance(here, MPI) and repr(here) == "MPI, rank 0 of 1"
    assert sr.closure(np.array([[1.0]]), sr.min_plus, on=here).tolist() == [[0.0]]
