"""The way from a matrix up to the verbs, such as `semiring.matmul`, that its operators call.

Imports point one way, and verbs import matrices. The package, which knows where every public name is, lends its way of
finding them when it is loaded itself; that loads no verb.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_LENT: dict[str, Callable[[str], Any]] = {}


def lend(find: Callable[[str], Any]) -> None:
    """Say how a verb is found by its public name."""
    _LENT["find"] = find


def verb(name: str) -> Any:
    """A verb by its public name.

    >>> verb("closure").__name__
    'closure'
    """
    return _LENT["find"](name)
