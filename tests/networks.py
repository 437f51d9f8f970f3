"""Random products of many arrays with named axes, and a context in which they go by nests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import strategies as st

from semiring.kernels.cpu.compile.price import always
from semiring.shapes.einsum import nested, nests


@st.composite
def networks(draw: st.DrawFn, operands: int = 9, axes: int = 8, size: int = 5) -> tuple[str, dict[str, int]]:
    """Arrays of which each axis is in two at least."""
    letters = "abcdefgh"[: draw(st.integers(2, axes))]
    terms = draw(st.lists(st.lists(st.sampled_from(letters), max_size=4, unique=True), min_size=3, max_size=operands))
    output = draw(st.lists(st.sampled_from(letters), max_size=2, unique=True))
    for axis in letters:
        having = sum(axis in term for term in terms)
        if having or axis in output:
            for term in [term for term in terms if axis not in term][: max(2 - having, 0)]:
                term.append(axis)
    sizes = {axis: draw(st.integers(1, size)) for axis in letters}
    return f"{','.join(map(''.join, terms))}->{''.join(output)}", sizes


@contextmanager
def by_nests() -> Iterator[list[bool]]:
    """All that nests are right for goes by nests; the list says of each whether it found an answer."""
    found: list[bool] = []

    class Noted(nested.Nested):
        def answer(self, *arguments: Any) -> Any:
            made = super().answer(*arguments)
            found.append(made is not None)
            return made

    with pytest.MonkeyPatch.context() as patch, always():
        patch.setattr(nests, "BY_PRODUCT", (1e9, 0.0, 0.0))
        patch.setattr(nested, "SHARE", 0)
        patch.setattr(nested, "Nested", Noted)
        patch.setattr(nested, "contraction_of", nests.contraction_of.__wrapped__)
        yield found
