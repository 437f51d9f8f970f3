"""The way up from an algebra or a matrix to what has a public name, such as `semiring.matmul`, and works on them.

Imports point one way, and verbs import matrices, which import algebras. The package, which knows where every public
name is, lends its way of finding them when it is loaded itself; that loads no verb.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_LENT: dict[str, Callable[[str], Any]] = {}


def lend(find: Callable[[str], Any]) -> None:
    """Say how a verb, or a class, is found by its public name."""
    _LENT["find"] = find


def verb(name: str) -> Any:
    """A verb, or a class, by its public name.

    >>> verb("closure").__name__
    'closure'
    """
    return _LENT["find"](name)
