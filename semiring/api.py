"""All verbs; `plan`, which shows what one would do; `prepare`, and tests of an algebra's laws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from inspect import Parameter, Signature, signature
from typing import Any

import numpy as np

from .algebra import laws
from .algebra.by_name import algebra
from .algebra.lexicographic import in_order
from .algebra.semiring import Semiring
from .equations import factor as factor
from .equations import solve as solve
from .errors import SemiringError
from .graphs.dims import has_dataarray, labelled
from .graphs.texts import clip_repr
from .matrices import BUILDERS as BUILDERS
from .matrices import closure as closure
from .matrices import matmul as matmul
from .matrices import verb as verb
from .operands.elements import read_elements
from .operands.operand import Operand
from .operands.read import operand
from .shapes.convolve import convolve as convolve
from .shapes.einsum.einsum import einsum as einsum
from .shapes.planned import SHAPES as SHAPES
from .shapes.sequences.forward import forward as forward
from .shapes.sequences.scan import scan as scan
from .shapes.sums.reductions import REDUCTIONS
from .solvers.plan import Plan
from .solvers.task import own_algebra
from .walks import closure_rows as closure_rows
from .walks import cycle_mean as cycle_mean
from .walks import nearest as nearest
from .walks import path as path
from .walks import paths as paths
from .walks import power as power


def plan(verb: str, /, *operands: Any, **options: Any) -> Plan:
    """Return the plan that a verb would run, without running it.

    Parameters
    ----------
    verb : str
        The name of the function: "closure", "matmul", "factor", "solve", "power", "closure_rows", "paths", "path",
        "nearest", "cycle_mean", "convolve", "einsum", "scan" or "forward"; or of a method of algebras: "sum", "prod",
        "cumsum" or "cumprod", with the algebra as second argument.
    *operands
        Its positional arguments: ``plan("matmul", A, B, S)`` is the plan of ``matmul(A, B, S)``.
    **options
        Its keyword arguments. With `out` nothing is written but a few MiB that measure the disk, and those only when
        the plan is printed. With `on` all processes call this; a few MiB are sent to measure the rate of messages. For
        a `limit` a few short searches may be made, to see how far it lets them come.

    Returns
    -------
    Plan
        Printable; with `method`, `lowering`, `place`, `work`, `memory` and the reasons, and `run`, which gives the
        verb's answer. For a sparse matrix that is eliminated on its structure a `SparsePlan`, with predicted times.

    Raises
    ------
    SemiringError
        For an unknown verb, and wherever the verb refuses its arguments before it computes.
    LawError
        When the verb or the method needs a law that the algebra lacks.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> p = sr.plan("closure", np.zeros((300, 300), np.float32), sr.max_min)
    >>> p.method, p.lowering.name, p.work
    ('spanning tree', 'ordered integers', 90000.0)
    >>> sr.plan("matmul", np.zeros((3, 4)), np.zeros((4, 2)), sr.min_plus).method
    'tiled product'
    """
    builders = BUILDERS | SHAPES | REDUCTIONS
    if not isinstance(verb, str) or verb not in builders:
        raise SemiringError(f"unknown verb {clip_repr(verb)}: it is the name of a function, {', '.join(builders)}, as "
                            "in plan('closure', A, S)")
    build = builders[verb]
    known = signature(build)
    for name in options:
        if name not in known.parameters:
            own = (p.name for p in known.parameters.values() if p.kind is Parameter.KEYWORD_ONLY)
            raise SemiringError(f"{verb} has no option {name!r}; it has {', '.join(own) or 'none'}")
    try:
        known.bind(*operands, **options)
    except TypeError as e:
        raise SemiringError(f"{verb} takes {known.replace(return_annotation=Signature.empty)}: {e}") from None
    made: Plan = build(*operands, **options).plan()
    if has_dataarray((*operands, *options.values())):
        made = copy(made)
        vars(made)["runner"] = partial(_labelled, build, operands, options, made.runner)
    return made


def _labelled(
    build: Callable[..., Any], operands: tuple[Any, ...], options: dict[str, Any], run: Callable[[Plan], Any],
    plan: Plan,
) -> Any:
    return labelled(build, operands, options, run(plan))


def prepare(A: Any, S: Semiring | str | None = None) -> Operand:
    """Read and check a matrix once, to use it in many calls.

    The prepared matrix can stand for A in every verb, and in `pack`, `reach` and what is built on them. It is not read
    again, nor are its elements and structure checked again: most of the time of a sparse matrix times a vector.

    Parameters
    ----------
    A : array_like, sparse matrix, graph or packed matrix, shape (…, m, n)
        As for the verb. It must not change while what is prepared from it is in use: arrays are not copied.
    S : Semiring or str, optional
        Default: the algebra of A, if it is a `Matrix`.

    Returns
    -------
    Operand
        With `shape`, `dtype` and `names`.

    Raises
    ------
    SemiringError
        If A is not a matrix over S: its dtype cannot carry the algebra, or an entry is not an element.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> import semiring as sr
    >>> A = sr.prepare(sp.csr_array([[0, 3.0], [0, 4.0]]), sr.min_plus)
    >>> sr.matmul(A, np.array([0.0, 1.0]), sr.min_plus)
    array([4., 5.])
    """
    given = operand(A, own_algebra("prepare", (A,)) if S is None else in_order(S))
    _ = given.facts
    given.look()
    given.prepared = True
    return given


def check_laws(S: Semiring | str, samples: Sequence[Any] | np.ndarray | None = None) -> laws.LawReport:
    """Test every law of semirings, the star law and the four flags on samples.

    Parameters
    ----------
    S : Semiring or str
    samples : sequence or array of elements, shape (count,), optional
        Elements to combine in all ways. Default: those that the algebra was declared with.

    Returns
    -------
    LawReport
        Printable; `ok`, `failures` with a counterexample each, `derived` flags.

    Raises
    ------
    SemiringError
        For an unknown algebra, and for samples that are not elements.

    Notes
    -----
    The laws are those of closed semirings; see D. J. Lehmann, Algebraic structures for transitive closure (1977). Two
    sides count as equal if they differ by no more than rounding; see `LawReport`.

    Examples
    --------
    >>> import semiring as sr
    >>> sr.check_laws(sr.max_min).ok
    True
    >>> print(sr.check_laws(sr.plus_min).failures[0])
    ⊗ does not distribute on the left. With a = 2, b = 3, c = 5, a ⊗ (b ⊕ c) = 2 but (a ⊗ b) ⊕ (a ⊗ c) = 4
    """
    S = algebra(S)
    if samples is None:
        return S._law_report
    tried = read_elements(samples, S, "samples")
    return laws.check(S.over(tried.dtype).unchecked, tried, name=S.name, star=not S.product_only)
