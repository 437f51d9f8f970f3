"""Check how much memory is available before a large array is allocated."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from semiring.errors import SemiringError

MEMINFO = Path("/proc/meminfo")
CGROUPS = Path("/sys/fs/cgroup")
OWN_CGROUP = Path("/proc/self/cgroup")


def available_bytes() -> int | None:
    """Memory that can be allocated without swapping, in bytes; None if the system does not say.

    The smaller of what the kernel calls available and what the limits of the process's control groups
    (containers, batch jobs) leave. If a system reports neither, all its memory.
    """
    bounds = [free for free in (_kernel_available(), *_cgroup_available()) if free is not None]
    return min(bounds, default=None)


def require(
    nbytes: int, what: str, advice: str = "use a narrower dtype or fewer vertices", *, on_gpu: bool = False,
    devices: Sequence[int] = (),
) -> None:
    """Raise an error unless `nbytes` more can be allocated.

    Parameters
    ----------
    nbytes : int
    what : str
        The use of the memory, the subject of the message.
    advice : str
        Advice for the caller.
    on_gpu : bool
        Whether the memory is that of CuPy's current device.
    devices : sequence of int
        GPUs that each need so much memory, instead of the current one.

    Raises
    ------
    SemiringError
        If there is not enough; the message says how much is needed and how much is available. No error is raised if the
        system does not say how much there is.
    """
    whose = "the GPU's " if on_gpu else ""
    available: int | None
    if devices:
        available, number = min((_available_on(device), device) for device in devices)
        whose = f"GPU {number}'s "
    else:
        available = available_on_device() if on_gpu else available_bytes()
    if available is not None and nbytes > available:
        raise SemiringError(
            f"{what} needs {in_words(nbytes)} of {whose}memory and {in_words(available)} is available: {advice}"
        )


def in_words(nbytes: int) -> str:
    """A number of bytes as people write it.

    >>> in_words(55_840_000)
    '53.3 MiB'
    """
    size, unit = float(nbytes), "bytes"
    for larger in ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{nbytes} bytes" if unit == "bytes" else f"{size:.1f} {unit}"


def available_on_device() -> int:
    """Free memory of the current device, including unused memory in CuPy's pool."""
    import cupy

    return int(cupy.cuda.runtime.memGetInfo()[0]) + int(cupy.get_default_memory_pool().free_bytes())


def _available_on(number: int) -> int:
    from cupy.cuda import Device

    with Device(number):
        return available_on_device()


def _kernel_available() -> int | None:
    if MEMINFO.exists():
        for line in MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    # otherwise: free pages if the system counts them, else all pages
    for name in ("SC_AVPHYS_PAGES", "SC_PHYS_PAGES"):
        if name in getattr(os, "sysconf_names", {}):
            return os.sysconf(name) * os.sysconf("SC_PAGE_SIZE")
    return None


def _all_memory() -> int:
    """The memory of this machine; infinity if the system does not say."""
    if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return sys.maxsize


def _cgroup_available() -> list[int]:
    """The remaining memory of each control group around the process.

    A limit of at least twice all memory limits nothing in practice: skip it, because reading the group takes longer.
    """
    if not OWN_CGROUP.exists():
        return []
    left, most = [], 2 * _all_memory()
    for line in OWN_CGROUP.read_text().splitlines():
        number, controllers, path = line.split(":", 2)
        if number == "0":
            root, limit, usage, inactive = CGROUPS, "memory.max", "memory.current", "inactive_file "
        elif "memory" in controllers.split(","):
            root, limit = CGROUPS / "memory", "memory.limit_in_bytes"
            usage, inactive = "memory.usage_in_bytes", "total_inactive_file "
        else:
            continue
        group = root / path.lstrip("/")
        for folder in (group, *group.parents):
            if (folder / limit).exists() and (folder / usage).exists():
                text = (folder / limit).read_text().strip()
                if text != "max" and int(text) < most:
                    used = int((folder / usage).read_text())
                    # unused pages of files count as used, but are released on demand
                    cached = [
                        int(entry.removeprefix(inactive))
                        for entry in (folder / "memory.stat").read_text().splitlines()
                        if entry.startswith(inactive)
                    ]
                    left.append(max(0, int(text) - used + sum(cached)))
            if folder == root:
                break
    return left
