"""A way, an option and a verb are a file and rows: a toy one of each is added here, and nothing else is changed.

Toy formats are added by `tests/files/test_formats.py`, toy options of the command line by `tests/cli/test_options.py`.
"""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Iterator
from dataclasses import field, make_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from solvers import toy

import semiring as sr
from semiring import api
from semiring.solvers import task, ways
from semiring.solvers.options import TRUTH
from semiring.solvers.task import Task, options

inf = np.inf
A = np.array([[inf, 1, inf], [inf, inf, 2], [inf, inf, inf]])
SITE = Path(__file__).resolve().parents[2] / "docs" / "site"


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The rows are in the tables for now."""
    tables = ways.ways_of, ways.offer_of, ways.taking, task._earlier
    with monkeypatch.context() as patch:
        for table in tables:
            table.cache_clear()
        patch.setitem(sys.modules, "semiring.solvers.toy", toy)
        patch.setattr(ways, "WAYS", (*toy.ROWS, *ways.WAYS))
        row = ("backwards", bool, field(default=False, metadata=TRUTH))
        patch.setattr(task, "Options", make_dataclass("Options", [row], bases=(task.Options,), frozen=True))
        for name in ("closure", "columns"):
            patch.setitem(api.BUILDERS, name, api.BUILDERS.get(name))

        @api.verb
        def closure(A: Any, S: Any = None, *, method: str = "auto", backwards: bool = False) -> Any:
            return Task("closure", S, (A,), options(method=method, backwards=backwards))

        @api.verb
        def columns(A: Any, S: Any = None, targets: Any = (), *, device: str | None = None) -> Any:
            return Task("columns", S, (A,), options(device=device), (targets, None, None))

        patch.setattr(sr, "closure", closure)
        patch.setattr(sr, "columns", columns, raising=False)
        yield
    for table in tables:
        table.cache_clear()


def test_an_option_is_a_row_and_a_way_that_takes_it() -> None:
    assert sr.closure(A, sr.min_plus, backwards=True).tolist() == sr.closure(A.T, sr.min_plus).T.tolist()
    plan = sr.plan("closure", A, sr.min_plus, method="blocked", backwards=True)
    assert plan.method == "blocked, backwards" and plan.run().tolist() == [[0, 1, 3], [inf, 0, 2], [inf, inf, 0]]
    assert sr.plan("closure", A, sr.min_plus, method="blocked").method == "blocked"


@pytest.mark.parametrize(("verb", "asked", "says"), [
    ("closure", {"backwards": "yes"}, "backwards must be True or False, and is 'yes'"),
    ("closure", {"backwards": True, "tile": 2}, "closure with backwards= has no option 'tile': leave out one of"),
    ("closure", {"backwards": True, "tol": 1.0}, "closure with backwards= has no option 'tol': leave out one of"),
    ("paths", {"backwards": True}, "paths has no option 'backwards'; it has device, method, out, progress, sources, t"),
    ("columns", {"tol": 1.0}, "columns has no option 'tol'; it has device"),
])
def test_what_no_way_takes_is_refused_by_name(verb: str, asked: dict[str, Any], says: str) -> None:
    with pytest.raises(sr.SemiringError, match=f"^{re.escape(says)}"):
        Task(verb, sr.min_plus, (A,), options(**asked))


def test_a_verb_is_a_builder_and_a_row() -> None:
    assert sr.columns(A, sr.min_plus, [2, 0]).tolist() == [[3, 0], [2, inf], [0, inf]]
    plan = sr.plan("columns", A, sr.min_plus, [2])
    assert plan.operation == "columns" and plan.method.endswith(", backwards")
    assert plan.run().tolist() == [[3], [2], [0]]
    with pytest.raises(sr.SemiringError, match=r"unknown verb 'column': .*closure, .*cycle_mean, .*columns.*, as in"):
        sr.plan("column", A, sr.min_plus, [2])


def test_the_reference_has_the_rows() -> None:
    table = runpy.run_path(str(SITE / "drawing.py"))["options_of_verbs"]()._repr_html_()
    assert re.findall(r'<th scope="row">(\w+)</th><td>([^<]*)</td><td>([^<]*)</td>', table)[::10] == [
        ("closure", "backwards, method", "backwards"), ("columns", "device", ""),
    ]
