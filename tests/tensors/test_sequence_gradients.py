"""Derivatives of chains and scans beside finite differences, and beside the steps that they are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tensors.test_gradients import ALGEBRAS, LOG2, SOFT_MIN, differences, elements, weighed

import semiring as sr
from semiring.kernels.cpu.dense import step_gradients
from semiring.tensors import sequence_gradients
from semiring.tensors.sequence_gradients import forward_gradients, scan_gradients

inf = np.inf
LAYOUTS: list[dict[str, Any]] = [  # shapes of x, the stack and emissions; lengths
    {"shapes": ((3,), (3, 3), (4, 3))},
    {"shapes": ((2, 3), (2, 3, 3, 3), (4, 3)), "reverse": True},
    {"shapes": ((3,), (1, 3, 3), (2, 4, 3)), "lengths": [1, 3], "reverse": True},
    {"shapes": ((2, 1, 3), (3, 3, 3), (2, 4, 3)), "lengths": [[4, 2], [0, 4]]},
    {"shapes": ((3,), (3, 3, 3), (5, 3)), "lengths": [1, 4]},
    {"shapes": ((2, 3), (3, 3), (5, 3)), "lengths": [2, 3], "reverse": True},
    {"shapes": ((2, 3), (3, 3)), "steps": 3},
    {"shapes": ((3,), (2, 2, 3, 3))},
]


@pytest.mark.parametrize("absent", [0.0, 0.3])
@pytest.mark.parametrize("S", ALGEBRAS, ids=lambda S: S.name)
@pytest.mark.filterwarnings("error")
def test_chains(S: sr.Semiring, absent: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequence_gradients, "TERMS", 20)  # so that steps are taken in several parts
    for options in LAYOUTS[:: 1 if absent else 3]:
        shapes, options = options["shapes"], {k: v for k, v in options.items() if k != "shapes"}
        operands = [elements(S, shape, 1 + k, absent) for k, shape in enumerate(shapes)]

        def rows(*given: np.ndarray, options: dict[str, Any] = options) -> Any:
            x, stack, *rest = given
            return sr.forward(x, stack, S, emissions=rest[0] if rest else None, **options)

        y = rows(*operands)
        G = np.random.default_rng(3).standard_normal(y.shape)
        found = forward_gradients(S, G, y, *operands, **options)
        for k, array in enumerate(operands):
            there = (S is sr.plus_times) | (float(S.zero) != array)

            def number(z: np.ndarray, k: int = k, given: Any = operands, rows: Any = rows, G: np.ndarray = G) -> float:
                return weighed(G, rows(*given[:k], z, *given[k + 1 :]), S.zero)

            of = found[k]
            assert of is not None and of.shape == array.shape
            np.testing.assert_allclose(of, differences(number, array, there), atol=1e-6)
        assert len(operands) == 3 or found[2] is None


@pytest.mark.parametrize("S", ALGEBRAS, ids=lambda S: S.name)
def test_scans(S: sr.Semiring) -> None:
    for m, reverse in ((None, False), (2, False), (None, True), (1, True)):
        A = elements(S, (2, 4, 3, 3), 1, 0.2)
        X = None if m is None else elements(S, (3, m) if reverse else (m, 3), 2, 0.2)
        P = sr.scan(A, S, axis=1, reverse=reverse, initial=X)
        G = np.random.default_rng(3).standard_normal(P.shape)
        dA, dX = scan_gradients(S, G, P, A, X, reverse=reverse)
        for found, array in ((dA, A), (dX, X)):
            if array is None:
                assert found is None
                continue

            def number(
                z: np.ndarray, array: Any = array, A: Any = A, X: Any = X, G: Any = G, r: bool = reverse
            ) -> float:
                stack, first = (z, X) if array is A else (A, z)
                return weighed(G, sr.scan(stack, S, axis=1, reverse=r, initial=first), S.zero)

            there = (S is sr.plus_times) | (float(S.zero) != array)
            np.testing.assert_allclose(found, differences(number, array, there), atol=1e-6)


def test_the_derivative_of_viterbis_score_is_the_path_of_states() -> None:
    """Whole numbers with many ties: the least of the states that are equally good counts, as in `Steps.states`."""
    rng = np.random.default_rng(0)
    x, A, e = (rng.integers(0, 3, shape).astype(float) for shape in ((4,), (4, 4), (9, 4)))
    best = sr.forward(x, A, sr.max_plus, emissions=e, argmax=True)
    G, states = np.zeros((9, 4)), best.states()
    G[-1, states[-1]] = 1
    dx, dA, de = forward_gradients(sr.max_plus, G, best.values, x, A, e)
    assert de is not None and np.array_equal(de.argmax(1), states) and np.array_equal(de.sum(1), np.ones(9))
    uses = np.zeros((4, 4))
    np.add.at(uses, (states[:-1], states[1:]), 1)
    assert np.array_equal(dA, uses) and dx.argmax() == states[0]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_posteriors_of_long_sequences_neither_overflow_nor_vanish(dtype: str) -> None:
    rng = np.random.default_rng(0)
    x, A, e = (np.log(rng.random(shape)).astype(dtype) for shape in ((3,), (3, 3), (3000, 3)))
    y = sr.forward(x, A, sr.log, emissions=e)
    G = np.zeros_like(y)
    G[-1] = np.exp(y[-1] - np.logaddexp.reduce(y[-1]))
    dx, dA, de = forward_gradients(sr.log, G, y, x, A, e)
    behind = sr.forward(np.zeros(3, "f8"), A.astype("f8"), sr.log, emissions=e.astype("f8"), reverse=True)
    before = sr.forward(x.astype("f8"), A.astype("f8"), sr.log, emissions=e.astype("f8"))
    both = before + behind
    assert de is not None and de.dtype == dtype
    posterior = np.exp(both - np.logaddexp.reduce(both, 1)[:, None])
    np.testing.assert_allclose(de, posterior, atol=1e-9 if dtype == "f8" else 1e-2)
    assert dA.sum() == pytest.approx(2999, rel=1e-3) and dx.sum() == pytest.approx(1, rel=1e-3)


@pytest.mark.parametrize("S", [sr.log, LOG2, SOFT_MIN], ids=lambda S: S.name)
@pytest.mark.filterwarnings("error")
def test_infinite_sums_are_shared_by_their_infinite_terms(S: sr.Semiring) -> None:
    zero, top = float(S.zero), -float(S.zero)
    x, A = np.array([top, top, 1.0, zero]), np.array([[0.0, zero]] * 3 + [[top, 2.0]])
    A = np.concatenate([A, np.full((4, 2), zero)], 1)
    y = sr.forward(x, A, S, steps=1)
    G = np.zeros((2, 4))
    G[1, :2] = 1, np.nan  # what comes back to an absent element may be no number
    dx, dA, _ = forward_gradients(S, G, y, x, A, steps=1)
    assert dx.tolist() == [0.5, 0.5, 0, 0]
    assert dA.tolist() == [[0.5, 0, 0, 0], [0.5, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]


def test_a_derivative_that_is_no_number_goes_where_it_belongs() -> None:
    x, A = np.array([0.0, 5.0]), np.array([[0.0, 9.0], [9.0, 0.0]])
    G = np.zeros((3, 2))
    G[2] = np.nan, 2
    dx, dA, _ = forward_gradients(sr.min_plus, G, sr.forward(x, A, sr.min_plus, steps=2), x, A, steps=2)
    assert np.isnan(dx[0]) and dx[1] == 2 and np.isnan(dA[0, 0]) and dA[1, 1] == 4 and dA[0, 1] == dA[1, 0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("S", ALGEBRAS, ids=lambda S: S.name)
def test_compiled_loops_are_the_steps_of_numpy(S: sr.Semiring, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any layout, with shared operands, absent elements, long ranges of values, other orders, and short windows."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, T, batch = int(rng.integers(1, 12)), int(rng.integers(1, 7)), [(), (1,), (3,), (2, 2)][rng.integers(4)]
        matrices, absent = [1, max(T - 1, 1)][seed % 2], rng.choice([0, 0.3, 0.8])
        emits, reverse = (rng.random(2) < 0.6).tolist()
        leading = [tuple(np.where(rng.random(len(batch)) < 0.5, batch, 1).tolist()) for _ in range(3)]
        leading = [() if set(axes) == {1} and rng.random() < 0.5 else axes for axes in leading]
        shapes = [(*leading[0], n), (*leading[1], matrices, n, n), (*leading[2], T, n)]
        x, A, e = (elements(S, shape, seed + k, absent) for k, shape in enumerate(shapes))
        if S.zero in (inf, -inf) and S.name not in ("min-times", "max-min", "min-max"):
            x, A, e = (np.where(z == S.zero, z, z * rng.choice([1, 1, 1, 900], z.shape)) for z in (x, A, e))
        x, A, e = (np.asarray(z, dtype, order=rng.choice(["C", "F"])) for z in (x, A, e))
        shape = np.broadcast_shapes(*leading[: 2 + emits])
        lengths = None if not shape or len(leading[2]) == 0 or rng.random() < 0.5 else rng.integers(0, T + 1, shape)
        options: dict[str, Any] = {"emissions": e} if emits else {"steps": T - 1}
        options |= {"lengths": lengths, "reverse": reverse}
        y = sr.forward(x, A, S, **options)
        G = rng.standard_normal(y.shape).astype(dtype)
        monkeypatch.setattr(step_gradients, "MOST_STEPS", rng.choice([1, 1 << 24]))
        made = []
        for repays in (True, False):
            for code in (sequence_gradients.LINEAR, sequence_gradients.FOLLOW):
                monkeypatch.setattr(code, "repays", lambda _, repays=repays: repays)
            made.append(forward_gradients(S, G, y, x, A, **options))
        tolerance = 1e-9 if dtype == "f8" else 1e-3
        for ours, theirs in zip(*made, strict=True):
            assert (ours is None) == (theirs is None)
            if ours is not None and theirs is not None:
                assert ours.dtype == theirs.dtype == dtype
                np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance, err_msg=str(seed))


def test_empty() -> None:
    for S in (sr.plus_times, sr.log, sr.min_plus):
        x, A, e = np.zeros((2, 3)), np.zeros((3, 3)), np.zeros((2, 0, 3))
        found = forward_gradients(S, e, e, x, A, e)
        assert [None if each is None else each.shape for each in found] == [(2, 3), (3, 3), (2, 0, 3)]
        nothing = np.zeros((4, 0, 0))
        assert scan_gradients(S, nothing, nothing, nothing)[0].shape == (4, 0, 0)
        of_stack, of_initial = scan_gradients(S, A[:0, None], A[:0, None], np.zeros((0, 3, 3)), A[:1])
        assert of_stack.shape == (0, 3, 3) and of_initial is not None and of_initial.shape == (1, 3)


def test_what_has_no_derivatives_is_refused() -> None:
    x = np.full((2, 2), 0.5)
    with pytest.raises(sr.LawError, match="has no derivatives here"):
        forward_gradients(sr.lukasiewicz, x, x, x[0], x, x)
    with pytest.raises(sr.LawError, match="has no derivatives here"):
        scan_gradients(sr.lukasiewicz, x[:0, None], x[:0, None], x[:0, None])
    with pytest.raises(sr.SemiringError, match="float32 or float64"):
        forward_gradients(sr.log, x, x, x[0].astype("f2"), x, x)
