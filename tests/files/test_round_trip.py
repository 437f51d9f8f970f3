"""What is written is read back: every format, algebra and dtype, with names of all kinds."""

from __future__ import annotations

import math
import re
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from files.reading import COMPRESS, refused
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.files.formats import FORMATS
from semiring.graphs.texts import quoted

WRITTEN = [form for form in FORMATS.values() if form.write and (not form.needs or find_spec(form.needs.lower()))]
ENDINGS = [form.endings[0] for form in WRITTEN]
NAMED = [form.endings[0] for form in WRITTEN if form.named]
VECTORS = sr.Semiring(
    "vectors", fields={"v": ("f4", 2), "n": "f8"}, zero=([np.inf, np.inf], np.inf), one=([0, 0], 0),
    add=lambda x, y: (np.minimum(x.v, y.v), np.minimum(x.n, y.n)), mul=lambda x, y: (x.v + y.v, x.n + y.n),
    carrier=lambda x: (np.min(x.v) >= 0) & (x.n >= 0))
GRAPHS: dict[str, list[Any]] = {
    ".graphml": [re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]").search], ".gr": [],
    ".gml": [["()", "[]"].__contains__], ".net": [re.compile("\n").search],
}
ALGEBRAS = [*(S for S in sr.catalogue.values() if not S.is_object), VECTORS]
TELL_NO_DTYPE = (".csv", ".tsv")
ODD = ["007", "1e5", "nan", "", "7", "0", "1", "-3", "a,b", 'say "hi"', "two\nlines", "cr\r", " lead", "trail ", "\t",
       "Å🎉", "#x", "%y", "'", "None", "inf", "x;y", "\u2028", "\u00a0", '"', "()", "from", "to", "weight"]
TEXTS = st.sampled_from(ODD) | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5)
INTEGERS = st.integers(-(2**63), 2**63 - 1)


def names_of(draw: Any, n: int) -> list[Any] | None:
    """Names of one kind."""
    kind = draw(st.sampled_from(["none", "texts", "integers", "positions as texts", "positions turned round"]))
    if kind == "none":
        return None
    if kind == "positions as texts":
        return [str(i) for i in range(n)]
    if kind == "positions turned round":
        return list(range(n))[::-1]
    return draw(st.lists(TEXTS if kind == "texts" else INTEGERS, min_size=n, max_size=n, unique=True))


def elements_of(S: sr.Semiring, dtype: np.dtype) -> st.SearchStrategy[Any]:
    """Numbers of a dtype, of which not all are elements."""
    if dtype.names:
        return st.tuples(*(elements_of(S, dtype[f]) for f in dtype.names))
    if dtype.kind == "b":
        return st.booleans()
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return st.integers(0, 6) | st.integers(int(info.min), int(info.max))
    if dtype.kind == "c":
        width = dtype.itemsize * 4
        return st.complex_numbers(allow_nan=False, allow_infinity=False, width=width) | st.sampled_from([0j, 1 - 2j])
    special = st.sampled_from([0.0, 1.0, 0.5, math.inf, -math.inf, 1 / 3])
    return st.floats(width=dtype.itemsize * 8, allow_nan=False) | special


@st.composite
def matrices(draw: Any) -> sr.Matrix:
    """A matrix over an algebra of the catalogue in one of its dtypes."""
    S = draw(st.sampled_from(ALGEBRAS))
    dtype = draw(st.sampled_from(list(S.dtypes)))
    n = draw(st.integers(0, 4))
    array = np.full((n, n), S.zero_in(dtype), dtype)
    for at in draw(st.sets(st.integers(0, max(n * n - 1, 0)), max_size=n * n)) if n else ():
        with np.errstate(over="ignore"):
            value = np.array([draw(elements_of(S, dtype))], dtype)
        if S.over(dtype).contains(value)[0]:
            array.flat[at] = value[0]
    if dtype.names:
        array = array.view(S.element_dtype)
    return sr.Matrix(array, S, names_of(draw, n))


def accepted(M: sr.Matrix, ending: str) -> bool:
    """Whether the format holds such a matrix; each that does not has a test of its refusal."""
    if ending == ".mtx":
        return not M.dtype.names
    if ending in (".npy", ".npz"):
        return not any(str(name).endswith("\0") for name in M.names or ())
    if ending in GRAPHS and (M.dtype.names or M.dtype.kind == "c"):
        return False
    if ending in GRAPHS and M.dtype.kind == "b" and not M.array[M.array != M.semiring.zero_in(M.dtype)].all():
        return False  # an edge that is false, where true stands for none
    if ending in GRAPHS and any(find(str(name)) for name in M.names or () for find in GRAPHS[ending]):
        return False
    if ending in (".gr", ".net") or (ending in GRAPHS and M.dtype == np.uint64):
        present = M.array[M.array != M.semiring.zero_in(M.dtype)].tolist()
        if ending == ".gr" and (M.names is not None or not all(float(x).is_integer() for x in present)):
            return False
        shown = M.to_numpy()[M.array != M.semiring.zero_in(M.dtype)].astype(float)
        if ending == ".gr" and not np.isfinite(shown).all():  # it has no ∞
            return False
        exact = 2**53 if ending == ".net" or M.dtype.kind == "f" else 2**63 - 1
        if ending == ".gr" or M.dtype.kind != "f":
            return all(-exact - (exact > 2**53) <= x <= exact for x in present)
    return ending != ".parquet" or M.dtype.kind != "c"


@settings(max_examples=1500)
@given(matrices(), st.sampled_from(ENDINGS), st.sampled_from(["", "", ".gz"]))
def test_a_matrix_is_read_as_it_was_written(M: sr.Matrix, ending: str, packed: str) -> None:
    assume(accepted(M, ending))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"m{ending}{packed}"
        sr.write_matrix(path, M)
        told = None if ending not in TELL_NO_DTYPE else M.semiring.default_dtype if M.dtype.names else M.dtype
        again = sr.read_matrix(path, M.semiring, dtype=told)
        graph = sr.read_graph(path)
        assert sorted(p.name for p in Path(folder).iterdir()) == [path.name]
    assert again.semiring is M.semiring and again.dtype == M.dtype and again.n == M.n, again
    positions = M.names == list(range(M.n))  # names that say no more than their places
    assert again.names == (None if positions and ending in TELL_NO_DTYPE else M.names)
    assert [type(name) for name in again.names or ()] == [type(name) for name in (M.names if again.names else [])]
    assert again.array.tobytes() == M.array.tobytes() or np.array_equal(again.array, M.array)
    plain = M.array.view(M.semiring.default_dtype) if M.dtype.names else M.array  # vectors as numbers side by side
    present = np.argwhere(~M.semiring.over(plain.dtype).is_zero(plain))
    ends = zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)
    assert sorted(ends) == [tuple(edge) for edge in present.tolist()]
    assert graph.n == M.n and graph.names == again.names


@pytest.mark.parametrize("ending", NAMED)
def test_an_edge_of_weight_0_is_one_and_a_vertex_without_edges_stays(tmp_path: Path, ending: str) -> None:
    M = sr.adjacency([("a", "b", 0.0), ("b", "a", 2.0)], sr.min_plus, names=["a", "b", "lonely"])
    sr.write_matrix(tmp_path / f"m{ending}", M)
    graph = sr.read_graph(tmp_path / f"m{ending}")
    assert sorted(graph.edges()) == [("a", "b", 0.0), ("b", "a", 2.0)] and graph.names == ["a", "b", "lonely"]
    full = sr.Matrix(np.zeros((2, 2)), sr.min_plus, ["x", "y"])  # no ∞ that would say that 0 is a weight
    sr.write_matrix(tmp_path / f"f{ending}", full)
    assert len(sr.read_graph(tmp_path / f"f{ending}")) == 4
    assert np.array_equal(sr.read_matrix(tmp_path / f"f{ending}", sr.min_plus), full)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("dtype", ["i8", "u8"])
def test_integers_beyond_doubles(tmp_path: Path, ending: str, dtype: str) -> None:
    large = 2**63 - 5 if dtype == "i8" else 2**64 - 5
    names = ["a", "b"] if ending in NAMED else None
    M = sr.Matrix(np.array([[large, 0], [2**53 + 1, 1]], dtype), sr.max_min, names)
    if ending == ".net" or (dtype == "u8" and ending in GRAPHS):
        with refused(f"cannot hold entry {'0' if ending == '.gr' else quoted('a')}", sr.SemiringError):
            sr.write_matrix(tmp_path / f"m{ending}", M)
        assert not list(tmp_path.iterdir())
        return
    sr.write_matrix(tmp_path / f"m{ending}", M)
    again = sr.read_matrix(tmp_path / f"m{ending}", sr.max_min, dtype=dtype)
    assert again.array.tolist() == M.array.tolist()


def test_a_table_tells_integers_from_floats(tmp_path: Path) -> None:
    for dtype in ("i8", "f8"):
        M = sr.adjacency([("a", "b", 3), ("b", "a", -np.inf if dtype == "f8" else -(2**63))], sr.min_plus, dtype=dtype)
        sr.write_matrix(tmp_path / "m.csv", M)
        again = sr.read_matrix(tmp_path / "m.csv", sr.min_plus)
        assert again.dtype == M.dtype and np.array_equal(again, M)


@pytest.mark.parametrize("ending", [ending for ending in ENDINGS if ending in GRAPHS])
def test_edges_that_are_false_are_for_matrices(tmp_path: Path, ending: str) -> None:
    with refused("write .npz or .mtx", sr.SemiringError):
        sr.write_matrix(tmp_path / f"m{ending}", sr.Matrix(np.zeros((1, 1), bool), sr.min_max))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", NAMED)
def test_what_is_no_element_is_not_written(tmp_path: Path, ending: str) -> None:
    M = sr.Matrix(np.array([[0.0, np.nan], [0, 0]]), sr.min_plus, ["a", "b"])
    with refused("entry 'a' → 'b': the element is NaN"):
        sr.write_matrix(tmp_path / f"m{ending}", M)
    assert not list(tmp_path.iterdir())


def test_a_matrix_is_read_over_another_algebra(tmp_path: Path) -> None:
    M = sr.adjacency([("a", "b", 2.0), ("b", "c", 0.0)], sr.min_plus)
    for ending in NAMED:
        sr.write_matrix(tmp_path / f"m{ending}", M)
        again = sr.read_matrix(tmp_path / f"m{ending}", "boolean")
        assert again.names == ["a", "b", "c"] and np.argwhere(again.array).tolist() == [[0, 1], [1, 2]], ending


def test_a_plain_array_is_taken_literally(tmp_path: Path) -> None:
    array = np.array([[0.0, 3.0], [np.inf, 0.0]])
    np.save(tmp_path / "d.npy", array)
    assert np.array_equal(sr.read_matrix(tmp_path / "d.npy", sr.min_plus), array)
    array[0, 1] = np.nan
    np.save(tmp_path / "d.npy", array)
    with refused("d.npy: entry (0, 1): the element is NaN"):
        sr.read_matrix(tmp_path / "d.npy", sr.min_plus)
    np.save(tmp_path / "e.npy", np.array([[0, 1, 5], [1, 2, 7]]))
    assert sr.read_matrix(tmp_path / "e.npy", sr.min_plus)[0, 1] == 5, "edges, not a matrix"


def test_options_and_other_formats(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("from,to,km,toll\nhome,007,2.5,1\n")
    assert sr.read_matrix(tmp_path / "e.csv", sr.min_plus, weight="km")["home", "007"] == 2.5
    assert sr.read_matrix(tmp_path / "e.csv", sr.min_plus, weight=None)["home", "007"] == 1
    with pytest.raises(TypeError, match="colour"):
        sr.read_matrix(tmp_path / "e.csv", sr.min_plus, colour=1)


@pytest.mark.parametrize("ending", COMPRESS)
def test_every_compression(tmp_path: Path, ending: str) -> None:
    M = sr.adjacency([("a", "007", 2.5)], sr.min_plus)
    for plain in NAMED:
        sr.write_matrix(tmp_path / f"m{plain}{ending}", M)
        again = sr.read_matrix(tmp_path / f"m{plain}{ending}", sr.min_plus)
        assert again.names == M.names and np.array_equal(again, M)


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".npz", ".parquet", ".graphml", ".gml", ".net"])
@pytest.mark.parametrize("start", [0, 2**62, 2**63 - 3, 2**64 - 7])
def test_ids_of_64_bits_stay_integers(tmp_path: Path, ending: str, start: int) -> None:
    ids = [start + 6, start + 4, start + 2]
    M = sr.adjacency([(ids[0], ids[1], 1.0), (ids[1], ids[2], 2.0)], sr.min_plus, names=ids)
    sr.write_matrix(tmp_path / f"g{ending}", M)
    back = sr.read_matrix(tmp_path / f"g{ending}", sr.min_plus)
    assert sorted(back.names) == sorted(ids) and all(type(name) is int for name in back.names)
    assert back[ids[0], ids[1]] == 1 and back.closure()[ids[0], ids[2]] == 3
    for library in ("pandas", "polars", "pyarrow"):
        pytest.importorskip(library)
        assert sr.Matrix(M.to_frame(long=False, library=library), sr.min_plus).names == ids
        assert sr.as_graph(M.to_frame(library=library), names=ids).names == ids
