"""The best sequence of states is the best of all of them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import semiring as sr

inf = np.inf


@pytest.mark.parametrize("compiles", ["never", "always"])
def test_the_best_states_are_the_best_of_all(compiles: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", compiles)
    rng = np.random.default_rng(5)
    for _ in range(4):
        x, A, e = rng.random(3), rng.random((3, 3)), rng.random((4, 3))
        all_of_them = list(product(range(3), repeat=4))
        weights = [x[s[0]] + e[0, s[0]] + sum(A[s[t - 1], s[t]] + e[t, s[t]] for t in range(1, 4)) for s in all_of_them]
        found = sr.forward(x, A, sr.min_plus, emissions=e, argmax=True)
        assert tuple(found.states()) == all_of_them[int(np.argmin(weights))]
        values, back = found
        assert back.dtype == np.uint8 and np.isclose(values[-1].min(), min(weights))


def test_many_states_have_wider_pointers() -> None:
    A = np.full((300, 300), inf)
    A[np.arange(299), np.arange(1, 300)] = 1
    x = np.full(300, inf)
    x[280] = 0
    found = sr.forward(x, A, sr.min_plus, steps=9, argmax=True)
    assert found.back.dtype == np.uint16
    assert found.states().tolist() == list(range(280, 290))
