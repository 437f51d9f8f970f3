"""Bad input: every refusal says what is wrong, where, and what to do, and changes nothing."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from refusals import refused

import semiring as sr
from semiring.machine import memory

inf, nan = np.inf, np.nan


# NaN and values outside the carrier, with their position


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("order", ["C", "F", "reversed", "strided"])
def test_nan(dtype: str, order: str) -> None:
    A = np.full((5, 5), inf, dtype)
    A[3, 1] = nan
    A[4, 0] = nan
    A = {"C": A, "F": np.asfortranarray(A), "reversed": A[::-1].copy()[::-1], "strided": np.repeat(A, 2, 1)[:, ::2]}[
        order
    ]
    before = A.copy()
    B = np.zeros((5, 5), dtype)
    what = r"\[3, 1\] is NaN: .*mark an absent edge with the algebra's zero, ∞"
    refused(lambda: sr.closure(A, sr.min_plus), "A" + what)
    refused(lambda: sr.closure(A, sr.min_plus, overwrite=True), "A" + what)
    refused(lambda: sr.matmul(A, B, sr.min_plus), "A" + what)
    refused(lambda: sr.matmul(B, A, sr.min_plus), "B" + what)
    refused(lambda: sr.matmul(B, B, sr.min_plus, accumulate=A), "accumulate" + what)
    refused(lambda: sr.factor(A, sr.min_plus), "A" + what)
    refused(lambda: sr.solve(B, A, sr.min_plus), "B" + what)
    refused(lambda: sr.path(A, sr.min_plus, 0, 1), "A" + what)
    refused(lambda: sr.plan("closure", A, sr.min_plus), "A" + what)
    assert np.array_equal(A, before, equal_nan=True)


def test_nan_in_vectors_and_stacks() -> None:
    A = np.zeros((2, 3, 4, 4))
    A[1, 2, 0, 3] = nan
    refused(lambda: sr.closure(A, sr.min_plus), r"A\[1, 2, 0, 3\] is NaN")
    refused(lambda: sr.matmul(A[0, 0], np.array([0, 0, nan, 0]), sr.min_plus), r"B\[2\] is NaN")
    refused(lambda: sr.matmul(A, A[0, 0], sr.min_plus), r"A\[1, 2, 0, 3\] is NaN")


def test_nan_in_a_large_matrix() -> None:
    A = np.zeros((700, 700))
    A[699, 698] = nan
    refused(lambda: sr.closure(A, sr.max_min), r"A\[699, 698\] is NaN")
    A[699, 698] = 2
    refused(lambda: sr.closure(A, sr.viterbi), r"A\[699, 698\] is 2: it is outside the carrier of viterbi, \(\[0, 1\]")


def test_nan_in_records_and_objects() -> None:
    A = np.full((2, 2), sr.shortest_hops.zero_in(sr.shortest_hops.default_dtype))
    A["cost"][1, 0] = nan
    refused(lambda: sr.closure(A, sr.shortest_hops), r"A\[1, 0\] is NaN")
    B = np.array([[0.5, nan], [1.0, inf]], object)
    refused(lambda: sr.closure(B, sr.min_plus), r"A\[0, 1\] is NaN")


@pytest.mark.parametrize(
    ("S", "value", "dtype"),
    [
        (sr.viterbi, 1.5, "f8"),
        (sr.viterbi, -0.5, "f4"),
        (sr.max_times, -1, "f8"),
        (sr.min_times, 0.5, "f8"),
        (sr.lukasiewicz, 2, "f8"),
        (sr.counting, -1, "i8"),
        (sr.counting, 0.5, "f8"),
        (sr.gf2, 2, "u1"),
        (sr.mod_p(7), 7, "i4"),
        (sr.mod_p(7), -1, "i8"),
        (sr.boolean, 0.5, "f8"),
        (sr.boolean, 2, "u1"),
        (sr.plus_times, inf, "f8"),
        (sr.gcd_lcm, -2, "i4"),
        (sr.saturating_min_plus(100), 101, "u1"),
        (sr.saturating_min_plus(100), -1, "i2"),
    ],
    ids=str,
)
def test_outside_the_carrier(S: sr.Semiring, value: float, dtype: str) -> None:
    A = np.full((3, 3), S.zero_in(dtype), dtype)
    A[2, 1] = value
    before = A.copy()
    shown = {inf: "∞"}.get(value, f"{value:g}")
    refused(lambda: sr.closure(A, S), rf"A\[2, 1\] is {shown}: it is outside the carrier of {re.escape(S.name)}, \(")
    refused(lambda: sr.matmul(A, A, S, out=A), rf"A\[2, 1\] is {shown}")
    assert (before == A).all()
    edges = [("a", "b", 1), ("b", "c", value)]
    if S is not sr.boolean:
        refused(
            lambda: sr.adjacency(edges, S, dtype=dtype),
            rf"edge 1 \('b' → 'c'\).* {shown}.*{re.escape(S.name)}",
            sr.GraphError,
        )


def test_records_outside_the_carrier() -> None:
    S = sr.shortest_count
    A = S.array([[(inf, 0), (1.0, 0)], [(inf, 0), (inf, 0)]])
    refused(lambda: sr.closure(A, S), r"A\[0, 1\] is \(1, 0\): it is outside the carrier of shortest-count")
    edges = [(0, 1, (-1.0, 1))]
    refused(lambda: sr.adjacency(edges, S), r"edge 0 \(0 → 1\): the weight \(-1, 1\) is outside", sr.GraphError)


def test_samples_outside_the_carrier() -> None:
    refused(lambda: sr.check_laws(sr.viterbi, [0.5, 3.0]), r"samples\[1\] is 3, outside the carrier of viterbi")


# Shapes


@pytest.mark.parametrize("shape", [(2, 3), (3,), (0, 1), (), (4, 2, 3)])
def test_not_square(shape: tuple) -> None:
    A = np.zeros(shape)
    shown = " × ".join(map(str, shape)) or "one number"
    for call in (sr.closure, partial(sr.plan, "closure")):
        refused(lambda call=call: call(A, sr.min_plus), rf"must be a square matrix.*{shown}")
    if len(shape) == 2:
        refused(lambda: sr.factor(A, sr.min_plus), "must be a square matrix")
        refused(lambda: sr.path(A, sr.min_plus, 0, 1), "must be a square matrix")
        refused(lambda: sr.closure(sp.coo_array(A), sr.min_plus), "must be a square matrix")


def test_one_matrix_where_one_is_needed() -> None:
    A = np.zeros((2, 3, 3))
    refused(lambda: sr.closure_rows(A, sr.min_plus, [0]), r"A must be one square matrix, and has shape \(2, 3, 3\)")
    refused(lambda: sr.path(A, sr.min_plus, 0, 1), r"A must be one square matrix")


def test_shapes_that_do_not_fit() -> None:
    A, B = np.zeros((2, 3)), np.zeros((2, 4))
    refused(
        lambda: sr.matmul(A, B, sr.min_plus),
        r"A of shape \(2, 3\) and B of shape \(2, 4\) do not fit: A has 3 columns, "
        "B has 2 rows",
    )
    refused(
        lambda: sr.matmul(np.zeros((2, 1, 3, 3)), np.zeros((3, 3, 3)), sr.min_plus, accumulate=A),
        "accumulate has shape",
    )
    refused(lambda: sr.matmul(np.zeros((2, 3, 3)), np.zeros((3, 3, 3)), sr.min_plus),
            r"leading axes \(2,\) of A and \(3,\) of B")
    refused(lambda: sr.matmul(A, np.float64(3), sr.min_plus), "must be matrices or vectors, not single numbers; S.mul")
    refused(lambda: sr.matmul(A, np.zeros(2), sr.min_plus), "A has 3 columns, B has 2 rows")
    refused(lambda: sr.closure([[1.0, 2.0], [3.0]], sr.min_plus), "A is not a matrix")


# Dtypes


@pytest.mark.parametrize(
    ("S", "dtype", "message"),
    [
        (sr.log, "?", "log cannot live in bool; it lives in float64, float32, float16"),
        (sr.gf2, "f8", "gf2 cannot live in float64; it lives in uint"),
        (sr.bitset_may, "i4", "bitset-may cannot live in int32; it lives in uint64"),
        (sr.max_plus, "u1", r"max-plus cannot live in uint8 \(zero and one are both 0 and must differ\)"),
        (sr.saturating_min_plus(255), "i1", r"cannot live in int8 \(255 is outside int8, -128 … 127\)"),
        (sr.min_plus, "c16", "min-plus cannot live in complex128"),
        (sr.min_plus, "U3", "min-plus cannot live in str"),
        (sr.min_plus, "?", "min-plus cannot live in bool"),
        (
            sr.widest_shortest,
            "f8",
            r"works on records \(dist float64, width float64\), not on float64; build them with S.array",
        ),
    ],
    ids=str,
)
def test_dtypes_that_cannot_carry_the_algebra(S: sr.Semiring, dtype: str, message: str) -> None:
    A = np.zeros((2, 2), dtype)
    for call in (sr.closure, sr.factor, partial(sr.plan, "closure")):
        refused(lambda call=call: call(A, S), message)
    refused(lambda: sr.matmul(A, A, S), message)
    if not S.is_record:
        refused(lambda: sr.closure(A, S), r"Convert the data, for example with \.astype\(")


def test_records_with_other_fields() -> None:
    A = np.zeros((2, 2), [("cost", "f8"), ("steps", "f8")])
    refused(lambda: sr.closure(A, sr.shortest_hops), "works on records")
    refused(lambda: sr.closure(A, sr.min_plus), "min-plus cannot live in")


# Names


def test_unknown_names_suggest_the_near_one() -> None:
    A = np.zeros((2, 2))
    refused(lambda: sr.closure(A, "min-pluss"), "unknown algebra 'min-pluss': did you mean 'min_plus'")
    refused(lambda: sr.closure(A, "zzz"), "unknown algebra 'zzz': the catalogue has boolean, min_plus")
    refused(lambda: sr.closure(A, 3), "3 is not a semiring; pass a semiring, such as sr.min_plus, or its name")
    refused(lambda: sr.closure(A, sr.min_plus, method="r-klene"), "unknown method 'r-klene': did you mean 'r-kleene'")
    refused(lambda: sr.closure(A, sr.min_plus, method="zzz"), "unknown method 'zzz': it is one of floyd-w")
    refused(lambda: sr.closure(A, sr.min_plus, device="tpu"), "'tpu'")
    refused(lambda: sr.matmul(A, A, sr.min_plus, device="tpu"), "'tpu'")
    for tile in (0, -1, 2.5, "64"):
        refused(
            lambda tile=tile: sr.closure(A, sr.min_plus, method="blocked", tile=tile),
            "tile must be a positive whole number",
        )
    with pytest.raises(AttributeError, match="did you mean closure"):
        _ = sr.closures


def test_vertices_that_are_not_there() -> None:
    M = sr.adjacency([("home", "mill", 1.0)], sr.min_plus)
    refused(lambda: sr.path(M, sr.min_plus, "home", "mil"), "no vertex is called 'mil'; did you mean 'mill'")
    refused(lambda: sr.path(np.asarray(M), sr.min_plus, 0, 2), "vertex 2: the vertices have no names")
    refused(lambda: M["hom", "mill"], "no vertex is called 'hom'; did you mean 'home'", sr.GraphError)


# Laws


def test_missing_laws_are_named() -> None:
    A = np.zeros((2, 2))
    for S in (sr.plus_times, sr.log, sr.counting):
        refused(
            lambda S=S: sr.closure(A - 1 if S is sr.log else A, S, method="squaring"),
            rf"squaring needs .*{S.name}.*⊕ is not idempotent\. With a = .*, a ⊕ a = .*method='auto'",
            sr.LawError,
        )
    refused(
        lambda: sr.path(A, sr.plus_times, 0, 1),
        "a best path needs a selective ⊕, and in plus-times ⊕ is not selective",
        sr.LawError,
    )
    refused(lambda: sr.path(A.astype("u1"), sr.bitset_may, 0, 1), "selective ⊕, and in bitset-may", sr.LawError)


# Files and graphs


@pytest.mark.parametrize(("name", "text", "message"), [
    ("a.csv", "from,to,weight\na,b,1\nb,c,x\n", "line 3: .*the weight 'x' in the column 'weight', expected a number"),
    ("a.csv", "from,to,weight\na,b,1\nb,c\n", "line 3: .*2 fields, expected 3 fields"),
    ("a.gr", "p sp 2 1\na 1 5 3\n", "line 2: .*vertex '5', expected an integer from 1 to 2"),
    ("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 5 3\n", "line 3"),
    ("a.txt", "0 1\n-3 2\n1 2\n", "line 2: .*source vertex -3"),
    ("a.graphml", "<graphml>\n<graph edgedefault='directed'>\n", "line 3"),
])
def test_files_that_do_not_parse(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    refused(lambda: sr.read_graph(tmp_path / name), message, sr.GraphError)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "roads.csv").write_text("a,b,1\n", encoding="utf-8")
    refused(lambda: sr.read_graph(tmp_path / "road.csv"), "there is no file .*did you mean 'roads.csv'", sr.GraphError)


def test_edges_that_are_none() -> None:
    refused(
        lambda: sr.adjacency([(0, 1, 2.0), (1, 2, nan)], sr.min_plus),
        r"edge 1 \(1 → 2\): the weight is NaN",
        sr.GraphError,
    )
    refused(lambda: sr.adjacency([(0, 1), (1, -2)], sr.min_plus), "edge 1: target vertex -2 is negative", sr.GraphError)
    refused(
        lambda: sr.adjacency([(0, 1, 300)], sr.min_plus, dtype="u1"), "edge 0 .*300 does not fit uint8", sr.GraphError
    )
    refused(
        lambda: sr.adjacency([(0, 1, 2.0)], sr.viterbi),
        r"edge 0 \(0 → 1\): the weight 2 is outside the carrier of viterbi, "
        r"\(\[0, 1\].*correct the edge",
        sr.GraphError,
    )
    refused(
        lambda: sr.from_dense([[0, 3.0], [0, 0]], sr.viterbi), r"entry \(0, 1\): the weight 3 is outside", sr.GraphError
    )


# Memory


def test_answers_that_would_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    n = 5000
    A = np.full((n, n), 2, "f4")
    edges = (np.array([0]), np.array([1]), np.array([1.0]))
    monkeypatch.setattr(memory, "available_bytes", lambda: 10 << 20)
    message = r"needs .* (MiB|GiB) of memory and 10.0 MiB is available: use a narrower dtype or"
    refused(lambda: sr.closure(A, sr.min_plus), rf"the closure of {n} × {n} float32 " + message)
    refused(lambda: sr.factor(A, sr.min_plus), message)
    refused(lambda: sr.matmul(A, A, sr.min_plus), message)
    refused(
        lambda: sr.adjacency(edges, sr.min_plus, n=10**6),
        "a 1000000 × 1000000 matrix of float64 needs 7.3 TiB of memory",
    )
    refused(
        lambda: sr.closure(sp.coo_array((edges[2], edges[:2]), shape=(10**6, 10**6)), sr.min_plus),
        "needs 7.3 TiB of memory",
    )
    refused(lambda: sr.plus_times.eye(10**6), "needs 7.3 TiB")


def test_small_work_asks_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 0)
    assert sr.closure(np.full((3, 3), inf), sr.min_plus)[0, 0] == 0
    assert sr.solve(np.full((3, 3), inf), np.zeros(3), sr.min_plus)[0] == 0
