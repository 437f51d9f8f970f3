"""Questions to a transitive closure, against slow and obvious answers."""

from __future__ import annotations

import itertools
import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.results import reachability as module
from semiring.results.acyclic import condensation, transitive_reduction
from semiring.results.reachability import Reachability, reach

SIZES = st.one_of(st.sampled_from([0, 1, 2, 63, 64, 65, 130]), st.integers(0, 40))
SETTINGS = settings(max_examples=40)
ROADS = [("Ayr", "Bute"), ("Bute", "Coll"), ("Coll", "Bute"), ("Coll", "Dale"), ("Eigg", "Dale")]
EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "dependencies.py"


def digraph(n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.random((n, n)) < rng.choice([0, 0.5, 1, 2, n]) / max(n, 1)


def star(A: np.ndarray) -> np.ndarray:
    """Warshall."""
    R = A.copy()
    for k in range(len(A)):
        R |= R[:, k, None] & R[k]
    return R | np.eye(len(A), dtype=bool)


def edges_of(A: np.ndarray) -> sr.Graph:
    return sr.as_graph(np.nonzero(A), len(A))


def refused(message: str, call, *arguments) -> None:
    with pytest.raises(sr.GraphError, match=message):
        call(*arguments)


@pytest.mark.usefixtures("machine_code")  # only there do vertices share rows
@SETTINGS
@given(SIZES, st.integers(0, 10**6), st.sampled_from([np.asarray, sp.csr_array, edges_of]), st.booleans())
def test_questions(n: int, seed: int, form: Any, joined: bool) -> None:
    """Of an array, of a sparse matrix and of edges, also with large components, which share a row."""
    A = digraph(n, seed)
    if joined:
        A[np.arange(0, n - 3, 2), np.arange(2, n - 1, 2)] = True
        A[n - n % 2 - 2 :, :1] = True
    expected = star(A)
    R = reach(form(A))
    count = len(np.unique(expected & expected.T, axis=0))
    if form is not np.asarray:
        assert (len(R._rows.words) == count) is (2 * count <= n or count == n)
    assert repr(R) == f"Reachability({n:,} vertices, {int(expected.sum()):,} pairs)"
    i, j = np.divmod(np.arange(n * n), max(n, 1))
    assert np.array_equal(R.pairs(i, j), expected.reshape(-1))
    for v in range(n):
        others = np.arange(n) != v
        assert R.descendants(v).tolist() == np.flatnonzero(expected[v] & others).tolist()
        assert R.ancestors(v).tolist() == np.flatnonzero(expected[:, v] & others).tolist()
        assert R.reaches(v, n - 1 - v) is bool(expected[v, n - 1 - v])
    assert R.descendant_counts().tolist() == (expected.sum(1) - 1).tolist()
    assert R.ancestor_counts().tolist() == (expected.sum(0) - 1).tolist()
    assert np.array_equal(R.closure, expected)


@SETTINGS
@given(SIZES, st.integers(0, 10**6), st.sampled_from([np.asarray, sp.csr_array]))
def test_components(n: int, seed: int, form: Any) -> None:
    A = digraph(n, seed)
    count, labels = sp.csgraph.connected_components(sp.csr_array(A), connection="strong") if n else (0, [])
    R = reach(form(A))
    found = R.component_labels()
    assert len(set(zip(found.tolist(), list(labels), strict=True))) == count == found.max(initial=-1) + 1
    groups = R.strongly_connected_components()
    assert sorted(itertools.chain(*groups)) == list(range(n)) and len(groups) == count
    assert [g[0] for g in groups] == sorted(g[0] for g in groups)
    assert all((found[g] == c).all() for c, g in enumerate(groups))


@SETTINGS
@given(SIZES, st.integers(0, 10**6), st.sampled_from("?ihBfd"), st.sampled_from(["csr", "csc", "coo", "lil", "bsr"]))
def test_sparse_matrices_stay_sparse(n: int, seed: int, dtype: str, form: str) -> None:
    """An explicit 0 is an edge, a False is not, whichever way it goes."""
    A = digraph(n, seed)
    stored = np.argwhere(A)
    values = np.random.default_rng(seed).integers(0, 3, len(stored)).astype(dtype)
    if form == "bsr":
        values[:] = 1  # blocks cannot tell a 0 from padding
    matrix = sp.coo_array((values, tuple(stored.T)), A.shape).asformat(form) if n else sp.coo_array((0, 0), dtype=dtype)
    entries = matrix.tocoo()
    edges = np.zeros_like(A)
    edges[entries.row, entries.col] = entries.data.astype(bool) if dtype == "?" or form == "bsr" else True
    assert np.array_equal(reach(matrix).closure, star(edges))
    assert module.is_by_entries(matrix) is (matrix.format in ("csr", "csc", "coo"))


def test_a_sparse_matrix_is_not_packed_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "pack_named", None)
    assert reach(sp.csr_array(np.eye(3, k=1))).descendants(0).tolist() == [1, 2]
    refused("a graph's matrix must be square", reach, sp.csr_array((2, 3)))
    with pytest.raises(sr.SemiringError, match=r"A\[0, 1\] is NaN"):
        reach(sp.csr_array(np.array([[0, np.nan], [0, 0]])))


def test_components_in_bands(monkeypatch: pytest.MonkeyPatch) -> None:
    A = np.random.default_rng(5).random((1300, 1300)) < 1.2 / 1300
    closure = reach(A).closure
    whole = module.first_of_component(closure)
    assert 1 < len(np.unique(whole)) < 1300
    monkeypatch.setattr(module, "BAND_ENTRIES", 1)
    assert np.array_equal(module.first_of_component(closure), whole)


def test_names() -> None:
    nx = pytest.importorskip("networkx")
    makes = [ROADS, sr.as_graph(ROADS), sr.adjacency(ROADS, sr.boolean), sr.adjacency(ROADS, sr.min_plus),
             nx.DiGraph(ROADS)]
    for graph in makes:
        R = reach(graph)
        assert R.names == ["Ayr", "Bute", "Coll", "Dale", "Eigg"]
        assert R.reaches("Ayr", "Dale") and not R.reaches("Dale", "Ayr") and R.reaches("Ayr", "Ayr")
        assert R.pairs(["Ayr", "Eigg"], ["Coll", "Ayr"]).tolist() == [True, False]
        assert R.descendants("Bute") == ["Coll", "Dale"] and R.ancestors("Dale") == ["Ayr", "Bute", "Coll", "Eigg"]
        assert R.strongly_connected_components() == [["Ayr"], ["Bute", "Coll"], ["Dale"], ["Eigg"]]
        assert repr(R) == "Reachability(5 vertices, 13 pairs, named)"
    refused("did you mean 'Bute'", R.reaches, "Bude", "Ayr")
    refused("did you mean 'Dale'", R.pairs, ["Ayr"], ["Dael"])
    undirected = reach(sr.as_graph(ROADS, directed=False))
    assert undirected.closure.count() == 25


def test_positions_and_what_is_none() -> None:
    R = reach([(0, 1), (1, 2)])
    assert R.pairs([[0], [2]], [0, 1, 2]).tolist() == [[True, True, True], [False, False, True]]
    assert R.pairs([], []).tolist() == []
    for bad in (3, -1, "x", 1.5):
        refused("the vertices have no names, they are the integers 0 to 2", R.reaches, 0, bad)
        refused("the vertices have no names, they are the integers 0 to 2", R.pairs, [0], [bad])
    refused("square", reach, np.zeros((2, 3)))
    refused("square", Reachability, PackedMatrix.zeros(2, 3))
    refused("2 names for 3 vertices", Reachability, PackedMatrix.identity(3), ["a", "b"])


def test_the_packed_matrix_is_not_changed() -> None:
    dense = digraph(70, 1)
    given_ = PackedMatrix.from_dense(dense)
    reach(given_)
    condensation(given_)
    transitive_reduction(PackedMatrix.from_dense(np.triu(dense, 1)))
    assert given_ == PackedMatrix.from_dense(dense)


# The example


def test_the_example_runs_here() -> None:
    done = subprocess.run([sys.executable, str(EXAMPLE), "SciPy"], capture_output=True, text=True, check=True)
    assert "scipy needs: numpy" in done.stdout and re.search(r"numpy +\d+ need it", done.stdout)
    done = subprocess.run([sys.executable, str(EXAMPLE), "no-such-thing"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "no-such-thing is not installed\n")


@pytest.mark.parametrize("packaging", [True, False])
def test_the_example_on_a_known_environment(
    packaging: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if packaging:
        pytest.importorskip("packaging")
    else:
        monkeypatch.setitem(sys.modules, "packaging.requirements", None)
    installed = {
        "app": ["Web_Kit[fast] (>=2)", "tls; python_version >= '3'", "absent", "docs; extra == 'dev'"],
        "web.kit": ["tls", "speed ; extra == 'fast'"],
        "tls": None, "speed": ["loop-a"], "loop-a": ["loop-b"], "loop-b": ["loop-a"], "docs": [],
        "old": ["tls; python_version < '3'"],
    }
    found = [SimpleNamespace(name=name, requires=requires) for name, requires in installed.items()]
    monkeypatch.setattr("importlib.metadata.distributions", lambda: found)
    example = runpy.run_path(str(EXAMPLE))
    graph = example["requirements"]()
    edges = {(graph.names[i], graph.names[j]) for i, j in zip(graph.sources, graph.targets, strict=True)}
    expected = {("app", "web-kit"), ("app", "tls"), ("web-kit", "tls"), ("speed", "loop-a"), ("loop-a", "loop-b"),
                ("loop-b", "loop-a")}
    assert edges == expected | ({("web-kit", "speed")} if packaging else {("old", "tls")})
    assert example["main"](["app"]) == 0
    out = capsys.readouterr().out
    assert "These need one another: loop-a, loop-b" in out
    assert "1 requirements follow from others:\n  app needs tls\n" in out
    assert "app is needed by: nothing" in out


def test_a_notebook_shows_how_much_vertices_reach():
    page = sr.reach([("<a>", "b"), ("b", "c")])._repr_html_()
    assert '<th scope="row">&lt;a&gt;</th><td>2</td><td>0</td>' in page
    assert '<th scope="row">c</th><td>0</td><td>2</td>' in page
    assert sr.reach([(i, i + 1) for i in range(20)])._repr_html_().count("<tr>") == 12


@pytest.mark.parametrize("ready", [lambda M: M, sr.prepare], ids=["as it is", "prepared"])
@pytest.mark.parametrize("kind", ["dense", "sparse", "packed"])
def test_no_question_changes_the_matrix(kind: str, ready: Any) -> None:
    """Also where its bits are those that are computed with."""
    A = np.array([[False, True, True], [False, False, True], [False, False, False]])
    M = sr.Matrix(A.copy(), sr.boolean, ["x", "y", "z"]).hold(kind)
    given_matrix = ready(M)
    for asked in (sr.reach, sr.closure, sr.components, sr.condensation, sr.transitive_reduction, sr.topological_order,
                  sr.find_cycle, sr.bridges, sr.pack, lambda x: sr.closure(x, reflexive=False),
                  lambda x: sr.closure(x, packed=True), lambda x: sr.matmul(x, x)):
        asked(given_matrix)
        assert np.array_equal(M.to_numpy(), A)
    assert sr.reach(given_matrix).names == ["x", "y", "z"]
