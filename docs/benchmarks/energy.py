"""The energy that a device takes for a call: of a GPU by NVML or nvidia-smi, of a CPU by RAPL."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

METERED = 1.0  # seconds of closures whose energy is measured
IDLE = 2.0  # and of waiting before


class Meter:
    """Return the energy of a device in joules since some moment, or None if it cannot be read."""

    def __init__(self, device: str):
        self.source, self.idle = "", 0.0
        self._read = self._reader(device)  # which says what it reads
        if self._read is not None:
            time.sleep(0.2)
            self.idle = self._over(lambda: time.sleep(IDLE)) / IDLE

    def _reader(self, device: str) -> Callable[[], float] | None:
        return self._of_gpu() if device == "gpu" else self._of_cpu()

    def _of_gpu(self) -> Callable[[], float] | None:
        if find_spec("pynvml"):
            import pynvml

            with suppress(pynvml.NVMLError):  # a GPU older than the counter, or none that may be asked
                pynvml.nvmlInit()
                handle = pynvml.nvmlDeviceGetHandleByIndex(0)
                pynvml.nvmlDeviceGetTotalEnergyConsumption(handle)
                self.source = "NVML's counter"
                return lambda: float(pynvml.nvmlDeviceGetTotalEnergyConsumption(handle)) / 1e3
        draw = ["nvidia-smi", "--query-gpu=power.draw", "--format=csv,noheader,nounits", "--id=0"]
        try:
            float(subprocess.run(draw, capture_output=True, text=True, check=True, timeout=20).stdout)
        except (OSError, ValueError, subprocess.SubprocessError):
            return None
        self.source = "the power that nvidia-smi tells, summed up"
        total, lock = [0.0], threading.Lock()

        def watch() -> None:
            then = time.perf_counter()
            while True:
                text = subprocess.run(draw, capture_output=True, text=True).stdout
                now = time.perf_counter()
                with lock, suppress(ValueError):
                    total[0] += float(text) * (now - then)
                then = now
                time.sleep(0.02)

        threading.Thread(target=watch, daemon=True).start()
        return lambda: total[0]

    def _of_cpu(self) -> Callable[[], float] | None:
        counters = sorted(Path("/sys/class/powercap").glob("intel-rapl:[0-9]/energy_uj"))
        try:
            ranges = [int((c.parent / "max_energy_range_uj").read_text()) for c in counters]
            last = [int(c.read_text()) for c in counters]
        except (OSError, ValueError):
            return None
        if not counters:
            return None
        self.source, total = "the packages' counters (RAPL)", [0.0]

        def read() -> float:
            for i, counter in enumerate(counters):
                now = int(counter.read_text())
                total[0] += ((now - last[i]) % (ranges[i] + 1)) / 1e6  # counters begin anew when they are full
                last[i] = now
            return total[0]

        return read

    def _over(self, work: Callable[[], object]) -> float:
        assert self._read is not None
        before = self._read()
        work()
        return self._read() - before

    def closure(self, run: Callable[[], object]) -> float | None:
        """Return the joules of a call, without those of the idle device, or None if unknown."""
        if self._read is None:
            return None
        count, start = 0, time.perf_counter()

        def often() -> None:
            nonlocal count
            while not count or time.perf_counter() - start < METERED:
                run()
                count += 1

        used = self._over(often) - self.idle * (time.perf_counter() - start)
        return used / count if used > 0 else None
