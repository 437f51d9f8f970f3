"""Facts: what is known of data about which nothing is, and that facts may be keys of a cache."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest

from semiring.kernels.facts import DeviceFacts, Facts, together


def test_nothing_is_known_by_default() -> None:
    """No limit occurs, no sum can grow; and a form for two values, which must be known to be all, is not taken."""
    assert (Facts().largest, Facts().multiple) == (0, 0)
    assert not (Facts().low_limit or Facts().high_limit or Facts().two_valued)
    assert DeviceFacts().least == -np.inf  # any number may occur
    assert [f.name for f in fields(DeviceFacts)][: len(fields(Facts))] == [f.name for f in fields(Facts)]


def test_facts_are_values() -> None:
    known = Facts(largest=2**70, high_limit=True)  # a Python int stays one, of any size
    assert known == Facts(largest=2**70, high_limit=True) and known.largest - 1 == 2**70 - 1
    assert len({known, replace(known), Facts()}) == 2
    assert known != replace(known, high_limit=False)
    with pytest.raises(FrozenInstanceError):
        known.largest = 1  # type: ignore[misc]


def test_facts_of_a_gpu_are_none_of_the_host() -> None:
    assert isinstance(DeviceFacts(), Facts)
    assert DeviceFacts() != Facts()
    assert DeviceFacts(least=1) != DeviceFacts(least=2)


def test_facts_of_several_operands_hold_for_all() -> None:
    some = Facts(largest=2**70, low_limit=True, two_valued=True, multiple=6)
    others = Facts(largest=3, high_limit=True, two_valued=True, multiple=4)
    assert together([some, others]) == Facts(2**70, True, True, True, 12)
    assert together([some]) == some
    assert not together([some, Facts()]).two_valued
