"""PyTorch's operators of products and closures: their schemas, and how they find algebras."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr

torch = pytest.importorskip("torch")
srt: Any = pytest.importorskip("semiring.torch")


def test_operators_are_what_their_schemas_say() -> None:
    A = torch.rand(4, 4).log() - 2
    for test in ("test_schema", "test_faketensor"):
        torch.library.opcheck(torch.ops.semiring.closure.default, (A, "log", True), test_utils=test)
        torch.library.opcheck(torch.ops.semiring.matmul.default, (A, A, "log", True), test_utils=test)


def test_two_algebras_of_one_name_are_not_confused() -> None:
    first, second = (
        sr.Semiring("mine", add=add, mul=mul, zero=-one, one=one, star=lambda a, one=one: one)
        for add, mul, one in ((np.maximum, np.minimum, np.inf), (np.minimum, np.maximum, -np.inf))
    )
    assert srt.closure(torch.ones(2, 2), first)[0, 1] == 1
    with pytest.raises(ValueError, match="two algebras are called 'mine'"):
        srt.closure(-torch.ones(2, 2), second)
