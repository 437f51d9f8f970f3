"""The ladder: the historical algorithms in the order of the story; each can close any matrix."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from semiring.algebra.semiring import Semiring
from semiring.algorithms.blocks import UndefinedStar
from semiring.errors import NoClosureError, SemiringError
from semiring.graphs.texts import clip_repr
from semiring.operands.convert import as_dense
from semiring.operands.operand import order_of_one
from semiring.solvers.refusals import star_undefined
from semiring.solvers.task import Task, compute, options

from .ladder_cpu import CPU_RUNGS
from .ladder_gpu import GPU_RUNGS
from .rung import Rung

RUNGS: tuple[Rung, ...] = (*CPU_RUNGS, *GPU_RUNGS)


def named(rung: str) -> Rung:
    """The rung of a name.

    Raises
    ------
    SemiringError
        For an unknown name; the message suggests a similar one.

    Examples
    --------
    >>> named("venkataraman").year
    2003
    """
    found = {each.name: each for each in RUNGS}
    if isinstance(rung, str) and rung in found:
        return found[rung]
    near = get_close_matches(rung, found, 1) if isinstance(rung, str) else []
    hint = f"did you mean {near[0]!r}?" if near else f"it is one of {', '.join(found)}"
    raise SemiringError(f"unknown rung {clip_repr(rung)}: {hint}")


def close(A: Any, S: Semiring | str | None = None, rung: str = "floyd", device: str | None = None) -> Any:
    """Compute the closure of a matrix by one algorithm of the literature.

    Use `semiring.closure` in practice; this function shows what each step of its history achieved.

    Parameters
    ----------
    A : array_like, sparse matrix, graph or Matrix, shape (n, n)
        Everything that verbs can read.
    S : Semiring or str, optional
        The algebra. Default: that of A, if A is a `Matrix`.
    rung : str, optional
        The name of one of ``RUNGS``.
    device : {None, "cpu", "gpu"}, optional
        The rung's own device, which is also the default.

    Returns
    -------
    array or Matrix, shape (n, n)
        A*, in the caller's own type; for a sparse matrix or graph as `semiring.closure` returns it.

    Raises
    ------
    NoClosureError
        If there is no closure, with the vertex and a cycle.
    SemiringError
        For an unknown rung, a device other than the rung's, a stack of matrices, something that is not a matrix over
        the algebra, and a matrix that the rung cannot close, with the reason.

    Examples
    --------
    >>> import numpy as np
    >>> from semiring.teach.ladder import close
    >>> A = np.array([[np.inf, 3.0], [1.0, np.inf]])
    >>> close(A, "min_plus", rung="venkataraman")
    array([[0., 3.],
           [1., 0.]])
    """
    step = named(rung)
    asked = options(device=device).device
    if asked is not None and (asked == "cpu") != (step.device == "cpu"):
        raise SemiringError(f"{step.title} runs on the {step.device.upper()}, not on device={device!r}: "
                            "leave out device")
    task = Task("closure", S, (A,), options(device=step.device))
    given = task.operands[0]
    n = order_of_one(given.shape)
    if given.kind in ("sparse", "packed"):
        given = as_dense(given)
    _ = given.facts  # refuses anything that is not an element
    reason = step.refuses(task.S, given.dtype, n)
    if reason is not None:
        raise SemiringError(f"the rung {rung!r} cannot close this matrix over {task.S.name}: {reason}")
    try:
        return given.wrap(step.close(given.array, task.S))  # type: ignore[attr-defined]
    except UndefinedStar as e:
        raise star_undefined(given, e, gone=False) from None
    except NoClosureError:
        if given.names is None:
            raise
        compute(task)  # this raises the error with the names of vertices
        raise
