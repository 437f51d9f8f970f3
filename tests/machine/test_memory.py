"""How much memory there is, by what the system says, and what is refused for want of it."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace

import pytest
from graphs.listing import refused

import semiring as sr
from semiring.machine import memory


def test_available_bytes_of_this_machine():
    available = memory.available_bytes()
    assert available is None or 0 < available < 2**60


def test_available_bytes_is_the_least_of_kernel_and_control_groups(tmp_path, monkeypatch):
    (tmp_path / "meminfo").write_text("MemTotal: 900 kB\nMemAvailable: 700 kB\n")
    (tmp_path / "cgroup").write_text("5:cpu:/x\n0::/job/step\n4:memory:/v1\n")
    groups = tmp_path / "groups"
    for folder, limit in (("job", "500000"), ("job/step", "max")):
        (groups / folder).mkdir(parents=True)
        (groups / folder / "memory.max").write_text(limit + "\n")
        (groups / folder / "memory.current").write_text("300000\n")
        (groups / folder / "memory.stat").write_text("anon 5\ninactive_file 50000\n")
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "OWN_CGROUP", tmp_path / "cgroup")
    monkeypatch.setattr(memory, "CGROUPS", groups)
    assert memory.available_bytes() == 250_000
    (groups / "job" / "memory.max").write_text("max\n")
    assert memory.available_bytes() == 700 * 1024
    (groups / "memory" / "v1").mkdir(parents=True)
    (groups / "memory" / "memory.limit_in_bytes").write_text("1000")
    (groups / "memory" / "memory.usage_in_bytes").write_text("4000")
    (groups / "memory" / "memory.stat").write_text("inactive_file 7000\ntotal_inactive_file 20\n")
    assert memory.available_bytes() == 0


def test_a_limit_beyond_all_memory_is_none(tmp_path, monkeypatch):
    (tmp_path / "meminfo").write_text("MemAvailable: 700 kB\n")
    (tmp_path / "cgroup").write_text("4:memory:/\n")
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "memory.usage_in_bytes").write_text("not read")
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "OWN_CGROUP", tmp_path / "cgroup")
    monkeypatch.setattr(memory, "CGROUPS", tmp_path)
    monkeypatch.setattr(memory, "_all_memory", lambda: 10**6)
    for limit in (9223372036854771712, 2 * 10**6):
        (tmp_path / "memory" / "memory.limit_in_bytes").write_text(f"{limit}\n")
        assert memory.available_bytes() == 700 * 1024
    (tmp_path / "memory" / "memory.limit_in_bytes").write_text("1999999\n")
    (tmp_path / "memory" / "memory.usage_in_bytes").write_text("1999990\n")
    (tmp_path / "memory" / "memory.stat").write_text("total_inactive_file 2\n")
    assert memory.available_bytes() == 11


def test_a_system_that_counts_no_free_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "none")
    monkeypatch.setattr(memory, "OWN_CGROUP", tmp_path / "none")
    monkeypatch.setattr(os, "sysconf_names", {"SC_PHYS_PAGES": 1, "SC_PAGE_SIZE": 2})
    monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": 100, "SC_PAGE_SIZE": 4096}.__getitem__)
    assert memory.available_bytes() == 409_600
    monkeypatch.setattr(os, "sysconf_names", {})
    assert memory.available_bytes() is None
    memory.require(10**30, "anything")  # nothing is known, so nothing is refused


def test_every_gpu_has_to_have_it(monkeypatch):
    monkeypatch.setattr(memory, "_available_on", {0: 5000, 3: 2048}.__getitem__)
    memory.require(2048, "an answer", on_gpu=True, devices=(0, 3))
    message = "an answer needs 2.0 KiB of GPU 3's memory and 2.0 KiB is available: use fewer"
    with refused(message, sr.SemiringError):
        memory.require(2049, "an answer", "use fewer", on_gpu=True, devices=(0, 3))


def test_require(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 2048)
    memory.require(2048, "an answer")
    message = "an answer needs 2.0 KiB of memory and 2.0 KiB is available: use a narrower dtype or fewer vertices"
    with refused(message, sr.SemiringError):
        memory.require(2049, "an answer")
    assert [memory.in_words(b) for b in (0, 1023, 1024, 3 * 2**39)] == [
        "0 bytes",
        "1023 bytes",
        "1.0 KiB",
        "1.5 TiB",
    ]


@pytest.mark.parametrize("text", ["", "MemTotal: 900 kB\n", "SReclaimable: 7 kB\nMemFree: 5 kB\n"])
def test_a_kernel_that_does_not_say_what_is_available(tmp_path, monkeypatch, text):
    """As those of before 2014: all that is not in use, where the system counts pages."""
    (tmp_path / "meminfo").write_text(text)
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "OWN_CGROUP", tmp_path / "none")
    monkeypatch.setattr(os, "sysconf_names", {}, raising=False)
    assert memory.available_bytes() is None
    (tmp_path / "meminfo").write_text(text + "MemAvailable:   3 kB\n")
    assert memory.available_bytes() == 3072


def test_limits_of_control_groups_of_both_versions(tmp_path, monkeypatch):
    (tmp_path / "meminfo").write_text("MemAvailable: 700 kB\n")
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "OWN_CGROUP", tmp_path / "cgroup")
    monkeypatch.setattr(memory, "CGROUPS", tmp_path)

    def limit(group: str, files: dict[str, str]) -> int | None:
        (tmp_path / group).mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (tmp_path / group / name).write_text(content)
        return memory.available_bytes()

    (tmp_path / "cgroup").write_text("0::/\n")
    assert limit(".", {"memory.max": "9000", "memory.current": "2000", "memory.stat": "inactive_file 500\n"}) == 7500
    (tmp_path / "cgroup").write_text("0::/a\n")
    assert limit("a", {"memory.max": "4000", "memory.current": "5000", "memory.stat": ""}) == 0
    (tmp_path / "a" / "memory.current").unlink()  # a group without a count has no limit that says anything
    assert memory.available_bytes() == 7500
    (tmp_path / "cgroup").write_text("9:cpu,memory:/job\n3:devices:/job\n")
    old = {"memory.limit_in_bytes": "8192", "memory.usage_in_bytes": "4096", "memory.stat": "total_inactive_file 96\n"}
    assert limit("memory/job", old) == 4192
    assert limit("memory", {**old, "memory.limit_in_bytes": "4100"}) == 100


@pytest.mark.parametrize(("nbytes", "words"), [
    (0, "0 bytes"), (1, "1 bytes"), (1023, "1023 bytes"), (1024, "1.0 KiB"), (1536, "1.5 KiB"),
    (2**20 - 1, "1024.0 KiB"), (2**20, "1.0 MiB"), (2**30, "1.0 GiB"), (5 * 2**40, "5.0 TiB"),
    (2**50, "1.0 PiB"), (2**60, "1.0 EiB"), (2**70, "1024.0 EiB"),
])
def test_bytes_in_words(nbytes, words):
    assert memory.in_words(nbytes) == words


def test_memory_of_a_gpu(monkeypatch):
    """What is free on the device and in CuPy's pool; the memory of the machine is not asked."""
    cupy = SimpleNamespace(
        cuda=SimpleNamespace(runtime=SimpleNamespace(memGetInfo=lambda: (3 << 20, 9 << 20))),
        get_default_memory_pool=lambda: SimpleNamespace(free_bytes=lambda: 1 << 20),
    )
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr(memory, "available_bytes", lambda: 0)
    memory.require(4 << 20, "a closure", on_gpu=True)
    with refused("a closure needs 4.0 MiB of the GPU's memory and 4.0 MiB is available: wait", sr.SemiringError):
        memory.require((4 << 20) + 1, "a closure", "wait", on_gpu=True)
