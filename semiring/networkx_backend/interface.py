"""The interface that NetworkX calls: functions under its names, conversions, and the choice of calls to accept."""

from __future__ import annotations

from collections.abc import Callable as _Callable
from functools import wraps as _wraps
from typing import Any as _Any

from . import measures as _measures
from . import paths as _paths
from . import reachability as _reachability
from .graph import convert_from_nx as convert_from_nx
from .graph import convert_to_nx as convert_to_nx
from .graph import of_now as _of_now
from .info import FUNCTIONS as _FUNCTIONS
from .worth import can_run as can_run
from .worth import should_run as should_run


def _accepting(name: str, function: _Callable[..., _Any]) -> _Callable[..., _Any]:
    """Call the function on the current graph, unless `can_run` declines."""
    current = _of_now(function)

    @_wraps(function)
    def called(*args: _Any, **kwargs: _Any) -> _Any:
        if (why := can_run(name, args, kwargs)) is not True:
            raise NotImplementedError(why)
        return current(*args, **kwargs)

    return called


for _module in (_measures, _paths, _reachability):
    globals().update({_name: _accepting(_name, getattr(_module, _name)) for _name in _FUNCTIONS.keys() & vars(_module)})
