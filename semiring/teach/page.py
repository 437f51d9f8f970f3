"""One HTML file that steps through a closure: data, the algebras' functions, and the scripts in the folder ``page``."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.algebra.notation import written
from semiring.algebra.objects import Regex
from semiring.algebra.semiring import Semiring
from semiring.errors import LawError
from semiring.kernels.wrappers.recording import Call
from semiring.solvers.dense.schedules import SCHEDULES, resolve_method

from .elements import Elements
from .javascript import algebra as algebra_functions
from .javascript import runtime
from .questions import question
from .replay import Replay, Step
from .words import KINDS, LETTERS, signs

if TYPE_CHECKING:
    from .explanation import Explanation

FOLDER = Path(__file__).with_name("page")
# In the order in which they depend on each other.
ENGINE = ("values", "regex", "walks", "replay", "expressions", "laws")
VIEW = ("frame", "algebras", "words", "graph", "matrix", "page")


def page(explanation: Explanation) -> str:
    """The text of the page."""
    offered = [explanation.elements if S is explanation.semiring else Elements(S) for S in explanation.weights]
    data = {
        "title": explanation.title, "names": explanation.names, "positions": explanation.positions,
        "edges": explanation.edges, "lengths": [element_as_json(x) for x in explanation.lengths],
        "start": [explanation.keys[explanation.elements.S], explanation.method],
        "letters": LETTERS,
        "words": {kind: words._asdict() for kind, words in KINDS.items()},
        "methods": [{"key": key, "name": name, "about": about, "calls": calls_as_data(calls)}
                    for key, (name, about, calls) in explanation.methods.items()],
        "algebras": [_algebra(explanation, E) for E in offered],
    }
    live = [E for E in offered if E.live and E.dtype.kind != "O"]
    dtypes = [None if E.S.fields else (E.dtype,) for E in live]
    functions = ",\n".join(f"{json.dumps(explanation.keys[E.S])}: {algebra_functions(E.S, found)}"
                           for E, found in zip(live, dtypes, strict=True))
    scripts = [engine(), f"const OPERATIONS = {{\n{tight(functions)}\n}};", *(script(name) for name in VIEW)]
    return assembled("page", explanation.title, data, scripts)


def assembled(template: str, title: str, data: Any, scripts: Sequence[str], css: Sequence[str] = ("page",)) -> str:
    """A page from its body's template, the data that its scripts read, the scripts, and its style sheets."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    body, script = stripped(_read("head.html") + _read(f"{template}.html")), "\n".join(scripts)
    parts = {"TITLE": _escaped(title), "CSS": used("".join(map(styles, css)), body + script), "DATA": text,
             "SCRIPT": script}
    return re.sub("%([A-Z]+)%", lambda found: parts[found[1]], body)


def used(css: str, text: str) -> str:
    """The rules for classes and ids that a page's text names.

    >>> used("p{margin:0}.a,.b i{color:red}@media print{#c{top:0}}", '<p class="b">')
    'p{margin:0}.b i{color:red}'
    """
    words = set(re.findall(r"[\w-]+", text))

    def kept(rule: re.Match[str]) -> str:
        selectors = [s for s in rule[1].split(",") if set(re.findall(r"[.#]([A-Za-z][\w-]*)", s)) <= words]
        return f"{','.join(selectors)}{{{rule[2]}}}" if selectors else ""

    return re.sub(r"@[^{}]+\{\}", "", re.sub(r"([^{}]+)\{([^{}]*)\}", kept, css))


def matrix(explanation: Explanation, elements: Elements) -> list[list[Any]]:
    """The edges as a matrix over one of the algebras; its largest weight sets the scale of rounding."""
    n, weights = len(explanation.names), explanation.weights[elements.S]
    result = [[elements.zero] * n for _ in range(n)]
    for (u, v), weight in zip(explanation.edges, weights, strict=True):
        result[u][v] = weight
    sizes = [abs(float(w)) for w in weights if isinstance(w, (int, float, np.number))]
    elements.scale = max((s for s in sizes if np.isfinite(s)), default=0.0) or 1.0
    return result


def refusals(S: Semiring) -> dict[str, str]:
    """The methods that the laws of an algebra forbid, and why.

    >>> import semiring as sr
    >>> refusals(sr.min_plus), list(refusals(sr.plus_times))
    ({}, ['squaring'])
    """
    found = {}
    for name in SCHEDULES:
        try:
            resolve_method(name, S)
        except LawError as error:
            found[name] = str(error).removesuffix("; use method='auto'")
    return found


def engine() -> str:
    """The scripts that compute, without those that draw: they run wherever JavaScript does."""
    return "\n".join([tight(stripped(runtime())), *(script(name) for name in ENGINE)])


def script(name: str) -> str:
    """A script of the page, without comments and blanks that mean nothing."""
    return tight(stripped(_read(f"{name}.js")))


# A text between quotes, or a regular expression, which follows a sign: blanks count there.
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|`[^`]*`|(?<=[(=,!?:])\s*/(?![/*])(?:[^/\\\[]|\\.|\[(?:[^\]\\]|\\.)*\])+/')
_LOOSE = re.compile(r" *([=,;:?{}()\[\]<>!&|*]) *")


def tight(text: str) -> str:
    """Remove blanks beside signs; not in texts, nor in a line where texts hold others.

    >>> print(tight('const f = (a, b) => a + `${a, b} = ` + (a ? ", " : b);'))
    const f=(a,b)=>a + `${a, b} = ` +(a?", ":b);
    """
    return "\n".join(line if line.count("`") > 2 else _tight_line(line) for line in text.splitlines())


def _tight_line(line: str) -> str:
    parts, at = [], 0
    for quoted in _QUOTED.finditer(line):
        parts += [_LOOSE.sub(r"\1", line[at : quoted.start()]), quoted[0].lstrip()]
        at = quoted.end()
    return "".join([*parts, _LOOSE.sub(r"\1", line[at:])])


def styles(name: str) -> str:
    """A style sheet, without comments and blanks that mean nothing."""
    text = re.sub(r"/\*.*?\*/", "", _read(f"{name}.css"), flags=re.DOTALL)
    return re.sub(r"\s*([{};])\s*|(:|,)\s+(?=[^{}]*[;}])", r"\1\2", text).strip()


def stripped(text: str) -> str:
    """Remove indentation, and lines that contain only a comment.

    >>> print(stripped("const a = 1;\\n\\n  // Why.\\n  let b;\\n"))
    const a = 1;
    let b;
    """
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def calls_as_data(calls: Sequence[Call]) -> list[list[Any]]:
    """Recorded calls as lists: the operation, then for each block its matrix, its rows and its columns.

    >>> from semiring.kernels.wrappers.recording import Region
    >>> calls_as_data([Call("close", (Region("A", range(2), range(2)),))])
    [['close', ['A', 0, 2, 0, 2]]]
    """
    return [[call.operation, *([b.matrix, b.rows.start, b.rows.stop, b.columns.start, b.columns.stop]
                               for b in call.blocks)] for call in calls]


def _algebra(explanation: Explanation, E: Elements) -> dict[str, Any]:
    S = E.S
    given: dict[str, Any] = {
        "key": explanation.keys[S], "name": S.name, "notation": S.notation, "question": question(S),
        "description": S.description, "flags": list(S.flags), "selective": S.selective, "diverges": E.diverges,
        "unit": E.unit, "signs": signs(S), "refusals": refusals(S),
        "weights": [element_as_json(w) for w in explanation.weights[S]],
    }
    if S.name == "regex":
        return given | {"regex": True}
    given |= {"zero": element_as_json(E.zero), "one": element_as_json(E.one)}
    if S.fields:
        given["fields"] = list(S.fields)
    if E.sets:
        given["sets"] = True
    if E.dtype in (np.int64, np.uint64):
        given["wide"] = "Uint" if E.dtype == np.uint64 else "Int"
        given["limits"] = {str(limit): written(x) for limit, x in E.limits.items()}
    if not E.live:
        given["records"] = _records(explanation, E)
    return given


def _records(explanation: Explanation, E: Elements) -> dict[str, Any]:
    """The result of each method under an algebra that pages cannot compute with."""
    texts: dict[str, int] = {}
    methods = {}
    for key, (_, _, calls) in explanation.methods.items():
        if key in refusals(E.S):
            continue
        replay = Replay(E, calls, matrix(explanation, E))
        failure = replay.failure
        methods[key] = {
            "entries": [_entry(step, E, texts) for step in replay.steps],
            "stars": [_text(step.new, texts) for step in replay.steps if step.kind == "star"],
            "failure": failure and {"vertex": failure.vertex, "weight": _text(failure.weight, texts),
                                    "walks": failure.walks._asdict(), "improves": failure.improves,
                                    "after": len(replay.steps)},
        }
    return {"methods": methods, "texts": list(texts)}


def _entry(step: Step, E: Elements, texts: dict[str, int]) -> Any:
    at = _text(step.new, texts)
    if not E.S.selective or not step.terms:
        return at
    return [at, step.won]


def _text(value: Any, texts: dict[str, int]) -> int:
    return texts.setdefault(written(value), len(texts))


def element_as_json(x: Any) -> Any:
    """An element as JSON: infinities by name, 64-bit integers and objects by their text."""
    if isinstance(x, Regex):
        return "" if x.kind == "empty" else x.text
    if isinstance(x, (np.int64, np.uint64)):
        return {"big": str(int(x))}
    if isinstance(x, np.void):
        return [element_as_json(x[f]) for f in x.dtype.names or ()]
    if isinstance(x, np.generic):
        x = x.item()
    if isinstance(x, float) and math.isinf(x):
        return "inf" if x > 0 else "-inf"
    return x if isinstance(x, (bool, int, float)) else {"text": written(x)}


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
