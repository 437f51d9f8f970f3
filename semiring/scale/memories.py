"""The memory in which a process holds and computes its tiles: the host's, or a GPU's with messages on the host.

Messages read and write arrays of the host. On a GPU a panel has two places: one for computing, and pinned memory for
messages. There are two streams: the urgent one makes the panels of the next step and takes in those of other processes,
and the other updates all tiles that no panel needs, which takes longer than the messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from semiring.kernels.cuda.compile.streams import GpuStream as Stream

Shape = tuple[int, int]
STRIP_BYTES = 64 << 20  # bytes of pinned memory for tiles on their way from a GPU and back


class Panel(NamedTuple):
    """A block that several processes need.

    Attributes
    ----------
    here : block
        For the kernel.
    message : ndarray
        For messages: the same memory, or a copy on the host.
    """

    here: Any
    message: np.ndarray


class Memory:
    """The host's memory, in which a process holds and computes its tiles; `DeviceMemory` does the same on a GPU.

    Parameters
    ----------
    storage : dtype
        Any dtype but that of Python objects.
    """

    is_late = False  # whether work is done after the call that starts it, so that messages should begin after it

    def __init__(self, storage: np.dtype):
        self._storage = storage

    def empty(self, shape: Shape) -> Any:
        """An uninitialized matrix in storage."""
        return np.empty(shape, self._storage)

    def panel(self, name: str, k: int, shape: Shape) -> Panel:
        """Memory for a panel of step k; the memory of step k − 2 is reused."""
        return self.shown(name, k, self.empty(shape))

    def shown(self, name: str, k: int, block: Any) -> Panel:
        """Tiles as a panel of step k: they do not change before the next step."""
        return Panel(block, block)

    def do(self, work: Callable[..., None], *arguments: Any) -> None:
        """Call a function, before all other work."""
        work(*arguments)

    def rest(self, work: Callable[..., None], *arguments: Any) -> None:
        """Call a function with the panels of the current step, in parallel with urgent work."""
        work(*arguments)

    def begin(self, k: int, arrived: list[Panel]) -> None:
        """The panels of step k have arrived; later work starts after the updates of all steps before."""

    def send(self, panel: Panel) -> None:
        """Copy a panel to its message; wait until that may be sent."""

    def receive(self, panel: Panel) -> None:
        """Copy a message to its panel."""

    def raw(self, shape: Shape, view: Any) -> np.ndarray:
        """An array of the host for rows in messages; the view itself if messages can be written there."""
        found: np.ndarray = view
        return found

    def put(self, rows: np.ndarray, view: Any) -> None:
        """Tiles ← the result of `raw`, or an array like it."""
        if rows is not view:
            view[...] = rows

    def stored(self, block: Any) -> np.ndarray:
        """A block in storage, in the host's memory, in C order."""
        return np.ascontiguousarray(block)

    def store(self, elements: np.ndarray, block: Any) -> None:
        """The opposite: a block ← elements in storage."""
        block[...] = elements

    def wait(self) -> None:
        """Wait until all work is done."""


class DeviceMemory(Memory):
    """The memory of a GPU.

    Parameters
    ----------
    storage, elements : dtype
        The dtypes of tiles, and of the input rows.
    urgent, steady : Stream
    empty : function of a number and a dtype
        Allocates memory of the GPU for so many elements.
    room : function of a number and a dtype
        Allocates pinned memory of the host.
    copy : function of a source and a target
        Starts in the current stream a copy of a matrix between the two, from or to rows at any distance; the elements
        of a row are contiguous.
    take_in : function of rows and a target
        Converts elements in the host's memory to tiles; it returns when they are complete.
    """

    is_late = True

    def __init__(
        self, storage: np.dtype, elements: np.dtype, urgent: Stream, steady: Stream,
        empty: Callable[[int, np.dtype], Any], room: Callable[[int, np.dtype], np.ndarray],
        copy: Callable[[Any, Any], None], take_in: Callable[[np.ndarray, Any], None],
    ):
        super().__init__(storage)
        self._elements, self._urgent, self._steady = elements, urgent, steady
        self._empty, self._room, self._copy, self._take_in = empty, room, copy, take_in
        self._there: dict[tuple[str, int], Any] = {}  # by the name of a panel, and whether its step is even
        self._here: dict[tuple[str, int], np.ndarray] = {}
        self._updated: Any = None  # after the rest of the last step
        self._taken: list[Any] = [None, None]  # after reading the messages of a step
        self._ready: Any = None  # after making a step's panels

    def empty(self, shape: Shape) -> Any:
        return self._empty(prod(shape), self._storage).reshape(shape)

    def panel(self, name: str, k: int, shape: Shape) -> Panel:
        place, count = (name, k % 2), prod(shape)
        if place not in self._there:  # in the first step, whose panels are the largest
            self._there[place] = self._empty(count, self._storage)
        return Panel(self._there[place][:count].reshape(shape), self._message(place, shape))

    def shown(self, name: str, k: int, block: Any) -> Panel:
        return Panel(block, self._message((name, k % 2), block.shape))

    def _message(self, place: tuple[str, int], shape: Shape) -> np.ndarray:
        """Memory for messages; its contents of two steps before have been read."""
        count, taken = prod(shape), self._taken[place[1]]
        if taken is not None:
            taken.synchronize()
        if place not in self._here:
            self._here[place] = self._room(count, self._storage)
        return self._here[place][:count].reshape(shape)

    def do(self, work: Callable[..., None], *arguments: Any) -> None:
        self._urgent.do(work, *arguments)

    def rest(self, work: Callable[..., None], *arguments: Any) -> None:
        assert self._ready is not None
        self._steady.after(self._ready)
        self._steady.do(work, *arguments)
        self._updated = self._steady.mark()

    def begin(self, k: int, arrived: list[Panel]) -> None:
        """See `Memory`: the panels arrive while the rest of the previous step is updated.

        They reuse the memory of step k − 2; urgent work of step k − 1 has waited for the rest of that step.
        """
        for panel in arrived:
            self.receive(panel)
        self._ready = self._taken[k % 2] = self._urgent.mark()
        if self._updated is not None:
            self._urgent.after(self._updated)

    def send(self, panel: Panel) -> None:
        self._urgent.do(self._copy, panel.here, panel.message)
        self._urgent.wait()

    def receive(self, panel: Panel) -> None:
        self._urgent.do(self._copy, panel.message, panel.here)

    def raw(self, shape: Shape, view: Any) -> np.ndarray:
        return np.empty(shape, self._elements)

    def put(self, rows: np.ndarray, view: Any) -> None:
        self._urgent.do(self._take_in, rows, view)
        self._urgent.wait()

    def stored(self, block: Any) -> np.ndarray:
        elements = np.empty(block.shape, self._storage)
        for rows, strip in self._strips(block.shape):
            self._urgent.do(self._copy, block[rows], strip)
            self._urgent.wait()
            elements[rows] = strip
        return elements

    def store(self, elements: np.ndarray, block: Any) -> None:
        for rows, strip in self._strips(block.shape):
            strip[...] = elements[rows]
            self._urgent.do(self._copy, strip, block[rows])
            self._urgent.wait()

    def _strips(self, shape: Shape) -> Iterator[tuple[slice, np.ndarray]]:
        """Rows of a block, some at a time, with pinned memory for them."""
        height, width = shape
        step = max(STRIP_BYTES // max(width * self._storage.itemsize, 1), 1)
        place = ("strip", 0)
        if place not in self._here or len(self._here[place]) < min(step, height) * width:
            self._here[place] = self._room(min(step, height) * width, self._storage)
        for start in range(0, height, step):
            rows = slice(start, min(start + step, height))
            count = (rows.stop - rows.start) * width
            yield rows, self._here[place][:count].reshape(rows.stop - rows.start, width)

    def wait(self) -> None:
        self._urgent.wait()
        self._steady.wait()
