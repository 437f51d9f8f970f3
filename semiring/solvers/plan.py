"""A plan: what will run, where, and why. `semiring.plan` prints it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pickle import PicklingError
from typing import Any, Final, Self

from semiring.algebra.semiring import Semiring
from semiring.algebra.tables import dtype_text, html_table
from semiring.graphs.texts import count_text
from semiring.kernels.build import kernel
from semiring.kernels.cpu.compile.price import has_numba
from semiring.kernels.lowering.base import Lowering
from semiring.machine.memory import in_words


@dataclass(eq=False, kw_only=True)
class Plan:
    """What will run, and why; `print` it.

    Attributes
    ----------
    operation : str
        "closure", "matmul", "factor", "solve", "rows", "path", "paths", "nearest", "power" or "cycle_mean".
    algebra : Semiring
    shape : tuple of int
        The shape of the answer.
    method : str
        The solver's name for its method: a schedule, "sparse elimination", "components", …
    lowering : Lowering
        How elements are stored and computed.
    place : str
        The device; empty for the device of the lowering's engine.
    work : float
        Multiply-adds: one ⊗ and one ⊕ each.
    memory : int
        Bytes beyond the operands.
    reasons : dict
        The reason for each row of the printed plan.
    tile : int
        Rows of a pivot block, or of the blocks that are closed directly; 0 if there are none.
    devices : tuple of int
        The GPUs that each need `memory`, if several were asked for.
    nnz : int or None
        Entries of a sparse matrix.
    seconds : dict
        Predicted seconds of each way that was considered, if they were predicted.
    needs : tuple of str, or None
        What needs the memory, and what to do if there is too little, if the solver can say it better than `shortage`.
    runner : callable
        What `run` calls, with the plan.

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> p = sr.plan("closure", np.full((300, 300), 0.5), sr.plus_times)
    >>> p.operation, p.shape, p.work
    ('closure', (300, 300), 27000000)
    """

    operation: Final[str]
    algebra: Final[Semiring]
    shape: Final[tuple[int, ...]]
    method: Final[str]
    lowering: Final[Lowering]
    work: Final[float]
    memory: Final[int]
    runner: Final[Callable[[Any], Any]] = field(repr=False, compare=False)  # is called with the plan
    place: Final[str] = ""
    needs: Final[tuple[str, str]] = "", "use a narrower dtype or fewer vertices"  # as `shortage`; "": the answer
    reasons: Final[dict[str, str]] = field(default_factory=dict)
    tile: Final[int] = 0
    devices: Final[tuple[int, ...]] = ()
    nnz: Final[int | None] = None
    seconds: Final[dict[str, float]] = field(default_factory=dict)

    def run(self) -> Any:
        """Run the plan, and return the verb's answer.

        Returns
        -------
        array, Matrix, PackedMatrix, Factors, SparseFactors, Paths, Nearest or tuple
            Of `shape`, or of the verb's kind.

        Raises
        ------
        NoClosureError
            If the closure does not exist.
        SemiringError
            If a result does not fit in the dtype.

        Examples
        --------
        >>> import numpy as np
        >>> import semiring as sr
        >>> sr.plan("closure", np.array([[np.inf, 2.5], [np.inf, np.inf]]), sr.min_plus).run()
        array([[0. , 2.5],
               [inf, 0. ]])
        """
        return self.runner(self)

    @property
    def device(self) -> str:
        """The device on which it runs."""
        return self.place or kernel(self.lowering).place

    @property
    def shortage(self) -> tuple[str, str]:
        """Text for the out-of-memory error: what needs the memory, and what to try."""
        what, advice = self.needs
        if what:
            return what, advice
        shape = " × ".join(map(str, self.shape)) or "one element"
        dtype = "bits" if self.lowering.kind == "packed" else dtype_text(self.lowering.dtype)
        what = f"the {shape} product" if self.operation == "matmul" else f"the {self.operation} of {shape} {dtype}"
        return what, advice

    def rows(self) -> dict[str, str]:
        """Return the printed rows, by name.

        Returns
        -------
        dict of str to str

        Raises
        ------
        SemiringError
            If ``SEMIRING_NUM_THREADS`` is not a number of threads.

        Examples
        --------
        >>> import numpy as np
        >>> import semiring as sr
        >>> sr.plan("closure", np.full((300, 300), 0.5), sr.plus_times).rows()["operation"]
        'closure over plus-times, 300 × 300, float64'
        """
        low, shape = self.lowering, " × ".join(map(str, self.shape)) or "one element"
        rows = {
            "operation": f"{self.operation} over {self.algebra.name}, {shape}, {dtype_text(low.dtype)}"
            + ("" if self.nnz is None else f", with {count_text(self.nnz, 'edge', 'edges')}"),
            "method": self.method,
            "tile": str(self.tile),
            "elements": f"{low.name}, stored as {'bits' if low.kind == 'packed' else dtype_text(low.storage)}",
            "device": self.device,
            "work": f"{self.work:.3g} multiply-adds",
            "memory": f"{in_words(self.memory)} beyond the operands",
            **self._structure(),
            "predicted": ", ".join(f"{name} {_time(self.seconds[name])}" for name in sorted(
                self.seconds, key=self.seconds.__getitem__)),
        }
        return {name: text for name, text in rows.items() if text and (name != "tile" or self.tile)}

    def _structure(self) -> dict[str, str]:
        """Rows about the structure of a sparse matrix."""
        return {}

    def _explained(self) -> list[tuple[str, str]]:
        """The rows with their reasons."""
        reasons = {"elements": self.lowering.reason, **self.reasons}
        if not self.lowering.compiled:
            reasons["device"] = "compiling takes longer than this work" if has_numba() else "there is no Numba"
        rows = self.rows().items()
        return [(name, text + (f"  ({reasons[name]})" if reasons.get(name) else "")) for name, text in rows]

    def __copy__(self) -> Self:
        made = object.__new__(type(self))
        vars(made).update(vars(self))
        return made

    def __deepcopy__(self, memo: Any) -> Self:
        return self.__copy__()

    def __reduce__(self) -> Any:
        raise PicklingError("a plan belongs to one machine and holds its operands: pickle the matrix and the algebra, "
                            "and call sr.plan where you read them; or pickle its rows(), which are text")

    def __str__(self) -> str:
        return "\n".join(f"{name:<10} {text}" for name, text in self._explained())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(f"Plan of a {self.operation}", self._explained())


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"


def nothing(plan: Any) -> None:
    """Do nothing: the runner of a plan that is not run."""
