"""Memory that threads keep between calls, for tests that measure how much a call takes."""

from __future__ import annotations

import threading

from semiring.machine.threads import KEEP_BYTES, pool, scratch


def every_thread_keeps_scratch() -> None:
    """Let all threads of the pool keep scratch: any may help, also those that other tests have started."""
    others = pool._size
    together = threading.Barrier(others + 1, timeout=300)

    def keep() -> None:
        scratch(KEEP_BYTES)
        together.wait()

    pool.run(keep, others)
