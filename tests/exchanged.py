"""SciPy's own tests of its graph functions, with ours in the places of SciPy's."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from scipy.sparse import csgraph as theirs

from semiring import csgraph as ours

NAMES = ("floyd_warshall", "shortest_path", "dijkstra", "bellman_ford", "johnson", "connected_components",
         "breadth_first_order", "reconstruct_path", "construct_dist_matrix", "NegativeCycleError")


def exchanged(name: str) -> ModuleType | None:
    """A module of SciPy's tests, read with our functions in the places of SciPy's; None where there is none."""
    folder = Path(theirs.__file__).parent / "tests"
    if not (folder / f"{name}.py").exists():
        return None
    spec = importlib.util.spec_from_file_location(f"{theirs.__name__}.tests.exchanged_{name}", folder / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    kept = {function: getattr(theirs, function) for function in (*NAMES, "yen") if hasattr(theirs, function)}
    try:
        for function in kept:
            setattr(theirs, function, getattr(ours, function))
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(sys.modules, spec.name, module)
            spec.loader.exec_module(module)
    finally:
        for function, value in kept.items():
            setattr(theirs, function, value)
    if hasattr(module, "spgraph"):  # functions that are looked up when a test runs
        module.spgraph = ours  # type: ignore[attr-defined]
    return module
