"""Which engine the tests of this folder run on.

By itself the library compiles an algebra when that repays, so that small tests run by NumPy. Tests whose subject is
compiled code ask for `machine_code`; those of NumPy's engine, where it matters, for `by_numpy`.

No example of a property test has a deadline: the first may compile, and machines are shared. `make test` draws few
examples, and `make test-all` as many as Hypothesis does by default.
"""

from __future__ import annotations

import pytest
from hypothesis import settings

from semiring.kernels.cpu.compile import price

settings.register_profile("untimed", deadline=None)
settings.register_profile("few", deadline=None, max_examples=25)
settings.load_profile("untimed")


@pytest.fixture
def machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is compiled at its first use."""
    monkeypatch.setenv("SEMIRING_COMPILE", "always")


@pytest.fixture
def by_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is compiled, and no compiled code of an algebra is used."""
    monkeypatch.setattr(price.Code, "bought", property(lambda code: False, lambda code, value: None))
    monkeypatch.setenv("SEMIRING_COMPILE", "never")
