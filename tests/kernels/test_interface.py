"""Every engine has what `kernels/interface.py` lists, under the same names, and nobody asks for more than that."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.algorithms.counting import Counting
from semiring.kernels import interface
from semiring.kernels.cpu.boolean import BooleanKernel
from semiring.kernels.cpu.dense import BlasKernel, DenseKernel
from semiring.kernels.cpu.objects import ObjectKernel
from semiring.kernels.cpu.planes import PlanesKernel
from semiring.kernels.cuda.boolean import BooleanKernel as DeviceBooleanKernel
from semiring.kernels.cuda.engine import CudaKernel
from semiring.kernels.interface import BitKernel, DeviceKernel, HostKernel, Kernel, StackKernel

ROOT = Path(__file__).parents[2]
PROTOCOLS = (Kernel, StackKernel, BitKernel, HostKernel, DeviceKernel)
ENGINES: dict[type, tuple[type, ...]] = {
    DenseKernel: (HostKernel, StackKernel),
    BlasKernel: (HostKernel, StackKernel),
    ObjectKernel: (HostKernel, StackKernel),
    BooleanKernel: (HostKernel, BitKernel),
    PlanesKernel: (HostKernel,),
    CudaKernel: (DeviceKernel, StackKernel),
    DeviceBooleanKernel: (DeviceKernel, BitKernel),
}
PAIRS = [(engine, protocol) for engine, protocols in ENGINES.items() for protocol in protocols]


def listed(protocol: type) -> dict[str, Any]:
    """What a protocol and those before it list: methods and properties by name, None for what is only annotated."""
    found: dict[str, Any] = {}
    for part in protocol.__mro__:
        if part.__module__ == interface.__name__:
            found |= dict.fromkeys(part.__annotations__)
            found |= {name: value for name, value in vars(part).items() if not name.startswith("_")}
    return found


def parameters(method: Any) -> list[tuple[str, Any]]:
    return [(p.name, p.kind) for p in inspect.signature(method).parameters.values()]


def assigned(engine: type) -> set[str]:
    """Names that the constructors of a class assign to."""
    found = set()
    for part in engine.__mro__[:-1]:
        for node in ast.walk(ast.parse(inspect.getsource(part).lstrip())):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                found.add(node.attr)
    return found


def differences(engine: type, protocol: type) -> list[str]:
    """What a class lacks of a protocol, or names otherwise."""
    found = []
    for name, wanted in listed(protocol).items():
        have = inspect.getattr_static(engine, name, None)
        if not callable(wanted):
            if have is None and name not in assigned(engine):
                found.append(f"{engine.__name__} has no {name}")
        elif not callable(have):
            found.append(f"{engine.__name__} has no method {name}")
        elif parameters(have) != parameters(wanted):
            found.append(f"{engine.__name__}.{name}{inspect.signature(have)} is listed as {inspect.signature(wanted)}")
    return found


@pytest.mark.parametrize(("engine", "protocol"), PAIRS, ids=lambda c: f"{c.__module__}.{c.__name__}".split(".", 2)[-1])
def test_engines_have_what_is_listed(engine: type, protocol: type) -> None:
    assert differences(engine, protocol) == []


def test_every_engine_is_here() -> None:
    """A class that closes and multiplies and aligns is an engine."""
    found = set()
    for file in (ROOT / "kernels").rglob("*.py"):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and file.name != "interface.py":
                names = {ast.unparse(s.targets[0]) for s in node.body if isinstance(s, ast.Assign)}
                if "align" in names or any(ast.unparse(base) == "DenseKernel" for base in node.bases):
                    found.add(node.name)
    assert found == {engine.__name__ for engine in ENGINES}


class Incomplete(ObjectKernel):
    def left(self, R: Any, D: Any) -> None:  # type: ignore[override]
        pass

    multiply = None  # type: ignore[assignment]


def test_the_test_can_fail() -> None:
    wrong = differences(Incomplete, Kernel)
    assert len(wrong) == 2
    assert "no method multiply" in wrong[0] and "left(self, R: 'Any', D: 'Any')" in wrong[1]
    assert differences(PlanesKernel, DeviceKernel) == ["PlanesKernel has no unchecked"]
    assert len(differences(PlanesKernel, StackKernel)) == 3


def test_a_counting_kernel_names_its_parameters_alike() -> None:
    everything = {name: value for protocol in PROTOCOLS for name, value in listed(protocol).items()}
    methods = {name: value for name, value in vars(Counting).items() if name in everything and callable(value)}
    assert len(methods) >= 6
    for name, method in methods.items():
        assert parameters(method) == parameters(everything[name]), name


def kernels_of(tree: ast.AST) -> Iterator[ast.Attribute]:
    """Attributes of what a function calls a kernel: a parameter, what `build_kernel` returns, or either renamed."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        arguments = [*function.args.args, *function.args.kwonlyargs]
        names = {a.arg for a in arguments if a.arg == "kernel" or "Kernel" in ast.unparse(a.annotation or ast.Pass())}
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and "build_kernel(" in ast.unparse(node.value):
                targets = node.targets[0].elts if isinstance(node.targets[0], ast.Tuple) else node.targets
                values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
                for target, value in zip(targets, values, strict=True):
                    if "build_kernel(" in ast.unparse(value):
                        names.add(ast.unparse(target))
        for node in ast.walk(function):
            if isinstance(node, ast.Attribute):
                value = node.value
                direct = isinstance(value, ast.Call) and ast.unparse(value.func) == "build_kernel"
                if direct or (isinstance(value, ast.Name) and value.id in names):
                    yield node


def users() -> list[Path]:
    """Modules that get kernels; `speculation` knows that it speaks to one engine of the GPU."""
    found = []
    for folder in ("semiring", "algorithms"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            text = file.read_text(encoding="utf-8")
            if "kernels.build import" in text or "kernels.interface import" in text or file.name == "planning.py":
                found.append(file)
    return [file for file in found if file.name != "speculation.py"]


def test_nobody_asks_for_more() -> None:
    allowed = {name for protocol in PROTOCOLS for name in listed(protocol)}
    asked = {}
    for file in users():
        for node in kernels_of(ast.parse(file.read_text(encoding="utf-8"))):
            asked[node.attr] = f"{file.relative_to(ROOT)}:{node.lineno}"
    assert {name: place for name, place in asked.items() if name not in allowed} == {}
    assert allowed - set(asked) == set(), "listed, and nobody asks for it"


@pytest.mark.parametrize("progress", [False, lambda share: None], ids=["quiet", "progress"])
def test_stacks_of_objects_are_closed_with_a_progress_bar_too(progress: Any) -> None:
    stack = np.array([[["", "a"], ["b", ""]]] * 2, object)
    stack = np.frompyfunc(lambda text: sr.letter(text) if text else sr.regex.zero, 1, 1)(stack)
    closed = sr.closure(stack, sr.regex, progress=progress)
    assert str(closed[0, 0, 1]) == str(closed[1, 0, 1]) == str(sr.closure(stack[0], sr.regex)[0, 1])
