"""The programs of how-to pages give what the libraries that they name give: GraphBLAS, networkit, hmmlearn."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from test_site import cells

import semiring as sr

HOWTO = Path(__file__).parents[1] / "docs" / "site" / "howto"
TEXT = {page: (HOWTO / f"{page}.md").read_text(encoding="utf-8") for page in ("graphblas", "masks", "markov")}
PROGRAMS = ["levels", "parents", "distances", "components", "pagerank", "betweenness"]


def defined(code: str) -> SimpleNamespace:
    """What the functions, imports and algebras in a text define, without the rest of it."""
    def defines(line: ast.stmt) -> bool:
        return (isinstance(line, (ast.Import, ast.ImportFrom, ast.FunctionDef))
                or (isinstance(line, ast.Assign) and ast.unparse(line.value).startswith("sr.Semiring(")))

    names: dict[str, Any] = {}
    program = ast.parse(code)
    program.body = [line for line in program.body if defines(line)]
    exec(compile(program, "page", "exec"), names)
    return SimpleNamespace(**names)


def shown(page: str) -> str:
    """The code in the cells of a page that readers see."""
    return "\n".join(code for tags, code in cells(TEXT[page]) if "remove-cell" not in tags)


def ours(page: str) -> SimpleNamespace:
    """The programs of a page for this library."""
    return defined(shown(page))


def theirs(page: str) -> SimpleNamespace:
    """The programs of a page for GraphBLAS."""
    pytest.importorskip("graphblas")
    return defined("\n".join(re.findall(r"^```python\n(.*?)^```$", TEXT[page], re.MULTILINE | re.DOTALL)))


def random_graph(rng: np.random.Generator, n: int, directed: bool, loops: bool) -> sp.csr_array:
    """A graph of weights 0 … 9, an edge of weight 0 too, in which some vertices have no edges."""
    there = rng.random((n, n)) < rng.choice([0.05, 0.2, 0.5])
    lonely = rng.random(n) < 0.2
    there[lonely] = there[:, lonely] = False
    weights = rng.integers(0, 10, (n, n)).astype(float)
    if not directed:
        there, weights = np.tril(there) | np.tril(there).T, np.tril(weights) + np.tril(weights, -1).T
    if not loops:
        np.fill_diagonal(there, False)
    rows, columns = np.nonzero(there)
    return sp.csr_array(sp.coo_array((weights[rows, columns], (rows, columns)), (n, n)))


def ones(A: sp.csr_array, dtype: Any = float) -> sp.csr_array:
    """The edges of a graph, each 1."""
    return sp.csr_array((np.ones(A.nnz, dtype), A.indices, A.indptr), A.shape)


def stored(A: Any) -> dict[tuple[int, int], Any]:
    """The entries of a sparse matrix of SciPy or GraphBLAS."""
    rows, columns, values = (sp.find(A) if sp.issparse(A) else A.to_coo())
    return dict(zip(zip(rows.tolist(), columns.tolist(), strict=True), values.tolist(), strict=True))


graphs = given(st.integers(1, 25), st.booleans(), st.booleans(), st.integers(0, 2**32))


@settings(max_examples=60)
@graphs
def test_the_programs_of_the_page_give_what_graphblas_gives(n: int, directed: bool, loops: bool, seed: int) -> None:
    here, there = ours("graphblas"), theirs("graphblas")
    take = there.gb.io.from_scipy_sparse
    rng = np.random.default_rng(seed)
    A, source = random_graph(rng, n, directed, loops), int(rng.integers(n))
    edges = ones(A, bool)
    assert here.levels(edges, source).tolist() == there.levels(take(edges), source).to_dense(fill_value=-1).tolist()
    assert here.parents(edges, source).tolist() == there.parents(take(edges), source).to_dense(fill_value=-1).tolist()
    far = there.distances(take(A), source).to_dense(fill_value=np.inf)
    assert here.distances(A, source).tolist() == far.tolist()
    assert here.components(A).tolist() == there.components(take(A)).to_dense().tolist()
    for links in (ones(A), sp.csr_array((A.data / 7 + 0.1, A.indices, A.indptr), A.shape)):
        np.testing.assert_allclose(here.pagerank(links), there.pagerank(take(links)).to_dense(), rtol=1e-9)
    some = rng.permutation(n)[: rng.integers(1, n + 1)]
    shares = there.betweenness(take(ones(A)), some).to_dense(fill_value=0.0)
    np.testing.assert_allclose(here.betweenness(ones(A), some), shares, atol=1e-9)


@settings(max_examples=60)
@given(st.integers(1, 25), st.integers(0, 2**32))
def test_triangles_and_trusses_are_those_of_graphblas(n: int, seed: int) -> None:
    here, there = ours("masks"), theirs("masks")
    A = ones(random_graph(np.random.default_rng(seed), n, directed=False, loops=False), int)
    L, take = sp.csr_array(sp.tril(A, -1)), there.gb.io.from_scipy_sparse
    assert sr.matmul(L, L, sr.counting, mask=L).sum() == there.triangles(take(L))
    for k in (3, 4, 5):
        assert stored(here.truss(A, k)).keys() == stored(there.truss(take(A), k)).keys()


@settings(max_examples=20)
@given(st.integers(1, 25), st.integers(0, 2**32))
def test_triangles_of_edges_are_those_of_networkit(n: int, seed: int) -> None:
    networkit = pytest.importorskip("networkit")
    A = ones(random_graph(np.random.default_rng(seed), n, directed=False, loops=False), int)
    graph = networkit.Graph(n)
    for i, j in zip(*sp.tril(A).coords, strict=True):
        graph.addEdge(i, j)
    graph.indexEdges()
    scores = networkit.sparsification.TriangleEdgeScore(graph)
    scores.run()
    C = sr.matmul(A, A, sr.counting, mask=A).todense()
    assert [C[i, j] for i, j in graph.iterEdges()] == [scores.scores()[graph.edgeId(i, j)]
                                                      for i, j in graph.iterEdges()]


def test_each_program_is_on_the_page_in_both_notations() -> None:
    """Without GraphBLAS, too."""
    for page, names in (("graphblas", PROGRAMS), ("masks", ["truss"])):
        for name in names:
            signatures = re.findall(rf"^def {name}(\(.*\)):$", TEXT[page], re.MULTILINE)
            assert len(signatures) == 2 and signatures[0] == signatures[1], f"{page}: {name}"


def test_matrices_of_graphblas_come_and_go() -> None:
    gb = pytest.importorskip("graphblas")
    take, A = gb.io.from_scipy_sparse, random_graph(np.random.default_rng(0), 12, True, False)
    M, v = take(A), gb.Vector.from_dense(np.arange(12.0))
    assert take(sr.matmul(M, M, sr.min_plus)).isequal(gb.semiring.min_plus(M @ M).new())
    sparse = gb.Vector.from_coo([3, 5], [0.0, 2.0], size=12)
    for found, wanted in ((sr.matmul(M, v, sr.min_plus), gb.semiring.min_plus(M @ v)),
                          (sr.matmul(sparse, M, sr.min_plus), gb.semiring.min_plus(sparse @ M))):
        assert found.tolist() == wanted.new().to_dense(fill_value=np.inf).tolist()


@settings(max_examples=30)
@given(st.integers(1, 6), st.integers(0, 2**32))
def test_the_page_of_hidden_markov_models_gives_what_hmmlearn_gives(machines: int, seed: int) -> None:
    """With other counts, numbers and lengths in place of those of the page."""
    hmm = pytest.importorskip("hmmlearn.hmm")
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 20, machines)
    names: dict[str, Any] = {
        "first": np.add(rng.integers(0, 9, 3), [1, 0, 0]), "follows": rng.integers(0, 3, (3, 3)) + np.eye(3, dtype=int),
        "mean": rng.normal(size=3), "spread": rng.uniform(0.5, 2, 3), "lengths": lengths,
        "seen": 2 * rng.normal(size=lengths.sum())}
    program = ast.parse(shown("markov"))
    program.body = [line for line in program.body if not (isinstance(line, ast.Assign) and names.keys() >= {
        name.id for target in line.targets for name in ast.walk(target) if isinstance(name, ast.Name)})]
    exec(compile(program, "page", "exec"), names)

    def model(**options: Any) -> Any:
        made = hmm.GaussianHMM(3, "diag", **options)
        made.startprob_ = names["first"] / names["first"].sum()
        made.transmat_ = names["follows"] / names["follows"].sum(1, keepdims=True)
        made.means_, made.covars_ = names["mean"][:, None], names["spread"][:, None] ** 2
        return made

    X = names["seen"][:, None]
    peer = model()
    total, posterior = peer.score_samples(X, lengths)
    np.testing.assert_allclose(names["E"], peer._compute_log_likelihood(X))
    np.testing.assert_allclose(names["total"].sum(), total)
    np.testing.assert_allclose(names["posterior"], posterior, atol=1e-9)
    assert names["best"].states().tolist() == peer.decode(X, lengths)[1].tolist()
    learnt = model(n_iter=1, params="stm", init_params="", startprob_prior=1 + names["first"],
                   transmat_prior=1 + names["follows"], means_weight=0).fit(X, lengths)
    for found, wanted in ((names["first_now"], learnt.startprob_), (names["follows_now"], learnt.transmat_)):
        np.testing.assert_allclose(found / found.sum(-1, keepdims=True), wanted, atol=1e-9)
    seen_at_all = names["posterior"].sum(0) > 1e-6
    np.testing.assert_allclose(names["mean_now"][seen_at_all], learnt.means_[seen_at_all, 0], rtol=1e-6)
