"""Sums and products of arrays on a GPU that the host plays: the CPU's answers, and its messages."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gpu.compiled import Report, host_of, is_available
from gpu.host import Array, Host
from gpu.sums import SOFT_MIN, TRIANGULAR, numbers
from scipy.sparse import csr_array, random_array

import semiring as sr
from semiring.kernels.cuda.dense import exchange, folds, prefixes
from semiring.operands.device import read_cupy
from semiring.operands.operand import Operand
from semiring.operands.packed import Packed
from semiring.operands.sparse import read_cupyx
from semiring.shapes.sums import on_gpu, reductions, sums

pytestmark = pytest.mark.skipif(not is_available(), reason="there is no compiler for the host")

VERBS = ("sum", "prod", "cumsum", "cumprod")


class Matrix(SimpleNamespace):
    """A sparse matrix in the GPU's memory."""


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[Host]:
    played, on_host = host_of(monkeypatch, folder, folds, prefixes), sums.elements
    for each in (folds, prefixes):
        monkeypatch.setattr(each, "_made", {})
    monkeypatch.setattr(exchange, "report", lambda: Report(played))
    read = {Array: read_cupy, Matrix: read_cupyx}
    monkeypatch.setattr(sums, "elements", lambda x, S, what: read.get(type(x), on_host)(x, S, what))
    yield played


def outcome(compute: Callable[[], Any]) -> Any:
    """What a call gives, or the message that it refuses with."""
    try:
        return np.array(compute())
    except sr.SemiringError as e:
        return str(e)


def compare(host: Host, S: sr.Semiring, verb: str, x: np.ndarray, **options: Any) -> None:
    got, want = (outcome(lambda y=y: getattr(S, verb)(y, **options)) for y in (host.array(x), x))
    if isinstance(want, str) or isinstance(got, str):
        assert got == want
    elif S in (sr.log, SOFT_MIN):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-5)
    else:
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("shape", [(5, 7), (3,), (), (0, 4), (4, 0)])
@pytest.mark.parametrize(("S", "dtype"), [
    (sr.min_plus, "f4"), (sr.log, "f8"), (sr.counting, "i4"), (TRIANGULAR, [(c, "f8") for c in "pqr"]),
    (sr.gcd_lcm, "i4"),
])
def test_answers_are_those_of_the_cpu(host: Host, S: sr.Semiring, dtype: Any, shape: tuple[int, ...]) -> None:
    x = numbers(S, dtype, shape, 0)
    for axis in [None, 0] if shape else [None]:
        for verb in VERBS[:2]:
            for keepdims in (False, True):
                compare(host, S, verb, x, axis=axis, keepdims=keepdims)
            if x.size:
                compare(host, S, verb, x, axis=axis, initial=x.reshape(-1)[0])
        for verb in VERBS[2:]:
            compare(host, S, verb, x, axis=axis)


@pytest.mark.parametrize(("S", "dtype", "value"), [
    (sr.viterbi, "f4", np.nan), (sr.viterbi, "f8", -1), (sr.counting, "i4", 2**31 - 2), (sr.counting, "i4", 2**31 - 1),
    (sr.counting, "i8", 2**63 - 2), (sr.min_plus, "i4", -(2**31)), (sr.min_plus, "i8", 2**63 - 3),
    (sr.gcd_lcm, "i4", 2**31 - 1), (sr.min_plus, "u1", 254),
])
def test_messages_are_those_of_the_cpu(host: Host, S: sr.Semiring, dtype: str, value: Any) -> None:
    for shape, axis in (((40, 33), 0), ((), None)):
        x = np.full(shape, 2 if dtype == "i4" else 1, dtype)
        x.reshape(-1)[x.size // 3] = value
        for verb in VERBS:
            compare(host, S, verb, x, axis=axis)


def test_sums_that_do_not_fit_on_the_way(host: Host) -> None:
    """The result does, so that the host gives it."""
    S = sr.Semiring("whole", add=np.add, mul=np.multiply, zero=0, product_only=True, dtypes="i")
    x = np.array([2**62, 2**62, -(2**62), -(2**62), 5], "i8")
    compare(host, S, "sum", x)


def test_out_is_where_the_array_is(host: Host) -> None:
    x, out = np.arange(12.0).reshape(3, 4), host.empty((4,))
    sr.min_plus.sum(host.array(x), 0, out=out)
    np.testing.assert_array_equal(out, x.min(0))
    for wrong in (np.empty(4), host.empty(3), host.empty(4, "f4")):
        with pytest.raises(sr.SemiringError, match=r"out must be .*, on the GPU as x is"):
            sr.min_plus.sum(host.array(x), 0, out=wrong)


@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("shape", [(5, 7), (3,), (), (0, 4), (40, 3)])
def test_products_of_complex_numbers(host: Host, dtype: str, shape: tuple[int, ...]) -> None:
    """Of powers of i, and of 1 + i, so that they are exact; zero absorbs, and what is not an element is refused."""
    rng = np.random.default_rng(0)
    x = np.asarray(np.array([1, 1j, -1, -1j])[rng.integers(0, 4, shape)], dtype)
    x = np.asarray(np.where(rng.random(shape) < 0.3, x * dtype_of(dtype)(1 + 1j), x), dtype)
    for some in (x, np.where(rng.random(shape) < 0.05, 0, x).astype(dtype)):
        for axis in [None, *range(some.ndim)]:
            for verb in ("prod", "cumprod"):
                compare(host, sr.plus_times, verb, some, axis=axis)
            compare(host, sr.plus_times, "prod", some, axis=axis, keepdims=True, initial=2 - 1j)
    for value in (np.nan, complex(1, np.inf), 1e30 if dtype == "c8" else 1e300):
        if x.size > 2:
            x.reshape(-1)[: 1 + (value == value) * 2] = value
            for verb in ("prod", "cumprod"):
                compare(host, sr.plus_times, verb, x)


def dtype_of(name: str) -> Any:
    return np.dtype(name).type


@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("shape", [(5, 7), (3,), (), (0, 4), (2000, 3), (3, 4000)])
def test_sums_of_complex_numbers_are_those_of_their_parts(
    host: Host, dtype: str, shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of whole numbers, so that they are exact; NaN and infinities are refused as on the CPU."""
    monkeypatch.setattr(on_gpu, "in_parts", parts_by_numpy)
    x = numbers(sr.plus_times, "f4", shape, 0) - 1j * numbers(sr.plus_times, "f4", shape, 1)
    x = np.asarray(x, dtype)
    for axis in range(-1, x.ndim) if x.ndim else [None]:
        axis = None if axis == -1 else axis
        for options in ({}, {"keepdims": True}, {"initial": 2 - 3j}):
            compare(host, sr.plus_times, "sum", x, axis=axis, **options)
        compare(host, sr.plus_times, "cumsum", x, axis=axis)
    if x.size:
        for value in (np.nan, complex(1, np.inf), complex(np.nan, 2)):
            x.reshape(-1)[x.size // 2] = value
            for verb in ("sum", "cumsum"):
                compare(host, sr.plus_times, verb, x)
    large = np.array([1.7e308 + 1j, 1.7e308, -1.7e308, -1.7e308])
    compare(host, sr.plus_times, "sum", large)


def parts_by_numpy(array: Any) -> Any:
    """What `on_gpu.in_parts` gives, for memory of the host."""
    if array.dtype.kind != "c":
        return array
    size = array.itemsize // 2
    found = np.lib.stride_tricks.as_strided(array.real, (*array.shape, 2), (*array.strides, size), subok=True)
    found.host, found.number = array.host, array.number
    return found


def test_parts_of_complex_numbers_lie_in_the_same_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(
        ndarray=lambda shape, dtype, data, strides: np.ndarray(shape, dtype, data, 0, strides),
        ascontiguousarray=np.ascontiguousarray))
    for x in (np.arange(12).reshape(3, 4) * (1 + 2j), np.array(3 - 4j, "c8")):
        parts = on_gpu.in_parts(x)
        assert np.array_equal(parts[..., 0], x.real) and np.array_equal(parts[..., 1], x.imag)
        assert np.shares_memory(parts, x) and np.array_equal(on_gpu.whole(parts, x.dtype), x)
    x = np.arange(3.0)
    assert on_gpu.in_parts(x) is x is on_gpu.whole(x, x.dtype)


def test_packed_bits_become_truth_values(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    M = np.random.default_rng(0).random((70, 50)) < 0.5
    M[3], M[:, 4] = True, False

    class There(Packed):
        on_gpu = True

        def __init__(self) -> None:
            Operand.__init__(self, sr.boolean, "x", M.shape, M.dtype)
            self.matrix = SimpleNamespace(to_dense=lambda: host.array(M))

    monkeypatch.setattr(sums, "elements", lambda x, S, what: There())
    for axis in (0, 1, None):
        for verb in VERBS:
            found = np.array(getattr(sr.boolean, verb)(object(), axis=axis))
            assert np.array_equal(found, expected(verb, M, axis))


def expected(verb: str, M: np.ndarray, axis: int | None) -> np.ndarray:
    operation = np.logical_or if verb.endswith("sum") else np.logical_and
    if verb.startswith("cum"):
        return operation.accumulate(M if axis is not None else M.reshape(-1), axis or 0)
    return operation.reduce(M, axis)


def test_a_plan_names_the_gpu(host: Host) -> None:
    found = reductions.sum(host.array(np.ones((3, 4))), sr.min_plus, 0).plan()
    assert found.lowering.on_gpu and found.method == "one pass over the GPU's memory" and found.shape == (4,)


def there(host: Host, A: Any) -> Any:
    """A sparse matrix as CuPy has it."""
    return Matrix(
        format="csr", indptr=host.array(A.indptr.astype("i4")), indices=host.array(A.indices.astype("i4")),
        data=host.array(A.data), shape=A.shape, dtype=A.dtype, nnz=A.nnz, get=lambda: A,
    )


@pytest.mark.parametrize("A", [
    csr_array(np.array([[0, 3.5, 0, 2], [0, 0, 0, 0], [1, 7, 0, 4]])), csr_array((3, 4)), csr_array((0, 4)),
    csr_array((np.array([2.0, 1, 5, 4]), np.array([3, 0, 0, 2]), np.array([0, 2, 2, 4])), shape=(3, 4)),  # unsorted
    csr_array((np.array([2.0, 1, 5]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 3)),  # an entry twice
    csr_array(np.array([[True, False], [False, False]])),
])
@pytest.mark.parametrize("S", [sr.min_plus, sr.max_plus, sr.plus_times, sr.log, sr.boolean, SOFT_MIN])
def test_of_a_sparse_matrix_stored_entries_count(host: Host, A: Any, S: sr.Semiring) -> None:
    for verb, axis in product(VERBS[:2], (None, 0, 1, (0, 1), -1, ())):
        for options in ({}, {"keepdims": True}, {"initial": S.one_in(np.dtype("f8"))}):
            compare_entries(host, S, A, verb, axis, **options)
    assert "prefixes of a sparse matrix" in compare_entries(host, S, A, "cumsum", 0) or A.dtype == bool


def compare_entries(host: Host, S: sr.Semiring, A: Any, verb: str, axis: Any, **options: Any) -> Any:
    """The answers, or messages, of a sparse matrix there and here; the one there."""
    got, want = (outcome(lambda x=x: getattr(S, verb)(x, axis, **options)) for x in (there(host, A), A))
    if isinstance(got, str) and "live in bool" in got and A.dtype == bool:
        return got  # CuPy's truth values do not mark edges without a weight
    elif isinstance(want, str) or isinstance(got, str):
        assert got == want
    else:
        if S is sr.boolean:  # an answer of the GPU that is played gets the dtype of x, as if it were the host's
            got = got.astype(bool)
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-14)
    return got


def test_sums_of_sparse_matrices_stay_on_the_gpu(host: Host) -> None:
    A = random_array((40, 30), density=0.2, format="csr", random_state=0)
    for axis in (None, 0, 1):
        found = sr.min_plus.sum(there(host, A), axis, keepdims=True)
        assert isinstance(found, Array) and (np.array(found) == sr.min_plus.sum(A, axis, keepdims=True)).all()
    out = host.empty(40)
    assert sr.max_plus.sum(there(host, A), 1, out=out) is out and (np.array(out) == sr.max_plus.sum(A, 1)).all()
    plan = reductions.sum(there(host, A), sr.min_plus, 1).plan()
    assert plan.lowering.on_gpu and plan.method == "runs of stored entries" and plan.nnz == A.nnz


def test_entries_that_are_not_elements_are_named(host: Host) -> None:
    A = csr_array(np.array([[0.5, 0], [0.25, 1]]))
    for value in (np.nan, -1.0):
        A.data[1] = value
        for axis in (None, 0, 1):
            assert "x[1, 0]" in compare_entries(host, sr.viterbi, A, "sum", axis)


def test_a_zero_that_is_not_neutral_is_refused_there_too(host: Host) -> None:
    S = sr.Semiring("shifted", add=lambda a, b: np.minimum(a, b) + 0 * a + 1, mul=np.add, zero=0, product_only=True)
    assert not S.has_neutral_zero
    A = csr_array(np.array([[0.5, 0], [0.25, 1]]))
    for axis in (None, 0, 1):
        assert "neutral" in compare_entries(host, S, A, "sum", axis)
