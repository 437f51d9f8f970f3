"""What will be done, where, and why: what `semiring.plan` prints, and what runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pickle import PicklingError
from typing import Any, Final, Self

from semiring.algebra.semiring import Semiring
from semiring.algebra.tables import html_table
from semiring.kernels.build import kernel
from semiring.kernels.cpu.compile.price import has_numba
from semiring.kernels.lowering.base import Lowering
from semiring.machine.memory import in_words


@dataclass(eq=False, kw_only=True)
class Plan:
    """What will be done, and why; `print` it.

    Attributes
    ----------
    operation : str
        "closure", "matmul", "factor", "solve", "rows", "path", "paths", "nearest", "power" or "cycle_mean".
    algebra : Semiring
    shape : tuple of int
        Of the answer.
    method : str
        The solver's name for what it does: a schedule, "sparse elimination", "components", …
    lowering : Lowering
        How elements are stored and computed.
    place : str
        The device; empty for that of the lowering's engine.
    work : float
        Multiply-adds: one ⊗ and one ⊕ each.
    memory : int
        Bytes beyond the operands.
    reasons : dict
        Why, by row of the printed plan.
    tile : int
        Rows of a pivot block, or of the blocks that are closed directly; 0 where there are none.
    devices : tuple of int
        The GPUs that each need `memory`, where several were asked for.

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
    runner: Final[Callable[[Any], Any]] = field(repr=False, compare=False)  # of the plan
    place: Final[str] = ""
    needs: Final[tuple[str, str] | None] = None  # what is short of memory, and what helps, if it can be said better
    reasons: Final[dict[str, str]] = field(default_factory=dict)
    tile: Final[int] = 0
    devices: Final[tuple[int, ...]] = ()

    def run(self) -> Any:
        """Do it, and return what the verb would.

        Returns
        -------
        array, Matrix, PackedMatrix, Factors, SparseFactors, Paths, Nearest or tuple
            Of `shape`, or of the verb's kind.

        Raises
        ------
        NoClosureError
            When the closure does not exist.
        SemiringError
            When a result has no place in the dtype.

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
        """Where it is done."""
        return self.place or kernel(self.lowering).place

    @property
    def shortage(self) -> tuple[str, str]:
        """What is short of memory where there is not enough, and what helps."""
        shape = " × ".join(map(str, self.shape))
        dtype = "bits" if self.lowering.kind == "packed" else self.lowering.dtype
        what = f"the {shape} product" if self.operation == "matmul" else f"the {self.operation} of {shape} {dtype}"
        return self.needs or (what, "use a narrower dtype or fewer vertices")

    def rows(self) -> dict[str, str]:
        """What is printed, by name.

        Returns
        -------
        dict of str to str

        Raises
        ------
        SemiringError
            When ``SEMIRING_NUM_THREADS`` is not a number of threads.

        Examples
        --------
        >>> import numpy as np
        >>> import semiring as sr
        >>> sr.plan("closure", np.full((300, 300), 0.5), sr.plus_times).rows()["operation"]
        'closure over plus-times, 300 × 300, float64'
        """
        low, shape = self.lowering, " × ".join(map(str, self.shape))
        dtype = low.dtype
        shown = ", ".join(f"{f} {dtype[f].name}" for f in dtype.names) if dtype.names else str(dtype.name)
        rows = {
            "operation": f"{self.operation} over {self.algebra.name}, {shape}, {shown}",
            "method": self.method,
            "tile": str(self.tile),
            "lowering": f"{low.name}, stored as {'bits' if low.kind == 'packed' else low.storage}",
            "device": self.device,
            "work": f"{self.work:.3g} multiply-adds",
            "memory": f"{in_words(self.memory)} beyond the operands",
        }
        return {name: text for name, text in rows.items() if name != "tile" or self.tile}

    def _explained(self) -> list[tuple[str, str]]:
        """The rows with their reasons."""
        reasons = {"lowering": self.lowering.reason, **self.reasons}
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
        raise PicklingError("a plan is of one machine, and holds what it would compute on: pickle the matrix and the "
                            "algebra, and ask sr.plan where they are read; or its rows(), which are text")

    def __str__(self) -> str:
        return "\n".join(f"{name:<10} {text}" for name, text in self._explained())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(f"Plan of a {self.operation}", self._explained())


def nothing(plan: Any) -> None:
    """Stands in a plan that is not run."""
