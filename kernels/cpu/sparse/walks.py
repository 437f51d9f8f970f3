"""What an algebra adds to walks back along rows of sparse factors: the choice of an edge, from walks_template.py.

The walk itself is in front_solutions_template.py, for all algebras whose elements have the same sizes.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from semiring.kernels.cpu.compile import cache
from semiring.kernels.cpu.compile.program import program
from semiring.kernels.lowering.base import Lowering

from .fronts import code_of_walks
from .kernel import comparing

TEMPLATE = Path(__file__).with_name("walks_template.py")


def code(lowering: Lowering) -> list[cache.Function]:
    """The compiled functions."""
    return [cache.Function(*comparing(program(lowering), TEMPLATE), "last_edge"), code_of_walks(lowering)]


@lru_cache(1024)
def last_edge(lowering: Lowering) -> int:
    """Address of the function that chooses the last edge of a walk."""
    from semiring.kernels.cpu.compile.jit import address_of  # it imports Numba

    return address_of(code(lowering)[0].make())
