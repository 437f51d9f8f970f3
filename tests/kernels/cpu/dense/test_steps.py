"""Compiled chains of rows, called with arrays in any layout, against loops in NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.choose import only_form
from semiring.kernels.cpu.dense import steps
from semiring.kernels.cpu.dense.steps import Sequences, walk

NOTHING = np.zeros(1, np.int64)


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("n", [1, 5, 33, 64])
def test_rows_and_the_terms_that_won(n: int, backwards: bool) -> None:
    low = only_form(sr.max_plus, np.dtype("f4"), False)
    assert low is not None
    rng = np.random.default_rng(n)
    x, A, e = (rng.integers(-9, 9, shape).astype("f4") for shape in ((1, n), (6, n, n), (7, n)))
    out, back = np.zeros((7, 2 * n), "f4")[:, ::2], np.full((7, n), 77, np.uint8)
    given = Sequences(x, np.asfortranarray(A), e, NOTHING, NOTHING, NOTHING, NOTHING, np.array([7]), 1)
    assert walk(low, given, out, back, backwards, True)
    state = x[0]
    for i in range(7):
        t = 6 - i if backwards else i
        if i:
            terms = A[t] + state if backwards else (A[t - 1] + state[:, None]).T
            assert np.array_equal(back[t], terms.argmax(1))
            state = terms.max(1)
        if backwards:
            assert np.array_equal(out[t], state)
        state = state + e[t]
        if not backwards:
            assert np.array_equal(out[t], state)
    e[3, n - 1] = np.nan
    assert not walk(low, given, out, None, backwards, True)


@pytest.mark.usefixtures("machine_code")
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("S", [sr.min_plus, sr.log, sr.plus_times, sr.shortest_count], ids=lambda S: S.name)
def test_rows_have_the_same_bits_wherever_the_steps_are_cut(
    S: sr.Semiring, reverse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    for n, matrices, dtype in ((1, 8, "f4"), (5, 1, "f8"), (40, 8, "f4"), (3, 8, "f8")):
        given = [rng.random(shape) for shape in ((3, n), (3, matrices, n, n), (3, 9, n))]
        if S is sr.log:  # powers are lost, and sums are taken by their terms
            given = [np.where(rng.random(x.shape) < 0.1, -np.inf, 80 * np.log(x)) for x in given]
        given = [S.lift(x) if S.is_record else x.astype(dtype) for x in given]
        options = {"emissions": given[2], "lengths": [9, 4, 1], "reverse": reverse, "argmax": S is sr.min_plus}
        found = []
        for terms in (1 << 26, 1, 3 * steps.LEAST_TERMS, 3 * 4 * 1600):
            monkeypatch.setattr(steps, "MOST_TERMS", terms)
            answer = sr.forward(given[0], given[1], S, **options)
            found.append(list(answer) if S is sr.min_plus else [answer])
        for others in found[1:]:
            assert all(map(np.array_equal, found[0], others))


def test_an_interrupt_between_two_ranges_of_steps_ends_a_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    low = only_form(sr.min_plus, np.dtype("f8"), False)
    assert low is not None
    x, A, out, turns = np.zeros((1, 2)), np.zeros((1, 2, 2)), np.full((9, 2), np.nan), []
    in_turn = steps._in_turn

    def interrupted(*given: Any) -> Iterator[None]:
        for turn in in_turn(*given):
            if len(turns) == 2:
                raise KeyboardInterrupt
            turns.append(turn)
            yield

    monkeypatch.setattr(steps, "_in_turn", interrupted)
    monkeypatch.setattr(steps, "MOST_TERMS", 3 * steps.LEAST_TERMS)
    given = Sequences(x, A, None, NOTHING, NOTHING, NOTHING, NOTHING, np.array([9]), 0)
    with pytest.raises(KeyboardInterrupt):
        walk(low, given, out, None, False, True)
    assert np.isnan(out[:, 0]).tolist() == [False] * 6 + [True] * 3
