"""Every public name says what it takes, gives and raises, and shows it: numpydoc, compared with signatures and code."""

from __future__ import annotations

import ast
import builtins
import inspect
import re
import textwrap
from collections.abc import Iterator
from functools import cache, cached_property
from importlib import import_module
from typing import Any

import pytest

import semiring as sr

# Classes that callers do not construct, and the function that makes them: they have attributes in place of parameters.
MADE_BY = {
    "Factors": "factor", "SparseFactors": "factor", "Plan": "plan", "SparsePlan": "plan", "LawReport": "check_laws",
    "Regex": "letter", "StackedFactors": "factor", "Labels": "SparseFactors.labels", "Closures": "closure",
    "OperationTables": "Semiring.table", "HasseDiagram": "Semiring.hasse", "LawGraph": "check_laws",
    "Comparison": "compare", "Explanation": "explain", "Estimate": "mean_weight",
    "ProductExplanation": "explain_product", "TimetableExplanation": "explain_timetable",
    "Paths": "paths", "StackedPaths": "paths", "Steps": "forward", "Table": "closure_rows", "Reachability": "reach",
}
RAISE_NOTHING = {"PackedMatrix.to_sparse": "chunks of less than one entry are refused, and it asks for larger ones"}
SECTIONS = "Parameters|Attributes|Returns|Yields|Raises|Warns|Notes|Examples"
GETTERS = (property, cached_property)
METHODS = (classmethod, staticmethod)


def public() -> Iterator[tuple[str, Any]]:
    """Every function and class that `semiring` lists, and every method and property of these classes, by name."""
    for name in sr.__all__:
        thing = getattr(sr, name)
        if inspect.isclass(thing):
            yield name, thing
            ours = [c for c in thing.__mro__ if c.__module__.startswith("semiring.")]
            for member in sorted({m for c in ours for m in vars(c) if not m.startswith("_")}):
                found = inspect.getattr_static(thing, member)
                if isinstance(found, (*GETTERS, *METHODS)) or inspect.isfunction(found):
                    yield f"{name}.{member}", found
        elif inspect.isroutine(inspect.unwrap(thing)):
            yield name, thing


PUBLIC = dict(public())


# Reading docstrings.


def sections(doc: str) -> dict[str, str]:
    """The sections of a numpydoc docstring by title; what comes before them is the summary."""
    parts = re.split(rf"^({SECTIONS})\n-+\n", inspect.cleandoc(doc), flags=re.MULTILINE)
    return {"Summary": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def entries(section: str) -> dict[str, tuple[str, str]]:
    """The entries of a section: type and description for each name; several names may share a line."""
    found: dict[str, tuple[str, str]] = {}
    for head, body in re.findall(r"^(\S.*)\n?((?:(?: +.*|)\n?)*)", section, flags=re.MULTILINE):
        names, _, kind = head.partition(" : ")
        found |= {name.strip().lstrip("*"): (kind, body) for name in names.split(",")}
    return found


def missing(thing: Any, name: str = "", home: Any = None) -> list[str]:
    """What the docstring of a function, a class, or a method or property of the class `home` lacks."""
    if not (thing.__doc__ or "").strip():
        return ["a docstring"]
    told, function, is_property = sections(thing.__doc__), function_of(thing), isinstance(thing, GETTERS)
    lacks = [] if re.search(r"[.:)]$", told["Summary"].split("\n\n")[0].strip()) else ["a summary that is a sentence"]
    if not is_property:
        lacks += _missing_parameters(thing, name, function, told)
        lacks += [] if inspect.isclass(thing) else _missing_returns(function, told)
        lacks += [] if ">>> " in told.get("Examples", "") else ["Examples with >>>"]
    if function is not None and name not in MADE_BY and name not in RAISE_NOTHING:
        lacks += _missing_raises(function, thing if inspect.isclass(thing) else home, told, deep=not is_property)
    return lacks


def _missing_parameters(thing: Any, name: str, function: Any, told: dict[str, str]) -> list[str]:
    if name in MADE_BY:
        return [] if "Attributes" in told else ["Attributes"]
    given = entries(told.get("Parameters", ""))
    wanted = [p for p in inspect.signature(function).parameters if p not in ("self", "cls")] if function else []
    lacks = [f"the parameter {p}" for p in wanted if p not in given]
    lacks += [f"a parameter that is called {p}" for p in given if p not in wanted]
    for p, (kind, body) in given.items():
        lacks += [] if kind or body.strip() else [f"the type of {p}"]
        lacks += [f"the shape of {p}"] * (_is_array(kind) and not re.search("shape|ndim", kind + body))
    return lacks


def _missing_returns(function: Any, told: dict[str, str]) -> list[str]:
    answer = str(inspect.signature(function).return_annotation)
    title = "Yields" if answer.startswith("Iterator") else "Returns"
    if answer == "None":
        return []
    lines = told.get(title, "").split("\n")
    shapeless = any(_is_array(line) for line in lines if line[:1].strip()) and "shape" not in told[title]
    return [f"the shape in {title}"] * shapeless if title in told else [title]


def _is_array(kind: str) -> bool:
    return bool(re.search(r"\b(ndarray|array_like|array)\b", kind))


def _missing_raises(function: Any, home: Any, told: dict[str, str], deep: bool) -> list[str]:
    named, direct = entries(told.get("Raises", "")).keys(), raised_by(function)
    reached = raised_within(function, home) if deep else direct
    if reached and not named:
        return [f"Raises, with {' or '.join(sorted(reached))}"]
    lacks = [f"{e} in Raises" for e in sorted(direct) if named and not {e, *bases(e)} & named]
    return lacks + [f"an exception that is called {e}" for e in named if not bases(e)]


# What a function raises: read from its code, and from that of the functions of this package that it calls.


def function_of(thing: Any) -> Any:
    """What runs when a public thing is used: a class's constructor, a property's getter, a function itself."""
    if inspect.isclass(thing):
        return None if issubclass(thing, (Exception, Warning)) and "__init__" not in vars(thing) else thing.__init__
    if isinstance(thing, cached_property):
        return thing.func
    return thing.fget if isinstance(thing, property) else inspect.unwrap(getattr(thing, "__func__", thing))


@cache
def code(function: Any) -> list[ast.AST]:
    """The nodes of a function's code; none of one that a decorator wrote, such as a dataclass's constructor."""
    try:
        return list(ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))))
    except (OSError, SyntaxError):
        return []


def raised_by(function: Any) -> set[str]:
    """Names of the exceptions behind `raise` in a function, but for those that it catches itself."""
    found = set()
    caught = {node: names for t in code(function) if isinstance(t, ast.Try) for names in [_names(t.handlers)]
              for statement in t.body for node in ast.walk(statement)}
    for node in code(function):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name):
            exception = node.exc.func.id
            found |= {exception} if bases(exception) and not bases(exception) & caught.get(node, set()) else set()
    return found


def _names(handlers: list[ast.ExceptHandler]) -> set[str]:
    return {n.id for h in handlers if h.type is not None for n in ast.walk(h.type) if isinstance(n, ast.Name)}


def bases(exception: str) -> set[str]:
    """Names of an exception and what it is derived from; empty for what is not a public exception."""
    found = getattr(sr, exception, None) if exception in sr.__all__ else getattr(builtins, exception, None)
    known = inspect.isclass(found) and issubclass(found, BaseException)
    return {c.__name__ for c in found.__mro__ if c not in (Exception, BaseException, object)} if known else set()


def raised_within(function: Any, home: Any) -> set[str]:
    """Names of our exceptions that a function or what it calls raises, as far as calls can be followed by name."""
    waiting, seen = [(function, home)], set()
    found = raised_by(function)
    if home is not None and function.__name__ == "__init__" and hasattr(home, "__post_init__"):
        waiting.append((home.__post_init__, home))
    while waiting:
        one, place = waiting.pop()
        if one not in seen:
            seen.add(one)
            found |= {e for e in raised_by(one) if "SemiringError" in bases(e)}
            waiting += called(one, place)
    return found


def called(function: Any, home: Any) -> Iterator[tuple[Any, Any]]:
    """The functions of this package that a function calls, with the classes whose methods they are."""
    names = {**function.__globals__, **local_imports(function)}
    for node in code(function):
        place, target = None, None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            target = home if node.func.id == "cls" else names.get(node.func.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            of = home if node.value.id in ("self", "cls") else names.get(node.value.id)
            if inspect.isclass(of) or (inspect.ismodule(of) and of.__name__.startswith("semiring.")):
                place, target = (of if inspect.isclass(of) else None), inspect.getattr_static(of, node.attr, None)
        if inspect.isclass(target):
            if target.__module__.startswith("semiring.") and not issubclass(target, BaseException):
                yield from ((vars(target)[m], target) for m in ("__init__", "__post_init__") if m in vars(target))
        elif target is not None:
            target = function_of(target)
            if inspect.isfunction(target) and target.__module__.startswith("semiring."):
                yield target, place


def local_imports(function: Any) -> dict[str, Any]:
    """What a function imports of this package when it is called."""
    found = {}
    for node in code(function):
        if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").startswith("semiring")):
            module = import_module("." * node.level + (node.module or ""), function.__globals__["__package__"])
            for alias in node.names:
                if not hasattr(module, alias.name):
                    import_module(f"{module.__name__}.{alias.name}")
                found[alias.asname or alias.name] = getattr(module, alias.name)
    return found


@pytest.mark.parametrize("name", PUBLIC)
def test_docstrings_are_complete(name: str) -> None:
    lacks = missing(PUBLIC[name], name, getattr(sr, name.split(".")[0]) if "." in name else None)
    assert not lacks, f"the docstring of semiring.{name} lacks {'; '.join(lacks)}"


BARS = re.compile(r"(?<![\w|])\|(?! )[^|\n]+(?<! )\|(?!\w)")  # of |x|, which reStructuredText would replace


def test_no_docstring_has_bars() -> None:
    """Outside of examples and quoted code."""
    texts = {name: sections(inspect.getdoc(inspect.unwrap(thing)) or "") for name, thing in PUBLIC.items()}
    for parts in texts.values():
        parts.pop("Examples", None)
    prose = {name: re.sub("``.*?``", "", "\n".join(parts.values())) for name, parts in texts.items()}
    assert [name for name, text in prose.items() if BARS.search(text)] == []
    assert BARS.search("the maximum of |a − b| it is") and not BARS.search("A | B, or C | D")


def test_no_exception_outlives_its_name() -> None:
    assert set(MADE_BY) | set(RAISE_NOTHING) <= set(PUBLIC)
    assert {"closure", "Semiring.eye", "PackedMatrix.zeros", "Matrix.index", "Matrix.shape", "k_best"} <= set(PUBLIC)


def test_the_check_can_fail() -> None:
    def complete(x: Any) -> int:
        """A number.

        Parameters
        ----------
        x : array_like, shape (n,)

        Returns
        -------
        int

        Raises
        ------
        ValueError
            Always.

        Examples
        --------
        >>> 1 + 1
        2
        """
        raise ValueError(x)

    assert missing(complete) == []
    doc = complete.__doc__ or ""
    for old, new, lack in (
        ("A number.", "A number", "a summary that is a sentence"), (", shape (n,)", "", "the shape of x"),
        ("x : array_like", "y : array_like", "the parameter x"), (" : array_like, shape (n,)", "", "the type of x"),
        ("Returns", "Return", "Returns"), ("ValueError", "TypeError", "ValueError in Raises"),
        ("ValueError", "BadError", "an exception that is called BadError"), (">>> ", "", "Examples with >>>"),
        ("Raises\n        ------\n        ValueError\n            Always.\n", "", "Raises, with ValueError"),
    ):
        complete.__doc__ = doc.replace(old, new)
        assert lack in missing(complete), lack
    complete.__doc__ = None
    assert missing(complete) == ["a docstring"]

    def careful() -> None:
        try:
            raise KeyError(0)
        except KeyError:
            raise TypeError(0) from None

    assert raised_by(careful) == {"TypeError"}
    assert raised_within(sr.Matrix.index, sr.Matrix) == {"GraphError"}
    assert raised_within(sr.reach, None) >= {"GraphError", "SemiringError"}, "raised by what it calls"
