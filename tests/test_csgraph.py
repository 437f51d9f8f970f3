"""SciPy's graph functions with this library behind them: SciPy's own tests, and answers beside SciPy's."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from exchanged import exchanged
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csgraph as theirs

from semiring import csgraph as ours
from semiring import distances

OTHERWISE = {"test_predecessors": "of two shortest paths it expects the one of fewer edges, and ours is another"}
SEARCHES = ("floyd_warshall", "shortest_path", "dijkstra", "bellman_ford", "johnson")


def of_scipy() -> dict[str, Callable[..., None]]:
    """SciPy's own tests of these functions, by name: as people call them, and where nothing is given to SciPy."""
    found = {}
    for name in ("test_shortest_path", "test_connected_components", "test_traversal"):
        module = exchanged(name)
        for test, function in vars(module).items() if module else ():
            if test.startswith("test_") and callable(function):
                found[f"{test}_of_scipy"] = function
                if test not in OTHERWISE:
                    found[f"{test}_of_scipy_by_us"] = function
    return found


globals().update(of_scipy())


def test_scipys_own_tests_were_found_and_ask_us() -> None:
    module = exchanged("test_shortest_path")
    if module is None:
        pytest.skip("SciPy was installed without its tests")
    assert module.dijkstra is ours.dijkstra and module.shortest_path is ours.shortest_path
    assert len(of_scipy()) > 80
    assert theirs.dijkstra is not ours.dijkstra


@pytest.fixture(autouse=True)
def small(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is so small that SciPy does it, but where SciPy's tests ask as people do."""
    if not request.node.originalname.endswith("_of_scipy"):
        monkeypatch.setattr(distances, "SCIPY_WORK", 0)


@st.composite
def graphs(draw: st.DrawFn, negative: bool = False) -> np.ndarray:
    """Dense arrays of lengths, 0 where there is no edge."""
    n, seed = draw(st.integers(1, 9)), draw(st.integers(0, 10**6))
    random = np.random.default_rng(seed)
    A = random.integers(1, 9, (n, n)).astype(float) * (random.random((n, n)) < draw(st.sampled_from((0.15, 0.4, 0.9))))
    if negative:  # lengths and differences of heights: no cycle is negative
        heights = random.integers(-20, 20, n)
        A = np.where(A > 0, A + heights - heights[:, None], 0)
    return A


def forms(A: np.ndarray) -> list[Any]:
    """The same graph, dense and sparse; edges of length 0 are lost in none."""
    places = np.nonzero(A)
    return [A, A.tolist(), np.asfortranarray(A), sp.csr_array((A[places], places), A.shape),
            sp.coo_array((A[places], places), A.shape), sp.csc_matrix((A[places], places), A.shape),
            np.ma.masked_equal(A, 0)]


def walked(A: np.ndarray, distances: np.ndarray, before: np.ndarray, sources: np.ndarray) -> bool:
    """Whether predecessors lead along edges whose lengths add up to the distances."""
    for s, row, come in zip(sources, distances, before, strict=True):
        for v in range(A.shape[0]):
            if v == s or np.isinf(row[v]):
                assert come[v] == -9999
                continue
            u, seen = v, 0.0
            for _ in range(A.shape[0]):
                seen += A[come[u], u]
                u = come[u]
                if u == s:
                    break
            assert u == s and seen == row[v]
    return True


@pytest.mark.parametrize("name", SEARCHES)
@given(A=graphs(), directed=st.booleans(), unweighted=st.booleans(), form=st.integers(0, 6))
@settings(max_examples=40)
def test_distances_are_scipys(name: str, A: np.ndarray, directed: bool, unweighted: bool, form: int) -> None:
    np.fill_diagonal(A, 0)
    options = {"directed": directed, "unweighted": unweighted}
    expected = getattr(theirs, name)(A, **options)
    given_graph = forms(A)[form]
    found, before = getattr(ours, name)(given_graph, return_predecessors=True, **options)
    assert found.dtype == np.float64 and before.dtype == np.int32
    assert np.array_equal(found, expected), f"A = np.array({A.tolist()})"
    assert np.array_equal(getattr(ours, name)(given_graph, **options), expected)
    lengths = np.where(A > 0, 1.0, 0) if unweighted else A
    edges = np.where(lengths > 0, lengths, np.inf)
    edges = edges if directed else np.minimum(edges, edges.T)
    assert walked(edges, found, before, np.arange(len(A)))


@pytest.mark.parametrize("name", ["floyd_warshall", "shortest_path", "bellman_ford", "johnson"])
@given(A=graphs(negative=True), form=st.integers(0, 6))
@settings(max_examples=25)
def test_negative_edges(name: str, A: np.ndarray, form: int) -> None:
    np.fill_diagonal(A, 0)
    assert np.array_equal(getattr(ours, name)(forms(A)[form]), getattr(theirs, name)(A)), f"A = np.array({A.tolist()})"


@given(A=graphs(), data=st.data(), limit=st.sampled_from((0, 3, 8.5, np.inf)), directed=st.booleans())
@settings(max_examples=60)
def test_dijkstra_from_some(A: np.ndarray, data: st.DataObject, limit: float, directed: bool) -> None:
    np.fill_diagonal(A, 0)
    n = len(A)
    shape = data.draw(st.sampled_from([(), (1,), (3,), (2, 2)]))
    indices = np.array(data.draw(st.lists(st.integers(-n, n - 1), min_size=int(np.prod(shape)),
                                          max_size=int(np.prod(shape))))).reshape(shape)
    options: dict[str, Any] = {"indices": indices, "limit": limit, "directed": directed}
    assert np.array_equal(ours.dijkstra(A, **options), theirs.dijkstra(A, **options)), f"A = np.array({A.tolist()})"
    found, before = ours.dijkstra(A, return_predecessors=True, **options)
    edges = np.where(A > 0, A, np.inf)
    edges = edges if directed else np.minimum(edges, edges.T)
    assert walked(edges, found.reshape(-1, n), before.reshape(-1, n), np.mod(indices, n).ravel())


@given(A=graphs(), data=st.data(), limit=st.sampled_from((0, 3, 8.5, np.inf)), directed=st.booleans())
@settings(max_examples=60)
def test_the_nearest_of_some(A: np.ndarray, data: st.DataObject, limit: float, directed: bool) -> None:
    np.fill_diagonal(A, 0)
    n = len(A)
    indices = data.draw(st.one_of(st.none(), st.lists(st.integers(-n, n - 1), min_size=1, max_size=4)))
    options: dict[str, Any] = {"indices": indices, "limit": limit, "directed": directed, "min_only": True}
    expected = theirs.dijkstra(A, **options)
    assert np.array_equal(ours.dijkstra(A, **options), expected), f"A = np.array({A.tolist()})"
    found, before, origin = ours.dijkstra(A, return_predecessors=True, **options)
    assert np.array_equal(found, expected) and before.dtype == origin.dtype == np.int32
    chosen = range(n) if indices is None else {i % n for i in indices}
    edges = np.where(A > 0, A, np.inf)
    edges = edges if directed else np.minimum(edges, edges.T)
    for v in range(n):
        if np.isinf(found[v]):
            assert before[v] == origin[v] == -9999
        elif before[v] == -9999:
            assert v in chosen and origin[v] == v and found[v] == 0
        else:
            assert origin[v] == origin[before[v]] and found[v] == found[before[v]] + edges[before[v], v]


# What SciPy's functions do differently among each other

def test_short_edges_of_dense_arrays_are_edges() -> None:
    A = np.array([[0, 1e-9], [0, 0]])
    for name in SEARCHES:
        assert getattr(ours, name)(A)[0, 1] == 1e-9, name
    assert ours.connected_components(A)[0] == 1
    assert ours.breadth_first_order(A, 0)[0].tolist() == [0, 1]


def test_what_means_that_there_is_none() -> None:
    inf, nan = np.inf, np.nan
    A = np.array([[0, nan, 5], [inf, 0, -inf], [2, 0, 0]])
    expected = [[0, inf, 5], [inf, 0, inf], [2, inf, 0]]
    assert ours.floyd_warshall(A).tolist() == expected
    stored = sp.csr_array(([nan, 5.0, -inf, 2.0], ([0, 0, 1, 2], [1, 2, 2, 0])), (3, 3))
    assert ours.floyd_warshall(stored).tolist() == expected


def test_zeros_that_are_edges() -> None:
    """What a mask leaves, and what a sparse matrix stores."""
    masked = np.ma.array([[0, 0, 7], [0, 0, 0], [0, 0, 0]], mask=[[1, 0, 0], [1, 1, 0], [1, 1, 1]])
    stored = sp.csr_array(([0.0, 7.0, 0.0], ([0, 0, 1], [1, 2, 2])), (3, 3))
    for A in masked, stored:
        for name in SEARCHES:
            assert getattr(ours, name)(A).tolist() == [[0, 0, 0], [np.inf, 0, 0], [np.inf, np.inf, 0]], name
    _, before = ours.floyd_warshall(stored, return_predecessors=True)
    assert before.tolist() == [[-9999, 0, 1], [-9999, -9999, 1], [-9999] * 3]


def test_parallel_edges() -> None:
    """Side by side in compressed rows; coordinates are added up, as by SciPy's conversion."""
    rows = sp.csr_array((np.array([5.0, 2.0]), np.array([1, 1]), np.array([0, 2, 2])), (2, 2))
    assert ours.shortest_path(rows)[0, 1] == 2 and ours.shortest_path(rows, directed=False)[1, 0] == 2
    assert ours.shortest_path(sp.coo_array(([5.0, 2.0], ([0, 0], [1, 1])), (2, 2)))[0, 1] == 7


@pytest.mark.parametrize("name", SEARCHES)
def test_a_negative_loop_is_a_negative_cycle(name: str) -> None:
    A = np.array([[0, 1.0], [0, -1.0]])
    with pytest.raises(theirs.NegativeCycleError, match="the cycle 1 → 1 of weight -1"):
        getattr(ours, name)(A)


def test_a_negative_loop_that_cannot_be_reached() -> None:
    """Nor is it met where it is one of two loops, a positive one beside it."""
    loops = sp.csr_array((np.array([1.0, 5, -1, 2]), np.array([1, 2, 2, 0]), np.array([0, 1, 1, 4])), (3, 3))
    for A in (np.array([[0, 1.0, 0], [0, 0, 0], [2, 0, -1]]), loops):
        assert ours.bellman_ford(A, indices=0).tolist() == [0, 1, np.inf]
        with pytest.warns(UserWarning, match="negative weights"):
            assert ours.dijkstra(A, indices=[0], min_only=True).tolist() == [0, 1, np.inf]
        for search in (lambda A: ours.bellman_ford(A, indices=2), ours.johnson, ours.floyd_warshall,
                       lambda A: ours.johnson(A, indices=0), lambda A: ours.shortest_path(A, indices=0)):
            with pytest.raises(theirs.NegativeCycleError, match="2"):
                search(A)


def test_a_negative_cycle_that_cannot_be_reached() -> None:
    """Bellman and Ford do not meet it, Johnson looks everywhere."""
    A = np.zeros((4, 4))
    A[0, 1], A[2, 3], A[3, 2] = 1, -2, 1
    assert ours.bellman_ford(A, indices=0).tolist() == [0, 1, np.inf, np.inf]
    for search in (lambda: ours.johnson(A, indices=0), lambda: ours.bellman_ford(A, indices=[0, 3]),
                   lambda: ours.floyd_warshall(A), lambda: ours.shortest_path(A, indices=0)):
        with pytest.raises(theirs.NegativeCycleError):
            search()


def test_dijkstra_warns_of_negative_edges_and_is_right() -> None:
    A = np.array([[0, 2, 1, 0], [0, 0, 0, 1], [0, 0, 0, 9], [0, 0, -3, 0]], float)
    with pytest.warns(UserWarning, match="negative weights"):
        assert ours.dijkstra(A, indices=0).tolist() == [0, 2, 0, 3]
    with pytest.warns(UserWarning, match="negative weights"):
        found = ours.dijkstra(A, indices=[0], min_only=True, return_predecessors=True, limit=2.5)
    assert [x.tolist() for x in found] == [[0, 2, 0, np.inf], [-9999, 0, 3, 1], [0, 0, 0, -9999]]


def test_paths_within_a_limit_that_go_beyond_it_can_be_followed() -> None:
    """3 is too far, but the way to 2 leads through it; 4 is too far and leads nowhere, and 5 is not reached."""
    A = np.zeros((6, 6))
    A[0, 1], A[0, 2], A[1, 3], A[3, 2], A[1, 4], A[3, 4] = 2, 1, 1, -3, 1, 4
    with pytest.warns(UserWarning, match="negative weights"):
        rows, before = ours.dijkstra(A, indices=[0, 5, 0], limit=2.5, return_predecessors=True)
        _, nearest, origins = ours.dijkstra(A, indices=[0], limit=2.5, return_predecessors=True, min_only=True)
        unlimited, all_before = ours.dijkstra(A, indices=[0], return_predecessors=True)
    assert unlimited.tolist() == [[0, 2, 0, 3, 3, np.inf]] and all_before.tolist() == [[-9999, 0, 3, 1, 1, -9999]]
    assert rows.tolist() == [[0, 2, 0, np.inf, np.inf, np.inf], [np.inf] * 5 + [0], [0, 2, 0, np.inf, np.inf, np.inf]]
    assert before.tolist() == [[-9999, 0, 3, 1, -9999, -9999], [-9999] * 6, [-9999, 0, 3, 1, -9999, -9999]]
    assert nearest.tolist() == before[0].tolist() and origins.tolist() == [0, 0, 0, -9999, -9999, -9999]


# Refusals

@pytest.mark.parametrize(("call", "said"), [
    (lambda: ours.dijkstra(np.ones((2, 3))), "square"), (lambda: ours.dijkstra(np.ones(3)), "matrix"),
    (lambda: ours.dijkstra(np.ones((2, 2)), limit=-1), "limit must be >= 0"),
    (lambda: ours.dijkstra(np.ones((2, 2)), limit=np.nan), "limit must be >= 0, and is nan"),
    (lambda: ours.breadth_first_order(np.ones((2, 2)), 2), "i_start out of range"),
    (lambda: ours.breadth_first_order(np.zeros((0, 0)), 0), "i_start out of range"),
    (lambda: ours.dijkstra(np.ones((2, 2)), indices=[2]), "out of range"),
    (lambda: ours.johnson(np.ones((2, 2)), indices=-3), "out of range"),
    (lambda: ours.shortest_path(np.ones((2, 2)), method="X"), "unrecognized method 'X'"),
    (lambda: ours.shortest_path(np.ones((2, 2)), method="FW", indices=[0]), "Cannot specify indices"),
    (lambda: ours.floyd_warshall("roads"), "could not convert"),
    (lambda: ours.dijkstra(np.array([[0, 2j], [1, 0]])), "lengths of edges must be real numbers"),
    (lambda: ours.johnson(sp.csr_array([[0, 2j], [1, 0]])), "lengths of edges must be real numbers"),
])
def test_errors_are_value_errors(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        call()


def test_yen_is_of_newer_scipys(monkeypatch: pytest.MonkeyPatch) -> None:
    if hasattr(theirs, "yen"):
        assert ours.yen([[0, 2, 9], [0, 0, 3], [0, 0, 0]], 0, 2, 3).tolist() == [5, 9]
        with pytest.raises(ValueError, match="must have 0 <="):
            ours.yen(np.ones((2, 2)), 0, 9, 1)
        with pytest.raises(ValueError, match="K must be >= 1, and is 0"):
            ours.yen(np.ones((2, 2)), 0, 1, 0)
        monkeypatch.delattr(theirs, "yen")
    with pytest.raises(NotImplementedError, match=r"yen needs SciPy 1\.14"):
        ours.yen(np.ones((2, 2)), 0, 1, 1)


def test_nothing_at_all() -> None:
    for name in SEARCHES:
        assert getattr(ours, name)(np.zeros((0, 0))).shape == (0, 0)
    distances, before = ours.floyd_warshall(np.zeros((0, 0)), return_predecessors=True)
    assert distances.shape == before.shape == (0, 0)
    assert ours.dijkstra(np.ones((3, 3)), indices=[]).shape == (0, 3)


def test_memory_is_written_where_it_is_asked_for() -> None:
    A = np.array([[0, 2.0, 9.0], [0, 0, 3.0], [0, 0, 0]])
    found = ours.floyd_warshall(A, overwrite=True)
    assert found is A and A[0, 2] == 5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        matrix = np.matrix([[0, 2.0, 9.0], [0, 0, 3.0], [0, 0, 0]])
    assert type(ours.floyd_warshall(matrix, overwrite=True)) is np.ndarray and matrix[0, 2] == 5
    whole = np.array([[0, 2, 9], [0, 0, 3], [0, 0, 0]])
    assert ours.floyd_warshall(whole, overwrite=True)[0, 2] == 5 and whole[0, 2] == 9


def test_yen_says_which_scipy_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(theirs, "yen", raising=False)
    with pytest.raises(NotImplementedError, match=r"SciPy 1\.14"):
        ours.yen(np.array([[0, 1.0], [0, 0]]), 0, 1, 1)


def test_every_order_in_memory_and_every_format_is_taken() -> None:
    """SciPy's `floyd_warshall` may leave an array in Fortran order as it was, and refuses coordinates."""
    A = np.array([[0, 2, 9], [0, 0, 3], [0, 0, 0]], float)
    expected = [[0, 2, 5], [np.inf, 0, 3], [np.inf, np.inf, 0]]
    for form in (np.asfortranarray(A), np.repeat(A, 2, 0)[::2], sp.coo_array(A), sp.dok_array(A), sp.bsr_array(A),
                 sp.dia_array(A), sp.lil_array(A)):
        assert ours.floyd_warshall(form).tolist() == expected, type(form)


ASKED: dict[str, Callable[[Any], Any]] = {
    **{name: getattr(ours, name) for name in SEARCHES},
    **{f"{name}, undirected": (lambda A, name=name: getattr(ours, name)(A, directed=False)) for name in SEARCHES},
    **{f"{name}, unweighted": (lambda A, name=name: getattr(ours, name)(A, unweighted=True)) for name in SEARCHES},
    "shortest_path from some": lambda A: ours.shortest_path(A, indices=[0]),
    "dijkstra from the nearest": lambda A: ours.dijkstra(A, indices=[0], min_only=True),
    "yen": lambda A: ours.yen(A, 0, A.shape[0] - 1, 3) if hasattr(theirs, "yen") and A.shape[0] > 1 else None,
    "weak components": ours.connected_components,
    "strong components": lambda A: ours.connected_components(A, connection="strong"),
    "breadth_first_order": lambda A: ours.breadth_first_order(A, 0),
    "plan": ours.plan,
    "predecessors": lambda A: ours.floyd_warshall(A, return_predecessors=True),
}


def alike(a: Any, b: Any) -> bool:
    return (all(map(alike, a, b)) if isinstance(a, tuple) else np.array_equal(a, b)) if a is not None else b is None


@pytest.mark.parametrize("asked", ASKED)
@given(A=graphs(), block=st.integers(1, 3), zero=st.booleans())
@settings(max_examples=15)
def test_padding_is_no_edge(asked: str, A: np.ndarray, block: int, zero: bool) -> None:
    """Blocks and diagonals store zeros to fill them up; every other format stores what it is given, 0 too."""
    n = block * (len(A) // block) or block
    A = np.resize(A, (n, n))
    np.fill_diagonal(A, 0)
    plain = sp.csr_array(A)
    for padded in (sp.bsr_array(plain, blocksize=(block, block)), sp.dia_array(plain)):
        assert padded.format == "dia" or padded.nnz % block**2 == 0
        assert alike(ASKED[asked](padded), ASKED[asked](plain)), f"{padded.format}: A = np.array({A.tolist()})"
    places = np.nonzero(A) if not zero else np.nonzero(~np.eye(n, dtype=bool))
    stored = sp.coo_array((A[places], places), shape=(n, n))
    expected = ASKED[asked](stored.tocsr())
    unsorted = sp.csr_array(stored)
    for row in range(n):
        part = slice(unsorted.indptr[row], unsorted.indptr[row + 1])
        unsorted.indices[part], unsorted.data[part] = unsorted.indices[part][::-1], unsorted.data[part][::-1]
    unsorted = sp.csr_array((np.append(unsorted.data, -7.0), np.append(unsorted.indices, 0), unsorted.indptr), (n, n))
    for form in (stored, stored.tocsc(), stored.tolil(), stored.todok(), unsorted):
        ordered = asked in ("breadth_first_order", "predecessors") and form is unsorted  # equal answers may differ
        assert ordered or alike(ASKED[asked](form), expected), f"{form.format}: A = np.array({A.tolist()})"


@pytest.mark.parametrize("connection", ["weak", "strong"])
@given(A=graphs(), seed=st.integers(0, 99))
@settings(max_examples=30)
def test_complex_entries_are_edges_where_no_length_is_asked_for(connection: str, A: np.ndarray, seed: int) -> None:
    """For components, for the order of a search, and for edges of length 1; some have no real part."""
    turned = A * np.random.default_rng(seed).choice([1j, 1 + 2j, -3.0], A.shape)
    for form in (turned, sp.csr_array(turned), sp.bsr_array(turned), np.ma.array(turned, mask=A == 0)):
        expected = theirs.connected_components(sp.csr_array(A), connection=connection)
        assert alike(ours.connected_components(form, connection=connection), expected)
        assert alike(ours.breadth_first_order(form, 0), ours.breadth_first_order(A, 0))
        assert alike(ours.dijkstra(form, unweighted=True), ours.dijkstra(A, unweighted=True))


def test_the_rest_is_scipys() -> None:
    assert ours.minimum_spanning_tree is theirs.minimum_spanning_tree
    assert ours.reconstruct_path is theirs.reconstruct_path
    with pytest.raises(AttributeError):
        _ = ours.no_such_function
    assert not hasattr(ours, "__path__")


@pytest.mark.parametrize("connection", ["weak", "strong"])
def test_components_of_parallel_edges(connection: str) -> None:
    """SciPy's search for strong components never ends on them."""
    A = sp.csr_array((np.array([5.0, 2.0, 9.0, 1.0]), np.array([1, 1, 0, 0]), np.array([0, 2, 3, 4])), (3, 3))
    count, labels = ours.connected_components(A, connection=connection)
    assert count == (1 if connection == "weak" else 2) and labels[0] == labels[1] and A.nnz == 4
    assert (labels[2] == labels[0]) == (connection == "weak")
    order, before = ours.breadth_first_order(A, 2)
    assert order.tolist() == [2, 0, 1] and before.tolist() == [2, 0, -9999]
