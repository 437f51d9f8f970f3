"""Path algebra: matrix products, closures, equations and best paths over any semiring.

Names are loaded when they are first used, so that importing the package costs little and needs nothing but NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .algebras_of_objects import Regex as Regex
    from .algebras_of_objects import letter as letter
    from .api import check_laws as check_laws
    from .api import closure as closure
    from .api import factor as factor
    from .api import matmul as matmul
    from .api import path as path
    from .api import plan as plan
    from .api import solve as solve
    from .catalogue import bitset_may as bitset_may
    from .catalogue import bitset_must as bitset_must
    from .catalogue import boolean as boolean
    from .catalogue import catalogue as catalogue
    from .catalogue import counter_examples as counter_examples
    from .catalogue import counting as counting
    from .catalogue import expectation as expectation
    from .catalogue import gcd_lcm as gcd_lcm
    from .catalogue import gf2 as gf2
    from .catalogue import k_best as k_best
    from .catalogue import log as log
    from .catalogue import lukasiewicz as lukasiewicz
    from .catalogue import max_min as max_min
    from .catalogue import max_plus as max_plus
    from .catalogue import max_times as max_times
    from .catalogue import min_max as min_max
    from .catalogue import min_plus as min_plus
    from .catalogue import min_times as min_times
    from .catalogue import mod_p as mod_p
    from .catalogue import pareto as pareto
    from .catalogue import plus_min as plus_min
    from .catalogue import plus_times as plus_times
    from .catalogue import regex as regex
    from .catalogue import saturating_min_plus as saturating_min_plus
    from .catalogue import shortest_count as shortest_count
    from .catalogue import shortest_hops as shortest_hops
    from .catalogue import shortest_widest as shortest_widest
    from .catalogue import viterbi as viterbi
    from .catalogue import why as why
    from .catalogue import widest_shortest as widest_shortest
    from .core import Semiring as Semiring
    from .errors import GraphError as GraphError
    from .errors import LawError as LawError
    from .errors import NoClosureError as NoClosureError
    from .errors import SemiringError as SemiringError
    from .errors import SemiringWarning as SemiringWarning
    from .errors import TraceError as TraceError
    from .expression import saturating_add as saturating_add
    from .expression import saturating_multiply as saturating_multiply
    from .files import read_graph as read_graph
    from .files import write_matrix as write_matrix
    from .graph import Graph as Graph
    from .graph import Matrix as Matrix
    from .graph import adjacency as adjacency
    from .graph import from_dense as from_dense
    from .laws import LawReport as LawReport

__version__ = "0.1.0"

_HOME = {
    "algebras_of_objects": "Regex letter",
    "api": "check_laws closure factor matmul path plan solve",
    "catalogue": "bitset_may bitset_must boolean catalogue counter_examples counting expectation gcd_lcm gf2 k_best log "
    "lukasiewicz max_min max_plus max_times min_max min_plus min_times mod_p pareto plus_min plus_times regex "
    "saturating_min_plus shortest_count shortest_hops shortest_widest viterbi why widest_shortest",
    "core": "Semiring",
    "errors": "GraphError LawError NoClosureError SemiringError SemiringWarning TraceError",
    "expression": "saturating_add saturating_multiply",
    "files": "read_graph write_matrix",
    "graph": "Graph Matrix adjacency from_dense",
    "laws": "LawReport",
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names.split()}
__all__ = [*_MODULE_OF]


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        module = import_module(f".{_MODULE_OF[name]}", __name__)
        for n in _HOME[_MODULE_OF[name]].split():  # all at once: `catalogue` is a module and a name within it
            globals()[n] = getattr(module, n)
        return globals()[name]
    from difflib import get_close_matches

    near = get_close_matches(name, __all__, 1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise AttributeError(f"module 'semiring' has no attribute {name!r}{hint}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
