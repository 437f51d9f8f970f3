"""Which engine the tests of this folder run on.

By itself the library compiles an algebra when that repays, so that small tests run by NumPy. Tests whose subject is
compiled code ask for `machine_code`; those of NumPy's engine, where it matters, for `by_numpy`.

No example of a property test has a deadline: the first may compile, and machines are shared. `make test` draws a
quarter of the examples that `make test-all` does, also where a test says how many.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from semiring.kernels.cpu.compile import price

settings.register_profile("untimed", deadline=None)
settings.register_profile("few", deadline=None, max_examples=25)
settings.load_profile("untimed")
FULL = settings.default.max_examples  # by Hypothesis's default
FEWEST = 10  # examples of a test that asks for as many

make_settings = settings.__init__


def drawing_fewer(self: settings, *given: Any, **asked: Any) -> None:
    """Make settings whose number of examples is in the proportion of the profile's to the default."""
    if isinstance(count := asked.get("max_examples"), int):
        asked["max_examples"] = max(count * settings.default.max_examples // FULL, min(count, FEWEST))
    make_settings(self, *given, **asked)


settings.__init__ = drawing_fewer  # type: ignore[method-assign]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where kernels are kept that a compiler of the host has made of their CUDA text."""
    return tmp_path_factory.mktemp("compiled")


@pytest.fixture
def machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is compiled at its first use."""
    monkeypatch.setenv("SEMIRING_COMPILE", "always")


@pytest.fixture
def by_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is compiled, and no compiled code of an algebra is used."""
    monkeypatch.setattr(price.Code, "bought", property(lambda code: False, lambda code, value: None))
    monkeypatch.setenv("SEMIRING_COMPILE", "never")
