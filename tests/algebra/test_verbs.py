"""Algebras and matrices find the verbs above them by the names that callers use."""

from __future__ import annotations

import semiring as sr
from semiring.algebra.verbs import verb


def test_a_verb_is_the_public_one():
    for name in ("matmul", "closure", "solve"):
        assert verb(name) is getattr(sr, name)


def test_a_name_of_a_module_is_found_there():
    assert verb("matrices.closure") is sr.closure
