"""Graphs from Matrix Market files: every field and symmetry, both readers, and texts that are not numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
from files.reading import COMPRESS, COORDINATE, EDGES, FIELD, MATRIX, child, listed, read, refused, written
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.files import matrix_market as mtx_readers
from semiring.files.verbs import read_graph

INF = np.inf


@pytest.mark.parametrize("ending", COMPRESS)
def test_matrix_market(tmp_path, ending):
    scipy.io.mmwrite(tmp_path / "g.mtx", MATRIX, symmetry="general")
    (tmp_path / f"h.mtx{ending}").write_bytes(COMPRESS[ending]((tmp_path / "g.mtx").read_bytes()))
    graph = read_graph(tmp_path / f"h.mtx{ending}")
    assert sorted(listed(graph)) == sorted(EDGES) and graph.n == 4 and graph.directed
    assert read_graph(tmp_path / f"h.mtx{ending}", weight=None).weights is None


def test_matrix_market_symmetric_pattern_integer_and_dense(tmp_path):
    head = "%%MatrixMarket matrix {}\n"
    symmetric = head.format("coordinate integer symmetric") + "3 3 3\n1 1 4\n2 1 5\n3 2 0\n"
    graph = read_graph(written(tmp_path, "a.mtx", symmetric))
    assert sorted(listed(graph)) == [(0, 0, 4), (1, 0, 5), (2, 1, 0)] and not graph.directed
    assert graph.weights.dtype == np.int64
    M = sr.adjacency(graph, sr.counting)
    assert M.array.tolist() == [[4, 5, 0], [5, 0, 0], [0, 0, 0]]
    assert not read_graph(tmp_path / "a.mtx", directed=True).directed
    pattern = head.format("coordinate pattern general") + "2 2 1\n1 2\n"
    assert listed(read_graph(written(tmp_path, "b.mtx", pattern))) == [(0, 1, None)]
    assert not read_graph(tmp_path / "b.mtx", directed=False).directed
    dense = head.format("array real general") + "2 2\n0\n7\n2.5\n0\n"
    assert listed(read_graph(written(tmp_path, "c.mtx", dense))) == [(0, 1, 2.5), (1, 0, 7.0)]


def test_a_size_that_lies_allocates_nothing(tmp_path):
    path = written(tmp_path, "a.mtx", "%%MatrixMarket matrix array real general\n4000000 4000000\n1\n")
    with refused("a.mtx, line 2: found a size of 16000000000000 entries, expected the 1 that the file holds"):
        read_graph(path)


@settings(max_examples=300)
@given(
    rows=st.lists(st.tuples(st.integers(0, 4).map(str), st.integers(0, 4).map(str), FIELD), min_size=1, max_size=4),
    field=st.sampled_from(["real", "integer", "complex", "pattern"]),
    long=st.booleans(),
)
def test_both_readers_of_matrix_market_agree(rows, field, long):
    rows = rows * (300 if long else 1)
    words = {"complex": 4, "pattern": 2}.get(field, 3)
    body = "\n".join(" ".join((*row, row[2])[:words]) for row in rows)
    text = COORDINATE.format(field, "general") + f"4 4 {len(rows)}\n{body}\n"
    head = mtx_readers._head(Path("g.mtx"), text, None)
    fast = mtx_readers._fast_entries(text, head)
    if fast is not None:
        careful = mtx_readers._careful_entries(Path("g.mtx"), text, head)
        for one, other in zip(fast, careful, strict=True):
            assert one.dtype == other.dtype and np.array_equal(one, other)


@pytest.mark.parametrize(
    "text",
    [
        COORDINATE.format("real", "general") + "9 9 20\n" + "1 1 5\n" * 20,
        "%%MatrixMarket matrix array real general\n%" + "x" * 300 + "\n3 3\n9.161+2j2221773003\n3   ",
        COORDINATE.format("real", "general") + "%" + "x" * 300 + "\n3 3 2\n1 1 5\n2 2 ",
        COORDINATE.format("real", "general") + "%" + "x" * 2000 + "\n3 3 2\n1 1 5\n2 2\n\n\n",
        "%%MatrixMarket matrix array real symmetric\n9999999 9999999\n1\n",
        COORDINATE.format("real", "general") + "9223372036854775807 9223372036854775807 9223372036854775807\n1 1 1\n",
    ],
)
def test_matrix_market_ends_no_process(tmp_path, text):
    (tmp_path / "g.mtx").write_text(text)
    code = (
        "import sys, semiring as sr\ntry: print(sr.read_graph(sys.argv[1]))\nexcept sr.GraphError as e: print('no', e)"
    )
    done = child(
        code,
        tmp_path / "g.mtx",
    )
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.startswith("Graph(9 vertices, 20 edges" if "9 9 20" in text else "no")


@pytest.mark.parametrize(
    ("field", "word"),
    [
        ("real", "3,5"),
        ("real", "1,000.25"),
        ("integer", "0x1F"),
        ("real", "8.5abc"),
        ("real", "0.41.507"),
        ("real", "1d3"),
        ("integer", "2.0"),
        ("integer", "1e3"),
        ("real", "1e400"),
        ("real", "nan"),
        ("integer", str(2**64)),
        ("real", "٣"),
        ("unsigned-integer", "-1"),
        ("real", "1_0"),
        ("real", ""),
        ("real", "1 2"),
        ("complex", "1"),
        ("pattern", "1"),
    ],
)
@pytest.mark.parametrize("rows", [1, 300])
def test_matrix_market_numbers_are_read_whole_or_not_at_all(tmp_path, field, word, rows):
    good = {"complex": "1 2", "pattern": ""}.get(field, "1")
    lines = [f"1 2 {good}"] * rows + [f"2 1 {word}"]
    with refused(f"g.mtx, line {rows + 3}: found"):
        read(tmp_path, "g.mtx", COORDINATE.format(field, "general") + f"2 2 {rows + 1}\n" + "\n".join(lines) + "\n")


def test_matrix_market_of_every_field_and_symmetry(tmp_path):
    def of(kind: str, body: str, **options: Any) -> tuple:
        graph = read(tmp_path, "g.mtx", f"%%MatrixMarket matrix {kind}\n% remark\n\n{body}\n", **options)
        return sorted(listed(graph), key=repr), graph.directed

    assert of("coordinate complex general", "2 2 1\n1 2 1.5 -2") == ([(0, 1, 1.5 - 2j)], True)
    assert of("coordinate integer skew-symmetric", "2 2 1\n2 1 3") == ([(0, 1, -3), (1, 0, 3)], True)
    assert of("coordinate complex hermitian", "2 2 2\n1 1 1 0\n2 1 1 2")[0] == [
        (0, 0, 1),
        (0, 1, 1 - 2j),
        (1, 0, 1 + 2j),
    ]
    assert of("coordinate real symmetric", "2 2 2\n1 1 1\n1 2 inf") == ([(0, 0, 1), (0, 1, INF)], False)
    assert of("coordinate pattern symmetric", "2 2 1\n2 1") == ([(1, 0, None)], False)
    assert of("array real symmetric", "2 2\n1\n2\n0") == ([(0, 0, 1), (1, 0, 2)], False)
    assert of("array integer skew-symmetric", "3 3\n1\n2\n3")[0] == [
        (0, 1, -1),
        (0, 2, -2),
        (1, 0, 1),
        (1, 2, -3),
        (2, 0, 2),
        (2, 1, 3),
    ]
    assert of("array complex hermitian", "1 1\n1 0") == ([(0, 0, 1)], True)
    assert of("array real general", "2 2\n0\n1\n2\ninf") == ([(0, 1, 2), (1, 0, 1)], True)
    assert of("coordinate real general", "0 0 0") == ([], True)
    assert of("coordinate unsigned-integer general", f"1 1 1\n1 1 {2**64 - 1}") == ([(0, 0, 2**64 - 1)], True)
    assert of("COORDINATE Real GENERAL", "2 2 1\n%x\n1 2 5\n\n") == ([(0, 1, 5)], True)
    assert of("coordinate double general", "2 2 1\n1 2 5", weight=None) == ([(0, 1, None)], True)
    for kind, body, message in (
        ("coordinate real symmetric", "2 2 2\n1 2 1\n2 1 1", "both entry (2, 1) and entry (1, 2)"),
        ("coordinate real skew-symmetric", "2 2 1\n1 1 1", "entry (1, 1) is 1.0: a skew-symmetric matrix has only"),
        ("coordinate integer skew-symmetric", f"2 2 1\n2 1 {-(2**63)}", "one of them does not fit 64 bits"),
        ("coordinate integer general", f"2 2 2\n2 1 -1\n1 1 {2**63}", "no 64-bit integers hold both"),
        ("coordinate real hermitian", "1 1 0", "found a hermitian matrix of real entries, expected complex entries"),
        ("coordinate complex hermitian", "2 2 2\n1 1 1 0\n2 2 1 2", "entry (2, 2) is (1+2j): a hermitian matrix is"),
        ("array complex hermitian", "1 1\n1 2", "entry (1, 1) is (1+2j): a hermitian matrix is real on its diagonal"),
        ("array pattern general", "1 1", "found a pattern, expected numbers"),
        ("coordinate real general", "2 2 1\n0 1 1", "line 5: found vertex '0', expected an integer from 1 to 2"),
        ("coordinate real general", "2 2 1\n1 3 1", "line 5: found vertex '3'"),
        ("coordinate real general", "2 2 1\n1 2 1\n1 1 1", "found a size of 1 entries, expected the 2"),
        ("coordinate real general", "2 2", "line 4: found '2 2', expected the numbers of rows and columns and entries"),
        ("coordinate real skew-symmetric", "3 3 2\n2 1 5\n3 3 .5", "line 6: entry (3, 3) is 0.5: a skew"),
        ("coordinate complex hermitian", "2 2 1\n2 2 1 2", "line 5: entry (2, 2) is (1+2j): a hermitian"),
        ("coordinate real diagonal", "2 2 1\n1 2 1", "found 'diagonal', expected one of general, symmetric"),
        ("coordinate real general", "", "g.mtx ends before the line with its size"),
    ):
        with refused(message):
            of(kind, body)


def test_comments_of_matrix_market_are_in_any_encoding(tmp_path):
    text = COORDINATE.format("real", "general") + "% Ångström\n2 2 1\n1 2 5\n"
    assert listed(read(tmp_path, "g.mtx", text.encode("latin-1"))) == [(0, 1, 5)]


def dense(graph: sr.Graph) -> np.ndarray:
    """The matrix of a graph, parallel edges added."""
    weights = np.ones(len(graph)) if graph.weights is None else graph.weights
    matrix = np.zeros((graph.n, graph.n), complex)
    np.add.at(matrix, (graph.sources, graph.targets), weights)
    if not graph.directed:
        back = graph.sources != graph.targets
        np.add.at(matrix, (graph.targets[back], graph.sources[back]), weights[back])
    return matrix


@settings(max_examples=120)
@given(
    st.sampled_from(["coordinate", "array"]), st.sampled_from(["real", "integer", "complex", "pattern"]),
    st.sampled_from(["general", "symmetric", "skew-symmetric", "hermitian"]), st.integers(1, 4), st.data(),
)
def test_matrices_are_those_that_scipy_reads(tmp_path_factory, layout, field, symmetry, n, data):
    if field == "pattern" and (layout == "array" or symmetry == "skew-symmetric"):
        return
    if symmetry == "hermitian" and field != "complex":
        return
    numbers = {"pattern": 0, "complex": 2}.get(field, 1)
    below = symmetry == "skew-symmetric"
    places = [(i, j) for j in range(n) for i in range(0 if symmetry == "general" else j + below, n)]
    if layout == "coordinate":
        places = data.draw(st.lists(st.sampled_from(places), unique=True)) if places else []
    lines = []
    for i, j in places:
        value = [data.draw(st.integers(-3, 3)) for _ in range(numbers)]
        if symmetry == "hermitian" and i == j:
            value[1] = 0
        lines.append(" ".join(map(str, [i + 1, j + 1, *value] if layout == "coordinate" else value)))
    size = f"{n} {n} {len(places)}" if layout == "coordinate" else f"{n} {n}"
    head = [f"%%MatrixMarket matrix {layout} {field} {symmetry}", "% remark", size]
    path = tmp_path_factory.mktemp("mtx") / "g.mtx"
    path.write_text("\n".join([*head, *lines]) + "\n")
    expected = scipy.io.mmread(path)
    expected = expected.toarray() if layout == "coordinate" else expected
    np.testing.assert_array_equal(dense(read_graph(path)), expected)


@pytest.mark.parametrize("field", ["real", "integer"])
def test_a_skew_symmetric_matrix_may_write_zeros_on_its_diagonal(tmp_path, field):
    text = COORDINATE.format(field, "skew-symmetric") + "3 3 4\n1 1 0\n2 1 5\n3 2 -2\n3 3 0\n"
    graph = read(tmp_path, "g.mtx", text)
    assert sorted(graph.edges()) == [(0, 0, 0), (0, 1, -5), (1, 0, 5), (1, 2, 2), (2, 1, -2), (2, 2, 0)]
    scipy_reads = scipy.io.mmread(tmp_path / "g.mtx").toarray()
    assert np.array_equal(sr.read_matrix(tmp_path / "g.mtx", "plus-times").array, scipy_reads)


def test_absent_is_for_arrays(tmp_path):
    array = "%%MatrixMarket matrix array real general\n2 2\n0\n9\n3\n0\n"
    assert list(read(tmp_path, "g.mtx", array, absent=9).edges()) == [(0, 0, 0.0), (0, 1, 3.0), (1, 1, 0.0)]
    with refused("g.mtx holds a list of entries, and absent= is for matrices that write every entry: leave it out"):
        read(tmp_path, "g.mtx", COORDINATE.format("real", "general") + "2 2 1\n1 2 3\n", absent=0)
