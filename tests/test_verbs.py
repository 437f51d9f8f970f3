"""Every verb with every representation, and with every option: two tables, of which all cells are run.

A cell says the same for every representation of one matrix: values, dtype, kind and names of the answer, or a refusal
that names what is refused; and `sr.plan` makes the plan that runs. All representations meet the options as they are by
default, and all options meet a few representations; `make test-all` runs the whole product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from exported import Exported

import semiring as sr
from semiring.api import BUILDERS
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.matrices import SHORT_WAYS
from semiring.operands.devices import gpu_name, to_host
from semiring.operands.read import READERS
from semiring.solvers.costs import factoring_share
from semiring.solvers.sparse import substitution
from semiring.solvers.ways import offer_of

pytestmark = pytest.mark.filterwarnings("ignore:the matrix subclass")
inf = np.inf
SIZES = (7, 130)  # what comes out must not depend on it


class Rows(sp.csr_array):
    """A subclass, as other libraries have them."""


class Roads(nx.DiGraph):
    """A subclass."""


class Shares(list[float]):
    """What a caller of `progress` was told."""

    def __call__(self, share: float) -> None:
        self.append(share)


def matrix(n: int, S: sr.Semiring) -> np.ndarray:
    """Some edges, of whole weights."""
    rng = np.random.default_rng(n)
    i, j = rng.integers(0, n, (2, 3 * n))
    A = np.full((n, n), S.zero_in(S.default_dtype), S.default_dtype)
    A[i, j] = True if S.default_dtype.kind == "b" else rng.integers(1, 9, 3 * n)
    A[np.arange(n), np.arange(n)] = S.zero_in(S.default_dtype)
    return A


def entries(A: np.ndarray, S: sr.Semiring) -> sp.coo_array:
    i, j = np.nonzero(S.zero_in(S.promoted(A.dtype)) != A)
    return sp.coo_array((A[i, j], (i, j)), A.shape)


def filled(A: sp.csr_array, S: sr.Semiring) -> np.ndarray:
    """A sparse answer with the algebra's zero in it."""
    array, E = np.full(A.shape, S.zero_in(A.dtype), A.dtype), A.tocoo()
    array[E.row, E.col] = E.data
    return array


def frame(A: np.ndarray, S: sr.Semiring) -> pd.DataFrame:
    E = entries(A, S)
    data = {"from": E.row, "to": E.col, "weight": E.data}
    return pd.DataFrame(data)


def networkx(A: np.ndarray, S: sr.Semiring, kind: type = nx.DiGraph) -> Any:
    G, E = kind(), entries(A, S)
    G.add_nodes_from(range(len(A)))
    G.add_weighted_edges_from(zip(E.row.tolist(), E.col.tolist(), E.data.tolist(), strict=True))
    return G


def names(n: int) -> list[str]:
    return [f"v{i}" for i in range(n)]


# How each is made of an array, and what kind of answer it gets: an array, or a matrix with the names of vertices.
MAKE: dict[str, tuple[Callable[[np.ndarray, sr.Semiring], Any], str]] = {
    "array": (lambda A, S: A.copy(), "array"),
    "Fortran order": (lambda A, S: np.asfortranarray(A), "array"),
    "read-only": (lambda A, S: np.broadcast_to(A, A.shape), "array"),
    "nested lists": (lambda A, S: A.tolist(), "array"),
    "masked": (lambda A, S: np.ma.masked_array(A.copy(), S.zero_in(S.promoted(A.dtype)) == A), "array"),
    "DLPack": (lambda A, S: Exported(A.copy()), "array"),
    "Matrix": (lambda A, S: sr.Matrix(A.copy(), S, names(len(A))), "named"),
    **{
        f"{kind}_array": (lambda A, S, kind=kind: entries(A, S).asformat(kind), "array")
        for kind in ("coo", "csr", "csc", "lil", "dok", "bsr", "dia")
    },
    **{
        f"{kind}_matrix": (lambda A, S, kind=kind: getattr(sp, f"{kind}_matrix")(entries(A, S)), "array")
        for kind in ("csr", "lil", "dia")
    },
    "np.matrix": (lambda A, S: np.matrix(A), "array"),
    "other byte order": (lambda A, S: A.astype(A.dtype.newbyteorder()), "array"),
    "subclass of csr_array": (lambda A, S: Rows(entries(A, S).tocsr()), "array"),
    "Graph": (lambda A, S: sr.as_graph(entries(A, S), names=names(len(A))), "named"),
    "NetworkX": (networkx, "matrix"),
    "subclass of DiGraph": (lambda A, S: networkx(A, S, Roads), "matrix"),
    "MultiDiGraph": (lambda A, S: networkx(A, S, nx.MultiDiGraph), "matrix"),
    "data frame": (frame, "matrix"),
}
BITS = {
    "packed": (lambda A, S: sr.pack(A), "packed"),
}
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "closure": [
        {}, {"reflexive": False}, {"overwrite": True}, {"device": "cpu"}, {"device": "gpu"}, {"check": False},
        {"tile": 16}, {"progress": True}, {"packed": True}, *({"method": m} for m in ("floyd-warshall", "blocked",
        "r-kleene", "squaring", "elimination")), {"method": "r-kleene", "tile": 64, "overwrite": True,
        "reflexive": False}, {"max_edges": 3}, {"max_edges": 2, "reflexive": False},
        {"method": "sparse"}, {"method": "search"}, {"method": "sparse", "overwrite": True},
    ],
    "matmul": [{}, {"device": "cpu"}, {"device": "gpu"}, {"check": False}, {"mask": "array"}, {"mask": "csr"},
               {"mask": "array", "complement": True}],
    "factor": [{}, {"device": "cpu"}, {"device": "gpu"}, {"check": False}, {"progress": True}, {"order": "natural"}],
    "solve": [{}, {"device": "cpu"}, {"device": "gpu"}, {"check": False}, {"progress": True}, {"left": True}],
    "closure_rows": [{}, {"device": "cpu"}, {"device": "gpu"}, {"predecessors": True}],
    "path": [{}],
    "paths": [{}, {"device": "cpu"}, {"device": "gpu"}, {"progress": True}, {"method": "blocked"}, {"sources": [2, 0]},
              {"targets": [1, 3]}, {"sources": [0], "targets": [3], "progress": True}],
    "nearest": [{}],
    "cycle_mean": [{}],
    "power": [{}, {"device": "cpu"}, {"device": "gpu"}, {"check": False}],
}
K = 3  # edges of the walks of a power


def by_name(A: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Options with vertices as the matrix calls them."""
    names = getattr(A, "names", None)
    return {name: [names[v] for v in value] if name in ("sources", "targets") and names else value
            for name, value in options.items()}


def masked(B: np.ndarray, n: int) -> np.ndarray:
    """Which entries of a product are wanted where an option says so."""
    return np.add.outer(np.arange(n), 2 * np.arange(B.shape[1])) % 5 < 2


def with_mask(B: np.ndarray, options: dict[str, Any]) -> dict[str, Any]:
    """Options with the mask that they name."""
    if "mask" not in options:
        return options
    mask = masked(B, len(B))
    return options | {"mask": sp.csr_array(mask) if options["mask"] == "csr" else mask}


def called(verb: str, A: Any, S: sr.Semiring, B: np.ndarray, options: dict[str, Any]) -> Any:
    """The answer of a verb; of factors the closure."""
    first = A.names[0] if getattr(A, "names", None) else 0
    if verb == "closure":
        return sr.closure(A, S, **options)
    if verb == "matmul":
        return sr.matmul(A, B, S, **with_mask(B, options))
    if verb == "factor":
        return sr.factor(A, S, **options).closure()
    if verb == "solve":
        return sr.solve(A, B.T if options.get("left") else B, S, **options)
    if verb == "power":
        return sr.power(A, S, K, **options)
    if verb == "paths":
        return sr.paths(A, S, **by_name(A, options)).weights
    if verb == "nearest":
        return sr.nearest(A, S, [first]).weights
    if verb == "cycle_mean":
        return sr.cycle_mean(A, S)[0]
    if verb == "closure_rows":
        rows = sr.closure_rows(A, S, [first], **options)
        return rows[0] if options.get("predecessors") else rows
    return sr.path(A, S, first, A.names[3] if getattr(A, "names", None) else 3)[0]


def planned(verb: str, A: Any, S: sr.Semiring, B: np.ndarray, options: dict[str, Any]) -> Any:
    first, last = (A.names[0], A.names[3]) if getattr(A, "names", None) else (0, 3)
    asked = by_name(A, {name: value for name, value in with_mask(B, options).items() if name != "progress"})
    B = B.T if options.get("left") else B
    more = {"closure_rows": ([first],), "path": (first, last), "nearest": ([first],), "power": (K,)}.get(verb, ())
    return sr.plan(verb, A, *((B,) if verb in ("matmul", "solve") else ()), S, *more, **asked)


def known(verb: str, A: np.ndarray, S: sr.Semiring, B: np.ndarray, options: dict[str, Any]) -> Any:
    """The answer by repeated products of NumPy: n − 1 times x ← 1 ⊕ A ⊗ x."""
    T, n = S.over(A.dtype), len(A)

    def times(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        C = np.full((len(X), Y.shape[1]), T.zero, A.dtype)
        for k in range(Y.shape[0]):
            C = np.asarray(T.add(C, T.mul(X[:, k, None], Y[None, k])))
        return C

    one = np.full((n, n), T.zero, A.dtype)
    one[np.arange(n), np.arange(n)] = T.one
    if verb == "matmul":
        C = times(A, B)
        return np.where(masked(B, n) ^ options.get("complement", False), C, T.zero) if "mask" in options else C
    if verb == "power":
        return times(A, times(A, A))
    if verb == "cycle_mean":
        return least_mean(A)
    star = np.asarray(T.add(one, A))
    if "max_edges" in options:
        k, X = options["max_edges"], one
        for _ in range(k - (not options.get("reflexive", True))):
            X = np.asarray(T.add(one, times(A, X)))
        return X if options.get("reflexive", True) else times(A, X)
    for _ in range(n.bit_length()):
        star = np.asarray(T.add(star, times(star, star)))
    if verb == "solve":
        return times(B.T, star) if options.get("left") else times(star, B)
    if verb == "closure_rows":
        return star[:1]
    if verb == "path":
        return star[0, 3]
    if verb == "nearest":
        return star[0]
    if verb == "paths":
        rows = star[options["sources"]] if "sources" in options else star
        return rows[:, options["targets"]] if "targets" in options else rows
    return star if options.get("reflexive", True) else times(A, star)


def least_mean(A: np.ndarray) -> float:
    """The least mean weight of a cycle: the least over v of the most over k of (d_n(v) − d_k(v)) / (n − k).

    R. M. Karp, A characterization of the minimum cycle mean in a digraph (1978), from all vertices at once.
    """
    n = len(A)
    d = [np.zeros(n)]
    for _ in range(n):
        d.append(np.min(d[-1][:, None] + A, axis=0))
    there = d[n] < inf
    means = [(d[n][there] - d[k][there]) / (n - k) for k in range(n)]
    return float(np.min(np.max(means, axis=0)))


Cell = tuple[int, str, str, str, dict[str, Any]]  # size, algebra, representation, verb and options
SOME = ("array", "csr_array", "Graph", "NetworkX")  # representations that meet every option
MADE = {"min_plus": list(MAKE), "boolean": ["array", "csr_array", "Graph", *BITS]}  # representations, by algebra


def cells() -> Iterator[tuple[Cell, bool]]:
    """The whole product, and whether a cell is one of the pairs.

    A pair has one of the sizes: each representation, verb and option meets both of them somewhere.
    """
    for name, representations in MADE.items():
        for j, representation in enumerate(representations):
            for i, (verb, choices) in enumerate(OPTIONS.items()):
                for k, options in enumerate(choices):
                    for m, n in enumerate(SIZES):
                        met = not options or representation in (*SOME, *BITS)
                        yield (n, name, representation, verb, options), met and (i + j + k) % len(SIZES) == m


def told(cell: Cell) -> str:
    n, name, representation, verb, options = cell
    return f"{n}-{name}-{representation}-{verb}({', '.join(f'{k}={v}' for k, v in options.items())})"


def test_the_pairs_are_complete() -> None:
    """Each verb meets all representations, each option of a verb some of them, and each of these both sizes."""
    pairs = [cell for cell, met in cells() if met]
    assert set(OPTIONS) == set(BUILDERS)
    met = {(verb, name, made) for _, name, made, verb, options in pairs if not options}
    assert met == {(verb, name, made) for verb in OPTIONS for name, all_ in MADE.items() for made in all_}
    assert {(n, made) for n, _, made, *_ in pairs} == {(n, made) for n in SIZES for made in MAKE | BITS}
    tried = {(n, verb, str(options)) for n, _, _, verb, options in pairs}
    assert tried == {(n, verb, str(options)) for n in SIZES for verb, all_ in OPTIONS.items() for options in all_}


def refusal(S: sr.Semiring, verb: str, by_entries: bool, options: dict[str, Any]) -> str | None:
    """What is said where a cell has no answer."""
    if options.get("device") == "gpu" and gpu_name() is None:
        return "device 'gpu': no GPU was found"
    if verb == "cycle_mean" and S is not sr.min_plus:
        return "the mean weight of a cycle needs sums under min or max"
    if options.get("method") == "sparse" and not by_entries:
        return "method='sparse' eliminates on the structure of a sparse matrix or graph"
    if options.get("method") == "search" and not S.selective:
        return "a search needs a selective ⊕"
    if options.get("method") == "search" and not by_entries:
        return "method='search' follows the edges of a sparse matrix or graph"
    if "order" in options and not by_entries:
        return "order is for sparse matrices and graphs"
    if "packed" in options and S is sr.min_plus:
        return "one bit per pair is only enough for algebras of False and True"
    return None


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The plans that were offered, in order."""
    offered: list[Any] = []

    def watched(offer: Callable[[Any], Any], task: Any) -> Any:
        plan = offer(task)
        offered.extend([plan] if plan is not None else [])
        return plan

    monkeypatch.setattr("semiring.solvers.task.offer_of", lambda module: partial(watched, offer_of(module)))
    return offered


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("cell", [cell for cell, met in cells() if met], ids=told)
def test_every_pair(cell: Cell, plans: list[Any]) -> None:
    answers_as_it_should(*cell, plans)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("verb", OPTIONS)
def test_every_cell(verb: str, plans: list[Any]) -> None:
    """The rest of the product."""
    wrong = []
    for cell, met in cells():
        if cell[3] == verb and not met:
            try:
                answers_as_it_should(*cell, plans)
            except Exception as e:
                wrong.append(f"{told(cell)}: {e!r}")
    assert wrong == []


def answers_as_it_should(
    n: int, name: str, representation: str, verb: str, options: dict[str, Any], ran: list[Any]
) -> None:
    S = sr.catalogue[name]
    plain = matrix(n, S)
    make, kind = (MAKE | BITS)[representation]
    B = matrix(n, S)[:, :3].copy()
    A = make(plain, S)
    by_entries = not isinstance(A, (np.ndarray, list, sr.Matrix, Exported, PackedMatrix))
    why = refusal(S, verb, by_entries, options)
    if why is not None:
        for call in (called, planned):
            with pytest.raises(sr.SemiringError, match=why):
                call(verb, A, S, B, options)
        return
    if kind == "packed" and verb == "matmul":
        B = np.pad(B, ((0, 0), (0, n - 3)))
    shares = Shares()
    plan = planned(verb, make(plain, S), S, B, options)  # before the call adds to what NumPy took
    ran.clear()
    got = called(verb, A, S, B, options | ({"progress": shares} if "progress" in options else {}))
    assert shares[-1:] == [1.0] * ("progress" in options), "all is done at the end"
    want = known(verb, plain, S, B, options)
    usual = options.keys() <= {"accumulate", "check", "device", "left", "on_divergence"}
    short = verb in SHORT_WAYS and isinstance(A, (np.ndarray, sr.Matrix)) and usual  # which plans nothing
    of_masks = "mask" in options  # their plans give a reason
    first = next((tried for tried in ran if tried.operation == verb and of_masks == (
        "the mask" in tried.reasons.get("method", ""))), plan if short else None)  # powers, masks plan products
    assert first is not None
    assert plan.method == first.method, "the plan is what is tried first"
    assert plan.operation == verb and plan.memory >= 0 and verb in str(plan)
    again = plan.run()
    again = {"factor": lambda: again.closure(), "path": lambda: again[0], "cycle_mean": lambda: again[0],
             "paths": lambda: again.weights, "nearest": lambda: again.weights}.get(verb, lambda: again)()
    packed = kind == "packed" or "packed" in options
    for answer in (got, again[0] if options.get("predecessors") else again):
        if isinstance(answer, PackedMatrix):
            assert packed
            answer = answer.to_dense()
        elif verb in ("closure", "factor"):
            assert isinstance(answer, sr.Matrix) == (kind in ("named", "matrix")), "the kind of answer"
            if kind == "named":
                assert answer.names == names(n)
        elif isinstance(answer, sp.csr_array):
            answer = filled(answer, S)
        elif isinstance(answer, sr.Graph):
            assert verb == "power" and answer.names == (names(n) if kind == "named" else None)
            answer = sr.adjacency(answer, S)
        answer = np.asarray(to_host(answer))
        assert answer.dtype.newbyteorder("=") == plain.dtype
        np.testing.assert_allclose(answer.reshape(np.shape(want)), want, rtol=1e-12 if verb == "cycle_mean" else 0)
    if options.get("overwrite") is None and isinstance(A, np.ndarray):
        assert np.array_equal(np.ma.getdata(A), plain), "the operand stays"


# The same complaint, whichever verb is asked.

BROKEN: dict[str, tuple[Callable[[np.ndarray], Any], str]] = {
    "array": (lambda A: A, r"A\[1, 2\] is NaN"),
    "csr": (lambda A: entries(A, sr.min_plus).tocsr(), r"A\[1, 2\] is NaN"),
    "coo": (lambda A: entries(A, sr.min_plus), r"A\[1, 2\] is NaN"),
    "Matrix": (lambda A: sr.Matrix(A, sr.min_plus, names(len(A))), r"A\[1, 2\] is NaN"),
    "data frame": (lambda A: frame(A, sr.min_plus), r"edge \d+ \(1 → 2\).*NaN"),
}


@pytest.mark.parametrize("verb", list(OPTIONS))
@pytest.mark.parametrize("representation", list(BROKEN))
@pytest.mark.parametrize("n", SIZES)
def test_an_entry_that_is_not_a_number(n: int, representation: str, verb: str) -> None:
    make, text = BROKEN[representation]
    plain = matrix(n, sr.min_plus)
    plain[1, 2] = np.nan
    B = matrix(n, sr.min_plus)[:, :3]
    with pytest.raises(sr.SemiringError, match=text):
        called(verb, make(plain.copy()), sr.min_plus, B, {})
    with pytest.raises(sr.SemiringError, match=text):
        plan = planned(verb, make(plain.copy()), sr.min_plus, B, {})
        assert plan.method == "one pass over the matrix", "which alone examines elements while it multiplies"
        plan.run()


@pytest.mark.parametrize("verb", ["closure_rows", "path"])
@pytest.mark.parametrize("representation", [k for k, (_, kind) in MAKE.items() if kind != "named"])
def test_an_unknown_vertex(representation: str, verb: str) -> None:
    A = MAKE[representation][0](matrix(7, sr.min_plus), sr.min_plus)
    more = ([99],) if verb == "closure_rows" else (0, 99)
    with pytest.raises(sr.SemiringError, match="99"):
        getattr(sr, verb)(A, sr.min_plus, *more)


# What the old house had wrong.


@pytest.mark.parametrize("n", [99, 100, 130])
def test_integers_of_sparse_matrices_are_treated_alike_at_every_size(n: int) -> None:
    """They become floats in an algebra that does not live in them, and are kept by one that does, by each verb."""
    A = sp.csr_array((np.full(n - 1, 2), (np.arange(n - 1), np.arange(1, n))), (n, n))
    for verb in ("closure", "matmul", "factor", "solve"):
        B = np.zeros((n, 3), int)
        for S, dtype in ((sr.plus_times, np.float64), (sr.min_plus, np.int64)):
            assert np.asarray(called(verb, A, S, B, {})).dtype == dtype


CHANCES = sr.Semiring("chances", add=np.maximum, mul=lambda a, b: a * b / 1, zero=0, one=1, dtypes="f",
                      carrier=lambda a: (a >= 0) & (a <= 1))
OVER_THE_REALS = {"closure": [{}, {"reflexive": False}, {"max_edges": 3}, {"overwrite": True}], "matmul": [{}],
                  "factor": [{}], "solve": [{}, {"left": True}], "power": [{}], "closure_rows": [{}], "path": [{}]}


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("S", [sr.plus_times, sr.viterbi, sr.lukasiewicz, CHANCES], ids=lambda S: S.name)
@pytest.mark.parametrize("representation", [
    k if k in SOME else pytest.param(k, marks=pytest.mark.slow) for k in MAKE if k != "nested lists"])
def test_integers_over_the_reals_become_floats_as_in_numpy_linalg(representation: str, S: sr.Semiring) -> None:
    make, rng = MAKE[representation][0], np.random.default_rng(5)
    whole = np.triu(rng.integers(0, 2, (9, 9)), 1)
    for dtype in ("i8", "u1", "i2", "?"):
        if dtype == "?" and representation not in ("array", "Matrix", "masked", "csr_array"):
            continue
        A = whole.astype(dtype)
        B = A[:, :3].copy()
        for verb, choices in OVER_THE_REALS.items():
            if verb in ("closure_rows", "path") and not S.selective:
                continue
            for options in choices:
                given = make(A, S)
                got = called(verb, given, S, B, options)
                if isinstance(got, sr.Graph):
                    got = sr.adjacency(got, S)
                got = filled(got.tocsr(), S) if sp.issparse(got) else got
                want = called(verb, whole.astype(float), S, B.astype(float), options)
                if verb != "path":
                    assert np.asarray(got).dtype == np.float64
                    assert np.array_equal(np.asarray(got), want), (dtype, verb, options)
                else:
                    assert got == want and type(got) is float


def test_integers_over_the_reals_beside_floats_in_stacks_and_as_logarithms() -> None:
    A = np.array([[0, 2, 0], [0, 0, 3], [0, 0, 0]])
    assert np.array_equal(sr.matmul(A, A / 2, sr.plus_times), A @ A / 2)
    assert np.array_equal(sr.matmul(A / 2, A, sr.plus_times, accumulate=A), A @ A / 2 + A)
    assert np.array_equal(sr.closure(np.stack([A, A]), sr.plus_times)[1], np.linalg.inv(np.eye(3) - A))
    assert sr.matmul(A, np.array([1, 4, 5]), sr.plus_times).tolist() == [8.0, 15.0, 0.0]
    lengths = np.array([[-5, -3], [-2, 127]], "i1")  # over the reals a limit of the dtype is a number like others
    assert np.array_equal(sr.matmul(lengths, lengths, sr.log), sr.matmul(lengths.astype(float), lengths.astype(float),
                                                                         sr.log))
    large = np.array([[2**53 + 1]])
    assert sr.matmul(large, np.array([[1]]), sr.plus_times) == large.astype(float)
    assert np.array_equal((sr.Matrix(A, sr.plus_times) | A).array, 2.0 * A)
    with pytest.raises(sr.SemiringError, match="plus-times cannot live in int64"):  # what is asked for is not changed
        sr.adjacency([(0, 1, 2)], sr.plus_times, dtype="i8")


@pytest.mark.parametrize("S", [sr.counting, sr.max_times, sr.gcd_lcm, sr.mod_p(7)], ids=lambda S: S.name)
def test_truth_values_are_zero_and_one_in_dense_arrays_as_in_sparse_ones(S: sr.Semiring) -> None:
    A = np.triu(np.random.default_rng(2).random((7, 7)) < 0.6, 1)
    dense, sparse = sr.closure(A, S), sr.closure(sp.csr_array(A), S)
    assert dense.dtype == sparse.dtype == S.default_dtype
    assert np.array_equal(dense, sparse) and np.array_equal(dense, sr.closure(A.astype(S.default_dtype), S))


def test_a_plan_for_bits_needs_no_dense_matrix() -> None:
    n = 300_000
    ring = sp.csr_array((np.ones(n, bool), (np.arange(n), (np.arange(n) + 1) % n)), (n, n))
    assert sr.plan("closure", ring, sr.boolean).method == "components"
    assert sr.plan("closure", ring, sr.boolean, packed=True).memory < sr.plan("closure", ring, sr.boolean).memory


def test_a_path_on_a_large_graph_needs_no_dense_matrix() -> None:
    n = 200_000
    road = sp.csr_array((np.ones(n - 1), (np.arange(n - 1), np.arange(1, n))), (n, n))
    assert sr.path(road, sr.min_plus, n - 4, n - 1) == (3.0, [n - 4, n - 3, n - 2, n - 1])


def test_bits_stay_bits_in_equations() -> None:
    """A packed matrix is eliminated as bits; right-hand sides are arrays."""
    A = matrix(130, sr.boolean)
    plan = sr.plan("solve", sr.pack(A), A[:, :2], sr.boolean)
    assert plan.lowering.kind == "packed"
    np.testing.assert_array_equal(sr.solve(sr.pack(A), A[:, :2], sr.boolean), sr.solve(A, A[:, :2], sr.boolean))


def test_a_graph_in_a_product_stays_sparse() -> None:
    graph = sr.as_graph([("a", "b", 2.0), ("b", "c", 3.0)])
    assert sr.plan("matmul", graph, graph, sr.min_plus).method == "sparse × sparse"
    assert sr.plan("matmul", graph, np.zeros(3), sr.min_plus).method == "sparse × dense"


@pytest.mark.parametrize("representation", [k for k in MAKE if k != "data frame"])
def test_what_is_accumulated_may_be_anything(representation: str) -> None:
    A = matrix(7, sr.min_plus)
    product = sr.matmul(A, A, sr.min_plus)
    for factor in (A, entries(A, sr.min_plus).tocsr()):
        C = MAKE[representation][0](A, sr.min_plus)
        got = sr.matmul(factor, A, sr.min_plus, accumulate=C)
        np.testing.assert_array_equal(np.asarray(got), np.minimum(product, A))


def test_numbers_that_leave_the_range_are_refused_in_sparse_products_too() -> None:
    A, B = sp.csr_array([[0, 0], [1e200, 1e200]]), np.array([[1e200], [-1e200]])
    for other in (B, sp.csr_array(B)):
        with pytest.raises(sr.SemiringError, match=r"the result has no value at \[1, 0\]"):
            sr.matmul(A, other, sr.plus_times)
    assert np.isnan(sr.matmul(A, sp.csr_array(B), sr.plus_times, check=False).data).all()


def test_a_plan_that_is_run_does_all_that_its_verb_does() -> None:
    """It goes on to the next solver, and its errors are the verb's."""
    singular = np.array([[0.5, 0.5], [0.5, 0.5]])
    regular = np.array([[1.0, 1.0], [1.0, 1.0]])  # whatever vertex goes first, it has no star
    inverse = np.array([[0.0, -1.0], [-1.0, 0.0]])
    for made in (lambda A: A, sp.csr_array):
        for verb, B in (("closure", []), ("solve", [np.array([1.0, 2.0])])):
            with pytest.raises(sr.NoClosureError, match="does not exist: I − A is singular"):
                sr.plan(verb, made(singular), *B, sr.plus_times).run()
            found = sr.plan(verb, made(regular), *B, sr.plus_times).run()
            assert np.allclose(np.asarray(found), inverse @ B[0] if B else inverse, rtol=0, atol=1e-15)


def test_packed_answers_and_the_sparse_method_exclude_each_other() -> None:
    with pytest.raises(sr.SemiringError, match="leave out one of the two"):
        sr.closure(sp.csr_array(np.eye(3)), sr.boolean, method="sparse", packed=True)


def test_checks_may_be_left_out_of_sparse_products_and_packed_closures() -> None:
    A = sp.csr_array(np.array([[0, 1e308], [1e308, 0]]))
    overflow = np.array([1e308, -1e308])
    assert sr.matmul(A, overflow, sr.plus_times, check=False).shape == (2,)
    assert sr.closure(np.eye(3, dtype=bool), sr.boolean, packed=True, check=False).count() == 3


def test_options_without_a_meaning_are_refused_by_name() -> None:
    A = matrix(7, sr.min_plus)
    for call, what in (
        (lambda: sr.closure(A, sr.min_plus, packed=True), "one bit per pair is only enough for algebras of False"),
        (lambda: sr.closure(entries(A, sr.min_plus), sr.min_plus, method="sparse", tile=8), "tile is for the dense"),
        (lambda: sr.matmul(entries(A, sr.min_plus), entries(A, sr.min_plus), sr.min_plus, accumulate=A), "accumulate"),
        (lambda: sr.factor(entries(A, sr.min_plus), sr.min_plus, order="best"), "order must be"),
        (lambda: sr.plan("close", A, sr.min_plus), "unknown verb 'close'"),
        (lambda: sr.solve(A, A, sr.min_plus, device="tpu"), "device must be 'cpu' or 'gpu', or None"),
    ):
        with pytest.raises(sr.SemiringError, match=what):
            call()


def test_every_reader_is_a_row_of_the_table() -> None:
    """And every row names a class that there is, in the packages that are installed here."""
    import importlib

    for module, name, reader in READERS:
        if module.partition(".")[0] in ("semiring", "scipy", "networkx", "pandas") and "cuda" not in module:
            assert isinstance(getattr(importlib.import_module(module), name), type), name
        assert callable(reader)


def test_a_plan_says_what_its_verb_lacks_and_needs() -> None:
    A, S = matrix(7, sr.min_plus), sr.min_plus
    for ask, what in (
        (lambda: sr.plan("matmul", A), "matmul takes .*: missing a required argument: 'B'"),
        (lambda: sr.plan("closure", A, A, S), "closure takes .*: too many positional arguments"),
        (lambda: sr.plan("closure", A, S, B=A), "closure has no option 'B'; it has method, reflexive, overwrite, "),
        (lambda: sr.plan("path", A, S), "path needs a source and a target"),
        (lambda: sr.plan("path", A, S, 0, 1, device="gpu"), "path has no option 'device'; it has tol$"),
        (lambda: sr.plan("factor", A, S, tile=3), "factor has no option 'tile'; it has device, check, order"),
        (lambda: sr.plan("closure", A, S, order="best"), "closure has no option 'order'"),
        (lambda: sr.plan(["closure"], A, S), "unknown verb"),  # type: ignore[arg-type]
        (lambda: sr.plan("factor", A, S, method=np.array(["a", "b"])), "factor has no option 'method'"),
        (lambda: sr.plan("closure", A, S, method=np.array(["a", "b"])), "method must be the name of one"),
    ):
        with pytest.raises(sr.SemiringError, match=what):
            ask()
    with pytest.raises(sr.SemiringError, match="order must be"):
        sr.factor(A, sr.min_plus, order="bogus")
    P = sr.pack(matrix(7, sr.boolean))
    if gpu_name() is None:
        with pytest.raises(sr.SemiringError, match="no GPU was found"):
            sr.plan("matmul", P, entries(matrix(7, sr.boolean), sr.boolean), sr.boolean, device="gpu")


@pytest.mark.usefixtures("by_numpy")  # one engine throughout: another one factors anew
@pytest.mark.parametrize("S", [sr.min_plus, sr.plus_times, sr.shortest_hops], ids=lambda S: S.name)
def test_progress_of_a_sparse_closure_is_of_the_whole(S: sr.Semiring, monkeypatch: pytest.MonkeyPatch) -> None:
    """Factoring has its predicted share, and the rows of the answer have the rest."""
    n, shares, factored = 30, Shares(), list[int]()
    grid = sr.as_graph(nx.convert_node_labels_to_integers(nx.grid_2d_graph(n, n)))
    weights = S.array([(1e-3, 1)] * len(grid)) if S.is_record else np.full(len(grid), 1e-3)
    graph = sr.Graph(grid.sources, grid.targets, grid.n, weights, directed=False)
    eliminate = substitution.eliminate

    def watched(*given: Any) -> None:
        eliminate(*given)
        factored.append(len(shares))

    monkeypatch.setattr(substitution, "eliminate", watched)
    sr.closure(graph, S, method="sparse", progress=shares)
    (while_factoring,) = factored
    share = factoring_share(sr.plan("closure", graph, S, method="sparse"))
    assert 0 < share < 1
    assert shares == sorted(shares) and (shares[0], shares[-1]) == (0.0, 1.0) and shares.count(1.0) == 1
    assert while_factoring > 5 and len(shares) - while_factoring > 5
    assert all(part <= share for part in shares[:while_factoring])
    assert shares[while_factoring] == pytest.approx(share)


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("verb", ["closure", "factor", "solve"])
@pytest.mark.parametrize("representation", [*MAKE, *BITS])
def test_progress_rises_to_one(representation: str, verb: str) -> None:
    name = "min_plus" if representation in MAKE else "boolean"
    plain = matrix(130, sr.catalogue[name])
    shares = Shares()
    A = (MAKE | BITS)[representation][0](plain, sr.catalogue[name])
    called(verb, A, sr.catalogue[name], plain[:, :3].copy(), {"progress": shares})
    assert shares == sorted(shares) and shares[-1] == 1.0
