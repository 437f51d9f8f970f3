"""The garbage collector goes on as before, and does not look at what there was meanwhile."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from semiring.kernels.cpu.compile import collecting as module
from semiring.kernels.cpu.compile.collecting import collect_again

MANY = 20_000  # objects, of which a few hundred make the collector look


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(module, "_left", 0)
    before = gc.isenabled()
    gc.enable()
    gc.unfreeze()
    yield
    gc.unfreeze()
    gc.collect()  # what a test left is not counted by the next one
    (gc.enable if before else gc.disable)()


def test_what_was_made_meanwhile_is_not_looked_at() -> None:
    gc.disable()
    kept = [[i] for i in range(MANY)]
    collect_again(True)
    assert gc.isenabled() and gc.get_freeze_count() == 0
    assert gc.get_count()[0] < 100, "what was made does not count towards the next look"
    assert {id(made) for made in kept} <= {id(old) for old in gc.get_objects(generation=2)}


class Knot:
    """Garbage that refers to itself."""

    gone = 0

    def __init__(self) -> None:
        self.own = self

    def __del__(self) -> None:
        Knot.gone += 1


def test_much_garbage_is_collected_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of work that leave a little each are looked at together."""
    monkeypatch.setattr(module, "MANY", 3000)
    monkeypatch.setattr(Knot, "gone", 0)
    found = []
    for _ in range(8):
        gc.disable()
        for _ in range(500):
            Knot()
        collect_again(True)
        found.append(Knot.gone)
    assert found[0] == 0 and found[-1] >= 2000 and len({*found}) < 5
    assert gc.isenabled() and gc.get_freeze_count() == 0
    gc.disable()
    Knot()
    collect_again(False)
    assert found[-1] == Knot.gone, "the collector is off, as the caller wants it"


def test_it_is_collected_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Knot, "gone", 0)
    gc.disable()
    Knot()
    collect_again(True)
    assert not Knot.gone
    gc.collect()
    assert Knot.gone == 1


def test_what_the_caller_froze_stays_so() -> None:
    gc.freeze()
    frozen = gc.get_freeze_count()
    gc.disable()
    collect_again(True)
    assert gc.isenabled() and gc.get_freeze_count() == frozen > 0


@pytest.mark.parametrize("collecting", [False, True])
def test_it_goes_on_only_where_it_was_on(collecting: bool) -> None:
    gc.disable()
    collect_again(collecting)
    assert gc.isenabled() is collecting
