"""Sequences of different lengths, padded or one after the other, and shapes that do not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr

inf = np.inf


@pytest.mark.parametrize("compiles", ["never", "always"])
@pytest.mark.parametrize("reverse", [False, True])
def test_lengths_padded_or_one_after_the_other(compiles: str, reverse: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", compiles)
    rng, lengths = np.random.default_rng(2), np.array([3, 0, 7, 1, 4])
    x = rng.integers(-9, 9, (5, 4)).astype("f8")
    e, A = rng.integers(-9, 9, (5, 7, 4)).astype("f8"), rng.integers(-9, 9, (5, 6, 4, 4)).astype("f8")
    one = sr.forward(x, A[0, 0], sr.max_plus, emissions=e, lengths=lengths, reverse=reverse, argmax=True)
    own = sr.forward(x, A, sr.max_plus, emissions=e, lengths=lengths, reverse=reverse)
    bare = sr.forward(x, A, sr.max_plus, lengths=lengths, reverse=reverse)
    flat = np.concatenate([e[b, :size] for b, size in enumerate(lengths)])
    joined = sr.forward(x, A[0, 0], sr.max_plus, emissions=flat, lengths=lengths.tolist(), reverse=reverse, argmax=True)
    some = lengths > 0
    between = np.concatenate([A[b, : size - 1] for b, size in enumerate(lengths) if size])
    apart = sr.forward(x[some], between, sr.max_plus, emissions=flat, lengths=lengths[some], reverse=reverse)
    at = 0
    for b, size in enumerate(lengths.tolist()):
        assert (one.values[b, size:] == -inf).all() and (one.states()[b, size:] == -1).all()
        if size:
            alone = sr.forward(x[b], A[0, 0], sr.max_plus, emissions=e[b, :size], reverse=reverse, argmax=True)
            rows = slice(at, at + size)
            assert np.array_equal(one.values[b, :size], alone.values)
            assert np.array_equal(joined.values[rows], alone.values)
            assert np.array_equal(one.states()[b, :size], alone.states())
            assert np.array_equal(joined.states()[rows], alone.states())
            other = sr.forward(x[b], A[b, : size - 1], sr.max_plus, emissions=e[b, :size], reverse=reverse)
            assert np.array_equal(own[b, :size], other)
            assert np.array_equal(apart[rows], other)
            assert np.array_equal(
                bare[b, :size], sr.forward(x[b], A[b, : size - 1], sr.max_plus, reverse=reverse)
            )
        at += size


X, SQUARE, E = np.zeros(3), np.zeros((3, 3)), np.zeros((5, 3))


@pytest.mark.parametrize(("call", "text"), [
    (lambda: sr.forward(X, SQUARE, sr.min_plus), "pass emissions of shape .* or steps="),
    (lambda: sr.forward(X, np.zeros((3, 2)), sr.min_plus, steps=1), r"stack must be a square matrix .* shape \(3, 2\)"),
    (lambda: sr.forward(np.zeros(2), SQUARE, sr.min_plus, steps=1), "x must be a vector of 3 elements"),
    (lambda: sr.forward(X, SQUARE, sr.min_plus, emissions=np.zeros((5, 2))), "emissions must have shape"),
    (lambda: sr.forward(X, SQUARE, sr.min_plus, emissions=E, steps=4), "leave out one of the two"),
    (lambda: sr.forward(X, np.zeros((3, 3, 3)), sr.min_plus, emissions=E), "stack has 3 matrices and there are 5 rows"),
    (lambda: sr.forward(X, SQUARE, sr.min_plus, steps=-1), "steps must be a whole number"),
    (lambda: sr.forward(X, SQUARE, sr.min_plus, steps=10**30), "steps must be a whole number"),
    (lambda: sr.forward(None, SQUARE, sr.min_plus, emissions=E), "x is of type NoneType"),
    (lambda: sr.forward(X, np.zeros((2, 3, 3)), sr.min_plus, lengths=np.array(2**63, "u8")),
     "lengths has 9223372036854775808, and a sequence has fewer than"),
    (lambda: sr.forward(X, np.zeros((2, 3, 3)), sr.min_plus, lengths=2**64 - 1), "lengths has 18446744073709551615"),
    (lambda: sr.forward(X, SQUARE, sr.min_plus, emissions=E, lengths=[2**61] * 8 + [5]),
     "lengths add up to 18446744073709551621, and .* 5 rows"),
    (lambda: sr.forward(X, SQUARE, sr.min_plus, emissions=E, lengths=[2, [3]]), "lengths are not an array"),
    (lambda: sr.forward(X, SQUARE, sr.min_plus, emissions=E, lengths=np.ma.array([5, 0], mask=[False, True])),
     "lengths have masked entries"),
    (lambda: sr.forward(X, SQUARE, sr.min_plus, steps=2, reverse="no"), "reverse must be True or False"),
    (lambda: sr.forward(X, SQUARE, sr.min_plus, steps=2, argmax=SQUARE), "argmax must be True or False"),
    (lambda: sr.forward(X, SQUARE, sr.min_plus, emissions=E, lengths=[2, 2]), "lengths add up to 4, and .* 5 rows"),
    (lambda: sr.forward(X, SQUARE, sr.min_plus, emissions=E[None], lengths=[6]), r"lengths\[0\] is 6, and .* 5 rows"),
    (lambda: sr.forward(X, SQUARE, sr.min_plus, emissions=E[None], lengths=[[5]]), r"lengths has shape \(1, 1\)"),
    (lambda: sr.forward(X, SQUARE, sr.min_plus, emissions=E, lengths=[2.5, 2.5]), "lengths must be whole numbers"),
    (lambda: sr.forward(np.zeros((2, 3)), SQUARE, sr.min_plus, emissions=np.zeros((3, 5, 3))), "emissions has leading"),
    (lambda: sr.forward(X, SQUARE, sr.min_plus, emissions=E.astype("f4")), "x is float64 and emissions is float32"),
    (lambda: sr.forward(X, [[np.nan]], sr.min_plus, steps=1), "x must be a vector of 1"),
    (lambda: sr.forward([0.0], [[np.nan]], sr.min_plus, steps=1), r"stack\[0, 0\] is NaN"),
    (lambda: sr.forward(X, SQUARE, sr.plus_times, steps=2, argmax=True), "argmax needs a selective ⊕"),
    (lambda: sr.forward(X, SQUARE, steps=2), "forward of ndarray and ndarray needs an algebra"),
])
def test_what_does_not_fit_is_refused(call: Any, text: str) -> None:
    with pytest.raises(sr.SemiringError, match=text):
        call()
