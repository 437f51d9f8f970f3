"""Compiling and launching, with a driver and a compiler that are played: what they are given, and how often."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from ctypes import c_longlong, c_void_p
from functools import lru_cache
from pathlib import Path
from threading import Barrier, Event
from time import sleep
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gpu.host import Array, Host

from semiring.kernels.cuda.compile import launch
from semiring.kernels.cuda.compile.launch import (
    Function,
    Module,
    compile_ahead,
    copy_of,
    empty_like_rows,
    keeping,
    memory,
    only,
    rows_of,
)


class Refusal(RuntimeError):
    """What CuPy raises if the driver refuses."""

    def __init__(self, status: int):
        super().__init__(f"status {status}")
        self.status = status


class Driver:
    """What `launch._cuda` finds: notes every launch with its arguments, and refuses it by the next of its statuses."""

    def __init__(self) -> None:
        self.number, self.launches, self.statuses, self.arguments = 0, [], [], 0
        self.freed: list[int] = []
        self.stream_given = SimpleNamespace(ptr=77)
        self.before = lambda: None

    def __call__(self) -> Any:
        return SimpleNamespace(
            runtime=SimpleNamespace(free=self.freed.append), device=lambda: self.number,
            stream=lambda: self.stream_given, launch=self.launch, error=Refusal,
        )

    def launch(self, *grid: Any) -> None:
        self.before()
        *numbers, at, nothing = grid
        assert nothing == 0
        places = (c_void_p * self.arguments).from_address(at)
        self.launches.append((tuple(numbers), [c_longlong.from_address(place).value for place in places]))
        if self.statuses and (status := self.statuses.pop(0)):
            raise Refusal(status)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    driver = Driver()
    monkeypatch.setattr(launch, "_cuda", driver)
    return driver


class Code(Module):
    """A module whose functions have the number of the device and the length of the name as their handle."""

    def __init__(self) -> None:
        super().__init__("")
        self.looked_up: list[tuple[int, str]] = []

    def loaded(self, device: int, name: str) -> Any:
        def get_function(name: str) -> Any:
            self.looked_up.append((device, name))
            return SimpleNamespace(ptr=100 * (device + 1) + len(name))

        return SimpleNamespace(get_function=get_function)


def test_a_launch_hands_its_arguments_to_the_driver(driver: Driver) -> None:
    """A second one with other arguments too; the handle is looked up once for each device."""
    code, driver.arguments = Code(), 3
    function = Function(code, "kernel", 256, 0)
    function(3, 2, 2**62, -1, 0)
    function(5, 1, 1, 2, 3)
    driver.number = 1
    function(1, 1, 4, 5, 6)
    grids, values = zip(*driver.launches, strict=True)
    assert values == ([2**62, -1, 0], [1, 2, 3], [4, 5, 6])
    assert grids[0] == (106, 3, 2, 1, 256, 1, 1, 0, 77)
    assert grids[1] == (106, 5, 1, 1, 256, 1, 1, 0, 77)
    assert grids[2][0] == 206
    assert code.looked_up == [(0, "kernel"), (1, "kernel")]


def test_threads_have_arguments_of_their_own(driver: Driver) -> None:
    driver.arguments = 2
    function, both = Function(Code(), "kernel", 32, 0), Barrier(2, timeout=300)
    driver.before = both.wait  # both have written theirs before either is read
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda i: function(i, 1, i, 10 * i), (1, 2)))
    assert sorted((grid[1], values) for grid, values in driver.launches) == [(1, [1, 10]), (2, [2, 20])]


def test_a_new_thread_gets_a_context(driver: Driver) -> None:
    """The driver refuses the first launch of a thread that has none; other refusals are errors."""
    function, driver.arguments = Function(Code(), "kernel", 32, 0), 1
    driver.statuses = [launch.NO_CONTEXT]
    function(1, 1, 7)
    assert driver.freed == [0] and [values for _, values in driver.launches] == [[7], [7]]
    driver.statuses = [launch.NO_CONTEXT, 700]
    with pytest.raises(RuntimeError, match="status 700"):
        function(1, 1, 7)
    driver.statuses = [1]
    with pytest.raises(RuntimeError, match="status 1"):
        function(1, 1, 7)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str, int]]:
    """The attributes that the driver was asked for: of which kernel, which, and its value."""
    found: list[tuple[int, str, int]] = []
    played = SimpleNamespace(
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES="size",
        CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT="carveout",
        funcSetAttribute=lambda *attribute: found.append(attribute),
    )
    monkeypatch.setitem(sys.modules, "cupy.cuda", SimpleNamespace(driver=played))
    return found


@pytest.mark.parametrize(("shared", "expected"), [
    (0, []), (100, [(106, "carveout", 100)]), (48 << 10, [(106, "carveout", 100)]),
    (50_000, [(106, "size", 50_000), (106, "carveout", 100)]),
])
def test_shared_memory_is_asked_for(
    shared: int, expected: list[tuple[int, str, int]], driver: Driver, asked: list[tuple[int, str, int]]
) -> None:
    function = Function(Code(), "kernel", 32, shared)
    function(1, 1)
    function(1, 1)
    assert asked == expected and driver.launches[1][0][7] == shared


def test_a_function_that_needs_less_leaves_the_kernel_its_shared_memory(
    driver: Driver, asked: list[tuple[int, str, int]]
) -> None:
    """Functions of one name are one kernel to the driver, which refused the larger ones after a smaller one came."""
    code = Code()
    for shared in (200_000, 60_000, 1_000, 220_000):
        Function(code, "kernel", 32, shared)(1, 1)
    Function(code, "longer", 32, 60_000)(1, 1)
    driver.number = 1
    Function(code, "kernel", 32, 60_000)(1, 1)
    assert [(kernel, value) for kernel, name, value in asked if name == "size"] == [
        (106, 200_000), (106, 220_000), (206, 60_000),
    ]


def test_code_is_loaded_once_for_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when threads ask for it together: a second module would take the functions of the first away."""
    together, loads = Barrier(4, timeout=300), []

    def load(code: str) -> None:
        sleep(0.02)  # the others come meanwhile
        loads.append(code)

    played = SimpleNamespace(Module=lambda: SimpleNamespace(load=load))
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=SimpleNamespace(function=played)))
    monkeypatch.setattr(launch, "architecture", lambda: "sm_80")
    monkeypatch.setattr(launch, "_machine_code", lambda source, target: f"{source} for {target}")
    module = Module("text")

    def ask(device: int) -> Any:
        together.wait()
        return module.loaded(device, "kernel")

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(ask, [0, 0, 0, 1]))
    assert found[0] is found[1] is found[2] is not found[3]
    assert loads == ["text for sm_80"] * 2


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Any:
    """NVRTC as CuPy has it, which refuses a text with "wrong" in it, and an empty cache."""

    class Refusal(Exception):
        pass

    def compile_program(handle: list[str], options: list[str]) -> None:
        played.asked.append(tuple(options))
        if "wrong" in handle[0]:
            raise Refusal("compilation failed")

    played = SimpleNamespace(
        NVRTCError=Refusal, version=(13, 0), asked=[], getVersion=lambda: played.version,
        createProgram=lambda source, *_: [source], compileProgram=compile_program,
        getCUBIN=lambda handle: handle[0].encode(), getProgramLog=lambda handle: "close.cu(7): error",
        destroyProgram=lambda handle: played.closed.append(handle), closed=[],
    )
    cuda = SimpleNamespace(nvrtc=played)
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda, __version__="14.0"))
    monkeypatch.setitem(sys.modules, "cupy.cuda", cuda)
    monkeypatch.setenv("SEMIRING_CACHE_DIR", str(tmp_path))
    return played


def test_machine_code_is_kept_on_disk(compiler: Any) -> None:
    """For each text, architecture and compiler."""
    for _ in range(2):
        assert launch._machine_code("text", "sm_80") == b"text"
    assert len(compiler.asked) == 1
    assert compiler.asked[0] == (*launch.OPTIONS, "--gpu-architecture=sm_80")
    launch._machine_code("text", "sm_90a")
    launch._machine_code("other text", "sm_80")
    assert len(compiler.asked) == 3
    compiler.version = (13, 1)
    launch._machine_code("text", "sm_80")
    assert len(compiler.asked) == 4 == len(compiler.closed)


def test_a_text_that_is_refused_is_an_error_with_the_compilers_words(compiler: Any) -> None:
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"refused a generated kernel: compilation failed\nclose.cu\(7\)"):
            launch._machine_code("wrong text", "sm_80")
    assert len(compiler.asked) == len(compiler.closed) == 2, "nothing is kept"


KERNELS = 'DEVICE int f(int); extern "C" __global__ void first(int* x) { f(*x); } ' \
    'extern "C" __global__ void __launch_bounds__(256, 2) first_edge(int* x) { f(2); }'


def test_a_kernel_is_compiled_by_itself() -> None:
    for name, other in (("first", "first_edge"), ("first_edge", "first")):
        text = only(KERNELS, name)
        assert text.count("extern") == 1 == text.count("template <int> __global__")
        assert only(text, other).count("extern") == 0 and text.replace("template <int>", 'extern "C"') == KERNELS


@pytest.mark.parametrize("file", sorted(Path(launch.__file__).parents[1].glob("*/*.cu")), ids=lambda file: file.stem)
def test_every_kernel_of_a_file_can_be_told_from_the_others(file: Path) -> None:
    """As many times as there are variants of it, of which the preprocessor leaves one."""
    text = file.read_text(encoding="utf-8")
    names = re.findall(r'extern "C" __global__ void (?:__launch_bounds__\([^)]*\) )?(\w+)\(', text)
    assert len(names) == text.count('extern "C" __global__')
    for name in names:
        assert only(text, name).count('extern "C" __global__') == names.count(name)


@pytest.fixture
def cores(monkeypatch: pytest.MonkeyPatch, compiler: Any) -> Iterator[Callable[[int], None]]:
    """Sets how many cores there are, on which nothing was begun."""
    monkeypatch.setattr(launch, "architecture", lambda: "sm_80")
    monkeypatch.setattr(launch, "current_device", lambda: 0)
    monkeypatch.setattr(launch, "_begun", {})

    def are(number: int) -> None:
        monkeypatch.setattr(launch.os, "sched_getaffinity", lambda _: set(range(number)), raising=False)
        launch._threads.cache_clear()

    yield are
    launch._threads.cache_clear()


def test_kernels_are_compiled_ahead(cores: Callable[[int], None], compiler: Any) -> None:
    """Once each, unless they are loaded; the call that needs one waits for it, and hears of a refusal."""
    cores(2)
    module, wrong = Module(KERNELS), Module(KERNELS.replace("int*", "wrong*"))
    loaded, edge = module.function("first", 32), module.function("first_edge", 32)
    loaded._kernels[0] = 7
    compile_ahead([loaded, edge, module.function("first_edge", 64), wrong.function("first", 32)])
    assert launch._machine_code(edge.text, "sm_80") == edge.text.encode()
    with pytest.raises(RuntimeError, match="compilation failed"):
        launch._machine_code(only(wrong.source, "first"), "sm_80")
    assert len(compiler.asked) == 2 and not launch._begun
    compile_ahead([edge])
    assert launch._machine_code(edge.text, "sm_80") == edge.text.encode()
    assert len(compiler.asked) == 2, "it is kept on disk"


def test_what_is_at_hand(cores: Callable[[int], None], compiler: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is loaded, kept on disk or compiled by a thread; and anything if there is no thread."""
    cores(2)
    module, may_end = Module(KERNELS), Event()
    kernel, other = module.function("first", 32), module.function("first_edge", 32)
    compiled = launch._compile
    monkeypatch.setattr(launch, "_compile", lambda *text: may_end.wait(10) and compiled(*text))
    assert not kernel.at_hand()
    compile_ahead([kernel])
    assert not kernel.at_hand() and not other.at_hand()
    may_end.set()
    launch.wait_for_threads()
    assert kernel.at_hand() and not other.at_hand()
    launch._machine_code(kernel.text, "sm_80")
    assert not launch._begun and kernel.at_hand() and not other.at_hand()
    other._kernels[0] = 7
    assert other.at_hand()
    cores(1)
    assert module.function("first_edge", 64).at_hand()


def test_a_thread_makes_the_context_of_the_current_device(
    cores: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []
    runtime = SimpleNamespace(free=lambda address: made.append(address))
    there = SimpleNamespace(cuda=SimpleNamespace(
        runtime=runtime, Device=lambda number: nullcontext(made.append(f"device {number}"))))
    monkeypatch.setitem(sys.modules, "cupy", there)
    monkeypatch.setattr(launch, "current_device", lambda: 3)
    cores(1)
    launch.begin_context()
    assert not made, "the call makes it"
    cores(2)
    launch.begin_context()
    launch._threads().shutdown()
    assert made == ["device 3", 0]


def test_one_core_compiles_nothing_ahead(cores: Callable[[int], None], compiler: Any) -> None:
    cores(1)
    compile_ahead([Module(KERNELS).function("first", 32)])
    assert not compiler.asked and not launch._begun


@pytest.mark.parametrize(("number", "pair", "name"), [
    ("80", (8, 0), "sm_80"), ("89", (8, 9), "sm_89"), ("90", (9, 0), "sm_90a"), ("100", (10, 0), "sm_100"),
    ("121", (12, 1), "sm_121"),
])
def test_architectures(number: str, pair: tuple[int, int], name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What needs instructions of compute capability 9.0 alone has to ask for them."""
    device = SimpleNamespace(compute_capability=number)
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=SimpleNamespace(Device=lambda _: device)))
    assert launch.capability.__wrapped__(0) == pair
    monkeypatch.setattr(launch, "current_device", lambda: 0)
    monkeypatch.setattr(launch, "capability", lambda _: pair)
    assert launch.architecture() == name


def test_nothing_is_in_use_before_the_first_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "_cuda", lru_cache(1)(lambda: SimpleNamespace(device=lambda: 3)))
    assert not launch.in_use()
    assert launch.current_device() == 3 and launch.in_use()


def test_rows_whose_elements_lie_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    host = Host()
    host.stand_in(monkeypatch)
    A = host.array(np.arange(24.0).reshape(4, 6))
    for fine in (A, A[:, 1:4], A[::2], A[::-1], A[:, :1], A.T[:, :1], A.T[:, :0], A[0]):
        assert rows_of(fine) is fine
    for spread in (A.T, A[:, ::2], A[0, ::2], A[:, ::-1]):
        rows = rows_of(spread)
        assert rows.strides[-1] == 8 and rows is not spread
        np.testing.assert_array_equal(rows, spread)
    other, same = empty_like_rows(A.T), copy_of(A.T)
    assert other.shape == same.shape == (6, 4) and other.flags.c_contiguous and same.flags.c_contiguous
    same[0, 0] = 99
    np.testing.assert_array_equal(same.ravel()[1:], A.T.ravel()[1:])
    assert A[0, 0] == 0


@pytest.mark.parametrize("shape", [(5, 7), (1, 5, 7), (1, 1, 5, 7), (3, 5, 7), (1, 0, 7)])
def test_copies_of_parts(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """A matrix in a stack of one is copied by the driver, as one without a stack."""
    host = Host()
    host.stand_in(monkeypatch)
    whole = host.array(np.arange(np.prod(shape) * 2.0).reshape(*shape[:-1], 2 * shape[-1]))
    part = whole[..., 2 : 2 + shape[-1]]
    assigned: list[Any] = []
    known = Array.__setitem__

    def assign(self: Any, *given: Any) -> None:
        assigned.append(given)
        known(self, *given)

    monkeypatch.setattr(Array, "__setitem__", assign)
    copy = copy_of(part)
    assert bool(assigned) == (shape[0] == 3 or part.size == 0)
    assert copy.shape == shape and copy.flags.c_contiguous
    np.testing.assert_array_equal(np.array(copy), np.array(part))


def test_memory_that_a_graph_uses_again_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """What this thread takes inside, and nothing of other threads; afterwards nothing more, also after an error."""
    Host().stand_in(monkeypatch)
    with keeping() as kept:
        mine = memory(100)
        with ThreadPoolExecutor(1) as pool:
            pool.submit(memory, 100).result()
    memory(100)
    assert len(kept) == 1 and kept[0] is mine
    with pytest.raises(ZeroDivisionError), keeping() as kept:
        raise ZeroDivisionError
    memory(100)
    assert kept == []
