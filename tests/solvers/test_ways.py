"""The table of ways: every verb has one for every kind of operand, and an option is taken or refused by its name."""

from __future__ import annotations

from dataclasses import fields
from itertools import combinations
from pathlib import Path

import pytest

import semiring as sr
from semiring.api import BUILDERS
from semiring.solvers import ways
from semiring.solvers.options import Options
from semiring.solvers.ways import CALLED, KINDS, TO_GPU, WAYS, options_of, taking, ways_of

NAMES = {f.name for f in fields(Options)}


def test_every_verb_has_a_way_for_every_kind() -> None:
    for verb in BUILDERS:
        for kind in KINDS:
            assert ways_of(verb, kind, frozenset()), (verb, kind)
        assert bool(taking(verb, TO_GPU, frozenset())) == (verb in ("closure", "factor", "solve"))
    for way in WAYS:
        assert way.kinds and way.kinds <= KINDS | {TO_GPU, "mpi", "ray"}, way
        assert way.answers <= way.takes <= NAMES | {"sources"}, way


def test_every_way_is_a_module_that_makes_offers() -> None:
    """Some of them import CuPy, so that they are only read."""
    for module in {way.module for way in WAYS if not way.kinds & {"mpi", "ray"}}:
        file = Path(ways.__file__).parent.joinpath(*module.split(".")).with_suffix(".py")
        assert "\ndef offer(task" in file.read_text(), module


def test_every_option_is_taken_by_some_way() -> None:
    assert {name for way in WAYS for name in way.takes} - {"sources"} == NAMES


@pytest.mark.parametrize("verb", BUILDERS)
def test_options_are_taken_together_or_refused_by_their_names(verb: str) -> None:
    """All triples, for all kinds: each of the ways takes all of them, or the error has two of their names."""
    known = sorted(NAMES | {"sources"})
    for kind in (*KINDS, *(["mpi", "ray"] if verb == "closure" else [])):
        for size in (1, 2, 3):
            for some in combinations(known, size):
                asked = frozenset({*some, "on"} if kind in ("mpi", "ray") else some)
                if found := taking(verb, kind, asked):
                    assert all(asked <= way.takes and kind in way.kinds for way in found)
                    continue
                if "on" in asked and kind in KINDS:  # operands that processes share are of a kind of their own
                    continue
                with pytest.raises(sr.SemiringError, match="^" + verb) as caught:
                    ways_of(verb, kind, asked)
                named = sum(f"{CALLED.get(name, name)}" in str(caught.value).partition(":")[0] for name in asked)
                assert named >= (2 if asked <= options_of(verb) else 1), (asked, str(caught.value))
