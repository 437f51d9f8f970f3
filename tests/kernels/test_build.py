"""From a lowering to its engine: each kind has one, and what reads alike shares it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.build import PURPOSES, kernel, sparse_kernel
from semiring.kernels.choose import choose
from semiring.kernels.cpu.bits.engine import BooleanKernel
from semiring.kernels.cpu.bits.lowering import bit_planes
from semiring.kernels.cpu.bits.planes import PlanesKernel
from semiring.kernels.cpu.dense.blas import BlasKernel
from semiring.kernels.cpu.dense.engine import DenseKernel
from semiring.kernels.cpu.dense.logsum import LogSumKernel
from semiring.kernels.cpu.dense.objects import ObjectKernel
from semiring.kernels.cpu.sparse.product import SparseKernel
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.general import general
from semiring.kernels.lowering.objects import python_integers, python_objects
from semiring.kernels.numpy.rows import ArrayRowsKernel

F8, OBJECT = np.dtype("f8"), np.dtype(object)


def chosen(name: str, dtype: str, **known: bool) -> Lowering:
    return choose(sr.catalogue[name], np.dtype(dtype), Facts(**known), 4096, in_place=False)


@pytest.mark.parametrize(("low", "dense", "sparse"), [
    (chosen("min_plus", "f8"), DenseKernel, SparseKernel),
    (chosen("min_plus", "i4"), DenseKernel, SparseKernel),
    (chosen("plus_times", "f8"), BlasKernel, SparseKernel),
    (chosen("plus_times", "c16"), BlasKernel, SparseKernel),
    (chosen("log", "f4"), LogSumKernel, SparseKernel),
    (general(sr.shortest_hops, sr.shortest_hops.default_dtype), DenseKernel, SparseKernel),
    (chosen("boolean", "?", two_valued=True), BooleanKernel, None),
    (bit_planes(sr.bitset_may, np.dtype("u1"), Facts()), PlanesKernel, None),
    (general(sr.bitset_may, np.dtype("u1")), DenseKernel, SparseKernel),  # of the same expressions
    (chosen("regex", "O"), ObjectKernel, ArrayRowsKernel),
    (python_integers(sr.min_plus, np.dtype("i8"), ""), ObjectKernel, ArrayRowsKernel),
], ids=lambda value: getattr(value, "name", None) or getattr(value, "__name__", None))
def test_engines(low: Lowering, dense: type, sparse: type | None) -> None:
    assert type(kernel(low)) is dense
    assert kernel(low) is kernel(low)
    if sparse is not None:
        assert type(sparse_kernel(low)) is sparse
        assert sparse_kernel(low) is sparse_kernel(low)
        assert sparse_kernel(low) is not kernel(low)


def test_what_reads_alike_shares_an_engine() -> None:
    twin = sr.Semiring("twin", add=np.minimum, mul=np.add, zero=np.inf, one=0,
                       star=lambda a: np.where(a < 0, -np.inf, 0))
    for low in (general(twin, F8), replace(general(sr.min_plus, F8), name="renamed", recode=(abs, abs))):
        assert low is not general(sr.min_plus, F8)
        assert kernel(low) is kernel(general(sr.min_plus, F8))
        assert sparse_kernel(low) is sparse_kernel(general(sr.min_plus, F8))


def test_what_reads_otherwise_does_not() -> None:
    plain = general(sr.min_plus, F8)
    lows = [plain, replace(plain, fused_sum=False), general(sr.min_plus, np.dtype("f4")), general(sr.max_plus, F8)]
    assert len({id(kernel(low)) for low in lows}) == len({id(sparse_kernel(low)) for low in lows}) == 4


def test_objects_have_an_engine_for_each_algebra() -> None:
    """Python's functions cannot be compared; the same algebra's are the same."""
    one, other = (python_objects(S, OBJECT, "") for S in (sr.min_plus, sr.max_plus))
    again = python_objects(sr.min_plus, OBJECT, "for another reason")
    assert kernel(one) is not kernel(other)
    assert kernel(one) is kernel(again)
    assert kernel(one).close(np.array([[5]], object)) == kernel(other).close(np.array([[-5]], object)) == -1


def test_purposes_need_as_many_functions_as_they_say() -> None:
    low = general(sr.min_plus, F8)
    assert {name: len(purpose.code(low)) for name, purpose in PURPOSES.items()} == {
        name: purpose.number for name, purpose in PURPOSES.items()
    }
    bare = general(sr.plus_min, F8)
    assert [function.name for function in PURPOSES["blocks"].code(bare)] == ["multiply"]


@pytest.mark.parametrize("S", [sr.min_plus, sr.max_min, sr.plus_times, sr.plus_min], ids=lambda S: S.name)
def test_what_may_be_needed_over_an_algebra(S: sr.Semiring) -> None:
    wanted = {name for name, purpose in PURPOSES.items() if purpose.fits(general(S, F8))}
    assert "rows" in wanted and ("fronts" in wanted) == (not S.product_only) and ("trees" in wanted) == S.selective
    assert ("buckets" in wanted, "search" in wanted) == (S is sr.min_plus, S is sr.max_min)
