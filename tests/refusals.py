"""Calls that must raise an error of ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import semiring as sr


def refused(call: Callable[[], Any], message: str, kind: type[Exception] = sr.SemiringError) -> None:
    """The call raises an error whose message matches, and which is a ValueError of ours."""
    with pytest.raises(kind, match=message) as caught:
        call()
    assert isinstance(caught.value, ValueError)
    assert caught.value.__cause__ is None
    assert "\n" not in str(caught.value)
