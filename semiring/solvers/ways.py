"""The ways to compute a verb: one row each, with the operands and the options that it takes.

A way is a module of this folder with a function `offer(task)`, which returns a `Plan` or None. Its rows say for which
verb it is asked, for which kinds of operands, which options it honours, and which of them it answers: an option with an
answer of its own (a file, several GPUs, a mask) is asked of those ways only. The ways of a task are tried from top to
bottom. A task that none of them takes is refused here, by the names of its options: no option is ever dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from semiring.errors import SemiringError

if TYPE_CHECKING:
    from .plan import Plan
    from .task import Task

# Kinds of operands: arrays of the host and of a GPU, entries of a sparse matrix or a graph, and packed bits.
KINDS = frozenset({"dense", "device", "sparse", "packed"})
TO_GPU = "sparse, to a GPU"  # entries on a GPU, or that are to be computed there
CALLED = {"storing": "out", "gpu_memory": "memory"}  # options, as callers know them


class Way(NamedTuple):
    """One way to compute a verb.

    Attributes
    ----------
    verb : str
    module : str
        In `semiring.solvers`; it has the function `offer`.
    takes : frozenset of str
        The options that it honours.
    answers : frozenset of str
        Those of them without which it is not asked, and that no other way answers.
    kinds : frozenset of str
        The operands that it computes on.
    """

    verb: str
    module: str
    takes: frozenset[str]
    answers: frozenset[str]
    kinds: frozenset[str]


def way(verb: str, module: str, takes: str = "", answers: str = "", kinds: Iterable[str] = KINDS) -> Way:
    """A row of the table, from names with blanks between."""
    own = frozenset(answers.split())
    return Way(verb, module, own | frozenset(takes.split()), own, frozenset(kinds))


UNCHECKED = "method reflexive device tile progress"  # of closures; `check` cannot be left out of some
CLOSING = f"{UNCHECKED} check"
IN_MEMORY = f"{CLOSING} overwrite packed"
DENSE, DEVICE, SPARSE = {"dense"}, {"device"}, {"sparse"}

WAYS = (
    way("closure", "dense.derived", f"{UNCHECKED} overwrite packed on_divergence devices gpu_memory", "tol"),
    way("closure", "sparse.elimination", f"{CLOSING} packed on_divergence", "devices", SPARSE),
    way("closure", "beyond.gpus", f"{CLOSING} packed on_divergence", "devices"),
    way("closure", "dense.schedules", f"{CLOSING} packed on_divergence", "devices"),
    way("closure", "beyond.files", f"{CLOSING} tol", "storing"),
    way("closure", "beyond.mpi", f"{CLOSING} tol storing", "on", {"mpi"}),
    way("closure", "beyond.ray", f"{CLOSING} tol", "on", {"ray"}),
    way("closure", "beyond.gpus", f"{CLOSING} overwrite", "gpu_memory"),
    way("closure", "dense.schedules", f"{CLOSING} overwrite", "gpu_memory"),
    way("closure", "dense.derived", f"{UNCHECKED} overwrite packed max_edges", "on_divergence"),
    way("closure", "dense.derived", "reflexive overwrite device check packed progress", "max_edges"),
    way("closure", "sparse.elimination", IN_MEMORY, kinds={TO_GPU}),
    way("closure", "sparse.on_gpus", IN_MEMORY, kinds={TO_GPU}),
    way("closure", "dense.speculation", IN_MEMORY, kinds=DEVICE),
    way("closure", "dense.narrow", IN_MEMORY, kinds=DEVICE),
    way("closure", "sparse.traversals", IN_MEMORY, kinds=SPARSE),
    way("closure", "sparse.elimination", IN_MEMORY, kinds=SPARSE),
    way("closure", "paths.searches", IN_MEMORY, kinds=SPARSE),
    way("closure", "dense.schedules", IN_MEMORY),

    way("matmul", "products.winners", "device check", "argmax"),
    way("matmul", "products.masked_winners", "device check", "mask argmax"),
    way("matmul", "products.masked", "device check", "mask"),
    way("matmul", "dense.speculation", "device check", kinds=DEVICE),
    way("matmul", "dense.narrow", "device check", kinds=DEVICE),
    way("matmul", "products.sparse", "device check", kinds=SPARSE),
    way("matmul", "products.arrays", "device check", kinds=KINDS - SPARSE),

    way("factor", "dense.derived", "device order progress devices", "tol"),
    way("factor", "sparse.elimination", "device check order progress", "devices"),
    way("factor", "sparse.elimination", "device check order progress", kinds={TO_GPU}),
    way("factor", "sparse.on_gpus", "device check order progress", kinds={TO_GPU}),
    way("factor", "sparse.elimination", "device check order progress", kinds=SPARSE),
    way("factor", "dense.factors", "device check order progress", kinds=KINDS - SPARSE),

    way("solve", "dense.derived", "left device progress", "tol"),
    way("solve", "dense.derived", "device check progress method rtol", "left"),
    way("solve", "sparse.iteration", "device check progress rtol", "method"),
    way("solve", "sparse.iteration", "device check progress", "rtol"),
    way("solve", "sparse.elimination", "device check progress", kinds={TO_GPU}),
    way("solve", "sparse.on_gpus", "device check progress", kinds={TO_GPU}),
    way("solve", "sparse.traversals", "device check progress", kinds=SPARSE),
    way("solve", "sparse.iteration", "device check progress", kinds=SPARSE),
    way("solve", "sparse.elimination", "device check progress", kinds=SPARSE),
    way("solve", "dense.factors", "device check progress"),

    way("closure_rows", "dense.derived", "device predecessors", "tol"),
    way("closure_rows", "dense.derived", "device progress", kinds={"packed"}),
    way("closure_rows", "paths.factored", "device predecessors progress"),
    way("closure_rows", "sparse.traversals", "device predecessors progress", kinds=SPARSE),
    way("closure_rows", "paths.search", "device predecessors progress"),

    way("path", "dense.derived", answers="tol"),
    way("path", "paths.factored"),
    way("path", "paths.searches"),

    way("paths", "beyond.files", "method device progress tol", "storing"),
    way("paths", "dense.derived", "method device progress sources", "tol"),
    way("paths", "paths.paths", "device progress", "sources"),
    way("paths", "paths.paths", "method device progress"),

    way("nearest", "paths.searches"),
    way("power", "dense.derived", "device check"),
    way("cycle_mean", "paths.measures"),
)


@cache
def ways_of(verb: str, kind: str, asked: frozenset[str]) -> tuple[Way, ...]:
    """The ways that take operands of a kind and all options that are asked for, in the order in which they are tried.

    Raises
    ------
    SemiringError
        When there is none.

    Examples
    --------
    >>> [way.module for way in ways_of("closure", "sparse", frozenset({"method"}))]
    ['sparse.traversals', 'sparse.elimination', 'paths.searches', 'dense.schedules']
    >>> ways_of("path", "dense", frozenset({"tile"}))
    Traceback (most recent call last):
    semiring.errors.SemiringError: path has no option 'tile'; it has tol
    """
    found = taking(verb, kind, asked)
    if not found:
        refuse(verb, kind, asked)
    return found


@cache
def offer_of(module: str) -> Callable[[Task], Plan | None]:
    """The function of a way's module that makes its offers; the module is loaded when the way is first asked."""
    found: Callable[[Task], Plan | None] = import_module(f"semiring.solvers.{module}").offer
    return found


@cache
def taking(verb: str, kind: str, asked: frozenset[str]) -> tuple[Way, ...]:
    """The same; empty where there is none."""
    return tuple(w for w in WAYS if w.verb == verb and kind in w.kinds and w.answers <= asked <= w.takes)


def options_of(verb: str) -> frozenset[str]:
    """The options that some way of a verb takes."""
    return frozenset[str]().union(*(w.takes for w in WAYS if w.verb == verb))


def refuse(verb: str, kind: str, asked: frozenset[str], flag: Callable[[str], str] | None = None) -> NoReturn:
    """Refuse a task that none of the ways takes: name an unknown option, or two that exclude each other.

    Parameters
    ----------
    verb, kind : str
    asked : frozenset of str
    flag : callable, optional
        The name of an option on the command line. Default: options are named as in Python.

    Raises
    ------
    SemiringError
        Always.

    Examples
    --------
    >>> refuse("paths", "dense", frozenset({"sources", "method"}))
    Traceback (most recent call last):
    semiring.errors.SemiringError: paths with sources= has no option 'method': leave out one of the two; it has \
device, progress
    """
    known = options_of(verb)
    for name in sorted(asked - known):
        raise SemiringError(f"{verb} has no option {called(name)!r}; it has {_listed(known) or 'none'}")
    of_kind = [w for w in WAYS if w.verb == verb and kind in w.kinds]
    special = list(dict.fromkeys(name for w in of_kind for name in sorted(w.answers)))
    order = [*(name for name in special if name in asked), *sorted(asked.difference(special))]
    together = next(some for size in range(2, len(order) + 1) for some in combinations(order, size)
                    if not taking(verb, kind, frozenset(some)))
    if flag is not None:
        first, *others = map(flag, together)
        raise SemiringError(f"{verb} with {first} has no option {' and '.join(others)}: leave out "
                            f"{' or '.join((first, *others))}")
    first, *others = (called(name) for name in together)
    own = [w for w in of_kind if together[0] in w.answers]
    takes = _listed(frozenset[str]().union(*(w.takes for w in own)) - {together[0]})
    raise SemiringError(f"{verb} with {first}= has no option {' and '.join(map(repr, others))}: leave out one of the "
                        f"two; it has {takes or 'no others'}")


def called(name: str) -> str:
    """An option as callers know it.

    Examples
    --------
    >>> called("storing"), called("tol")
    ('out', 'tol')
    """
    return CALLED.get(name, name)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(called(name) for name in names))
