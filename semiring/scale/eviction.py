"""Which tiles are in memory when: all operations are known, so the tile that is needed last is evicted first.

L. A. Belady, A study of replacement algorithms for a virtual-storage computer (1966).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from .program import Operation, Program

NEVER = 1 << 60

# Places from which a cell is read, and to which it is written.
NOWHERE, INPUT, SCRATCH, OUTPUT = "nowhere", "input", "scratch", "output"
HOST = "host"  # the host's memory, for cells that a GPU evicts


class Move(NamedTuple):
    """A cell that is loaded or evicted."""

    cell: int
    place: str


class Step(NamedTuple):
    """The moves of one operation.

    Attributes
    ----------
    away, loads, after : tuple of Move
        Cells evicted before it, loaded for it, and finished after it.
    freed : tuple of int
        Cells whose copy in the host's memory is not needed once they are loaded.
    """

    away: tuple[Move, ...]
    loads: tuple[Move, ...]
    after: tuple[Move, ...]
    freed: tuple[int, ...] = ()


@dataclass
class Traffic:
    """The steps of all operations, and the number of moved tiles.

    Attributes
    ----------
    steps : list of Step
    moved : dict of (str, str) to int
        Tiles by direction and place: ("read", "input"), ("read", "scratch"), ("write", "scratch"), ("write", "output"),
        and where a GPU computes ("read", "host") and ("write", "host").
    slots : int
        The most cells that have a copy in the scratch file at a time; commits also keep older ones.
    held : int
        The most cells in the host's memory at a time, if a GPU computes.
    """

    steps: list[Step] = field(default_factory=list)
    moved: dict[tuple[str, str], int] = field(default_factory=dict)
    slots: int = 0
    held: int = 0

    def add(self, step: Step) -> None:
        """One step more."""
        self.steps.append(step)
        self.count("read", step.loads)
        self.count("write", step.away)
        self.count("write", step.after)

    def count(self, direction: str, moves: tuple[Move, ...]) -> None:
        """Count tiles that are actually read or written."""
        for move in moves:
            if move.place != NOWHERE:
                key = direction, move.place
                self.moved[key] = self.moved.get(key, 0) + 1


def cells_of(operation: Operation) -> Iterator[int]:
    """The cells that must be in memory, each once."""
    return iter(dict.fromkeys(c for c in (operation.target, operation.first, operation.second) if c >= 0))


def traffic(made: Program, room: int) -> Traffic:
    """The traffic of a program if `room` cells, 3 or more, fit in memory.

    A cell that is not needed again is written to the output if it holds a tile of the closure, and else dropped. An
    evicted cell is written to the scratch file if it has changed since it was loaded.

    Examples
    --------
    >>> from semiring.algorithms.r_kleene import r_kleene
    >>> from semiring.scale.program import program
    >>> sorted(traffic(program(r_kleene, 4, 2, 6), 6).moved.items())
    [(('read', 'input'), 4), (('write', 'output'), 4)]
    """
    uses: dict[int, list[int]] = {}
    for at, operation in enumerate(made.operations):
        for cell in cells_of(operation):
            uses.setdefault(cell, []).append(at)
    for times in uses.values():
        times.reverse()  # the next use is last
    final = set(made.cells.values())
    first_cells = made.count * made.count
    inside: dict[int, int] = {}  # cells in memory, and their next uses
    dirty: set[int] = set()
    kept: set[int] = set()  # cells with a copy in the scratch file
    order: list[tuple[int, int]] = []
    copies: set[int] = set()  # cells that have a slot of the scratch file, until they are finished
    result = Traffic()
    for operation in made.operations:
        needed = list(cells_of(operation))
        away, loads, after = [], [], []
        for cell in needed:
            uses[cell].pop()
            when = uses[cell][-1] if uses[cell] else NEVER
            if cell not in inside:
                if len(inside) >= room:
                    away.append(_furthest(inside, order, needed, dirty, kept))
                loads.append(Move(cell, _source(operation, cell, kept, first_cells)))
            inside[cell] = when
            heapq.heappush(order, (-when, cell))
        copies.update(move.cell for move in away if move.place == SCRATCH)
        result.slots = max(result.slots, len(copies))
        dirty.add(operation.target)
        kept.discard(operation.target)
        for cell in needed:
            if inside[cell] == NEVER:
                del inside[cell]
                after.append(Move(cell, OUTPUT if cell in final else NOWHERE))
                dirty.discard(cell)
                copies.discard(cell)
        result.add(Step(tuple(away), tuple(loads), tuple(after)))
    assert not inside, "every cell is finished at its last operation"
    return result


@dataclass
class _Stay:
    """The time from a cell's eviction to its last load."""

    cell: int
    begin: int
    end: int = -1
    loads: int = 0

    @property
    def worth(self) -> float:
        """The number of moves saved by a place in memory, divided by the time for which it is used."""
        return (1 + self.loads) / (self.end - self.begin + 1)


def through_memory(plan: Traffic, room: int) -> Traffic:
    """The same traffic if `room` evicted cells fit in the host's memory, and the others go on to disk.

    An evicted cell either stays in memory until it is loaded for the last time, or goes on to disk at once. If there is
    not enough room, cells that save the fewest moves for their time go to disk.

    Examples
    --------
    >>> from semiring.algorithms.r_kleene import r_kleene
    >>> from semiring.scale.program import program
    >>> alone = traffic(program(r_kleene, 6, 1, 6), 6)
    >>> both = through_memory(alone, 8)
    >>> alone.moved["write", "scratch"], both.moved["write", "scratch"], both.moved["write", "host"]
    (66, 42, 24)
    """
    stays: list[_Stay] = []
    current: dict[int, _Stay] = {}
    for at, step in enumerate(plan.steps):
        for move in step.away:
            if move.place == SCRATCH:
                current[move.cell] = _Stay(move.cell, at)
                stays.append(current[move.cell])
        for move in step.loads:
            if move.place == SCRATCH:
                current[move.cell].end = at
                current[move.cell].loads += 1
    held = _held(stays, room)
    inside = set[int]()  # cells in the host's memory
    copies = set[int]()  # and those with a slot of the scratch file
    last = {(stay.cell, stay.end) for stay in held.values()}
    result = Traffic()
    for at, step in enumerate(plan.steps):
        away = []
        for move in step.away:
            if move.place == SCRATCH and (move.cell, at) in held:
                inside.add(move.cell)
                away.append(Move(move.cell, HOST))
            else:
                copies.update([move.cell] if move.place == SCRATCH else [])
                away.append(move)
        result.slots, result.held = max(result.slots, len(copies)), max(result.held, len(inside))
        loads = [Move(move.cell, HOST) if move.cell in inside else move for move in step.loads]
        freed = tuple(move.cell for move in loads if (move.cell, at) in last and move.place == HOST)
        inside.difference_update(freed)
        copies.difference_update(move.cell for move in step.after)
        result.add(Step(tuple(away), tuple(loads), step.after, freed))
    return result


def _held(stays: list[_Stay], room: int) -> dict[tuple[int, int], _Stay]:
    """The cells that stay in memory, by cell and the operation before which they are evicted."""
    held: dict[tuple[int, int], _Stay] = {}
    ends: list[tuple[int, int]] = []
    least: list[tuple[float, int]] = []
    among = set[int]()  # numbers of the cells in memory at the time
    for number, stay in enumerate(stays):  # by their beginning
        while ends and ends[0][0] < stay.begin:
            among.discard(heapq.heappop(ends)[1])
        among.add(number)
        held[stay.cell, stay.begin] = stay
        heapq.heappush(ends, (stay.end, number))
        heapq.heappush(least, (stay.worth, number))
        while len(among) > room:
            _, other = heapq.heappop(least)
            if other in among:
                among.discard(other)
                del held[stays[other].cell, stays[other].begin]
    return held


def _source(operation: Operation, cell: int, kept: set[int], first_cells: int) -> str:
    if cell == operation.target and operation.kind == "multiply":
        return NOWHERE
    if cell in kept:
        return SCRATCH
    assert cell < first_cells, "a new cell is written before it is read"
    return INPUT


def _furthest(
    inside: dict[int, int], order: list[tuple[int, int]], needed: list[int], dirty: set[int], kept: set[int]
) -> Move:
    """Evict the cell whose next use is last."""
    aside = []
    while True:
        when, cell = heapq.heappop(order)
        if inside.get(cell) != -when:
            continue  # it is not in memory any more, or was used since
        if cell not in needed:
            break
        aside.append((when, cell))
    for entry in aside:
        heapq.heappush(order, entry)
    del inside[cell]
    if cell not in dirty:
        return Move(cell, NOWHERE)  # unchanged since it was read
    dirty.discard(cell)
    kept.add(cell)
    return Move(cell, SCRATCH)
