"""The garbage collector goes on as before, and looks once at what was made meanwhile."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from semiring.kernels.cpu.compile.collecting import collect_again

MANY = 20_000  # objects, of which a few hundred make the collector look


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
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


def test_garbage_of_that_time_is_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was there before is not looked at, whether garbage or not."""
    monkeypatch.setattr(Knot, "gone", 0)
    gc.disable()
    older = [Knot() for _ in range(MANY)]
    collect_again(True)
    del older
    for expected in (500, 1000):
        gc.disable()
        kept = [Knot() for _ in range(10)]
        for _ in range(500):
            Knot()
        collect_again(True)
        assert expected <= Knot.gone < expected + MANY / 2, "the older ones wait for a look at all"
        assert all(knot.own is knot for knot in kept)
    gc.disable()
    before = Knot.gone
    Knot()
    collect_again(False)
    assert before == Knot.gone, "the collector is off, as the caller wants it"
    gc.collect()
    assert Knot.gone >= MANY + 1001, "all is collected in the end"


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
