"""Where a process has its tiles and computes with them: in the host's memory, or on a GPU beside which messages travel.

Messages read and write arrays of the host's. On a GPU a panel has two places: where it is computed with, and pinned
memory for messages. There are two streams of work: the urgent one makes the panels of the next step and takes in those
of others, and the other one updates all tiles that no panel needs, for longer than messages take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any, NamedTuple, Protocol

import numpy as np

from .team import Mark, Stream

Shape = tuple[int, int]
STRIP = 64 << 20  # bytes of pinned memory by which tiles leave a GPU and come back


class Panel(NamedTuple):
    """A block that several processes need.

    Attributes
    ----------
    here : block
        As the kernel takes it.
    message : ndarray
        As messages read or write it: the same memory, or a copy on the host.
    """

    here: Any
    message: np.ndarray


class Memory(Protocol):
    """What a spread matrix asks of the place where a process has its tiles."""

    is_late: bool  # work that is asked for is done later, so that messages are best begun after it

    def empty(self, shape: Shape) -> Any:
        """A matrix in storage that holds anything."""

    def panel(self, name: str, k: int, shape: Shape) -> Panel:
        """Room for a panel of step k; that of step k − 2 is no longer used."""

    def shown(self, name: str, k: int, block: Any) -> Panel:
        """Tiles as a panel of step k: nobody changes them before the next step."""

    def do(self, work: Callable[..., None], *arguments: Any) -> None:
        """Call it, before all else."""

    def rest(self, work: Callable[..., None], *arguments: Any) -> None:
        """Call it with the panels of the step that was begun last, beside what is urgent."""

    def begin(self, k: int, arrived: list[Panel]) -> None:
        """Panels of step k have come by messages; what is asked for now finds all tiles updated by the steps before."""

    def send(self, panel: Panel) -> None:
        """The message is what the panel is; waits until it may be sent."""

    def receive(self, panel: Panel) -> None:
        """The panel is what the message is."""

    def raw(self, shape: Shape, view: Any) -> np.ndarray:
        """An array of the host's for rows that messages bring; the view itself where messages can write there."""

    def put(self, rows: np.ndarray, view: Any) -> None:
        """Tiles ← what `raw` gave, or an array like it."""

    def stored(self, block: Any) -> np.ndarray:
        """A block in storage, in the host's memory, in C order."""

    def store(self, elements: np.ndarray, block: Any) -> None:
        """The opposite: a block ← elements in storage."""

    def wait(self) -> None:
        """Until all is done."""


class HostMemory:
    """The host's memory, where all is done at once.

    Parameters
    ----------
    storage : dtype
        Not of Python objects.
    """

    is_late = False

    def __init__(self, storage: np.dtype):
        self._storage = storage

    def empty(self, shape: Shape) -> np.ndarray:
        """See `Memory`."""
        return np.empty(shape, self._storage)

    def panel(self, name: str, k: int, shape: Shape) -> Panel:
        """See `Memory`."""
        return self.shown(name, k, self.empty(shape))

    def shown(self, name: str, k: int, block: np.ndarray) -> Panel:
        """See `Memory`."""
        return Panel(block, block)

    def do(self, work: Callable[..., None], *arguments: Any) -> None:
        """See `Memory`."""
        work(*arguments)

    def rest(self, work: Callable[..., None], *arguments: Any) -> None:
        """See `Memory`."""
        work(*arguments)

    def begin(self, k: int, arrived: list[Panel]) -> None:
        """See `Memory`."""

    def send(self, panel: Panel) -> None:
        """See `Memory`."""

    def receive(self, panel: Panel) -> None:
        """See `Memory`."""

    def raw(self, shape: Shape, view: np.ndarray) -> np.ndarray:
        """See `Memory`."""
        return view

    def put(self, rows: np.ndarray, view: np.ndarray) -> None:
        """See `Memory`."""
        if rows is not view:
            view[...] = rows

    def stored(self, block: np.ndarray) -> np.ndarray:
        """See `Memory`."""
        return np.ascontiguousarray(block)

    def store(self, elements: np.ndarray, block: np.ndarray) -> None:
        """See `Memory`."""
        block[...] = elements

    def wait(self) -> None:
        """See `Memory`."""


class DeviceMemory:
    """The memory of a GPU.

    Parameters
    ----------
    storage, elements : dtype
        Of tiles, and of the rows that come in.
    urgent, steady : Stream
    empty : function of a number and a dtype
        Memory of the GPU for so many elements.
    room : function of a number and a dtype
        Pinned memory of the host.
    copy : function of a source and a target
        Asks the stream in which it is called to copy a matrix between the two, from or to rows at any distance, with
        the elements of a row side by side.
    take_in : function of rows and a target
        Elements of the host's memory as tiles; they are there when it returns.
    """

    is_late = True

    def __init__(
        self, storage: np.dtype, elements: np.dtype, urgent: Stream, steady: Stream,
        empty: Callable[[int, np.dtype], Any], room: Callable[[int, np.dtype], np.ndarray],
        copy: Callable[[Any, Any], None], take_in: Callable[[np.ndarray, Any], None],
    ):
        self._storage, self._elements, self._urgent, self._steady = storage, elements, urgent, steady
        self._empty, self._room, self._copy, self._take_in = empty, room, copy, take_in
        self._there: dict[tuple[str, int], Any] = {}  # by the name of a panel, and whether its step is even
        self._here: dict[tuple[str, int], np.ndarray] = {}
        self._updated: Mark | None = None  # by the last step's rest
        self._taken: list[Mark | None] = [None, None]  # from the messages of a step
        self._ready: Mark | None = None  # a step's panels

    def empty(self, shape: Shape) -> Any:
        """See `Memory`."""
        return self._empty(prod(shape), self._storage).reshape(shape)

    def panel(self, name: str, k: int, shape: Shape) -> Panel:
        """See `Memory`."""
        place, count = (name, k % 2), prod(shape)
        if place not in self._there:  # of the first step, whose panels are the largest
            self._there[place] = self._empty(count, self._storage)
        return Panel(self._there[place][:count].reshape(shape), self._message(place, shape))

    def shown(self, name: str, k: int, block: Any) -> Panel:
        """See `Memory`."""
        return Panel(block, self._message((name, k % 2), block.shape))

    def _message(self, place: tuple[str, int], shape: Shape) -> np.ndarray:
        """Memory for messages; what was to be taken from it two steps before has been."""
        count, taken = prod(shape), self._taken[place[1]]
        if taken is not None:
            taken.synchronize()
        if place not in self._here:
            self._here[place] = self._room(count, self._storage)
        return self._here[place][:count].reshape(shape)

    def do(self, work: Callable[..., None], *arguments: Any) -> None:
        """See `Memory`."""
        self._urgent.do(work, *arguments)

    def rest(self, work: Callable[..., None], *arguments: Any) -> None:
        """See `Memory`."""
        assert self._ready is not None
        self._steady.after(self._ready)
        self._steady.do(work, *arguments)
        self._updated = self._steady.mark()

    def begin(self, k: int, arrived: list[Panel]) -> None:
        """See `Memory`. The panels come in while the rest of the step before is updated.

        Their room was that of step k − 2, whose rest what is urgent waited for in step k − 1.
        """
        for panel in arrived:
            self.receive(panel)
        self._ready = self._taken[k % 2] = self._urgent.mark()
        if self._updated is not None:
            self._urgent.after(self._updated)

    def send(self, panel: Panel) -> None:
        """See `Memory`."""
        self._urgent.do(self._copy, panel.here, panel.message)
        self._urgent.wait()

    def receive(self, panel: Panel) -> None:
        """See `Memory`."""
        self._urgent.do(self._copy, panel.message, panel.here)

    def raw(self, shape: Shape, view: Any) -> np.ndarray:
        """See `Memory`."""
        return np.empty(shape, self._elements)

    def put(self, rows: np.ndarray, view: Any) -> None:
        """See `Memory`."""
        self._urgent.do(self._take_in, rows, view)
        self._urgent.wait()

    def stored(self, block: Any) -> np.ndarray:
        """See `Memory`."""
        elements = np.empty(block.shape, self._storage)
        for rows, strip in self._strips(block.shape):
            self._urgent.do(self._copy, block[rows], strip)
            self._urgent.wait()
            elements[rows] = strip
        return elements

    def store(self, elements: np.ndarray, block: Any) -> None:
        """See `Memory`."""
        for rows, strip in self._strips(block.shape):
            strip[...] = elements[rows]
            self._urgent.do(self._copy, strip, block[rows])
            self._urgent.wait()

    def _strips(self, shape: Shape) -> Iterator[tuple[slice, np.ndarray]]:
        """Rows of a block, some at a time, with pinned memory for them."""
        height, width = shape
        step = max(STRIP // max(width * self._storage.itemsize, 1), 1)
        place = ("strip", 0)
        if place not in self._here or len(self._here[place]) < min(step, height) * width:
            self._here[place] = self._room(min(step, height) * width, self._storage)
        for start in range(0, height, step):
            rows = slice(start, min(start + step, height))
            count = (rows.stop - rows.start) * width
            yield rows, self._here[place][:count].reshape(rows.stop - rows.start, width)

    def wait(self) -> None:
        """See `Memory`."""
        self._urgent.wait()
        self._steady.wait()
