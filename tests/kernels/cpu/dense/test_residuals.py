"""Small inverses compared with their equations: by compiled code as by NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.kernels.cpu.compile.price import always
from semiring.kernels.cpu.dense import residuals
from semiring.kernels.cpu.dense.residuals import residuals_fit
from semiring.solvers.dense import fields


def by_numpy(A: np.ndarray, X: np.ndarray, eps: float) -> list[bool]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fields, "residuals_fit", lambda *_: None)
        found: list[bool] = fields.is_right(A, X, eps).tolist()
        return found


@settings(max_examples=60)
@given(
    st.sampled_from(["f4", "f8"]), st.integers(1, residuals.SIDE), st.integers(0, 2**32 - 1),
    st.sampled_from([0.0, 1e-3, 1.0, np.nan, np.inf]), st.sampled_from([0.1, 1.0, 30.0]), st.booleans(),
)
def test_as_by_numpy(dtype: str, n: int, seed: int, wrong: float, scale: float, turned: bool) -> None:
    """Errors that are far from the bound are found, in single entries too, and right answers pass."""
    random = np.random.default_rng(seed)
    A = (random.normal(size=(9, n, n)) * scale / np.sqrt(n)).astype(dtype)
    X = np.linalg.inv(np.eye(n) - A.astype("f8")).astype(dtype)
    place = tuple(random.integers(0, (9, n, n)))
    X[place] += wrong * (1 + abs(X[place]))
    A.setflags(write=not turned)
    if seed % 2:
        A = np.frombuffer(b"0" + A.tobytes(), dtype, offset=1).reshape(A.shape)  # neither writeable nor aligned
    if turned:
        A, X = (Y.swapaxes(1, 2).copy().swapaxes(1, 2)[::-1] for Y in (A, X))
    eps = float(np.finfo(dtype).eps)
    with always(), np.errstate(all="ignore"):
        found = residuals_fit(A, X, eps)
    assert found is not None
    wanted = by_numpy(A, X, eps)
    assert found.tolist() == wanted
    assert not wrong or not found[place[0] if not turned else 8 - place[0]]


def test_singular_matrices_and_lost_digits_are_found() -> None:
    A = np.array([[[1.0, 0.0], [0.0, 0.5]], [[0.5, 0.5], [0.5, 0.4999]], [[0.5, 0.25], [0.125, 0.5]]])
    with np.errstate(all="ignore"):
        X = np.linalg.inv(np.eye(2) - A + np.array([1e-300, 0, 0])[:, None, None])
    with always():
        assert residuals_fit(A, X, 1e-3).tolist() == by_numpy(A, X, 1e-3) == [False, False, True]  # type: ignore[union-attr]


def test_what_numpy_does() -> None:
    A = np.full((1, 33, 33), 1e-3)
    with always():
        assert residuals_fit(A, A, 1e-16) is None and residuals_fit(A[:, :2, :2] + 0j, A[:, :2, :2] + 0j, 1e-16) is None


def test_nothing_is_compiled_for_little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", "never")
    monkeypatch.setattr(residuals.CODE, "bought", False)
    assert residuals_fit(np.zeros((1, 2, 2)), np.eye(2)[None], 1e-16) is None
