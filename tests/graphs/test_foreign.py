"""Objects of other libraries given as they are: what the same numbers give as NumPy arrays, or an error of ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring.graphs.foreign import as_array, as_scipy, stored_in, unpadded

ENDS = np.array([[0, 2, 2, 1, 0], [2, 0, 1, 2, 1]])
WEIGHTED = np.array([[0, 1, 2.5], [1, 2, 4], [2, 0, 1], [0, 2, 9]])
MATRIX = np.array([[0, 0.5, 0, 0], [0, 0, 0.25, 0], [0, 0, 0, -2.0], [0.125, 0, 0, 0]])


def edges_of(given: Any) -> tuple[int, list[tuple[float, ...]]]:
    g = sr.as_graph(given)
    return g.n, [tuple(map(float, e)) for e in g.edges()]


def torch_array(A: np.ndarray) -> Any:
    return pytest.importorskip("torch").tensor(A)


def jax_array(A: np.ndarray) -> Any:
    return pytest.importorskip("jax").numpy.asarray(A.astype("f4") if A.dtype.kind == "f" else A.astype("i4"))


class Exported:
    """An array of a library that has DLPack, and nothing else."""

    def __init__(self, array: np.ndarray):
        self.array = array
        self.ndim, self.shape, self.dtype = array.ndim, array.shape, array.dtype

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, i: Any) -> Any:
        found = self.array[i]
        return Exported(np.asarray(found)) if np.ndim(found) == 0 else Exported(found)

    def item(self) -> Any:
        return self.array.item()


LIBRARIES: dict[str, Callable[[np.ndarray], Any]] = {"torch": torch_array, "jax": jax_array, "dlpack": Exported}


@pytest.mark.parametrize("library", LIBRARIES)
def test_arrays_as_edges(library: str) -> None:
    """Columns, rows, pairs of numbers without an axis, a matrix of rows; with weights and without."""
    of = LIBRARIES[library]
    ends, weighted, weights = of(ENDS), of(WEIGHTED), of(WEIGHTED[:, 2])
    plain = 3, [tuple(map(float, e)) for e in ENDS.T]
    heavy = 3, [tuple(e) for e in WEIGHTED.tolist()]
    columns = (of(ENDS[0]), of(ENDS[1]))
    assert edges_of(columns) == edges_of(tuple(ends[k] for k in range(2))) == plain
    assert edges_of(of(np.ascontiguousarray(ENDS.T))) == plain
    assert edges_of([(columns[0][i], columns[1][i]) for i in range(5)]) == plain
    assert edges_of([of(np.ascontiguousarray(row)) for row in ENDS.T]) == plain
    assert edges_of(weighted) == edges_of([weighted[i] for i in range(4)]) == heavy
    whole = WEIGHTED[:, :2].astype(int)
    assert edges_of((of(whole[:, 0].copy()), of(whole[:, 1].copy()), weights)) == heavy
    assert edges_of([(int(a), int(b), weights[i]) for i, (a, b) in enumerate(whole)]) == heavy
    assert edges_of((whole[:, 0], whole[:, 1].tolist(), weights)) == heavy
    assert sr.closure(sr.as_graph(weighted), "min-plus")[0, 0] == 0
    with pytest.raises(sr.GraphError, match="could be 2 edges with weights"):
        sr.as_graph(of(ENDS[:, :3].copy()))
    with pytest.raises(sr.GraphError, match="could be 2 edges or a matrix"):
        sr.as_graph(of(ENDS[:, :2].copy()))
    with pytest.raises(sr.GraphError, match=r"as in an edge_index, pass tuple\(edges\)"):
        sr.as_graph(ends)
    for bare in (of(np.array(3)), (of(np.array(3)), of(np.array(4))), [of(np.array(3))]):
        with pytest.raises(sr.GraphError, match=r"shape|an edge is"):
            sr.as_graph(bare)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_stack_of_arrays_is_one(library: str) -> None:
    parts = [np.array([[0, 1.0], [3, 0]]), np.array([[0, 7.0], [2, 0]])]
    found = sr.closure([LIBRARIES[library](part) for part in parts], sr.min_plus)
    assert np.array_equal(np.asarray(found), sr.closure(np.stack(parts), sr.min_plus))


# PyTorch

@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint8", "int64", "bool", "complex64"])
@pytest.mark.parametrize("mark", ["", "conj", "neg", "both", "strided"])
def test_marks_of_tensors_are_resolved(dtype: str, mark: str) -> None:
    torch = pytest.importorskip("torch")
    values = torch.tensor([[2 - 1j, 1 + 3j], [5 + 2j, -3 - 4j]])
    S = sr.plus_times
    if mark in ("", "strided"):
        given = values.real.to(getattr(torch, dtype)) if dtype != "complex64" else values
        given = given if mark == "" else torch.stack([given, given], dim=-1)[..., 0].t()
    elif dtype == "complex64":
        given = values.conj() if mark == "conj" else torch._neg_view(values if mark == "neg" else values.conj())
    elif dtype in ("float32", "float64"):
        given = values.to(torch.complex64 if dtype == "float32" else torch.complex128).conj().imag
        given = given if mark == "neg" else given.t()
        assert given.is_neg()
    else:
        pytest.skip("PyTorch makes no such view")
    array = np.array(given.tolist(), np.dtype(dtype))
    assert np.array_equal(np.asarray(sr.matmul(given, given, S)), np.asarray(sr.matmul(array, array, S)))
    assert sr.matmul(given, array, S).tolist() == sr.matmul(array, array, S).tolist()
    assert np.array_equal(as_array(given, "A"), array)
    if dtype.startswith("float"):
        B = array[:, 0].copy()
        assert sr.solve(given / 16, B, S).tolist() == pytest.approx(sr.solve(array / 16, B, S).tolist())


@pytest.mark.parametrize("layout", ["coo", "csr", "csc", "bsr", "bsc"])
@pytest.mark.parametrize("name", ["plus-times", "min-plus", "max-plus", "boolean", "viterbi"])
def test_sparse_layouts_are_read_with_what_they_store(layout: str, name: str) -> None:
    torch = pytest.importorskip("torch")
    dense = np.abs(MATRIX) / (2 if name != "max-plus" else -1)
    blocks = {"blocksize": (2, 2)} if layout.startswith("bs") else {}
    given = torch.tensor(dense).to_sparse(layout=getattr(torch, f"sparse_{layout}"), **blocks)
    right = sr.closure(sp.csr_array(dense), name)
    found = sr.closure(given, name)
    assert isinstance(found, torch.Tensor) and np.array_equal(found.numpy(), right)
    graph = sr.as_graph(given)
    assert graph.n == 4 and np.array_equal(np.asarray(sr.closure(graph, name)), right)
    X = sr.solve(given, torch.tensor(right), name)
    assert np.array_equal(X.numpy(), sr.solve(sp.csr_array(dense), right, name))
    assert np.array_equal(sr.factor(given, name).closure(), right)
    if name != "plus-times":
        assert np.array_equal(sr.closure_rows(given, name, [0, 2]), right[[0, 2]])
        found = sr.paths(given, name)
        assert np.array_equal(found.weights.numpy(), right)
        assert np.array_equal(found.next_hop, sr.paths(sp.csr_array(dense), name).next_hop)
    if name == "min-plus":
        from semiring import csgraph

        assert np.array_equal(csgraph.shortest_path(given), right)


def test_zeros_that_tensors_store_are_edges() -> None:
    torch = pytest.importorskip("torch")
    places, values = torch.tensor([[0, 1], [1, 2]]), torch.tensor([0.0, 3.0])
    coo = torch.sparse_coo_tensor(places, values, (3, 3))
    csr = torch.sparse_csr_tensor(torch.tensor([0, 1, 2, 2]), torch.tensor([1, 2]), values, (3, 3))
    for given in (coo, csr, coo.coalesce(), coo.to(torch.int32)):
        assert sr.closure(given, sr.min_plus)[0].tolist() == [0, 0, 3]
        assert edges_of(given) == (3, [(0, 1, 0), (1, 2, 3)])
    twice = torch.sparse_coo_tensor(torch.tensor([[0, 0], [1, 1]]), torch.tensor([5.0, 2.0]), (2, 2))
    assert sr.closure(twice, sr.min_plus)[0, 1] == 2


def unreadable(torch: Any) -> dict[str, Any]:
    eye = torch.eye(2)
    return {
        "bfloat16": eye.to(torch.bfloat16), "float8_e4m3fn": eye.to(torch.float8_e4m3fn), "grad": eye.requires_grad_(),
        "float8_e5m2": torch.eye(2).to(torch.float8_e5m2), "meta": torch.eye(2, device="meta"),
        "sparse bfloat16": torch.eye(2).to(torch.bfloat16).to_sparse(),
        "sparse grad": torch.eye(2).requires_grad_().to_sparse(),
        "sparse csr grad": torch.eye(2).requires_grad_().to_sparse_csr(),
        "hybrid": torch.ones(2, 2, 3).to_sparse(2), "complex32": torch.eye(2).to(torch.complex64).to(torch.complex32),
        "quantized": torch.quantize_per_tensor(torch.eye(2), 0.1, 0, torch.quint8),
        "nested": torch.nested.nested_tensor([torch.eye(2)]), "parameter": torch.nn.Parameter(torch.eye(2)),
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("what", [
    "bfloat16", "float8_e4m3fn", "float8_e5m2", "grad", "meta", "sparse bfloat16", "sparse grad", "sparse csr grad",
    "hybrid", "complex32", "quantized", "nested", "parameter"])
def test_what_cannot_be_read_is_refused_in_words(what: str) -> None:
    """By every verb, and by `as_graph`, whatever stands beside it."""
    A = unreadable(pytest.importorskip("torch"))[what]
    eye = np.eye(2)
    for ask in (
        lambda: sr.closure(A, sr.min_plus), lambda: sr.matmul(eye, A, sr.min_plus),
        lambda: sr.solve(eye / 2, A, sr.plus_times),
        lambda: sr.as_graph(A), lambda: sr.adjacency(A, sr.min_plus), lambda: sr.closure([A, A], sr.min_plus),
        lambda: sr.as_graph((A, A)), lambda: sr.closure_rows(A, sr.min_plus, [0]), lambda: sr.paths(A, sr.min_plus),
        lambda: sr.from_dense(A, sr.min_plus), lambda: sr.Matrix(A, sr.min_plus),
    ):
        with pytest.raises(sr.SemiringError):
            ask()


# GraphBLAS

def test_matrices_of_graphblas_keep_weights_and_shape() -> None:
    gb = pytest.importorskip("graphblas")
    for dtype in ("FP64", "FP32", "INT8", "UINT64", "BOOL", "FC64"):
        M = gb.Matrix.from_coo([0, 3, 3], [3, 1, 2], [2, 0, 4], dtype=dtype, nrows=6, ncols=6)
        values = np.array([2, 0, 4]).astype(M.dtype.np_type)
        alike = sp.coo_array((values, ([0, 3, 3], [3, 1, 2])), shape=(6, 6))
        ours, theirs = sr.as_graph(M), sr.as_graph(alike)
        assert ours.n == 6 and list(ours.edges()) == list(theirs.edges())
        S = sr.plus_times if dtype == "FC64" else sr.min_plus
        assert np.array_equal(sr.closure(M, S), sr.closure(alike, S))
        assert list(sr.as_graph(M.T).edges()) == list(sr.as_graph(alike.T.tocoo()).edges())
    M = gb.Matrix.from_coo([0, 1], [1, 2], [0.5, 0.25], nrows=3, ncols=3)
    v = gb.Vector.from_coo([2], [1.0], size=3)
    dense = M.to_dense(fill_value=0.0)
    assert np.array_equal(sr.closure(M.mxm(M), sr.plus_times), sr.closure(dense @ dense, sr.plus_times))
    assert np.array_equal(sr.solve(M, v, sr.plus_times), sr.solve(dense, np.array([0, 0, 1.0]), sr.plus_times))
    assert sr.solve(M, v, sr.min_plus).tolist() == [1.75, 1.25, 1]
    wide = gb.Matrix.from_coo([0, 1], [1, 2], [0.5, 0.25], nrows=2, ncols=3)
    assert np.array_equal(sr.matmul(wide, M, sr.plus_times).toarray(), wide.to_dense(fill_value=0.0) @ dense)
    for bad in (wide, M.S, v, gb.Scalar.from_value(3.0)):
        with pytest.raises(sr.SemiringError):
            sr.as_graph(bad)
        with pytest.raises(sr.SemiringError):
            sr.closure(bad, sr.min_plus)


# JAX

def test_sparse_arrays_of_jax() -> None:
    jax = pytest.importorskip("jax")
    from jax.experimental import sparse

    dense = np.abs(MATRIX).astype("f4")
    padded = sparse.BCOO.fromdense(jax.numpy.asarray(dense), nse=9)
    right = sr.closure(sp.csr_array(dense), sr.min_plus)
    for given in (padded, sparse.BCSR.from_bcoo(padded), sparse.BCOO.fromdense(jax.numpy.asarray(dense))):
        assert np.array_equal(np.asarray(sr.closure(given, sr.min_plus)), right)
        assert np.array_equal(np.asarray(sr.closure(sr.as_graph(given), sr.min_plus)), right)
    with pytest.raises(sr.SemiringError, match="bfloat16"):
        sr.closure(sparse.BCOO.fromdense(jax.numpy.eye(2, dtype="bfloat16")), sr.min_plus)
    with pytest.raises(sr.SemiringError):
        sr.closure(sparse.BCOO.fromdense(jax.numpy.ones((2, 2, 2)), n_dense=1), sr.min_plus)


# SciPy

def test_padding_and_what_is_not_foreign() -> None:
    A = np.zeros((4, 4))
    A[0, 1] = A[1, 2] = np.nan
    A[2, 3] = 5
    for padded in (sp.bsr_array(A, blocksize=(2, 2)), sp.dia_array(A), sp.bsr_matrix(A, blocksize=(4, 4))):
        assert unpadded(padded).nnz == 3 and unpadded(padded).shape == (4, 4)
    for other in (np.eye(2), [[1]], sp.csr_array(A), None, "roads"):
        assert stored_in(other, "A") is None and as_scipy(other, "A") is None
    rows = sp.csr_array(np.eye(2))
    assert unpadded(rows) is rows


# Where else they may stand

@pytest.mark.parametrize("library", ["torch", "jax", "pyarrow", "polars", "pandas"])
def test_names_of_any_library(library: str) -> None:
    module = pytest.importorskip(library)
    makers = {"torch": torch_array, "jax": jax_array, "pyarrow": getattr(module, "array", None)}
    make = makers.get(library) or module.Series
    names = sr.as_graph([(10, 11), (11, 12)], names=make(np.array([12, 10, 11]))).names
    assert names == [12, 10, 11] and all(type(name) is int for name in names)


def sparse_ones(A: np.ndarray) -> dict[str, Callable[[], Any]]:
    """The same matrix by what is not 0, in each library that is installed."""
    def graphblas() -> Any:
        rows, columns = np.nonzero(A)
        gb = pytest.importorskip("graphblas")
        return gb.Matrix.from_coo(rows, columns, A[rows, columns], nrows=len(A), ncols=A.shape[1])

    return {"torch": lambda: torch_array(A).to_sparse_csr(), "graphblas": graphblas,
            "sparse": lambda: pytest.importorskip("sparse").COO.from_numpy(A)}


@pytest.mark.parametrize("library", ["torch", "graphblas", "sparse"])
def test_every_function_takes_sparse_matrices(library: str) -> None:
    """Those that ask for edges alone, products, and components of records."""
    A = np.abs(MATRIX)
    given, alike = sparse_ones(A)[library](), sp.csr_array(A)
    assert np.array_equal(sr.pack(given).to_dense(int), sr.pack(alike).to_dense(int))
    assert [c.tolist() for c in sr.components(given)] == [c.tolist() for c in sr.components(alike)]
    assert str(sr.reach(given)) == str(sr.reach(alike))
    assert sr.cycle_mean(given, sr.min_plus) == sr.cycle_mean(alike, sr.min_plus)
    assert str(sr.plan("closure", given, sr.min_plus)) == str(sr.plan("closure", alike, sr.min_plus))
    for S in (sr.min_plus, sr.plus_times):
        assert np.array_equal(sr.matmul(given, given, S).toarray(), sr.matmul(alike, alike, S).toarray())
        assert np.array_equal(np.asarray(sr.matmul(given, A, S)), sr.matmul(alike, A, S))
        assert np.array_equal(np.asarray(sr.matmul(A, given, S)), sr.matmul(A, alike, S))
        assert np.array_equal(np.asarray(sr.adjacency(given, S)), np.asarray(sr.adjacency(alike, S)))
        assert np.array_equal(sr.power(given, S, 2).toarray(), sr.power(alike, S, 2).toarray())
    S = sr.shortest_hops
    assert sr.closure((given, given), S).tolist() == sr.closure((alike, alike), S).tolist()
    assert np.asarray(sr.closure(given, S)).tolist() == np.asarray(sr.closure(sr.as_graph(alike), S)).tolist()


def test_padding_is_no_component_of_records() -> None:
    A = sp.csr_array(np.abs(MATRIX))
    blocks = sp.bsr_array(A, blocksize=(2, 2))
    S = sr.shortest_hops
    assert sr.closure((blocks, blocks), S).tolist() == sr.closure((A, A), S).tolist()
    assert sr.pack(blocks).to_dense(int).tolist() == sr.pack(A).to_dense(int).tolist()


def test_records_of_a_tensor_come_back_as_an_array() -> None:
    A = np.where(MATRIX == 0, np.inf, np.abs(MATRIX))
    found = sr.closure(torch_array(A), sr.shortest_hops)
    assert isinstance(found, np.ndarray) and found.tolist() == sr.closure(A, sr.shortest_hops).tolist()
