"""Docstrings, comments, messages and documents are in plain English, as far as words and first lines show."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

from test_docstrings import GETTERS, PUBLIC
from test_habits import PROSE, ROOT, by_name
from test_package import MODULES

import semiring as sr

# Folders and files that still have such words. Remove a line when its folder is done; add none.
TO_DO: tuple[str, ...] = ()

# Words that stand in sentences without an actor, or in no dialect but our own, and what to write in place of them.
TELL_TALE = {
    r"nobody": "name the actor: no caller, no thread, no process",
    r"whoever": "name the actor: the caller that …, the thread that …",
    r"(?:is|are) told": "takes, is given, receives",
    r"for else": "because otherwise",
    r"comes? along": "built-in; is copied too",
    r"reckon(?:s|ed|ing)?": "predict, estimate, compute",
    r"puts? away": "write out, store, evict",
    r"of which none": "and none of them",
    r"held against": "compared with",
    r"told apart": "distinguished",
    r"as it were": "(leave it out)",
}
FOUND = re.compile(rf"\b(?:{'|'.join(TELL_TALE)})\b", re.IGNORECASE)
# A first line of these has no actor and no verb; what a property is, or a function returns, has a name.
FRAGMENT = re.compile(r"(?:Of|With|Where|Who|Whoever|Whom)\b")
# First words of what a function is, in place of what it does.
NOT_IMPERATIVE = re.compile(
    r"(?:An?|The|One|Some|Every|All|Each|No|Whether|What|Which|Where|Who|How|Of|For|In|From|With|As|Rows?|Elements?|Labels|"
    r"Edges|Position|Number|Ranges|Bytes|Factors|Ascending|\w+s(?<!ess)(?<!Pass)|\W.*)(?!\w)")


def done(name: str) -> bool:
    return not name.startswith(TO_DO)


def tell_tales(text: str) -> list[str]:
    """The tell-tale words in a text, also across lines and signs of comments."""
    return [found[0] for found in FOUND.finditer(re.sub(r"\s+(?:(?:#|//|\*)\s+)?", " ", text))]


def first_lines(file: Path) -> list[tuple[str, str]]:
    """The first line of each docstring in a module, after the name of what it describes."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, kinds)]
    found = [(getattr(node, "name", "module"), ast.get_docstring(node)) for node in nodes]
    return [(name, doc.split("\n")[0]) for name, doc in found if doc]


def test_no_tell_tale_words() -> None:
    spoken = ("test_english.py", "test_habits.py")  # which name the words
    found = {by_name(file): tell_tales(file.read_text(encoding="utf-8")) for file in PROSE
             if done(by_name(file)) and file.name not in spoken}
    assert len(PROSE) > 400 and {name: words for name, words in found.items() if words} == {}


def test_tell_tale_words_are_found() -> None:
    assert tell_tales("It is retold, reckless, long held; he told them of what comes, and put it away") == []
    text = """Nobody waits; whoever is
    # told that it
    // comes along puts away what he told apart, for else, as it were, he reckons with it."""
    assert [word.lower() for word in tell_tales(text)] == [
        "nobody", "whoever", "is told", "comes along", "puts away", "told apart", "for else", "as it were", "reckons"]


def test_first_lines_of_docstrings_name_a_thing() -> None:
    """They do not begin with Of, With, Where or Who, which lead to no main clause."""
    files = [file for file in PROSE if file.suffix == ".py" and ROOT / "tests" not in file.parents]
    found = [f"{by_name(file)}: {name}: {line}" for file in files if done(by_name(file))
             for name, line in first_lines(file) if FRAGMENT.match(line)]
    assert len(files) > 300 and found == []


def file_of(name: str) -> str:
    """The file of a public name or of the class that has it, from the root of the project."""
    return by_name(MODULES[getattr(sr, name.partition(".")[0]).__module__])


def test_first_lines_in_public_are_short_and_imperative() -> None:
    """At most 80 characters, a sentence; of functions and methods what they do: "Return …", not "The …"."""
    wrong = []
    for name, thing in PUBLIC.items():
        line = inspect.cleandoc(thing.__doc__).split("\n")[0]
        if done(file_of(name)):
            wrong += [f"{name}: longer than 80 characters"] * (len(line) > 80)
            wrong += [f"{name}: has no full stop"] * (line[-1] != ".")
            is_value = inspect.isclass(thing) or isinstance(thing, GETTERS)
            wrong += [f"{name}: not in the imperative: {line}"] * (not is_value and bool(NOT_IMPERATIVE.match(line)))
    assert len(PUBLIC) > 150 and wrong == []
