"""Factors, analyses and labels opened again answer as those that were saved."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring.kernels.cpu.compile import price
from semiring.kernels.cpu.sparse import fronts
from semiring.solvers.sparse import factors, pairs

NAMES: dict[str, Any] = {"none": None, "texts": str, "tuples": lambda i: (i, ("x", i % 3)), "mixed": [str, float, int]}
ALGEBRAS = {
    "min-plus f8": (sr.min_plus, "f8"), "min-plus f4": (sr.min_plus, "f4"), "min-plus i4": (sr.min_plus, "i4"),
    "min-plus i8": (sr.min_plus, "i8"), "max-min": (sr.max_min, "f4"), "viterbi": (sr.viterbi, "f8"),
    "boolean": (sr.boolean, "?"), "plus-times": (sr.plus_times, "f8"), "log": (sr.log, "f8"),
    "hops": (sr.shortest_hops, None), "modular": (sr.mod_p(7), "i8"),
    "custom": (sr.Semiring("the longer of two", add=np.minimum, mul=np.maximum, zero=np.inf, one=-np.inf), "f8"),
}
QUICK = ["min-plus f8", "max-min", "plus-times", "hops", "custom"]  # to compile, and one of each kind of algebra


def graph(S: sr.Semiring, dtype: str | None, names: str, directed: bool) -> Any:
    rng = np.random.default_rng(5)
    n = 40
    ends = np.stack([rng.integers(0, n, 90), rng.integers(0, n, 90)])
    if S is sr.mod_p(7):  # whose star is not everywhere defined
        ends = np.sort(ends, axis=0)
        ends = ends[:, ends[0] < ends[1]]
        directed = True
    weights: Any = rng.integers(1, 7, ends.shape[1])
    if dtype == "f4" or dtype == "f8":
        weights = (weights / 100).astype(dtype)
    elif dtype is not None:
        weights = weights.astype(dtype)
    if dtype is None:
        weights = None
    how = NAMES[names]
    named = None if how is None else [(how[i % 3] if isinstance(how, list) else how)(i) for i in range(n)]
    return sr.Graph(ends[0], ends[1], n, weights, named, directed)


def same(x: Any, y: Any) -> None:
    x, y = np.asarray(x), np.asarray(y)
    assert x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()


def compare(F: sr.SparseFactors, G: sr.SparseFactors) -> None:
    assert repr(F) == repr(G) and F.names == G.names and F.nbytes == G.nbytes and F.semiring is G.semiring
    same(F.closure(), G.closure())
    same(F.closure(reflexive=False), G.closure(reflexive=False))
    assert type(F.closure()) is type(G.closure())
    some = [F._A.position(i) for i in range(0, F.n, 7)]
    same(F.rows(some), G.rows(some))
    assert repr(F.table(some, some[:2])) == repr(G.table(some, some[:2]))
    same(F.weight(some, some[::-1]), G.weight(some, some[::-1]))
    same(F.solve(F.rows(some[:1])[0]), G.solve(F.rows(some[:1])[0]))
    for (v, x), (w, y) in zip(F.blocks(9), G.blocks(9), strict=True):
        same(v, w)
        same(x, y)
    if F.semiring.selective:
        assert F.path(some[0], some[-1]) == G.path(some[0], some[-1])
    H, K = F.refactor(F._A.values), G.refactor(F._A.values)
    same(H.closure(), K.closure())


@pytest.mark.parametrize("key, compiled", [
    pytest.param(key, compiled, marks=pytest.mark.slow if compiled and key not in QUICK else ())
    for key in ALGEBRAS for compiled in (True, False)
])
@pytest.mark.parametrize("names, directed", [("none", True), ("texts", False), ("tuples", True), ("mixed", False)])
def test_factors_answer_as_before(
    key: str, names: str, directed: bool, compiled: bool, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    S, dtype = ALGEBRAS[key]
    if S is sr.plus_times or S is sr.log:
        directed = True
    request.getfixturevalue("machine_code" if compiled else "by_numpy")
    F = sr.factor(graph(S, dtype, names, directed), S)
    assert F.lowering.compiled == compiled
    F.save_factors(tmp_path / "f")
    G = sr.open_factors(tmp_path / "f", S)
    assert G.lowering.compiled == compiled
    compare(F, G)
    G.save_factors(tmp_path / "g")
    assert (tmp_path / "f").read_bytes() == (tmp_path / "g").read_bytes()


@pytest.mark.parametrize("key", ALGEBRAS)
@pytest.mark.parametrize("mmap", [True, False])
def test_labels_answer_as_before(key: str, mmap: bool, tmp_path: Path) -> None:
    S, dtype = ALGEBRAS[key]
    L = sr.factor(graph(S, dtype, "texts", True), S).labels()
    L.save(tmp_path / "l")
    M = sr.open_labels(tmp_path / "l", S, mmap=mmap)
    assert repr(L) == repr(M) and M.semiring is S and L.names == M.names
    assert L.names is not None
    same(L.weight(L.names, L.names[::-1]), M.weight(L.names, L.names[::-1]))
    assert repr(L.table(L.names, L.names[:3])) == repr(M.table(L.names, L.names[:3]))
    M.save(tmp_path / "m")
    assert (tmp_path / "l").read_bytes() == (tmp_path / "m").read_bytes()


@pytest.mark.parametrize("n", [0, 1])
def test_next_to_nothing(n: int, tmp_path: Path) -> None:
    F = sr.factor(sp.csr_array((n, n)), sr.min_plus)
    F.save_factors(tmp_path / "f")
    F.labels().save(tmp_path / "l")
    F.save_analysis(tmp_path / "a")
    same(sr.open_factors(tmp_path / "f").closure(), F.closure())
    assert sr.open_labels(tmp_path / "l").weight(range(n), range(n)).tolist() == [0.0] * n
    assert sr.open_analysis(tmp_path / "a").n == n


@pytest.mark.parametrize("key", ["min-plus f4", "hops", "plus-times"])
@pytest.mark.parametrize("rows", [1, 2, 5])
def test_on_a_machine_with_other_registers(
    key: str, rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    S, dtype = ALGEBRAS[key]
    given = graph(S, dtype, "none", True)
    with price.always():
        F = sr.factor(given, S)
        F.save_factors(tmp_path / "f")
        usual = fronts.geometry(F.lowering.components)
        fronts.layout_of.cache_clear()
        with monkeypatch.context() as patch:
            patch.setattr(fronts, "geometry", lambda components: replace(usual, rows=rows))
            G = sr.open_factors(tmp_path / "f")
            assert G._by.fronts._sizes.rows == rows  # type: ignore[attr-defined]
            G.save_factors(tmp_path / "g")
            fronts.layout_of.cache_clear()
        compare(F, sr.open_factors(tmp_path / "g"))


@pytest.mark.parametrize("key", ["min-plus f8", "hops"])
def test_compiled_factors_where_numba_is_not_installed(
    key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    S, dtype = ALGEBRAS[key]
    with price.always():
        F = sr.factor(graph(S, dtype, "texts", True), S)
        F.labels().save(tmp_path / "l")
    F.save_factors(tmp_path / "f")
    for module in (factors, pairs):
        monkeypatch.setattr(module, "has_numba", lambda: False)
    G = sr.open_factors(tmp_path / "f")
    assert not G.lowering.compiled
    assert np.array_equal(F.closure().to_numpy(), G.closure().to_numpy())
    with pytest.raises(sr.SemiringError, match="install numba"):
        sr.open_labels(tmp_path / "l")


def test_what_rounding_left_is_kept(tmp_path: Path) -> None:
    ring = sp.csr_array(([0.1, 0.2, -0.3], ([0, 1, 2], [1, 2, 0])), shape=(3, 3))
    F = sr.factor(ring, sr.min_plus)
    F._by.rounded = np.array([1])
    F._by.fronts.settle(F._by.rounded)
    F._by.closed = np.asarray(F.closure())
    F.save_factors(tmp_path / "f")
    G = sr.open_factors(tmp_path / "f")
    assert G._by.rounded is not None and G._by.closed is not None
    same(F._by.rounded, G._by.rounded)
    same(F._by.closed, G._by.closed)
    same(F.closure(reflexive=False), G.closure(reflexive=False))


def test_callers_dtypes(tmp_path: Path) -> None:
    F = sr.factor(sp.csr_array(np.array([[0, 2.0], [3.0, 0]])), sr.min_plus)
    F._A.callers_dtype = np.dtype(">f8")
    F.save_factors(tmp_path / "f")
    F.labels().save(tmp_path / "l")
    assert sr.open_factors(tmp_path / "f").solve(np.zeros(2, ">f8")).dtype == F.solve(np.zeros(2, ">f8")).dtype
    assert sr.open_labels(tmp_path / "l").weight([0], [1]).dtype == np.dtype(">f8")


def test_an_analysis_serves_other_weights(tmp_path: Path) -> None:
    given = graph(sr.min_plus, "f8", "texts", False)
    F = sr.factor(given, sr.min_plus, order="levels")
    F.save_analysis(tmp_path / "a")
    analysis = sr.open_analysis(tmp_path / "a")
    assert analysis.method == "levels"
    for name in type(analysis).__dataclass_fields__:
        assert np.array_equal(getattr(analysis, name), getattr(F.analysis, name)), name
    G = sr.factor(given, sr.min_plus, order=analysis)
    assert G.analysis is analysis
    compare(F, G)
    compare(sr.factor(given, sr.max_min, order="levels"), sr.factor(given, sr.max_min, order=analysis))
    with pytest.raises(sr.SemiringError, match=r"of other edges: it has 40 vertices and .*, and A has 2 and 1"):
        sr.factor(sr.as_graph([("a", "b", 1.0)]), sr.min_plus, order=analysis)


def test_opened_in_a_new_process(tmp_path: Path) -> None:
    code = "import sys, numpy as np, semiring as sr\n" + (
        "S = getattr(sr, sys.argv[2])\nF = sr.open_factors(sys.argv[1] + '/f')\n"
        "L = sr.open_labels(sys.argv[1] + '/l', S)\n"
        "v = F.names\nnp.save(sys.argv[1] + '/x.npy', np.stack([F.weight(v, v[::-1]), L.weight(v, v[::-1])]))\n"
    )
    for key, name in (("min-plus f4", "min_plus"), ("hops", "shortest_hops")):
        S, dtype = ALGEBRAS[key]
        with price.always():
            F = sr.factor(graph(S, dtype, "texts", True), S)
            L = F.labels()
        F.save_factors(tmp_path / "f")
        L.save(tmp_path / "l")
        subprocess.run([sys.executable, "-c", code, str(tmp_path), name], check=True)
        found, v = np.load(tmp_path / "x.npy"), F.names
        assert v is not None
        assert (found[0] == F.weight(v, v[::-1])).all() and (found[1] == L.weight(v, v[::-1])).all()


def test_another_algebra(tmp_path: Path) -> None:
    F = sr.factor(graph(*ALGEBRAS["min-plus f8"], "none", True), sr.min_plus)
    F.save_factors(tmp_path / "f")
    F.labels().save(tmp_path / "l")
    twin = sr.Semiring("min-plus", add=np.minimum, mul=np.add, zero=np.inf, one=0, carrier=lambda a: a >= 0)
    for opener, name in ((sr.open_factors, "f"), (sr.open_labels, "l")):
        with pytest.raises(sr.SemiringError, match="is over min-plus, and this is max-min"):
            opener(tmp_path / name, sr.max_min)  # type: ignore[operator]
        with pytest.raises(sr.SemiringError, match="is over min-plus, declared in another way"):
            opener(tmp_path / name, twin)  # type: ignore[operator]
        assert opener(tmp_path / name, "min-plus").semiring is sr.min_plus  # type: ignore[operator]
    S, dtype = ALGEBRAS["custom"]
    sr.factor(graph(S, dtype, "none", True), S).save_factors(tmp_path / "c")
    with pytest.raises(sr.SemiringError, match="the longer of two, which is not in the catalogue: pass the algebra"):
        sr.open_factors(tmp_path / "c")
    with pytest.raises(sr.SemiringError, match="it holds sparse factors, not labels"):
        sr.open_labels(tmp_path / "f")


def test_every_cut_and_flipped_bits(tmp_path: Path) -> None:
    F = sr.factor(graph(*ALGEBRAS["min-plus f8"], "texts", True), sr.min_plus)
    F.save_factors(tmp_path / "f")
    F.labels().save(tmp_path / "l")
    x, names = F.closure().to_numpy(), F.names
    openers: dict[str, Any] = {"f": sr.open_factors, "l": lambda path: sr.open_labels(path, mmap=False)}
    for name, opener in openers.items():
        path = tmp_path / name
        data = path.read_bytes()
        for length in range(0, len(data), max(len(data) // 40, 1)):
            path.write_bytes(data[:length])
            with pytest.raises(sr.SemiringError, match="damaged or cut short"):
                opener(path)
        refused = 0
        for at in np.random.default_rng(0).integers(0, len(data), 300).tolist():
            path.write_bytes(data[:at] + bytes([data[at] ^ 16]) + data[at + 1 :])
            try:
                found = opener(path)
            except sr.SemiringError:
                refused += 1
                continue
            y = found.table(names, names).to_numpy()
            assert np.array_equal(x, y)  # the bit was in what nothing depends on
        assert refused
