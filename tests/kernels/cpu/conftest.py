"""In tests of the kernels, scratch memory is as large as was asked for, and nothing is written beside it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest

from semiring.machine import threads

GUARD, MARK = 256, 165  # bytes on both sides, and what they hold


class Guarded:
    """`threads.scratch`, with new memory for each call; that of the call before on the same thread is looked at."""

    def __init__(self) -> None:
        self._last: dict[int, tuple[np.ndarray, int, int]] = {}
        self.overrun: list[int] = []

    def scratch(self, size: int) -> tuple[np.ndarray, int]:
        thread = threading.get_ident()
        self._look(thread)
        memory = np.full(size + 2 * GUARD + threads.ALIGNMENT, MARK, np.uint8)
        begin = GUARD + -(memory.ctypes.data + GUARD) % threads.ALIGNMENT
        self._last[thread] = memory, begin, size
        return memory, memory.ctypes.data + begin

    def _look(self, thread: int) -> None:
        if thread in self._last:
            memory, begin, size = self._last.pop(thread)
            if not ((memory[:begin] == MARK).all() and (memory[begin + size :] == MARK).all()):
                self.overrun.append(size)

    def look_at_all(self) -> None:
        for thread in list(self._last):
            self._look(thread)


@pytest.fixture(autouse=True)
def scratch_is_guarded(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Sizes of scratch that something wrote beside; a test that measures memory has the mark `own_scratch`."""
    if request.node.get_closest_marker("own_scratch"):
        yield
        return
    guarded, original = Guarded(), threads.scratch
    for name, module in list(sys.modules.items()):
        if name.startswith("semiring.") and vars(module).get("scratch") is original:
            monkeypatch.setattr(module, "scratch", guarded.scratch)
    yield
    guarded.look_at_all()
    assert not guarded.overrun
