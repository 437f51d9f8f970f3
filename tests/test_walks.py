"""Verbs of walks: what each of them needs, and files of paths."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr

A = np.array([[np.inf, 3.0], [1.0, np.inf]])


@pytest.mark.parametrize(("call", "why"), [
    (lambda: sr.path(A, sr.min_plus, 0), "path needs a source and a target"),
    (lambda: sr.nearest(A, sr.min_plus), "nearest needs places"),
    (lambda: sr.closure_rows(A, sr.min_plus), "sources"), (lambda: sr.power(A, sr.min_plus), "power needs"),
])
def test_what_is_left_out_is_named(call: Callable[[], Any], why: str) -> None:
    with pytest.raises((sr.SemiringError, TypeError), match=why):
        call()


def test_options_of_files_are_for_files(tmp_path: Path) -> None:
    for alone in ({"memory": "1M"}, {"checkpoint": 60.0}, {"resume": True}, {"next_hops": tmp_path / "p.npy"}):
        with pytest.raises(sr.SemiringError, match=r"pass out= too"):
            sr.paths(A, sr.min_plus, **alone)
    with pytest.raises(sr.SemiringError, match="paths writes two files"):
        sr.paths(A, sr.min_plus, out=tmp_path / "d.npy")
