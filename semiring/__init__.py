"""Path algebra: matrix products, closures, equations and best paths over any semiring.

Names are loaded when they are first used, so that importing the package costs little and needs nothing but NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .acyclic import condensation as condensation
    from .acyclic import transitive_reduction as transitive_reduction
    from .algebras import bitset_may as bitset_may
    from .algebras import bitset_must as bitset_must
    from .algebras import boolean as boolean
    from .algebras import catalogue as catalogue
    from .algebras import counter_examples as counter_examples
    from .algebras import counting as counting
    from .algebras import expectation as expectation
    from .algebras import gcd_lcm as gcd_lcm
    from .algebras import gf2 as gf2
    from .algebras import k_best as k_best
    from .algebras import log as log
    from .algebras import lukasiewicz as lukasiewicz
    from .algebras import max_min as max_min
    from .algebras import max_plus as max_plus
    from .algebras import max_times as max_times
    from .algebras import min_max as min_max
    from .algebras import min_plus as min_plus
    from .algebras import min_times as min_times
    from .algebras import mod_p as mod_p
    from .algebras import pareto as pareto
    from .algebras import plus_min as plus_min
    from .algebras import plus_times as plus_times
    from .algebras import regex as regex
    from .algebras import saturating_min_plus as saturating_min_plus
    from .algebras import shortest_count as shortest_count
    from .algebras import shortest_hops as shortest_hops
    from .algebras import shortest_widest as shortest_widest
    from .algebras import viterbi as viterbi
    from .algebras import why as why
    from .algebras import widest_shortest as widest_shortest
    from .api import check_laws as check_laws
    from .api import closure as closure
    from .api import factor as factor
    from .api import matmul as matmul
    from .api import plan as plan
    from .api import solve as solve
    from .core import Semiring as Semiring
    from .errors import GraphError as GraphError
    from .errors import LawError as LawError
    from .errors import NoClosureError as NoClosureError
    from .errors import SemiringError as SemiringError
    from .errors import SemiringWarning as SemiringWarning
    from .errors import TraceError as TraceError
    from .files import read_graph as read_graph
    from .files import write_matrix as write_matrix
    from .frontier import closure_rows as closure_rows
    from .graph import Graph as Graph
    from .graph import Matrix as Matrix
    from .graph import adjacency as adjacency
    from .graph import as_graph as as_graph
    from .graph import from_dense as from_dense
    from .kernels.packed import PackedMatrix as PackedMatrix
    from .laws import LawReport as LawReport
    from .object_algebras import Regex as Regex
    from .object_algebras import letter as letter
    from .packing import pack as pack
    from .paths import path as path
    from .reachability import Reachability as Reachability
    from .reachability import reach as reach
    from .sparse_factors import SparseFactors as SparseFactors
    from .sparse_planning import SparsePlan as SparsePlan
    from .tracing import saturating_add as saturating_add
    from .tracing import saturating_multiply as saturating_multiply

__version__ = "0.1.0"

_HOME = {
    "object_algebras": "Regex letter",
    "api": "check_laws closure factor matmul plan solve",
    "algebras": "bitset_may bitset_must boolean catalogue counter_examples counting expectation gcd_lcm gf2 k_best log "
    "lukasiewicz max_min max_plus max_times min_max min_plus min_times mod_p pareto plus_min plus_times regex "
    "saturating_min_plus shortest_count shortest_hops shortest_widest viterbi why widest_shortest",
    "core": "Semiring",
    "errors": "GraphError LawError NoClosureError SemiringError SemiringWarning TraceError",
    "files": "read_graph write_matrix",
    "frontier": "closure_rows",
    "graph": "Graph Matrix adjacency as_graph from_dense",
    "laws": "LawReport",
    "acyclic": "condensation transitive_reduction",
    "kernels.packed": "PackedMatrix",
    "packing": "pack",
    "paths": "path",
    "reachability": "Reachability reach",
    "sparse_factors": "SparseFactors",
    "sparse_planning": "SparsePlan",
    "tracing": "saturating_add saturating_multiply",
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names.split()}
__all__ = [*_MODULE_OF]


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        module = import_module(f".{_MODULE_OF[name]}", __name__)
        for n in _HOME[_MODULE_OF[name]].split():
            globals()[n] = getattr(module, n)
        return globals()[name]
    from difflib import get_close_matches

    near = get_close_matches(name, __all__, 1)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise AttributeError(f"module 'semiring' has no attribute {name!r}{hint}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
