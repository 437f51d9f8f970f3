"""How an algebra or a matrix finds public functions, such as `semiring.matmul`, that work on it.

Imports point one way: verbs import matrices, which import algebras. The package knows the module of every public name,
and passes this module a function that looks them up; no verb is loaded by that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_LENT: dict[str, Callable[[str], Any]] = {}


def lend(find: Callable[[str], Any]) -> None:
    """Set the function that looks up a verb, or a class, by its public name, or by its module and name."""
    _LENT["find"] = find


def verb(name: str) -> Any:
    """Look up a verb, or a class, by its public name, or by its module and name.

    >>> verb("closure").__name__, verb("matrices.closure").__name__
    ('closure', 'closure')
    """
    return _LENT["find"](name)
