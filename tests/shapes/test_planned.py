"""Verbs with a plan: the plan is shown and run, and too large an answer is refused."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring.api import SHAPES
from semiring.machine import memory


def test_verbs_are_planned_by_their_names() -> None:
    assert {"convolve", "einsum", "forward", "scan"} <= SHAPES.keys()
    for name, build in SHAPES.items():
        assert getattr(sr, name).__wrapped__ is build
    p = sr.plan("convolve", [0.0, 1.0], [2.0], sr.min_plus)
    assert str(p).startswith("operation  convolve over min-plus, 2, float64\nmethod     ")
    assert p.run().tolist() == [2, 3]
    with pytest.raises(sr.SemiringError, match=r"unknown verb 'convolution': .* convolve"):
        sr.plan("convolution", [0.0])


def test_memory_is_asked_for_before_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 1 << 20)
    a = np.zeros((3000, 1), "f4")
    with pytest.raises(sr.SemiringError, match=r"the convolution of shape \(3000, 12001\) needs .* or mode='same'"):
        sr.convolve(a, np.zeros((1, 12001), "f4"), sr.max_min, axes=1)
