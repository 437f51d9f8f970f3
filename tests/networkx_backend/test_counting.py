"""The count of calls in NetworkX's own suite can fail."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from networkx_suite import ENOUGH, Count


def declining() -> None:
    raise NotImplementedError


def refusing() -> None:
    raise ValueError


def test_calls_count_if_they_ran() -> None:
    backend: Any = SimpleNamespace(a=lambda: 1, b=declining, c=refusing)
    count = Count(backend, ["a", "b", "c"], 5)
    session = SimpleNamespace(exitstatus=0)
    assert backend.a() == 1
    with pytest.raises(NotImplementedError):
        backend.b()
    with pytest.raises(ValueError):
        backend.c()
    assert (count.ran, count.declined) == ({"a": 1, "c": 1}, {"b": 1})
    assert count.missing() == "never ran here: b"
    count.pytest_sessionfinish(session)
    assert session.exitstatus == 1


def test_many_calls_of_one_function_are_not_enough() -> None:
    backend: Any = SimpleNamespace(a=lambda: 1)
    count, session = Count(backend, ["a"], ENOUGH + 1), SimpleNamespace(exitstatus=0)
    for _ in range(2 * ENOUGH):
        backend.a()
    assert "are the least" in count.missing()
    count.least = ENOUGH
    assert not count.missing()
    count.pytest_sessionfinish(session)
    assert session.exitstatus == 0
