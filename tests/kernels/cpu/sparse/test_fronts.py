"""The compiled fronts: factors of any structure against Floyd and Warshall's algorithm in NumPy, and their layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algorithms.sparse.analysis import Analysis, analyse
from semiring.algorithms.sparse.elimination import close_front
from semiring.kernels.cpu.compile import rounds
from semiring.kernels.cpu.compile.program import Program
from semiring.kernels.cpu.sparse import fronts as module
from semiring.kernels.cpu.sparse.fronts import Fronts, Planes, exchanged, fields, layout_of
from semiring.kernels.lowering.general import general
from semiring.machine import threads

F8, inf = np.dtype("f8"), np.inf
LOW = general(sr.min_plus, F8)
RECORDS = general(sr.shortest_hops, sr.shortest_hops.default_dtype)
quick = settings(max_examples=50)


def compressed(A: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows, columns = np.nonzero(np.isfinite(A))
    offsets = np.searchsorted(rows, np.arange(len(A) + 1)).astype(np.int64)
    return offsets, columns.astype(np.int64), A[rows, columns]


def warshall(A: np.ndarray) -> np.ndarray:
    closed = np.minimum(A, np.where(np.eye(len(A), dtype=bool), 0, inf))
    for k in range(len(A)):
        closed = np.minimum(closed, closed[:, k, None] + closed[k])
    return closed


def graph(random: np.random.Generator, n: int, degree: float) -> np.ndarray:
    """Whole weights, so that sums are exact in any order."""
    A = np.full((n, n), inf)
    some = random.random((n, n)) < degree / max(n, 1)
    A[some] = random.integers(0, 9, some.sum())
    return A


def refuse(F: np.ndarray, pivots: int, kernel: Any, start: int) -> None:
    raise AssertionError("a small front was handed out")


def factored(A: np.ndarray, method: str = "natural", leaf: int = 32, merge: bool = True, count: int = 1) -> Fronts:
    offsets, columns, values = compressed(A)
    found = Fronts(analyse(offsets, columns, method=method, leaf=leaf, merge=merge), LOW, count)
    assert found.factor(values, refuse) == -1
    return found


@quick
@given(
    st.sampled_from([0, 1, 2, 7, 16, 40]), st.sampled_from([0.5, 1.5, 3]), st.sampled_from(["natural", "levels"]),
    st.sampled_from([0, 2, 32]), st.booleans(), st.integers(0, 2**32 - 1), st.sampled_from([1, 3]),
)
def test_closures(n: int, degree: float, method: str, leaf: int, merge: bool, seed: int, count: int) -> None:
    random = np.random.default_rng(seed)
    A = graph(random, n, degree)
    expected, F = warshall(A), factored(A, method, leaf, merge, count)
    assert F.threads == count
    assert (F.pivots == 0).all() and F.pivots.shape == (n,)  # whatever stays on a diagonal is 1
    sources = random.integers(0, n, 5) if n else np.empty(0, np.int64)
    out = np.full((len(sources), n), -7.0)
    F.rows(sources, out)
    assert np.array_equal(out, expected[sources])
    F.rows(sources, out, settled=True)
    assert np.array_equal(out, expected[sources])
    targets = random.permutation(len(sources)).astype(np.int64)
    F.rows(sources, out, reflexive=False, targets=targets, thread_count=2)
    plus = np.min(A[:, :, None] + expected[None], axis=1, initial=inf)
    assert np.array_equal(out[targets], plus[sources])
    ends = random.integers(0, n, random.integers(0, 6)) if n else np.empty(0, np.int64)
    for reflexive, wanted in ((True, expected), (False, plus)):
        part = np.full((len(sources), len(ends)), -7.0)
        F.rows(sources, part, reflexive=reflexive, targets=targets, ends=ends)
        assert np.array_equal(part[targets], wanted[np.ix_(sources, ends)])
    for width in (0, 1, 3):
        B = random.choice(np.array([inf, 0, 1, 5]), (n, width))
        X = B.copy()
        F.columns(X)
        assert np.array_equal(X, np.min(expected[:, :, None] + B[None], axis=1, initial=inf))


@quick
@given(st.sampled_from([0, 1, 5, 30]), st.integers(0, 2**32 - 1))
def test_summaries_are_of_the_rows(n: int, seed: int) -> None:
    A = graph(np.random.default_rng(seed), n, 1.5)
    closed = warshall(A)
    np.fill_diagonal(closed, inf)
    found = factored(A).summaries()
    assert found.shape == (n, 4)
    for row, (total, number, least, most) in zip(closed, found.tolist(), strict=True):
        reached = row[row < inf]
        assert (total, number) == (reached.sum(), len(reached))
        if len(reached):
            assert (least, most) == (reached.min(), reached.max())


@pytest.mark.parametrize("count", [1, 2, 3])
def test_rounds_change_no_bit(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Right-hand sides are solved in rounds, so that an interrupt is heard between two of them."""
    A = graph(np.random.default_rng(2), 250, 2)
    A += np.where(np.isfinite(A), 0.1, 0)  # sums round
    sources, found = np.random.default_rng(3).permutation(250), []
    for seconds in (rounds.ROUND, 1e-9):  # of all at once, and of a chunk for each thread
        monkeypatch.setattr(rounds, "ROUND", seconds)
        monkeypatch.setattr(module, "WIDTH", 8)
        monkeypatch.setattr(module, "UNCUT_TERMS", 0)
        F, seen = factored(A, "levels", count=count), []
        monkeypatch.setattr(F._pace, "learn", lambda steps, seconds, seen=seen: seen.append(steps))
        rows, plus, B = np.empty((250, 250)), np.empty((250, 250)), A.copy()
        F.rows(sources, rows)
        F.rows(sources, plus, reflexive=False, targets=sources)
        F.columns(B)
        found.append((rows, plus, B, F.summaries()))
        assert len(seen) == 4 if seconds > 1e-9 else len(seen) > 20
    for whole, cut in zip(*found, strict=True):
        assert np.array_equal(whole, cut)


def test_many_sources_on_threads() -> None:
    """More than are solved together, and than fit the memory that is kept."""
    A = graph(np.random.default_rng(1), 200, 2)
    expected = warshall(A)
    for count in (1, 2, 5):
        F, out = factored(A, "levels", count=count), np.empty((200, 200))
        F.rows(np.arange(200), out)
        assert np.array_equal(out, expected)
        B = np.asfortranarray(A)
        F.columns(B)
        assert np.array_equal(B, np.min(expected[:, :, None] + A[None], axis=1))


def test_some_columns_are_those_of_whole_rows_to_the_bit() -> None:
    random = np.random.default_rng(5)
    A = graph(random, 300, 1.5)
    A += np.where(np.isfinite(A), 0.1, 0)  # sums round
    F, sources, ends = factored(A, "levels", leaf=2), random.permutation(300)[:200], random.integers(0, 300, 7)
    for reflexive in (True, False):
        whole, part = np.empty((200, 300)), np.empty((200, 7))
        F.rows(sources, whole, reflexive=reflexive)
        F.rows(sources, part, reflexive=reflexive, ends=ends)
        assert np.array_equal(part, whole[:, ends])
        for begin in range(0, 200, 50):  # a part does not depend on those beside it either
            one = np.empty((1, 1))
            F.rows(sources[begin : begin + 1], one, reflexive=reflexive, ends=ends[:1])
            assert one[0, 0] == whole[begin, ends[0]]


def test_large_fronts_are_closed_by_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGE_ORDER", 4)
    monkeypatch.setattr(module, "LARGE_PIVOTS", 2)
    A = graph(np.random.default_rng(2), 60, 2.5)
    offsets, columns, values = compressed(A)
    analysis = analyse(offsets, columns, method="levels", leaf=8)
    F, asked = Fronts(analysis, LOW, 2), []

    def close(front: np.ndarray, pivots: int, kernel: Any, start: int) -> None:
        asked.append((start, pivots, len(front)))
        close_front(front, pivots, kernel, start)

    assert F.factor(values, close) == -1
    order = analysis.pivots + analysis.reach
    large = (order >= 4) & (analysis.pivots >= 2)
    wanted = zip(analysis.first[:-1][large], analysis.pivots[large], order[large], strict=True)
    assert asked == [tuple(map(int, each)) for each in wanted] and asked
    out = np.empty((60, 60))
    F.rows(np.arange(60), out)
    assert np.array_equal(out, warshall(A))


class TestFailures:
    def test_the_first_vertex_without_a_star_is_named(self) -> None:
        low = general(sr.plus_times, F8)
        A = np.array([[0.0, 0.5, 0], [0, 1, 0.25], [0, 0, 1]])
        rows, columns = np.nonzero(A)
        offsets = np.searchsorted(rows, np.arange(4)).astype(np.int64)
        analysis = analyse(offsets, columns.astype(np.int64), method="natural")
        assert analysis.order.tolist() == [0, 1, 2]
        assert Fronts(analysis, low).factor(A[rows, columns], refuse) == 1

    def test_improving_cycles_show_on_the_diagonal_and_are_settled(self) -> None:
        A = np.full((4, 4), inf)
        A[0, 1], A[1, 0], A[2, 3] = 1, -3, 5
        F = factored(A)
        improving = np.flatnonzero(F.pivots < 0)
        assert len(improving) and set(F.analysis.order[improving]) <= {0, 1}
        F.settle(np.arange(4))
        assert (F.pivots == 0).all()
        out = np.empty((1, 4))
        F.rows(np.array([2]), out)
        assert out.tolist() == [[inf, inf, 0, 5]]


def test_the_same_structure_takes_other_weights() -> None:
    random = np.random.default_rng(3)
    A = graph(random, 30, 2)
    F, out = factored(A), np.empty((30, 30))
    B = np.where(np.isfinite(A), random.integers(0, 9, A.shape), inf)
    one = np.where(np.eye(30), 0, inf)
    X, Y = one.copy(), one.copy()
    F.columns(X)
    assert np.array_equal(X, warshall(A))
    assert F.factor(compressed(B)[2], refuse) == -1
    F.rows(np.arange(30), out)
    assert np.array_equal(out, warshall(B))
    F.columns(Y)  # what was made for the first weights went with them
    assert np.array_equal(Y, warshall(B))


def test_what_is_done_is_reported() -> None:
    A = graph(np.random.default_rng(4), 80, 2)
    offsets, columns, values = compressed(A)
    analysis = analyse(offsets, columns, method="levels", leaf=0, merge=False)
    F, shares, out = Fronts(analysis, LOW, 1), [], np.empty((80, 80))
    assert F.factor(values, refuse, shares.append) == -1
    assert shares == sorted(shares) and shares[0] == 0 and shares[-1] < 1
    assert 3 < len(shares) <= module.REPORTS
    F.rows(np.arange(80), out)
    assert np.array_equal(out, warshall(A))


def analyses() -> list[Analysis]:
    found = []
    for n, degree in ((1, 0), (20, 1), (50, 3)):
        offsets, columns, _ = compressed(graph(np.random.default_rng(n), n, degree))
        found += [analyse(offsets, columns, method="levels", leaf=leaf) for leaf in (0, 32)]
    return found


@pytest.mark.parametrize("low", [LOW, RECORDS], ids=["number", "record"])
def test_panels_lie_side_by_side(low: Any) -> None:
    for a in analyses():
        at = layout_of(a, low.components)
        assert at is layout_of(a, low.components)
        s, u, rows = a.pivots, a.reach, at.sizes.rows
        needed = s * s + s * u + u * s
        room = np.diff(at.panel_at)
        assert (room >= needed).all() and (room <= (s + rows) * (s + u) + (u + rows) * s).all()
        F = Fronts(a, low)
        assert F.nbytes == at.panel_at[-1] * sum(c.itemsize for c in low.components)
        owner = a.owner
        inside = at.pivot_at - at.panel_at[owner]
        assert (inside >= 0).all() and (inside < (s * s)[owner]).all() and len(set(at.pivot_at.tolist())) == a.n
        assert at.wide >= (s + u).max() and at.depth >= (s + u).max()


def test_fronts_on_the_stack_do_not_overlap() -> None:
    """What the children of a front left stays below it until it was added."""
    for a in analyses():
        at = layout_of(a, LOW.components)
        lanes = at.sizes.lanes
        for k in range(len(a.parent)):
            width = -(-int(at.order[k]) // lanes) * lanes
            begin, end = int(at.front_at[k]), int(at.front_at[k]) + int(at.order[k]) * width
            assert begin >= 0 and end <= at.top
            below = 0
            for child in np.flatnonzero(a.parent == k):
                assert at.update_at[child] >= below
                below = int(at.update_at[child]) + int(a.reach[child]) ** 2
            assert below <= begin


class TestPlanes:
    @pytest.mark.parametrize("names", [["f8"], ["f4", "i4"], ["i8", "u1", "u2"]])
    def test_a_plane_for_each_component(self, names: list[str]) -> None:
        components = tuple(map(np.dtype, names))
        planes = Planes(components, 64)
        assert planes.address % threads.ALIGNMENT == 0
        assert [p.dtype for p in planes.parts] == list(components) and planes.nbytes == 64 * sum(
            c.itemsize for c in components
        )
        places = [p.ctypes.data - planes.address for p in planes.parts]
        assert places == [64 * sum(c.itemsize for c in components[:i]) for i in range(len(components))]
        dtype = Program("", components, (), (), "").dtype
        array = np.zeros(5, dtype)
        for i, part in enumerate(fields(array)):
            part[:] = np.arange(5) + 10 * i
        planes.fill_from(array)
        assert [p[:5].tolist() for p in planes.parts] == [[v + 10 * i for v in range(5)] for i in range(len(names))]

    def test_of_nothing(self) -> None:
        planes = Planes((F8,), 0)
        planes.fill_from(np.empty(0))
        assert planes.nbytes == 0 and planes.address


def test_operands_exchanged() -> None:
    """⊗ as it was declared, called the other way round; all else stays."""
    text = (
        "@inline\ndef times(a, b, unit):\n    return a - b * unit\n\n\n"
        "@inline\ndef plus(x, t):\n    return x - t\n\n\n"
    )
    given_ = Program("minus", (F8,), (0,), (1,), text)
    swapped = exchanged(given_)
    assert swapped.name != given_.name and (swapped.components, swapped.zero, swapped.one) == ((F8,), (0,), (1,))
    for text_, product in ((given_, -1), (swapped, 1)):
        scope: dict[str, Any] = {"inline": lambda f: f}
        exec(text_.prelude, scope)
        assert (scope["times"](1, 2, 1), scope["plus"](5, 3)) == (product, 2)
