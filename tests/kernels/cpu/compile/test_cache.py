"""The compile cache: what it keeps, that it believes nothing it finds, and that no disk can make a call fail."""

from __future__ import annotations

import ast
import errno
import importlib.util
import os
import pkgutil
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import semiring.algorithms
import semiring.kernels
from semiring import SemiringWarning
from semiring.kernels.cpu.compile import cache

TEXT = """
from numba import float64, int64
from semiring.kernels.cpu.compile.jit import njit


@njit([int64(int64)], cache=True)
def double(x):
    return 2 * x


@njit(cache=True)
def triple(x):
    return 3 * x
"""
posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners and modes of files are POSIX's")


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SEMIRING_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def start(monkeypatch: pytest.MonkeyPatch, text: str = TEXT) -> Any:
    """The module as a new process would have it, tried."""
    monkeypatch.setattr(cache, "_modules", {})
    module = cache.load("small", text)
    assert module.double(4) == 8
    assert module.triple(4) == 12
    assert module.triple(0.5) == 1.5
    return module


def hits(module: Any) -> int:
    """How many of the three pieces of machine code came from the disk."""
    return sum(sum(function.stats.cache_hits.values()) for function in (module.double, module.triple))


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def restore(directory: Path, files: dict[str, bytes]) -> None:
    for path in directory.iterdir():
        path.unlink()
    for name, data in files.items():
        (directory / name).write_bytes(data)
        (directory / name).chmod(0o600)


def disown(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a file somebody else's."""
    if os.geteuid() == 0:
        os.chown(path, 12345, 12345)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 12345)


def run(directory: Path, code: str, **environment: str) -> str:
    settings = {**os.environ, "SEMIRING_CACHE_DIR": str(directory), **environment}
    done = subprocess.run([sys.executable, "-c", code], env=settings, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


PRELUDES = Path(__file__).parents[1] / "dense" / "preludes.py"
ENGINE = f"""
import importlib.util, os, sys
os.environ["SEMIRING_COMPILE"] = "always"
spec = importlib.util.spec_from_file_location("cpu_preludes", {str(PRELUDES)!r})
preludes = importlib.util.module_from_spec(spec); sys.modules["cpu_preludes"] = preludes
spec.loader.exec_module(preludes)
from semiring.kernels.cpu.dense.engine import CpuKernel
kernel = CpuKernel(preludes.or_and("uint16").program)
assert "numba" not in sys.modules
D = preludes.np.ones((3, 3), "u2")
kernel.close(D)
functions = kernel.walk.module.close, kernel.operations.module.multiply, kernel.operations.module.close_pivots
print(D[0, 1], *(sum(function.stats.cache_hits.values()) for function in functions))
"""
@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What `ENGINE` leaves in an empty directory, compiled once for the tests of this module."""
    directory = tmp_path_factory.mktemp("kept") / "cache"
    assert run(directory, ENGINE).split() == ["1", "0", "0", "0"]
    return contents(directory)


def directory_of(path: Path, files: dict[str, bytes]) -> Path:
    """A new directory that the library trusts, with these files."""
    path.mkdir(0o700)
    restore(path, files)
    return path


class TestWhatIsKept:
    def test_compiled_code_survives_the_process(self, kept: dict[str, bytes], tmp_path: Path) -> None:
        directory = directory_of(tmp_path / "cache", kept)
        files = contents(directory)
        assert run(directory, ENGINE).split() == ["1", "1", "1", "1"]
        assert contents(directory) == files
        assert {Path(name).suffix for name in files} == {".py", ".nbi", ".nbc"}
        assert len([name for name in files if name.endswith(".py")]) == 1  # the algebra's

    def test_every_signature_has_an_entry(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        assert hits(start(monkeypatch)) == 0
        assert hits(start(monkeypatch)) == 3
        assert len(list(directory.glob("*.nbc"))) == 3

    @pytest.mark.parametrize("text", [TEXT.replace("2 * x", "x + x"), TEXT + "\n# one more line\n"])
    def test_another_text_is_another_module(self, text: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        start(monkeypatch)
        assert hits(start(monkeypatch, text)) == 0
        assert hits(start(monkeypatch)) == 3

    def test_other_modules_that_go_into_the_code_count(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        start(monkeypatch)
        monkeypatch.setattr(cache, "_shared", lambda: b"an edit of raw.py")
        assert hits(start(monkeypatch)) == 0

    def test_a_module_is_written_once_and_run_once(self, directory: Path) -> None:
        first = cache.load("a b/c", "value = 1\n")
        assert first.value == 1
        assert cache.load("a b/c", "value = 1\n") is first
        assert cache.load("a b/c", "value = 2\n").value == 2
        assert len(list(directory.glob("a_b_c_*.py"))) == 2
        with pytest.raises(ZeroDivisionError):
            cache.load("broken", "1 / 0\n")
        assert not any(name.startswith(f"{cache.GENERATED}broken") for name in sys.modules)

    def test_a_long_name_is_kept_too(self, directory: Path) -> None:
        assert cache.load("n" * 300, "value = 1\n").value == 1
        assert len(list(directory.glob("*.py"))) == 1

    def test_directory(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SEMIRING_CACHE_DIR", str(tmp_path / "a" / "b"))
        assert cache.cache_directory() == tmp_path / "a" / "b"
        assert (tmp_path / "a" / "b").is_dir()
        monkeypatch.delenv("SEMIRING_CACHE_DIR")
        if sys.platform == "linux":
            monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
            assert cache.cache_directory() == tmp_path / "xdg" / "semiring"

    def test_errors_show_the_text_that_ran(self, directory: Path) -> None:
        module = cache.load("raising", "def fail():\n    return 1 / 0  # here\n")
        for path in directory.iterdir():
            path.write_text("def fail():\n    return 'changed'\n")
        with pytest.raises(ZeroDivisionError) as caught:
            module.fail()
        assert "return 1 / 0  # here" in str(caught.getrepr())


def _truncated(share: float) -> Callable[[bytes], bytes]:
    return lambda data: data[: int(len(data) * share)]


def _flipped(place: float) -> Callable[[bytes], bytes]:
    def flip(data: bytes) -> bytes:
        i = int((len(data) - 1) * place)
        return data[:i] + bytes([data[i] ^ 4]) + data[i + 1 :]

    return flip


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "one byte": lambda data: data[:1],
    "a third": _truncated(1 / 3),
    "two thirds": _truncated(2 / 3),
    "a byte short": lambda data: data[:-1],
    "a byte long": lambda data: data + b"\n",
    "zeros": lambda data: bytes(len(data)),
    "garbage": lambda data: bytes(i * 197 % 251 for i in range(len(data))),
    "not text": lambda data: b"\xff\xfe\n\xff",
    "first byte": _flipped(0),
    "some byte": _flipped(0.4),
    "some other byte": _flipped(0.8),
    "last byte": _flipped(1),
}


class TestDamage:
    @pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
    def test_each_file_heals(
        self, damage: Callable[[bytes], bytes], directory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        start(monkeypatch)
        sound = contents(directory)
        for name, whole in sound.items():
            restore(directory, sound)
            assert damage(whole) != whole
            (directory / name).write_bytes(damage(whole))
            module = start(monkeypatch)
            lost = {".py": 0, ".nbc": 1, ".nbi": 2 if ".triple." in name else 1}[Path(name).suffix]
            assert hits(module) == 3 - lost, name
            assert hits(start(monkeypatch)) == 3, name
            texts = {name: data for name, data in contents(directory).items() if name.endswith(".py")}
            assert list(texts.values()) == [TEXT.encode()]

    def test_a_changed_text_does_not_run(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        start(monkeypatch)
        (file,) = directory.glob("*.py")
        file.write_text(TEXT.replace("2 * x", "5 * x"))
        start(monkeypatch)
        assert file.read_text() == TEXT

    def test_machine_code_of_another_function_does_not_run(
        self, directory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        start(monkeypatch)
        code = sorted(directory.glob("*.nbc"))
        saved = [file.read_bytes() for file in code]
        for file, other in zip(code, saved[1:] + saved[:1], strict=True):
            file.write_bytes(other)
        assert hits(start(monkeypatch)) == 0
        assert hits(start(monkeypatch)) == 3

    def test_an_index_of_another_function_is_of_no_use(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        start(monkeypatch)
        double, triple = sorted(directory.glob("*.nbi"))
        double.write_bytes(triple.read_bytes())
        assert hits(start(monkeypatch)) == 2
        assert hits(start(monkeypatch)) == 3

    def test_absent_files(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        start(monkeypatch)
        for name in contents(directory):
            (directory / name).unlink()
            start(monkeypatch)
            assert hits(start(monkeypatch)) == 3

    def test_a_directory_or_a_link_in_place_of_a_file(
        self, directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        start(monkeypatch)
        sound = contents(directory)
        for name, whole in sound.items():
            restore(directory, sound)
            (directory / name).unlink()
            (directory / name).mkdir()
            start(monkeypatch)
            (directory / name).rmdir()
            restore(directory, sound)
            (directory / name).unlink()
            (tmp_path / "elsewhere").write_bytes(whole)
            (directory / name).symlink_to(tmp_path / "elsewhere")
            assert hits(start(monkeypatch)) < 3 or name.endswith(".py")
            assert not (directory / name).is_symlink()
            assert (tmp_path / "elsewhere").read_bytes() == whole
            assert hits(start(monkeypatch)) == 3

    def test_a_whole_library_of_damaged_files(self, kept: dict[str, bytes], tmp_path: Path) -> None:
        directory = directory_of(tmp_path / "cache", {name: data[:-7] for name, data in kept.items()})
        assert run(directory, ENGINE).split() == ["1", "0", "0", "0"]
        assert run(directory, ENGINE).split() == ["1", "1", "1", "1"]


@posix
class TestTrust:
    @pytest.mark.parametrize("mode", [0o602, 0o620, 0o666])
    def test_a_file_that_others_can_write_is_made_anew(
        self, mode: int, directory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        start(monkeypatch)
        for name in contents(directory):
            (directory / name).chmod(mode)
        assert hits(start(monkeypatch)) == 0
        assert hits(start(monkeypatch)) == 3
        kept = [path for path in directory.iterdir() if path.suffix != ".nbc"]
        assert len(kept) == 3 and not any(path.stat().st_mode & 0o022 for path in kept)

    def test_a_file_of_somebody_else_is_made_anew(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        start(monkeypatch)
        with monkeypatch.context() as patch, warnings.catch_warnings():
            warnings.simplefilter("ignore", SemiringWarning)
            for path in directory.iterdir():
                disown(path, patch)
            assert hits(start(monkeypatch)) == 0
        if os.geteuid() == 0:
            assert hits(start(monkeypatch)) == 3

    @pytest.mark.parametrize("mode", [0o702, 0o720, 0o777, 0o1777, None], ids=str)
    def test_a_directory_of_others_is_refused_with_one_warning(
        self, mode: int | None, directory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        start(monkeypatch)
        files = contents(directory)
        with monkeypatch.context() as patch:
            if mode is None:
                disown(directory, patch)
            else:
                directory.chmod(mode)
            with pytest.warns(SemiringWarning) as caught:
                assert hits(start(monkeypatch)) == 0
                assert hits(start(monkeypatch, TEXT + "# another\n")) == 0
            assert len(caught) == 1
            assert all(word in str(caught[0].message) for word in (str(directory), "chmod 700", "SEMIRING_CACHE_DIR"))
        assert contents(directory) == files

    def test_an_administrators_directory_is_read(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        start(monkeypatch)
        if os.geteuid() != 0:
            pytest.skip("only the administrator has files of the administrator")
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
        assert hits(start(monkeypatch)) == 3


ERRORS = [
    ("open", "EROFS"),
    ("open", "EACCES"),
    ("write", "EDQUOT"),
    ("write", "EFBIG"),
    ("write", "EIO"),
    ("rename", "EACCES"),
]


class TestDisk:
    @pytest.fixture
    def failing(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str, int], list]]:
        """Let a function of a module fail from its n-th call on."""

        def fail(place: str, code: str, first: int) -> list:
            module, name = {"open": (tempfile, "mkstemp"), "write": (os, "fdopen"), "rename": (os, "replace")}[place]
            real, calls = getattr(module, name), []

            def failing(*args: Any, **kwargs: Any) -> Any:
                calls.append(args)
                if len(calls) < first:
                    return real(*args, **kwargs)
                if place == "write":
                    os.write(args[0], b"the part for which there was room")
                    os.close(args[0])
                raise OSError(getattr(errno, code), os.strerror(getattr(errno, code)))

            monkeypatch.setattr(module, name, failing)
            return calls

        yield fail

    @pytest.mark.parametrize("place", ["open", "write", "rename"])
    @pytest.mark.parametrize("first", range(1, 8, 2))
    def test_a_disk_that_fills_up(
        self, place: str, first: int, directory: Path, failing: Callable, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context():
            calls = failing(place, "ENOSPC", first)
            start(monkeypatch)
            assert len(calls) >= first  # it did fail
        monkeypatch.undo()
        monkeypatch.setenv("SEMIRING_CACHE_DIR", str(directory))
        assert not list(directory.glob("*.tmp"))
        start(monkeypatch)
        assert hits(start(monkeypatch)) == 3

    @pytest.mark.parametrize(("place", "code"), ERRORS)
    def test_a_disk_that_takes_nothing(
        self, place: str, code: str, directory: Path, failing: Callable, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert failing(place, code, 1) == []
        assert hits(start(monkeypatch)) == 0
        assert contents(directory) == {}

    def test_a_disk_that_takes_no_more_is_still_read(
        self, directory: Path, failing: Callable, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        start(monkeypatch)
        failing("open", "EROFS", 1)
        assert hits(start(monkeypatch)) == 3

    @pytest.mark.skipif(sys.platform == "win32", reason="limits on the size of files are POSIX's")
    @pytest.mark.parametrize("limit", [0, 100])  # no file gets a byte; none is whole
    def test_a_limit_of_the_system(self, limit: int, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        import resource

        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
        try:
            assert hits(start(monkeypatch)) == 0
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert not list(directory.glob("*.tmp"))
        assert hits(start(monkeypatch)) == 0
        assert hits(start(monkeypatch)) == 3

    @pytest.mark.slow
    @pytest.mark.skipif(sys.platform == "win32", reason="limits on the size of files are POSIX's")
    def test_a_limit_under_which_indices_are_whole_and_code_is_not(self, tmp_path: Path) -> None:
        lines = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))\n"
        assert run(tmp_path / "cache", lines + ENGINE).split() == ["1", "0", "0", "0"]
        assert not list((tmp_path / "cache").glob("*.tmp"))
        assert run(tmp_path / "cache", ENGINE).split() == ["1", "0", "0", "0"]
        assert run(tmp_path / "cache", ENGINE).split() == ["1", "1", "1", "1"]

    def test_no_directory_at_all(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "file").write_text("in the way")
        monkeypatch.setenv("SEMIRING_CACHE_DIR", str(tmp_path / "file" / "cache"))
        assert cache.cache_directory() is None
        assert hits(start(monkeypatch)) == 0
        assert (tmp_path / "file").read_text() == "in the way"

    def test_a_user_without_a_home(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def home() -> Path:
            raise RuntimeError("Could not determine home directory.")

        for name in ("SEMIRING_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(Path, "home", home)
        assert cache.cache_directory() is None
        assert hits(start(monkeypatch)) == 0


class TestTogether:
    @pytest.mark.slow
    def test_processes_that_start_at_once(self, tmp_path: Path) -> None:
        settings = {**os.environ, "SEMIRING_CACHE_DIR": str(tmp_path / "cache")}
        command = [sys.executable, "-c", ENGINE]
        together = [
            subprocess.Popen(command, env=settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(2)  # who race for every file: a third would do as the second does
        ]
        for process in together:
            out, error = process.communicate(timeout=300)
            assert out.startswith("1 "), error
        assert run(tmp_path / "cache", ENGINE).split() == ["1", "1", "1", "1"]
        assert not list((tmp_path / "cache").glob("*.tmp"))

    def test_a_reader_sees_whole_entries_or_none(self, directory: Path) -> None:
        """Writers of different code for the same keys, as two compilers may make it, and readers all the while."""
        writers, keys, wrong, found = 2, 4, [], [0]
        stop = threading.Event()

        def write(who: int) -> None:
            entries = cache.Entries("module.function")
            for step in range(60):
                key = f"key{step % keys}"
                entries.save(key, f"{key} ".encode() * (500 * (who + 1) + step))

        def read() -> None:
            entries = cache.Entries("module.function")
            while not stop.is_set():
                for key in (f"key{i}" for i in range(keys)):
                    data = entries.load(key)
                    if data is not None:
                        found[0] += 1
                        if set(data.split()) != {key.encode()}:
                            wrong.append(data)

        writing = [threading.Thread(target=write, args=(who,)) for who in range(writers)]
        reading = threading.Thread(target=read)
        for thread in [reading, *writing]:
            thread.start()
        for thread in writing:
            thread.join()
        stop.set()
        reading.join()
        assert found[0] and not wrong
        entries = cache.Entries("module.function")
        for i in range(keys):
            entries.save(f"key{i}", b"last")
        assert [entries.load(f"key{i}") for i in range(keys)] == [b"last"] * keys


def test_rents_are_kept_for_later_processes(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last ones; unknown lines are skipped, and clearing the cache forgets them."""
    assert cache.kept_rents() == {}
    cache.keep_rents({"one": 0.5, "two": 0.25})
    cache.keep_rents({"one": 1.5})
    assert cache.kept_rents() == {"two": 0.25, "one": 1.5}
    with (directory / cache.RENTS).open("ab") as file:
        file.write(b"three much\n\xff\xfe\n\nfour 2\nsix nan\nseven -1\neight inf\n")
    assert cache.kept_rents() == {"two": 0.25, "one": 1.5, "four": 2.0}
    monkeypatch.setattr(cache, "MOST_RENTS", 2)
    cache.keep_rents({"five": 1.0})
    assert cache.kept_rents() == {"four": 2.0, "five": 1.0}
    assert cache.clear_cache() > 0 and cache.kept_rents() == {}


def test_without_a_directory_no_rents_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "cache_directory", lambda: None)
    cache.keep_rents({"one": 0.5})
    assert cache.kept_rents() == {}


# What such modules import without any effect on machine code.
AROUND = {"semiring.kernels.cpu.compile." + name for name in ("cache", "beside", "collecting")}
AROUND |= {"semiring.errors", "semiring.algebra.tables", "semiring.machine.memory", "semiring.machine.interrupts"}
DECORATORS = {"njit", "compiled", "takes"}


def is_compiled(node: ast.AST) -> bool:
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    return any(isinstance(name, ast.Name) and name.id in DECORATORS for each in decorators for name in ast.walk(each))


def taken_in(module: str, file: Path, whole: bool) -> set[str]:
    """The library's modules whose names are used by functions that are compiled, or anywhere in the module."""
    tree, known = ast.parse(file.read_text(encoding="utf-8")), {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            begin = module.split(".")[: -node.level] if node.level else []
            source = ".".join([*begin, *filter(None, [node.module])])
            for alias in node.names:
                one = f"{source}.{alias.name}"
                known[alias.asname or alias.name] = one if one in MODULES else source
    inside = [tree] if whole else [body for node in ast.walk(tree) if is_compiled(node) for body in node.body]
    used = {name.id for each in inside for name in ast.walk(each) if isinstance(name, ast.Name)}
    return {known[name] for name in used & known.keys() if known[name].startswith("semiring")}


ROOMS = (semiring, semiring.algorithms, semiring.kernels)
MODULES = {info.name for room in ROOMS for info in pkgutil.walk_packages(room.__path__, f"{room.__name__}.")}


def file_of(module: str) -> Path:
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).resolve()


def test_all_modules_that_go_into_machine_code_are_named() -> None:
    """Machine code on disk would outlive a change in the others."""
    folder = Path(cache.__file__).parent
    shared = {(folder / name).resolve() for name in cache.SHARED}
    missing = {}
    for module in MODULES:
        file = file_of(module)
        others = taken_in(module, file, file in shared or module.endswith("template")) - AROUND - {module}
        if others := {other for other in others if not other.endswith("template") and file_of(other) not in shared}:
            missing[module] = others
    assert not missing
