"""Every engine has what `kernels/interface.py` lists, under the same names; mypy checks that nothing else is used."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest

from semiring.kernels import interface
from semiring.kernels.cpu.bits.engine import BooleanKernel
from semiring.kernels.cpu.bits.planes import PlanesKernel
from semiring.kernels.cpu.dense.blas import BlasKernel
from semiring.kernels.cpu.dense.engine import DenseKernel
from semiring.kernels.cpu.dense.logsum import LogSumKernel
from semiring.kernels.cpu.dense.objects import ObjectKernel
from semiring.kernels.cpu.history.plain import PlainKernel
from semiring.kernels.cpu.history.rows_of_bits import BitRowsKernel
from semiring.kernels.cuda.bits.engine import BooleanKernel as DeviceBooleanKernel
from semiring.kernels.cuda.dense.engine import CudaKernel
from semiring.kernels.interface import BitKernel, ElementKernel, HostKernel, Kernel, StackKernel
from semiring.kernels.numpy.bits import BitsKernel
from semiring.kernels.numpy.dense import ArrayKernel
from semiring.kernels.wrappers.counting import Counting
from semiring.kernels.wrappers.recording import Recording

ROOT = Path(__file__).parents[2]
PROTOCOLS = (Kernel, StackKernel, ElementKernel, BitKernel, HostKernel)
ENGINES: dict[type, tuple[type, ...]] = {
    DenseKernel: (HostKernel, StackKernel),
    BlasKernel: (HostKernel, StackKernel),
    LogSumKernel: (HostKernel, StackKernel),
    ObjectKernel: (HostKernel, ElementKernel),
    ArrayKernel: (HostKernel, ElementKernel),
    BitsKernel: (HostKernel, BitKernel),
    BooleanKernel: (HostKernel, BitKernel),
    PlanesKernel: (HostKernel,),
    CudaKernel: (StackKernel,),
    DeviceBooleanKernel: (BitKernel,),
    Recording: (Kernel,),
    PlainKernel: (HostKernel,),
    BitRowsKernel: (HostKernel, BitKernel),
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
                bases = {ast.unparse(base) for base in node.bases}
                if "align" in names or bases & {"DenseKernel", "BlasKernel", "BitsKernel", "BooleanKernel"}:
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
    assert len(differences(PlanesKernel, StackKernel)) == 3


def test_a_counting_kernel_names_its_parameters_alike() -> None:
    everything = {name: value for protocol in PROTOCOLS for name, value in listed(protocol).items()}
    methods = {name: value for name, value in vars(Counting).items() if name in everything and callable(value)}
    assert len(methods) >= 6
    for name, method in methods.items():
        assert parameters(method) == parameters(everything[name]), name
