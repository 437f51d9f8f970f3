"""Sources of folds: their numbers, and that a compiler accepts each algebra in each dtype."""

from __future__ import annotations

import numpy as np
import pytest
from gpu import nvrtc
from gpu.nvrtc import needs_compiler

import semiring as sr
from semiring.kernels.cuda.choose import without_facts
from semiring.kernels.cuda.compile.folds import (
    HELD,
    MOST_SHARED,
    SHARED,
    fold_geometry,
    fold_source,
    prefix_geometry,
)
from semiring.kernels.cuda.compile.program import OPTIONS
from semiring.kernels.cuda.dense.folds import Folds
from semiring.kernels.cuda.dense.prefixes import Prefixes

NAMES = [name for name, S in sr.catalogue.items() if S.traced]


def sources(S: sr.Semiring, dtype: np.dtype) -> list[str]:
    """Both operations, of data and of storage."""
    low, found = without_facts(S, dtype), []
    for op in ("add", "mul"):
        for looks in (True, False):
            kernel = Prefixes(low, op, looks)
            for geometry, file in ((kernel.folds.geometry, "folds"), (kernel.geometry, "prefixes")):
                found.append(fold_source(low, op, geometry, looks, kernel.folds.ordered, file))
    return found


@pytest.mark.parametrize("powers", [False, True])
@pytest.mark.parametrize(("given", "part"), [(1, 1), (1, 8), (2, 4), (4, 4), (8, 16), (12, 12), (24, 24), (640, 640)])
def test_geometries(given: int, part: int, powers: bool) -> None:
    g = fold_geometry(given, part, powers)
    assert g is not None and g.ITEMS % g.VECTOR == 0 and g.VECTOR * given <= max(16, given)
    assert g.THREADS * g.VECTOR * part <= SHARED and g.ITEMS * given <= max(2 * HELD, given) and g.THREADS >= 32
    value = part // 2 if powers else part
    assert prefix_geometry(g, value, part).THREADS * ((g.ITEMS + 1) * value + part) <= MOST_SHARED


def test_an_element_that_is_too_large_has_no_geometry() -> None:
    assert fold_geometry(4000, 4000, False) is None


def test_a_source_says_what_it_is_for() -> None:
    low = without_facts(sr.log, np.dtype("f4"))
    sums, products = (Folds(low, op, True) for op in ("add", "mul"))
    assert "#define POWERS\n" in fold_source(low, "add", sums.geometry, True, False)
    text = fold_source(low, "mul", products.geometry, False, True)
    assert "#define POWERS\n" not in text and "constexpr bool LOOKS = false;\n" in text
    assert "constexpr bool ORDERED = true;\n" in text and products.geometry.constants() in text


@needs_compiler
@pytest.mark.parametrize(("name", "dtype"), [("log", "f2"), ("min_plus", "i8"), ("counting", "u1")])
def test_folds_become_machine_code(name: str, dtype: str) -> None:
    assert not nvrtc.complaints(sources(sr.catalogue[name], np.dtype(dtype)), *OPTIONS, "--gpu-architecture=sm_90a")


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("name", NAMES)
def test_folds_compile(name: str) -> None:
    S = sr.catalogue[name]
    kinds = [S.default_dtype] if S.fields else [d for d in S.dtypes if d.kind != "c"]
    texts = dict.fromkeys(text for d in kinds for text in sources(S, d))
    assert texts and not nvrtc.complaints(texts, *OPTIONS, "--gpu-architecture=compute_80", "--device-debug")
