"""Graphs are converted once and asked several times here, of which NetworkX warns."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx
import pytest


@pytest.fixture(autouse=True)
def no_warning_of_conversions() -> Iterator[None]:
    ignored = nx.config.warnings_to_ignore
    before = set(ignored)
    ignored.add("cache")
    yield
    ignored.clear()
    ignored |= before
