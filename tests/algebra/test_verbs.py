"""Algebras and matrices find the verbs above them by the names that callers use."""

from __future__ import annotations

import semiring as sr
from semiring.algebra.verbs import verb


def test_a_verb_is_the_public_one():
    for name in ("matmul", "closure", "solve"):
        assert verb(name) is getattr(sr, name)
