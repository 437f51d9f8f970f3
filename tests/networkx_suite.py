"""NetworkX's own tests of what the backend has, with the backend in the place of NetworkX's functions.

    python tests/networkx_suite.py

NetworkX answers where the backend declines, so that a test that passes proves nothing by itself: the calls that ran
here are counted. It is a failure if a function never ran here, or if there are fewer than LEAST calls in all, of which
no more than ENOUGH of one function count: one test alone asks for two thousand diameters.
"""

from __future__ import annotations

import functools
import os
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

LEAST = 500
ENOUGH = 60
MODULES = """algorithms.shortest_paths algorithms.centrality algorithms.tests.test_dag
algorithms.tests.test_distance_measures algorithms.tests.test_efficiency algorithms.tests.test_wiener
algorithms.tests.test_simple_paths algorithms.tests.test_moral algorithms.tests.test_d_separation
algorithms.tests.test_tournament algorithms.tests.test_smallworld algorithms.tests.test_threshold""".split()


class Count:
    """A plugin of pytest that counts the calls of a backend's functions which returned."""

    def __init__(self, backend: Any, names: Any, least: int):
        self.names, self.least = sorted(names), least
        self.ran, self.declined = Counter[str](), Counter[str]()
        for name in self.names:
            setattr(backend, name, self.counted(name, getattr(backend, name)))

    def counted(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            try:
                found = function(*args, **options)
            except NotImplementedError:
                self.declined[name] += 1
                raise
            except Exception:
                self.ran[name] += 1  # it refused what NetworkX refuses, or the test fails
                raise
            self.ran[name] += 1
            return found

        return call

    def missing(self) -> str:
        """What was not asked for often enough; empty if all was."""
        never = [name for name in self.names if not self.ran[name]]
        counted = sum(min(count, ENOUGH) for count in self.ran.values())
        if never:
            return f"never ran here: {', '.join(never)}"
        return f"{counted} calls count, and {self.least} are the least" if counted < self.least else ""

    def pytest_sessionfinish(self, session: Any) -> None:
        if self.missing() and not session.exitstatus:
            session.exitstatus = 1

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        for name in self.names:
            terminalreporter.write_line(f"{name:42}{self.ran[name]:6} ran here{self.declined[name]:6} declined")
        terminalreporter.write_line(self.missing() or f"{self.ran.total()} calls ran here")


def main() -> int:
    os.environ["NETWORKX_TEST_BACKEND"], os.environ["NETWORKX_FALLBACK_TO_NX"] = "semiring", "True"
    import networkx as nx

    from semiring.networkx_backend import interface
    from semiring.networkx_backend.info import FUNCTIONS

    if "semiring" not in nx.utils.backends.backends:
        sys.exit("NetworkX does not see the backend: install the package anew (pip install --editable .)")
    plugin = Count(interface, FUNCTIONS, LEAST)
    return int(pytest.main(["-q", "-p", "no:cacheprovider", "--pyargs", *(f"networkx.{m}" for m in MODULES)], [plugin]))


if __name__ == "__main__":
    sys.exit(main())
