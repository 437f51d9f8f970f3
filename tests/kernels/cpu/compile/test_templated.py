"""One class gives the text, the module and the functions of each kernel that is a program in a template."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.cpu.compile.program import program, source
from semiring.kernels.cpu.compile.templated import Templated
from semiring.kernels.cpu.dense import folds, lanes, operations, prefixes
from semiring.kernels.lowering.general import general

LOW = general(sr.min_plus, np.dtype("f8"))
KERNELS = [
    (folds.kernel(LOW, "add"), "fold_rows"), (prefixes.kernel(LOW, "add", True), "prefixes_of_lines"),
    (prefixes.kernel(general(sr.log, np.dtype("f8")), "add", False), "power_prefixes"), (lanes.Small(LOW), "product"),
    (operations.operations(program(LOW)), "multiply"),
]


@pytest.mark.parametrize(("made", "function"), KERNELS, ids=lambda x: x if isinstance(x, str) else "")
def test_a_kernel_is_a_program_in_a_template(made: Any, function: str) -> None:
    assert isinstance(made, Templated)
    name, text = made.text
    assert name == made.program.name and f"def {function}(" in text
    if not isinstance(made, operations.Operations):  # which has ⊕ and ⊗ together too
        assert text == source(made.program, made.template)
    (found,) = made.code(function)
    assert (found.module, found.text, found.name) == (name, text, function)


def test_a_module_is_loaded_once() -> None:
    made, function = KERNELS[0]
    assert made.module is made.module and callable(getattr(made.module, function))
