"""Arrays of other libraries by DLPack, and what is said of data on a GPU; NumPy's arrays stand in for a device's."""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from bridge import same_bits

import semiring as sr
from semiring.kernels.facts import DeviceFacts, Facts
from semiring.operands.dense import Dense
from semiring.operands.device import PACKED_SIDE, Device, read_dlpack
from semiring.operands.sparse import DeviceSparse


class Tensor:
    """The least that DLPack asks for, around a NumPy array."""

    def __init__(self, array: np.ndarray, device: int = 1):
        self.array, self.device = array, device

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (self.device, 0)


def matrix(n: int) -> np.ndarray:
    random = np.random.default_rng(0)
    A = random.integers(1, 50, (n, n)).astype(float)
    A[random.random((n, n)) < 0.8] = np.inf
    return A


def test_dlpack() -> None:
    A = matrix(5)
    for result in (sr.closure(Tensor(A), sr.min_plus), sr.matmul(Tensor(A), Tensor(A), sr.min_plus),
                   sr.solve(Tensor(A), Tensor(A), sr.min_plus)):
        assert isinstance(result, np.ndarray)
    assert same_bits(sr.closure(Tensor(A), sr.min_plus), sr.closure(A, sr.min_plus))
    assert same_bits(sr.closure(Tensor(A.T), sr.min_plus), sr.closure(A.T, sr.min_plus))
    before = A.copy()
    sr.closure(Tensor(A), sr.min_plus)
    assert same_bits(A, before)
    with pytest.raises(sr.SemiringError, match=r"A lives on a device \(DLPack type 4\).*copy it to the host"):
        sr.closure(Tensor(A, device=4), sr.min_plus)


def test_dlpack_goes_back_to_where_it_came_from(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library whose arrays have DLPack is given its own kind of array."""
    library = types.ModuleType("tensors")
    kind = type("Array", (Tensor,), {"__module__": "tensors.core"})
    library.from_dlpack = lambda x: kind(np.from_dlpack(x))
    monkeypatch.setitem(sys.modules, "tensors", library)
    A = matrix(4)
    for result in (sr.closure(kind(A), sr.min_plus), sr.factor(kind(A), sr.min_plus).closure()):
        assert type(result) is kind
        assert same_bits(result.array, sr.closure(A, sr.min_plus))
    assert same_bits(sr.matmul(kind(A), kind(A), sr.min_plus).array, sr.matmul(A, A, sr.min_plus))


def test_jax_arrays_come_back_as_such() -> None:
    jax = pytest.importorskip("jax")
    A = jax.numpy.array([[0.0, 3.0, np.inf], [np.inf, 0.0, 4.0], [np.inf, np.inf, 0.0]])
    answer = sr.closure(A, sr.min_plus)
    assert isinstance(answer, jax.Array)
    assert float(answer[0, 2]) == 7

def test_an_exported_array_is_an_operand_over_the_same_memory() -> None:
    A = matrix(4)
    given = read_dlpack(Tensor(A), sr.min_plus, "B")
    assert type(given) is Dense and given.kind == "dense" and not given.on_gpu
    assert (given.what, given.shape, given.dtype) == ("B", (4, 4), np.float64)
    assert np.shares_memory(given.array, A)
    assert read_dlpack(Tensor(A > 3), sr.boolean, "A").array.dtype == bool
    whole = read_dlpack(Tensor(A[:0].astype("i8")), sr.plus_times, "A")
    assert whole.dtype == whole.callers_dtype == np.float64
    with pytest.raises(sr.SemiringError, match=r"^B lives on a device \(DLPack type 3\) that is not a CUDA GPU"):
        read_dlpack(Tensor(A, device=3), sr.min_plus, "B")


def test_a_library_without_from_dlpack_gets_an_array() -> None:
    """And so does one that is not loaded under its own name."""
    for name in ("there.is.none", "math"):
        kind = type("Array", (Tensor,), {"__module__": name})
        assert type(read_dlpack(kind(matrix(3)), sr.min_plus, "A").wrap(matrix(3))) is np.ndarray


# On a GPU.


def test_data_that_nobody_looks_at_get_the_form_that_is_right_for_all() -> None:
    given = Device(np.full((600, 600), np.nan, "f4"), sr.max_min)
    facts, low = given.form(600, check=False)
    assert facts == Facts() and (low.kind, low.name) == ("cuda", "general") and low.on_gpu
    assert given.lowering(Facts(), 600).name == "ordered integers", "which is right for elements alone"
    truths = Device(np.zeros((600, 600), bool), sr.boolean)
    assert truths.form(600, check=False)[1].kind == "packed", "there is nothing but truth values"
    assert truths.unchecked_lowering(packed=False).kind == "cuda"
    stack = Device(np.zeros((2, 600, 600), bool), sr.boolean)
    assert stack.form(600, check=False)[1].kind == "cuda", "a stack is never packed"


@pytest.mark.parametrize(("shape", "kind"), [
    ((PACKED_SIDE, PACKED_SIDE), "packed"), ((PACKED_SIDE - 1, 9000), "cuda"), ((9000, PACKED_SIDE - 1), "cuda"),
    ((0, 0), "cuda"),
])
def test_bits_repay_from_a_least_side_on(shape: tuple[int, int], kind: str) -> None:
    given = Device(np.zeros(shape, bool), sr.boolean)
    assert given.lowering(Facts(two_valued=True), 3, packed=True).kind == kind
    assert given.lowering(Facts(two_valued=True), 3, packed=False).kind == "cuda"
    assert given.unchecked_lowering(packed=True).kind == kind
    numbers = Device(np.zeros(shape), sr.min_plus)
    assert numbers.lowering(Facts(two_valued=True), 3, packed=True).kind == kind
    assert numbers.lowering(Facts(), 3, packed=True).kind == "cuda"


def test_the_form_follows_the_facts() -> None:
    given = Device(np.zeros((4, 4), "i4"), sr.min_plus)
    assert given.lowering(DeviceFacts(largest=100, least=0), 4).storage == np.dtype("u2")
    assert given.lowering(DeviceFacts(largest=100, least=-100), 4).storage == np.dtype("i2")
    assert given.lowering(DeviceFacts(largest=10**6, least=0), 4).storage == np.dtype("i4")
    assert given.lowering(DeviceFacts(largest=100, least=0), 4, in_place=True).storage == np.dtype("i4")
    with pytest.raises(sr.SemiringError, match="device='cpu'"):
        given.lowering(DeviceFacts(largest=2**31 - 2, least=0), 2**40)


def test_compressed_rows_on_a_gpu() -> None:
    A = sp.csr_array((np.array([2, 1], "f4"), ([0, 1], [1, 2])), shape=(2, 3))
    given = DeviceSparse(A, sr.min_plus, "B")
    assert (given.kind, given.on_gpu, given.shape, given.nnz, given.nbytes) == ("sparse", True, (2, 3), 2, 8)
    offsets, columns, values = given.parts()
    assert offsets.tolist() == [0, 1, 2] and columns.tolist() == [1, 2] and values.tolist() == [2, 1]
    assert (offsets.dtype, columns.dtype, values.dtype) == (np.int64, np.int32, np.float32)
    assert DeviceSparse(sp.csr_array((0, 0)), sr.min_plus, "A").parts()[0].tolist() == [0]
    with pytest.raises(sr.SemiringError, match=r"must have the format csr, not csc: pass A\.tocsr\(\)"):
        DeviceSparse(A.tocsc(), sr.min_plus, "A").parts()
    for column in (3, -1):
        A.indices[1] = column
        with pytest.raises(sr.SemiringError, match=r"^B is 2 × 3 and has entries outside"):
            given.parts()
    with pytest.raises(sr.SemiringError, match="min-plus cannot live in complex128"):
        DeviceSparse(A.astype(complex), sr.min_plus, "A")


def test_compressed_rows_on_a_gpu_are_examined_on_the_host() -> None:
    """As `sr.prepare` asks, and with the same messages."""

    class OfCupy(sp.csr_array):
        def get(self) -> sp.csr_array:
            return sp.csr_array(self)

    A = OfCupy((np.array([2, 1], "f4"), ([0, 1], [1, 2])), shape=(2, 3))
    assert DeviceSparse(A, sr.min_plus, "B").facts == sr.prepare(sp.csr_array(A), sr.min_plus).facts
    A.data[1] = np.nan
    with pytest.raises(sr.SemiringError, match=r"B\[1, 2\] is NaN"):
        _ = DeviceSparse(A, sr.min_plus, "B").facts
