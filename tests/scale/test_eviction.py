"""What is in memory when: never more than fits, all that is needed, nothing lost, and as little moved as can be."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.algorithms.blocked import blocked
from semiring.algorithms.elimination import elimination
from semiring.algorithms.r_kleene import r_kleene
from semiring.scale.eviction import HOST, INPUT, NOWHERE, OUTPUT, SCRATCH, Traffic, cells_of, through_memory, traffic
from semiring.scale.program import Operation, Program, program


@pytest.mark.parametrize("schedule", [r_kleene, blocked, elimination])
@given(count=st.integers(1, 7), room=st.integers(3, 20), beside=st.integers(0, 30))
@settings(max_examples=40)
def test_a_careful_store_finds_nothing_wrong(schedule: Any, count: int, room: int, beside: int) -> None:
    made = program(schedule, 2 * count, 2, room)
    alone = traffic(made, room)
    careful(made, alone, room, 0)
    both = through_memory(alone, beside)
    careful(made, both, room, beside)
    for way in ("read", "write"):
        assert both.moved.get((way, INPUT)) == alone.moved.get((way, INPUT))
        assert alone.moved.get((way, SCRATCH), 0) == both.moved.get((way, SCRATCH), 0) + both.moved.get((way, HOST), 0)
    assert both.slots <= alone.slots
    assert through_memory(alone, made.used).moved.get(("write", SCRATCH), 0) == 0, "there is room for all"


def careful(made: Program, plan: Traffic, room: int, beside: int) -> None:
    """Carry out a plan with the versions of cells in place of elements."""
    inside: set[int] = set()
    held: dict[int, int] = {}  # versions in the host's memory
    most = 0
    version: dict[int, int] = {}  # of a cell in memory
    on_disk: dict[int, int] = {}  # of its copy
    now = dict.fromkeys(range(made.used), 0)
    written: dict[int, int] = {}
    for operation, step in zip(made.operations, plan.steps, strict=True):
        for move in step.away:
            inside.remove(move.cell)
            if move.place == SCRATCH:
                on_disk[move.cell] = version[move.cell]
            elif move.place == HOST:
                held[move.cell] = version[move.cell]
            where = held if move.cell in held else on_disk
            assert move.place == SCRATCH or where.get(move.cell, 0) == version[move.cell]
        for move in step.loads:
            assert move.cell not in inside
            inside.add(move.cell)
            assert move.place != INPUT or now[move.cell] == 0
            version[move.cell] = {SCRATCH: on_disk, HOST: held}[move.place][move.cell] if (
                move.place in (SCRATCH, HOST)) else 0
        most = max(most, len(held))
        for cell in step.freed:
            del held[cell]
        assert len(inside) <= room
        assert set(cells_of(operation)) <= inside
        assert all(version[c] == now[c] for c in (operation.first, operation.second) if c >= 0)
        now[operation.target] += 1
        version[operation.target] = now[operation.target]
        for move in step.after:
            inside.remove(move.cell)
            if move.place == OUTPUT:
                written[move.cell] = version[move.cell]
            else:
                assert move.place == NOWHERE
    assert not inside and not held
    assert most == plan.held <= beside
    assert set(written) == set(made.cells.values())
    assert all(written[c] == now[c] for c in written)


def fewest(operations: list[Operation], room: int) -> int:
    """The fewest reads there can be, by trying every choice."""
    best = 1 << 30
    wanted = [sorted(set(cells_of(o))) for o in operations]

    def go(at: int, inside: frozenset[int], reads: int) -> None:
        nonlocal best
        if reads >= best:
            return
        if at == len(wanted):
            best = reads
            return
        missing = [c for c in wanted[at] if c not in inside]
        others = sorted(inside - set(wanted[at]))
        spare = max(0, len(inside) + len(missing) - room)
        for gone in {frozenset(c) for c in product(others, repeat=spare)} if spare else {frozenset()}:
            if len(gone) == spare:
                go(at + 1, (inside - gone) | set(missing), reads + len(missing))

    go(0, frozenset(), 0)
    return best


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=7))
@settings(max_examples=40)
def test_nothing_reads_less(triples: list[tuple[int, int, int]]) -> None:
    operations = [Operation("multiply_add", c, a, b, (0, 0)) for c, a, b in triples]
    made = Program(3, 1, 3, operations, {}, 9)
    loads = sum(len(step.loads) for step in traffic(made, 3).steps)
    assert loads == fewest(operations, 3), f"operations = {triples}"


def test_r_kleene_moves_little_more_than_must_be() -> None:
    """The lower bound is 2 n³ / √M words for n³ multiply-adds within M words, here in tiles."""
    for count, part in ((16, 4), (16, 16)):
        room = count * count // part
        moved = sum(traffic(program(r_kleene, 4 * count, 4, room), room).moved.values())
        assert moved <= 2.2 * 2 * count**3 / room**0.5
