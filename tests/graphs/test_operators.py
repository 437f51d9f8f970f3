"""Operators over the matrix's algebra, and NumPy's own functions, which compute over it or refuse."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from graphs.listing import refused
from hypothesis import given, settings
from hypothesis import strategies as st
from layouts import hops_and_costs, laid_out, layouts, same

import semiring as sr
from semiring.graphs.matrix import Matrix
from semiring.graphs.operators import number

INF = np.inf

WEIGHTS = {"min-plus": [0.0, 1.0, 2.5, INF], "max-min": [0.0, 1.0, INF, -INF], "boolean": [False, True],
           "plus-times": [0.0, 1.0, -2.0], "counting": [0, 1, 3]}
ALGEBRAS = {"min-plus": sr.min_plus, "max-min": sr.max_min, "boolean": sr.boolean, "plus-times": sr.plus_times,
            "counting": sr.counting}


@st.composite
def pairs(draw):
    """Two matrices over one algebra on the same vertices, in two orders where they have names."""
    name = draw(st.sampled_from(sorted(WEIGHTS)))
    n = draw(st.integers(0, 4))
    cells = st.lists(st.sampled_from(WEIGHTS[name]), min_size=n * n, max_size=n * n)
    S = ALGEBRAS[name]
    A, B = (np.array(draw(cells), S.default_dtype).reshape(n, n) for _ in range(2))
    named, order = draw(st.booleans()), draw(st.permutations(range(n)))
    if not named:
        return A, B, Matrix(A, S), Matrix(B, S)
    names = [f"v{i}" for i in range(n)]
    return A, B, Matrix(A, S, names), Matrix(B[np.ix_(order, order)], S, [names[i] for i in order])


@settings(max_examples=60)
@given(pairs(), st.integers(0, 6))
def test_operators_are_the_verbs_over_the_matrix_s_own_algebra(made, k):
    A, B, M, N = made
    S, names = M.semiring, M.names
    power = S.eye(len(A), A.dtype)
    for _ in range(k):
        power = sr.matmul(power, A, S)
    expected = {"@": sr.matmul(A, B, S), "|": S.over(A.dtype).add(A, B), "**": power, "T": A.T}
    for what, found in {"@": M @ N, "|": M | N, "**": M ** k, "T": M.T}.items():
        assert type(found) is Matrix and found.semiring is S and found.names == names and found.dtype == A.dtype
        np.testing.assert_array_equal(found.array, expected[what], err_msg=what)
    np.testing.assert_array_equal(M == N, A == B)
    np.testing.assert_array_equal(M != N, A != B)
    for left, right in ((M, B), (A, Matrix(B, S, names))):  # an array is taken by position
        np.testing.assert_array_equal(np.asarray(left @ right), expected["@"])
        np.testing.assert_array_equal(np.asarray(np.matmul(left, right)), expected["@"])
        assert type(left | right) is Matrix
        np.testing.assert_array_equal((left | right).array, expected["|"])
        np.testing.assert_array_equal(left == right, A == B)
        np.testing.assert_array_equal(left != right, A != B)
    product, total = A.copy(), A.copy()  # an array on the left of ``@=`` and ``|=`` holds what they find
    product @= Matrix(B, S, names)
    total |= Matrix(B, S, names)
    assert type(product) is type(total) is np.ndarray
    np.testing.assert_array_equal(product, expected["@"])
    np.testing.assert_array_equal(total, expected["|"])


@pytest.mark.parametrize("S", [*sr.catalogue.values()], ids=lambda S: S.name)
def test_powers_over_every_algebra(S):
    sample = S.samples()[[1, 0, 1, 1]].reshape(2, 2)
    M = Matrix(sample, S, ["a", "b"])
    one = M ** 0
    assert one.dtype == M.dtype and one.names == M.names and np.all(one @ M == M) and np.all(M @ one == M)
    assert np.all(M ** 3 == M @ M @ M) and np.all((M | one) == (one | M)) and np.all(M.T.T == M)


def test_fields_of_records_in_another_order():
    layout = np.dtype([("hops", "f4"), ("cost", "f8")])
    array = np.zeros((2, 2), layout)
    array["cost"] = [[INF, 2.0], [1.0, INF]]
    array["hops"] = [[INF, 1.0], [1.0, INF]]
    one = Matrix(array, sr.shortest_hops) ** 0
    assert one.dtype == layout and one[0, 0]["cost"] == 0 and one[0, 1]["cost"] == INF


def test_what_operators_refuse():
    A = np.array([[0.0, 2.0], [INF, 0.0]])
    M = Matrix(A, sr.min_plus, ["a", "b"])
    for call in (lambda N: M @ N, lambda N: M | N, lambda N: M == N, lambda N: M != N, lambda N: N @ M):
        with refused("have different vertices: "):
            call(Matrix(A, sr.min_plus, ["a", "x"]))
        with refused("over m", sr.SemiringError):
            call(Matrix(A, sr.max_min, ["a", "b"]))
    for exponent in (-1, 0.5, "2", True):
        with refused("the exponent of a power", sr.SemiringError):
            _ = M ** exponent
    with refused("A is float64 and B is float32"):
        _ = M | A.astype("f4")
    for shape in ((3, 3), (2,), (2, 1)):
        with refused(f"A has shape (2, 2) and B has shape {shape}"):
            _ = M | np.zeros(shape)
    for other in (sr.as_graph([("a", "b", 1.0)]), sp.csr_array(A)):
        for call in (lambda N: M | N, lambda N: M == N, lambda N: M != N):
            with refused(f"B is a {type(other).__name__}: sr.Matrix(B, S) makes a Matrix of it"):
                call(other)
    with refused("B has entries outside the carrier of min-plus"):
        _ = M | np.full((2, 2), np.nan)
    with pytest.raises(TypeError):
        hash(M)


def test_what_numpy_s_functions_take_besides():
    A = np.array([[0.0, 2.0], [INF, 0.0]])
    M, out, same = Matrix(A, sr.min_plus), np.empty((2, 2)), np.empty((2, 2), bool)
    assert np.matmul(A, M, out=out) is out and np.all(out == A) and np.equal(A, M, out=same) is same and same.all()
    row = np.array([1.0, 5.0])
    row @= M
    assert row.tolist() == [1.0, 3.0]
    for keywords, word in (({"dtype": np.float32}, "dtype"), ({"axes": [(0, 1), (-2, -1), (-2, -1)]}, "axes")):
        with refused(f"numpy.matmul of a Matrix computes over its algebra and takes out, not {word}", sr.SemiringError):
            np.matmul(A, M, **keywords)
    with pytest.raises(TypeError, match="Cannot cast"):
        np.matmul(A, M, out=np.empty((2, 2), np.int64))


def test_without_names_vertices_are_taken_by_position():
    A = np.array([[0.0, 2.0], [INF, 0.0]])
    named, plain = Matrix(A, sr.min_plus, ["a", "b"]), Matrix(A, sr.min_plus)
    for found in (named @ plain, plain @ named, plain | named, named | plain):
        assert type(found) is Matrix and found.names == ["a", "b"]
    assert np.all(named == plain)


REALS = {
    "dot": lambda M: np.dot(M, M), "dot of an array": lambda M: np.dot(M.array, M),
    "einsum": lambda M: np.einsum("ii", M),
    "inner": lambda M: np.inner(M, M), "tensordot": lambda M: np.tensordot(M, M), "vdot": lambda M: np.vdot(M, M),
    "add": lambda M: np.add(M, M), "subtract": lambda M: np.subtract(M, 1.0), "exp": lambda M: np.exp(M),
    "maximum": lambda M: np.maximum(M, M), "clip": lambda M: np.clip(M, 0, 1),
    "cumsum": lambda M: np.cumsum(M, axis=0),
    "nonzero": lambda M: np.nonzero(M), "tril": lambda M: np.tril(M), "zeros_like": lambda M: np.zeros_like(M),
    "mean": lambda M: np.mean(M), "any": lambda M: np.any(M),
    "outer": lambda M: np.outer(M, M), "trace": lambda M: np.trace(M),
    "linalg.matrix_power": lambda M: np.linalg.matrix_power(M, 2), "linalg.inv": lambda M: np.linalg.inv(M),
    "linalg.solve": lambda M: np.linalg.solve(M, M.array), "linalg.norm": lambda M: np.linalg.norm(M),
    "linalg.multi_dot": lambda M: np.linalg.multi_dot([M, M, M]),
}


@pytest.mark.parametrize("what", REALS)
def test_what_would_compute_over_the_reals_is_refused(what):
    M = Matrix(np.array([[0.0, 2.0], [INF, 0.0]]), sr.min_plus, ["a", "b"])
    name = what.partition(" ")[0]
    with refused(f"numpy.{name} of a Matrix would compute over the real numbers, and not over min-plus: ",
                 sr.SemiringError):
        REALS[what](M)
    if hasattr(np, "vecdot"):
        with refused("numpy.vecdot of a Matrix would compute over the real numbers", sr.SemiringError):
            np.vecdot(M, M)


def test_numpy_s_other_functions_take_the_elements():
    A = np.array([[0.0, 2.0], [INF, 0.0]])
    M = Matrix(A, sr.min_plus, ["a", "b"])
    assert np.concatenate([M, A]).tolist() == np.concatenate([A, A]).tolist() and np.max(M) == INF
    assert np.where(M == INF, 9.0, M).tolist() == [[0.0, 2.0], [9.0, 0.0]] and np.ndim(M) == 2 and np.shape(M) == (2, 2)
    assert np.array_equal(M, A) and np.isfinite(M).tolist() == [[True, True], [False, True]]


@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix, sp.coo_array])
def test_a_sparse_matrix_on_the_left_is_told_where_to_go(make):
    A = make([[0.0, 2.0], [1.0, 0.0]])
    M = Matrix(np.array([[0.0, 2.0], [INF, 0.0]]), sr.min_plus)
    with refused("for a product over min-plus call sr.matmul(A, M)", AttributeError):
        _ = A @ M
    assert sr.matmul(A, M).tolist() == [[INF, 2.0], [1.0, 3.0]] and not hasattr(M, "ndim")


@settings(max_examples=40)
@given(st.sampled_from(["i1", "i4", "u1", "f4", "f8", "c16"]), st.integers(-300, 300), st.booleans())
def test_a_number_of_python_takes_the_dtype_of_the_matrix(dtype, value, whole):
    S = sr.plus_times if dtype == "c16" else sr.min_plus
    M = Matrix(np.arange(4).reshape(2, 2).astype(dtype), S)
    held = np.dtype(dtype).kind in "fc" or np.iinfo(dtype).min <= value <= np.iinfo(dtype).max
    if not held:
        with refused(f"A is {M.dtype}, which cannot hold {value}"):
            _ = M | value
        return
    found = M | (value if whole else float(value))
    expected = S.over(dtype).add(M.array, np.full((2, 2), value, dtype))
    assert found.dtype == M.dtype and np.array_equal(found.array, expected)
    assert np.array_equal(value == M, M.array == value)


def test_infinities_and_parts_of_integers():
    M = Matrix(np.arange(4, dtype=np.int32).reshape(2, 2), sr.min_plus)
    assert ((M | INF) == M).all() and number(sr.max_plus, -INF, M.dtype) == np.iinfo(np.int32).min
    for value in (2.5, 2**40):
        with refused(f"A is int32, which cannot hold {value}; convert A"):
            _ = M | value
    with refused("B has entries outside the carrier"):
        _ = Matrix(np.eye(2), sr.min_plus) | np.full((2, 2), np.nan)


@pytest.mark.parametrize(("S", "value"), [
    (sr.min_plus, 70000), (sr.max_plus, -70000.0), (sr.viterbi, 1e-9), (sr.min_plus, 10**400), (sr.log, -(10**400)),
])
def test_a_number_that_becomes_infinite_or_zero_is_refused(S, value):
    M = Matrix(np.array([[1.0]], "f2"), S)
    with refused("A is float16, which cannot hold"):
        _ = M | value


def test_a_number_is_rounded_to_the_matrix_s_dtype():
    M = Matrix(np.array([[1.0]], "f2"), sr.min_plus)
    assert (M | 0.1).array.item() == float(np.float16(0.1)) and (M | 1e-9).array.item() == 0.0
    assert (M | INF).array.item() == 1.0 and (M | -INF).array.item() == -INF


def test_a_number_is_not_a_record():
    M = Matrix(np.zeros((1, 1), sr.shortest_hops.default_dtype), sr.shortest_hops)
    with refused("and B is int64; convert one with"):
        _ = M | 1


def test_labels_of_a_series_are_vertices():
    M = Matrix(np.array([[0.0, 2.0], [INF, 0.0]]), sr.min_plus, ["a", "b"])
    x = pd.Series([7.0, 1.0], index=["b", "a"])
    plain = Matrix(M.array, sr.min_plus)
    assert (M @ x).tolist() == (M @ np.array([1.0, 7.0])).tolist() == [1.0, 7.0]
    assert (plain @ pd.Series([7.0, 1.0], index=[1, 0])).tolist() == [1.0, 7.0]
    assert sr.matmul(M.array, x, sr.min_plus).tolist() == [3.0, 1.0], "the columns of an array are not vertices"
    for found in (sr.solve(M, x), sr.factor(M).solve(x)):
        assert found.tolist() == sr.solve(M, np.array([1.0, 7.0])).tolist()
    with refused("'b' is in A and not in B"):
        M @ pd.Series([1.0, 2.0], index=["a", "c"])
    with refused("give B.to_numpy() to take it by position"):
        plain @ x
    with refused("B has a label twice"):
        M @ pd.Series([1.0, 2.0], index=["a", "a"])


def test_products_of_pandas_are_refused_and_its_other_ways_to_read_are_not():
    """They are over the reals, and pandas does not ask first."""
    M = Matrix(np.array([[0.0, 2.0], [1.0, 0.0]]), sr.min_plus, ["a", "b"])
    frame = pd.DataFrame(M.array, index=["a", "b"], columns=["a", "b"])
    for product in (lambda: frame @ M, lambda: frame.dot(M), lambda: frame["a"] @ M, lambda: frame["a"].dot(M)):
        with refused("pandas multiplies a Matrix over the real numbers, and not over min-plus", sr.SemiringError):
            product()
    assert sr.matmul(frame, M).array.tolist() == (M @ M).array.tolist()
    assert np.array_equal(frame @ M.to_numpy(), M.array @ M.array)
    assert (frame + np.asarray(M)).to_numpy().tolist() == (2 * M.array).tolist()
    assert pd.DataFrame(np.asarray(M)).shape == (2, 2) and pd.Series(list(M)).size == 2


@settings(max_examples=60)
@given(pairs())
def test_numpy_s_other_functions_take_vertices_in_one_order(made):
    """By position they would compare, and combine, what belongs to different vertices."""
    A, B, M, N = made
    least = np.less_equal
    assert np.array_equal(least(M, N), least(A, B)) and np.array_equal(least(N, A), least(N.array, A))
    assert np.array_equal(np.stack([M, N]), np.stack([A, B]))
    assert np.array_equal(M, N) == np.array_equal(A, B)
    assert np.array_equal(np.where(M == N, M, N), np.where(A == B, A, B))


def test_what_numpy_writes_stays_with_its_vertices():
    A = np.array([[0.0, 1.0], [5.0, 0.0]])
    M, N = Matrix(A, sr.min_plus, ["a", "b"]), Matrix(A, sr.min_plus, ["b", "a"])
    same = Matrix(np.empty((2, 2)), sr.min_plus, ["a", "b"])
    assert np.minimum(M, N, out=same) is not None and np.array_equal(same.array, [[0.0, 1.0], [1.0, 0.0]])
    assert np.matmul(M, N, out=same) is same and np.array_equal(same.array, (M @ N).array)
    for call in (np.minimum, np.matmul):
        with refused("out is a matrix with its vertices in a different order than the answer's"):
            call(M, M, out=N)
    written = (np.take, {"indices": [1, 0], "axis": 0}), (np.take, {"indices": [0, 0], "axis": 1})
    for function, options in written:
        with refused("out is a matrix with its vertices in a different order than the answer's"):
            function(M, **options, out=N)
        function(M, **options, out=same)
        assert np.array_equal(same.array, function(A, **options)), function.__name__
    with pytest.raises(ValueError, match="read-only"):  # by position nothing shows that this is written
        np.take(M, [0, 1], 0, N)
    assert np.array_equal(N.array, A)
    with refused("A and B have different vertices: 'b' is in A and not in B"):
        np.minimum(M, Matrix(A, sr.min_plus, ["a", "c"]))
    assert np.array_equal(np.minimum(Matrix(A, sr.min_plus), N), A)


@pytest.mark.parametrize("S", [sr.shortest_count, hops_and_costs()], ids=lambda S: S.name)
def test_sums_of_records_in_any_layout(S):
    """Fields are added by their names: in another order they were added as what stood in their place."""
    x = S.samples().view(S.element_dtype)[:9].reshape(3, 3)
    expected = S.add(x, x.T)
    for dtype in layouts(S):
        M, N = (Matrix(laid_out(array, dtype), S) for array in (x, x.T))
        found = (M | N).array
        assert found.dtype == dtype and same(found, expected), dtype


@settings(max_examples=40)
@given(pairs())
def test_labels_of_frames_are_vertices_to_numpy_too(made):
    """NumPy read them by position, and pandas asked for vertices 0, 1, …"""
    A, B, M, N = made
    if not M.names:  # an empty frame has no dtype
        return
    frame = pd.DataFrame(N.array, index=N.names, columns=N.names)
    least = np.less_equal
    assert np.array_equal(least(M, frame), least(A, B)) and np.array_equal(least(frame, M), least(N, M))
    assert np.array_equal(np.stack([M, frame]), np.stack([A, B])) and np.array_equal(np.equal(M, frame), A == B)
    assert ((frame | M) == (N | M)).all() and (frame | M).names == M.names
    assert np.array_equal(frame == M, A == B) and np.array_equal(frame != M, A != B)
    row = pd.Series(N.array[:, :1].ravel(), index=N.names)
    places = [N.names.index(name) for name in M.names]
    assert np.array_equal(least(M, row), least(A, row.to_numpy()[places]))


def test_what_is_no_matrix_beside_one_is_refused():
    M = Matrix(np.array([[0.0, 2.0], [INF, 0.0]]), sr.min_plus, ["a", "b"])
    frame = M.to_frame(long=False, library="pandas")
    for call, message in ((lambda: np.minimum(M, frame[["a"]]), "'b' is in the index and not in the columns"),
                          (lambda: np.minimum(M, frame.rename(index={"b": "c"}, columns={"b": "c"})), "'b' is in A"),
                          (lambda: np.minimum(M, pd.Series([1.0, 2.0], ["a", "c"])), "'b' is in the matrix and not"),
                          (lambda: np.minimum(M, pd.Series([1.0, 2.0], ["a", "a"])), "a series has a label twice")):
        with refused(message):
            call()
    for call in (lambda: frame + M, lambda: frame < M, lambda: frame["a"] - M):
        with pytest.raises(TypeError, match=r"not supported between|unsupported operand"):
            call()


def test_plus_says_which_operator_is_the_sum():
    M = Matrix(np.array([[0.0, 2.0], [INF, 0.0]]), sr.min_plus, ["a", "b"])
    for other in (M, 2, M.to_frame(long=False, library="pandas"), pd.Series([1.0, 2.0], ["a", "b"])):
        for call in (lambda other=other: M + other, lambda other=other: other + M, lambda other=other: sum([other, M])):
            with pytest.raises(TypeError, match=r"A \| B is the sum ⊕ over min-plus"):
                call()


def test_layouts_of_memory_are_no_other_dtypes():
    """Numbers in the other byte order, and records with fields in another order, meet those of the same dtype."""
    A = np.array([[INF, 3.0], [2.0, INF]])
    swapped = A.astype(A.dtype.newbyteorder())
    for kinds in itertools.product(("dense", "sparse"), repeat=2):
        M, N = (Matrix(x, sr.min_plus).hold(kind) for x, kind in zip((A, swapped), kinds, strict=True))
        for call in (lambda X, Y: X | Y, lambda X, Y: X * Y, lambda X, Y: X.kron(Y), lambda X, Y: X @ Y):
            assert call(M, N).equals(call(M, M)) and call(N, M).equals(call(M, M))
    S = sr.shortest_hops
    own = S.lift(A)
    for dtype in layouts(S):
        M, N = Matrix(own, S), Matrix(laid_out(own, dtype), S)
        for kind in ("dense", "sparse"):
            assert (M | N.hold(kind)).equals(M) and (N.hold(kind) * M).equals(M * M) and N.hold(kind).equals(M)


def test_plain_weights_beside_a_matrix_of_records():
    """They are lifted, as by every verb; other numbers are distinguished from records."""
    weights = np.array([[INF, 3.0], [2.0, INF]])
    M = Matrix(weights, sr.shortest_hops, ["a", "b"])
    assert ((M | weights) == M).all() and (weights == M).all()
    assert (weights + 1 == M).tolist() == [[True, False], [False, True]]
    assert (np.array([[2**63 - 1, 3], [2, 2**63 - 1]]) == M).all()
    pairs = Matrix(sr.widest_shortest.eye(2), sr.widest_shortest)
    for call in (lambda: M == 3.0, lambda: M != 3.0, lambda: pairs == weights, lambda: weights == pairs):
        with refused(") and B is float64; convert one with .astype(…)"):
            call()
    with refused("A is (dist float64, width float64) and B is float64"):
        _ = pairs | weights
    with refused("A is float64 and B is (cost float64, hops float64)"):
        _ = Matrix(weights, sr.min_plus) == M.array


@pytest.mark.parametrize("names", [None, list("abcde")], ids=["plain", "named"])
@pytest.mark.parametrize("S", [sr.min_plus, sr.max_min, sr.boolean, sr.plus_times], ids=lambda S: S.name)
def test_small_products_take_few_steps(
    S: sr.Semiring, names: list[str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(8)
    A, B = (Matrix(random.integers(0, 2 if S is sr.boolean else 9, (5, 5)).astype(S.default_dtype), S, names)
            for _ in range(2))
    general = Matrix(sr.matmul(A, B).array, S, names)
    with monkeypatch.context() as patch:
        patch.setattr(sr.matrices.Task, "answer", None)
        short = A @ B
    assert short.equals(general) and short.row_names == short.column_names == names
    assert same(short.array, general.array)
    if names:
        assert (A @ B[names[::-1]]).equals(general)
    with pytest.raises(sr.SemiringError, match="over"):
        _ = A @ Matrix(np.zeros((5, 5)), sr.min_max if S is sr.min_plus else sr.min_plus, names)


def test_small_products_refuse_what_is_not_an_element() -> None:
    A = Matrix(np.array([[0.0, np.nan], [1.0, 2.0]]), sr.min_plus, ["a", "b"])
    with pytest.raises(sr.SemiringError, match="NaN") as found:
        _ = A @ A
    with pytest.raises(sr.SemiringError) as expected:
        sr.matmul(A, A)
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_one_record_for_all_places(kind):
    M = sr.adjacency([("a", "b", (3.0, 1)), ("b", "a", (2.0, 4))], sr.shortest_count).hold(kind)
    for one, other in (((5.0, 1), np.array([(5.0, 1)], M.dtype)[0]), ((np.float64(5), np.int8(1)), (5.0, 1))):
        for left, right in ((M * one, M * other), (one * M, M * one)):
            assert left.equals(right) and list(left.edges()) == [("a", "b", (8.0, 1)), ("b", "a", (7.0, 4))]
        assert (M | one).to_numpy().tolist() == [[(5.0, 1), (3.0, 1)], [(2.0, 4), (5.0, 1)]]
        assert ((M | one) == one).tolist() == [[True, False], [False, True]]
    whole = Matrix([[1.0, 2.0]], sr.plus_times)
    assert (whole * np.int64(3)).array.tolist() == [[3.0, 6.0]] and (whole == np.int64(2)).tolist() == [[False, True]]


def test_what_is_not_dense_has_no_array_without_a_copy():
    M = sr.adjacency([("a", "b", 3.0)], sr.min_plus).hold("sparse")
    with pytest.raises(ValueError, match="a sparse Matrix has no array of all elements: leave out copy=False"):
        np.asarray(M, copy=False)
    assert np.shape(M) == (2, 2) and np.ndim(M) == 2 and np.size(M) == 4


def test_one_element_is_multiplied_with_the_entries_of_a_large_sparse_matrix():
    """Not with all places; their product with zero is zero."""
    n = 1 << 20
    M = Matrix(sp.coo_array(([1.0, 2.0], ([0, 3], [5, n - 1])), shape=(n, n)), sr.min_plus)
    for found in (M * 2, 2.0 * M, np.float64(2) * M, np.multiply(M, np.array(2.0))):
        assert found.holder == "sparse" and list(found.edges()) == [(0, 5, 3.0), (3, n - 1, 4.0)]
    assert (M * INF).nnz == 0 and (M.T * 1).nnz == 2
    assert [row.min() for row, _ in zip(M, range(4), strict=False)] == [1.0, INF, INF, 2.0]
    with refused("A is float64 and B is int64"):
        _ = M * np.int64(2)
    with refused("B has entries outside the carrier of min-plus"):
        _ = M * np.nan


def test_one_truth_value_beside_packed_bits():
    M = Matrix(np.eye(3, dtype=bool), sr.boolean).hold("packed")
    assert (M * True).equals(M) and (M * False).nnz == 0 and (M | True).nnz == 9 and (True * M).holder == "packed"
    assert [row.tolist() for row in M] == np.eye(3, dtype=bool).tolist()


@pytest.mark.parametrize("kinds", list(itertools.product(("dense", "sparse"), repeat=2)), ids="-".join)
def test_equal_matrices_have_equal_names(kinds):
    """In any order; other names, or none, are not an error but unequal, as are another algebra and another shape."""
    mine, others = kinds
    A = np.array([[0.0, 2.0], [INF, 1.0]])
    square, tall = (Matrix(A, sr.min_plus, ["a", "b"], **own).hold(mine) for own in ({}, {"columns": ["x", "y"]}))
    assert square.equals(Matrix(A[::-1, ::-1].copy(), sr.min_plus, ["b", "a"]).hold(others))
    assert tall.equals(Matrix(A[:, ::-1].copy(), sr.min_plus, ["a", "b"], columns=["y", "x"]).hold(others))
    for names, columns in ((None, None), (["a", "c"], None), (["a", "b"], ["x", "y"]), (None, ["a", "b"])):
        assert not square.equals(Matrix(A, sr.min_plus, names, columns=columns).hold(others))
        assert not Matrix(A, sr.min_plus, names, columns=columns).hold(others).equals(square)
    for names, columns in ((["a", "b"], None), (["a", "b"], ["x", "z"]), (["x", "y"], ["a", "b"]), (None, ["x", "y"])):
        assert not tall.equals(Matrix(A, sr.min_plus, names, columns=columns).hold(others))
    assert not square.equals(Matrix(A, sr.max_plus, ["a", "b"]).hold(others))
    assert not square.equals(Matrix(A[:1], sr.min_plus, ["a"], columns=["a", "b"]).hold(others))
    for other in (A, A.tolist(), None, "M", sr.as_graph([("a", "b", 2.0)])):
        assert not square.equals(other)
