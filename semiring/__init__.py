"""Path algebra: matrix products, closures, equations and best paths over any semiring.

Names are loaded when they are first used, so that importing the package costs little and needs nothing but NumPy. Which
module has which name stands in ``__init__.pyi``, once for people, type checkers and the interpreter.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from .algebra import verbs as _verbs

__version__ = "0.1.0"

_STUB = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
_MODULE_OF = {
    name: module
    for module, names in re.findall(r"^from \.([\w.]+) import (.+)$", _STUB, re.MULTILINE)
    for name in re.findall(r"(\w+) as", names)
}
__all__ = [*_MODULE_OF]
_FOUND: dict[str, ModuleType] = {}


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        globals()[name] = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
        return globals()[name]
    text = f"module 'semiring' has no attribute {name!r}"
    if name.startswith("_"):  # other programs ask for such names, and ask often: no suggestion is looked for
        raise AttributeError(text)
    from .suggestions import suggestion

    raise AttributeError(text + suggestion(name, __all__))


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


def _found(name: str) -> Any:
    """A public name, or a name of a module: ``"module.name"``."""
    module, _, own = name.rpartition(".")
    if module:
        if module not in _FOUND:  # `import_module` costs a small call more than the rest of it
            _FOUND[module] = import_module(f".{module}", __name__)
        return getattr(_FOUND[module], own)
    return globals()[name] if name in globals() else __getattr__(name)


_verbs.lend(_found)
