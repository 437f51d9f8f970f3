"""Steps on arrays: products without the laws, views, and the walk back to the winning terms."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring.shapes.einsum import running


def test_products_without_the_laws_are_summed_last_from_left_to_right() -> None:
    mean = sr.Semiring("mean", add=np.maximum, mul=lambda a, b: (a + b) / 2, zero=-np.inf, product_only=True)
    rng = np.random.default_rng(3)
    A, B, C = (rng.integers(0, 9, (2, 3)).astype(float) for _ in range(3))
    wanted = ((A[:, :, None, None] + B.T[None, :, :, None]) / 2 + C[None, None]) / 2
    assert np.array_equal(sr.einsum("ij,kj,kl->il", A, B[:, :], C, S=mean), wanted.max((1, 2)))
    value, places = sr.einsum("ij,kj,kl->il", A, B, C, S=mean, argmax=True)
    i, l = np.indices(value.shape)
    assert np.array_equal(wanted[i, places["j"], places["k"], l], value)
    assert sr.einsum("ij->", A, S=mean) == A.max()


def test_winners_are_places_in_the_operands() -> None:
    rng = np.random.default_rng(2)
    A, B, C = (rng.permutation(24).reshape(2, 3, 4).astype(float) for _ in range(3))
    value, places = sr.einsum("abc,abd,aef->a", A, B, C, S=sr.min_plus, argmax=True)
    b, c, d, e, f = (places[x] for x in "bcdef")
    a = np.arange(2)
    assert np.array_equal(A[a, b, c] + B[a, b, d] + C[a, e, f], value)
    assert places["b"].dtype == np.int32


def test_nothing_wins_where_the_answer_is_zero() -> None:
    A = np.full((2, 3), np.inf)
    A[0, 1] = 4
    value, places = sr.einsum("ij,kj->ik", A, A, S=sr.min_plus, argmax=True)
    assert value.tolist() == [[8, np.inf], [np.inf, np.inf]]
    assert places["j"].tolist() == [[1, -1], [-1, -1]]
    empty = np.ones((2, 0))
    assert sr.einsum("ij,ik->k", empty, A, S=sr.min_plus, argmax=True)[1]["j"].tolist() == [-1] * 3


@pytest.mark.parametrize("text", ["ij->ij", "ij->ji", "i1->1i", "ii->i"])
def test_the_answer_is_in_new_memory(text: str) -> None:
    A = np.eye(3)[:, : 1 if "1" in text else 3]
    got = sr.einsum(text.replace("1", "j"), A, S=sr.min_plus)
    assert not np.shares_memory(got, A)
    got[...] = 7


@pytest.mark.parametrize("piece", [1, 5, 24])
@pytest.mark.parametrize("S", [sr.min_plus, sr.shortest_hops, sr.regex], ids=str)
def test_a_product_by_element_is_cut_into_pieces(S: sr.Semiring, piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    some = {"min-plus": [1.0, 2.0, np.inf], "shortest-hops": [(1.0, 2.0), (np.inf, np.inf), (3.0, 0.0)]}
    elements = S.array(some.get(S.name, [sr.letter("a"), sr.regex.zero, sr.letter("b")]))
    for text, *shapes in (("ij,kl->likj", (2, 3), (4, 2)), ("ij,ij->ji", (7, 2), (7, 2)), ("i,ij->ij", (3,), (3, 5)),
                          ("j,ij->ij", (5,), (3, 5)), ("...ik,k->...ik", (1, 3, 4), (4,)), (",i->i", (), (30,)),
                          ("i,->i", (30,), ())):
        given = [elements[rng.integers(0, 3, shape)] for shape in shapes]
        given = [A if isinstance(A, np.ndarray) else S.array([A]).reshape(()) for A in given]
        wanted = sr.einsum(text, *given, S=S)
        with monkeypatch.context() as patch:
            patch.setattr(running, "PIECE", piece)
            patch.setattr(running, "LEAST", 1)
            got = sr.einsum(text, *given, S=S)
        assert got.shape == wanted.shape and (got == wanted).all()


def test_numbers_that_leave_the_range_on_the_way_are_refused() -> None:
    A = np.array([[1e300, 1e300], [-1e300, -1e300]])
    with pytest.raises(sr.SemiringError, match=r"on the way to the answer, .* is ∞: it is outside the carrier"):
        sr.einsum("ij,ij,ik->", A, np.abs(A), A, S=sr.plus_times)
