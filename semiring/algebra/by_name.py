"""Find an algebra by its name."""

from __future__ import annotations

import re
from difflib import get_close_matches

from semiring.errors import SemiringError

from .catalogue import PARAMETERS, catalogue, counter_examples
from .semiring import Semiring


def algebra(S: Semiring | str) -> Semiring:
    """Return a semiring, or the built-in one with a name: "min-plus", "min_plus", "k_best(4)".

    Raises
    ------
    SemiringError
        For an unknown name; the message suggests a similar one.
    """
    if isinstance(S, Semiring):
        return S
    if not isinstance(S, str):
        raise SemiringError(f"{S!r} is not a semiring; pass a semiring, such as sr.min_plus, or its name")
    name = S.strip().lower().replace("-", "_").replace(" ", "_")
    call = re.fullmatch(r"(\w+)\(([0-9]{1,18})\)", name)
    if call and call[1] in PARAMETERS:
        return PARAMETERS[call[1]][0](int(call[2]))
    for known in (catalogue, counter_examples):
        if name in known:
            return known[name]
    near = get_close_matches(name, [*catalogue, *counter_examples], 1)
    hint = f"did you mean {near[0]!r}?" if near else f"the catalogue has {', '.join(catalogue)}"
    raise SemiringError(f"unknown algebra {S!r}: {hint}")
