"""The steps of an einsum: operands keep their order where they must, and a given path is followed."""

from __future__ import annotations

from string import ascii_letters

import numpy as np
import pytest

import semiring as sr


def test_operands_keep_their_order_where_products_do_not_commute() -> None:
    a, b, c = (sr.letter(x) for x in "abc")
    x, y, z = (np.array([[e, sr.regex.zero], [sr.regex.one, e]], object) for e in (a, b, c))
    got = sr.einsum("ij,jk,kl->il", x, y, z, S=sr.regex)
    assert str(got[0, 0]) == str(sr.chain([x, y, z], sr.regex)[0, 0]) == "abc"
    assert str(sr.einsum("kl,ij,k->", x, y, x[0], S=sr.regex)).startswith("a")
    with pytest.raises(sr.SemiringError, match="run of neighbours"):
        sr.einsum("ij,jk,kl->il", x, y, z, S=sr.regex, optimize=[(0, 2), (0, 1)])


def test_a_path_of_numpy_is_followed() -> None:
    rng = np.random.default_rng(1)
    given = [rng.integers(0, 9, (3, 3)).astype(float) for _ in range(5)]
    text = "ab,bc,cd,de,ea->"
    path = np.einsum_path(text, *given, optimize="greedy")[0]
    wanted = np.einsum(text, *given)
    for optimize in (True, False, np.True_, path, [(0, 1, 2), (0, 1, 2)], [tuple(np.arange(5))]):
        assert sr.einsum(text, *given, S=sr.plus_times, optimize=optimize) == wanted
    with pytest.raises(sr.SemiringError, match=r"optimize names \(0, 7\), but 2 arrays are left"):
        sr.einsum("ab,bc", *given[:2], S=sr.plus_times, optimize=[(0, 7)])


def test_a_path_of_opt_einsum_is_followed() -> None:
    opt_einsum = pytest.importorskip("opt_einsum")
    rng = np.random.default_rng(0)
    text = ",".join("".join(ascii_letters[a] for a in rng.choice(14, 3, replace=False)) for _ in range(13)) + "->ab"
    given = [rng.integers(0, 3, (2, 2, 2)).astype(float) for _ in range(13)]
    path, _ = opt_einsum.contract_path(text, *given)
    got = sr.einsum(text, *given, S=sr.plus_times, optimize=path)
    assert np.array_equal(got, opt_einsum.contract(text, *given, optimize=path))
    for S in (sr.min_plus, sr.max_min):
        assert np.array_equal(sr.einsum(text, *given, S=S, optimize=path), sr.einsum(text, *given, S=S))
