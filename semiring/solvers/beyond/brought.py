"""What several MPI processes pass and agree on: one matrix (whole, by rows or in a file), one algebra, one form.

All processes call each function here, and all raise the same error.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

import numpy as np

from semiring import __version__
from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.graphs.texts import clip_repr
from semiring.kernels.build import affordable
from semiring.kernels.choose import choose
from semiring.kernels.facts import Facts, together
from semiring.kernels.lowering.base import Lowering
from semiring.machine.memory import in_words, require
from semiring.operands.convert import as_dense
from semiring.operands.dense import Dense
from semiring.operands.devices import gpu_count
from semiring.operands.examine import examine
from semiring.operands.operand import order_of_one
from semiring.operands.read import operand
from semiring.operands.stored import Stored, look_through
from semiring.scale.connection import Rows
from semiring.scale.grid import Grid
from semiring.scale.rank_gpus import Gpu, gpu_of, require_room
from semiring.scale.ranks import agreed, agreeing
from semiring.scale.scratch import FORMAT, fingerprint, refuse_other, unfinished
from semiring.scale.stores import Source

from ..close import method_among
from ..dense.derived import loosened, refuse_without_tolerance
from ..dense.schedules import resolve_method
from ..options import Options
from ..task import algebra_for
from ..ways import ways_of
from .levels import on_gpu

SIDES = (1024, 768, 512, 384, 256, 192, 128, 64, 32)  # orders of tiles
TILES_OF_A_PROCESS = 8  # in a row of its tiles; with fewer tiles processes often wait for each other
ALIGNED = 16  # the order of a tile is a multiple of this
SIDES_ON_GPU = (2048, 1024, 512, 256, 128)  # on GPUs products need larger tiles
ALIGNED_ON_GPU = 128
WAYS = {"whole": "passes a matrix", "rows": "its rows of one", "stored": "a path or a stored array", "nothing": "None"}
SHARED = ("rows", "stored")  # ways that all processes use together
T = TypeVar("T")


@dataclass(frozen=True)
class Given:
    """The matrix as one process knows it.

    Attributes
    ----------
    way : {"whole", "rows", "stored"}
        Whether rank 0 has it, each has some rows, or all can read it.
    n : int
    dtype, callers_dtype : dtype
        The dtype in which elements are computed, and that of the answer.
    operand : Dense or None
        What was read, if this process has something.
    bounds : list of int
        Process r has the rows from ``bounds[r]`` to ``bounds[r + 1]``.
    as_given : Dense or None
        The operand before its edges were worsened by a tolerance.
    """

    way: str
    n: int
    dtype: np.dtype
    callers_dtype: np.dtype
    operand: Dense | None
    bounds: list[int]
    as_given: Dense | None = None

    @property
    def source(self) -> Source | None:
        """The source of tiles, if all processes can read the matrix."""
        return self.operand.source if isinstance(self.operand, Stored) else None


def of_first(world: Any, function: Callable[[], T]) -> T:
    """Return on all processes what a function returns on rank 0; other processes may see files later."""
    found: T = world.bcast(agreed(world, lambda: function() if world.rank == 0 else None))
    return found


def one_algebra(world: Any, A: Any, S: Any) -> Semiring:
    """Return the algebra of rank 0 on every process; an algebra that another process names must be the same."""
    with agreeing(world):
        mine = algebra_for("closure", (A,), S) if S is not None or world.rank == 0 else None
        try:
            data = pickle.dumps(mine) if world.rank == 0 else b""
        except pickle.PicklingError as e:
            raise SemiringError(str(e)) from None
    data = world.bcast(data)
    with agreeing(world):
        found: Semiring = mine if mine is not None and world.rank == 0 else pickle.loads(data)
        if mine is not None and mine is not found:
            raise SemiringError(f"rank {world.rank} asks for the closure over {mine.name}, and rank 0 over "
                                f"{found.name}")
    return found


def read(world: Any, A: Any, S: Semiring) -> Given:
    """Read what this process passes, and agree on the matrix."""
    way, given = agreed(world, lambda: _passed(A, S))
    ways = world.allgather(way)
    with agreeing(world):
        if ways != ["whole", *["nothing"] * (world.size - 1)] and ways not in ([w] * world.size for w in SHARED):
            passed = ", ".join(f"rank {r} {WAYS[w]}" for r, w in enumerate(ways[:4]))
            raise SemiringError(f"{passed}{', …' if world.size > 4 else ''}: pass the matrix on rank 0 and None on "
                                "others, or its rows on each by connection.rows(part), or the same path on each")
    about = world.allgather(None if given is None else (given.shape, given.dtype, given.callers_dtype))
    shape, dtype, callers = about[0]
    heights = [s[0] for s, *_ in about] if ways[0] == "rows" else [0] * world.size
    with agreeing(world):
        for r, one in enumerate(about):
            if one is not None and (one[0][1] != shape[1] or one[1] != dtype or one[2] != callers):
                raise SemiringError(f"rank {r} passes {one[0][0]} × {one[0][1]} elements of {one[2]}, and rank 0 "
                                    f"{shape[0]} × {shape[1]} of {callers}: rows of one matrix have the same number "
                                    "of columns and the same dtype")
            if one is not None and ways[0] == "stored" and one[0] != shape:
                raise SemiringError(f"rank {r} reads a matrix of {one[0]}, and rank 0 one of {shape}")
        if ways[0] == "rows" and sum(heights) != shape[1]:
            raise SemiringError(f"the processes pass {sum(heights)} rows of {shape[1]} columns: a matrix that has a "
                                "closure is square")
    n = int(shape[1])
    bounds = [0, *np.cumsum([n, *[0] * (world.size - 1)] if ways[0] == "whole" else heights).tolist()]
    return Given(ways[0], n, dtype, callers, given, bounds)


def _passed(A: Any, S: Semiring) -> tuple[str, Dense | None]:
    """The way in which a process passes the matrix, and what it passes."""
    if A is None:
        return "nothing", None
    given = operand(A.part if isinstance(A, Rows) else A, S, "A")
    if given.kind == "device":
        raise SemiringError("on= takes a matrix in the host's memory or in a file, and A is on a GPU: pass A.get()")
    given = as_dense(given)
    if isinstance(A, Rows):
        return "rows", given
    order_of_one(given.shape)
    return "stored" if isinstance(given, Stored) else "whole", given


def with_tolerance(given: Given, tol: float) -> Given:
    """The same matrix with each edge worse by a tolerance."""
    operand: Any = None if given.operand is None else loosened(given.operand, tol)
    return replace(given, operand=operand, as_given=given.operand)


def facts_of(world: Any, given: Given) -> Facts:
    """Facts about the whole matrix: each process examines what it passes, or its share of the rows of a file."""
    A, source, n = given.operand, given.source, given.n

    def examined() -> Facts | None:
        if A is None or not A.shape[0]:
            return None
        if source is not None:
            return look_through(A, source, n * world.rank // world.size, n * (world.rank + 1) // world.size)
        if A.shape[0] == n:  # all of it, and perhaps prepared
            return A.facts
        return examine(A.S, A.dtype, ((A.what, A.array),), (given.bounds[world.rank], 0))

    found = [facts for facts in world.allgather(agreed(world, examined)) if facts is not None]
    return together(found) if found else Facts(two_valued=True)


def identity_of(given: Given) -> dict[str, Any]:
    """An identification of the input that is the same after a restart."""
    if given.source is not None:
        return given.source.identity()
    return {"shape": [given.n, given.n], "dtype": given.callers_dtype.str}


@dataclass(frozen=True)
class Setup:
    """All that the processes agree on before they compute.

    Attributes
    ----------
    given : Given
    facts : Facts
    low : Lowering
    grid : Grid
    gpu : Gpu or None
        The GPU of this process; None: it computes on the CPU.
    about : dict
        The contents of a manifest.
    saved : dict or None
        The manifest of an earlier run, if this one continues it.
    loosened : bool
        Whether edges are worse by `tol`.
    """

    given: Given
    facts: Facts
    low: Lowering
    grid: Grid
    gpu: Gpu | None
    about: dict[str, Any]
    saved: dict[str, Any] | None
    loosened: bool

    @property
    def part_bytes(self) -> int:
        """Bytes that a process needs where it computes, for its tiles and the panels of two steps."""
        return (self.grid.shape[0] * self.grid.shape[1] + self.panel_elements) * self.low.storage.itemsize

    @property
    def panel_elements(self) -> int:
        """Elements of the panels of two steps: the pivot's star, and parts of its row and column."""
        height, width = self.grid.shape
        return 2 * self.grid.side * (height + width + (self.grid.side if self.gpu is not None else 0))


def prepared(world: Any, A: Any, S: Any, asked: Options) -> Setup:
    """Read the matrix, or the manifest of an earlier run, and agree on how to compute."""
    S = one_algebra(world, A, S)
    S = S if S.completed is None or asked.tol is not None else S.completed  # no process could ask for it later
    agreed(world, lambda: _refuse(S, asked))
    _refuse_differences(world, asked)
    gpu = gpu_of(world, gpu_count) if asked.device == "gpu" else None
    saved = of_first(world, lambda: None if asked.storing is None else unfinished(asked.storing))
    given = read(world, A, S)
    if asked.tol is not None:
        agreed(world, lambda: refuse_without_tolerance(S, given.dtype))
    loosened = saved is not None and bool(saved.get("loosened")) and asked.tol is not None
    if loosened:
        given = with_tolerance(given, float(asked.tol or 0))
    return setup_of(world, S, given, asked, gpu, saved, loosened)


def setup_of(
    world: Any, S: Semiring, given: Given, asked: Options, gpu: Gpu | None, saved: dict[str, Any] | None,
    loosened: bool,
) -> Setup:
    """Agree on how a matrix is computed."""
    facts = facts_of(world, given) if saved is None else Facts(**saved["facts"])
    low = _lowering(world, S, given, facts, gpu)
    side = _side(given.n, world.size, asked.tile, gpu is not None) if saved is None else saved["side"]
    grid = Grid(given.n, side, world.size, world.rank)
    about = {
        "format": FORMAT, "library": __version__, "input": identity_of(given), "algebra": S.name,
        "method": "blocked, spread", "device": "cpu" if gpu is None else "gpu", "form": fingerprint(low),
        "reflexive": bool(asked.reflexive), "tol": None if asked.tol is None else float(asked.tol),
        "loosened": loosened, "side": grid.side, "ranks": world.size,
        "facts": asdict(facts),
    }
    setup = Setup(given, facts, low, grid, gpu, about, saved, loosened)
    agreed(world, lambda: _refuse_before(setup, asked))
    return setup


def _refuse(S: Semiring, o: Options) -> None:
    """Refuse what closures by several processes do not have."""
    if S.traced is None:
        raise SemiringError(f"{S.name}: its elements are Python objects, which processes cannot send to each other: "
                            "leave out on=")
    method_among(("blocked",), resolve_method(o.method, S), "with on=")
    ways_of("closure", "mpi", o.asked)
    if o.storing is not None and o.storing.memory is not None:
        raise SemiringError("memory= is for closures by one process: leave it out, because with on= each process holds "
                            "its part of the matrix")


def _refuse_differences(world: Any, o: Options) -> None:
    """Refuse options that differ between processes."""
    asked = {"method": o.method, "tile": o.tile, "check": o.check, "out": o.storing, "device": o.device,
             "reflexive": o.reflexive, "tol": o.tol}
    first = world.bcast(asked)
    with agreeing(world):
        for name, value in asked.items():
            if value != first[name]:
                raise SemiringError(f"rank {world.rank} asks for {name}={clip_repr(value)}, and rank 0 for "
                                    f"{clip_repr(first[name])}: all processes pass the same")


def _lowering(world: Any, S: Semiring, given: Given, facts: Facts, gpu: Gpu | None) -> Lowering:
    """The form in which all processes compute, compiled on all or on none."""
    if gpu is not None:
        found: Lowering = agreed(world, lambda: on_gpu(S, given.dtype, facts, given.n))
        return found
    low = choose(S, given.dtype, facts, given.n, in_place=False, packed=False)
    if low.kind != "numba":
        return low
    if world.rank == 0:
        low = affordable(low, given.n, float(given.n) ** 3)
    return low.in_machine_code if world.bcast(low.compiled) else low.interpreted


def _side(n: int, size: int, tile: int | None, on_gpu: bool = False) -> int:
    """Choose the order of tiles: large enough for products, and small enough to keep all processes busy."""
    sides, aligned = (SIDES_ON_GPU, ALIGNED_ON_GPU) if on_gpu else (SIDES, ALIGNED)
    if tile is not None:
        return -(-tile // aligned) * aligned
    longer = Grid(n, 1, size, 0).columns
    return next((side for side in sides if side * TILES_OF_A_PROCESS * longer <= n), sides[-1])


def _refuse_before(setup: Setup, asked: Options) -> None:
    """Refuse what cannot be computed, before anything is sent."""
    given, low, gpu = setup.given, setup.low, setup.gpu
    if low.kind != "numba" and gpu is None:
        raise SemiringError(f"{low.algebra.name}: these {given.dtype} need Python's integers ({low.reason}), which "
                            "processes cannot send to each other: convert the data, for example by "
                            ".astype('float64')")
    if asked.storing is not None:
        refuse_other(asked.storing, setup.saved, setup.about)
    what = f"this process's part of {in_words(given.n**2 * low.storage.itemsize)}"
    if gpu is not None:
        require_room(gpu, setup.part_bytes, what)
        height, width = setup.grid.shape
        nbytes = height * width * low.dtype.itemsize + setup.panel_elements * low.storage.itemsize
        require(nbytes, "this process's part of the answer, and panels in pinned memory,", "use more machines")
    else:
        require(setup.part_bytes, what, "use more processes")
