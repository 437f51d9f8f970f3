"""The reference: a page for each public function and class, with an entry for each member, written before each build.

In docstrings, `name` is a link to a public name, or a parameter, or an expression; anything else is a warning.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import Any

import semiring

PAGES = Path(__file__).parent / "reference" / "api"
FURTHER = ("semiring.csgraph", "semiring.torch", "semiring.jax")  # modules with functions in place of other libraries'
ELSEWHERE = {  # where the documentation of other libraries is, by the beginning of a name
    "numpy.linalg": "https://numpy.org/doc/stable/reference/routines.linalg.html",
    "numpy": "https://numpy.org/doc/stable/reference/generated/{}.html",
    "scipy": "https://docs.scipy.org/doc/scipy/reference/generated/{}.html",
    "mmap": "https://docs.python.org/3/library/mmap.html", "re": "https://docs.python.org/3/library/re.html",
    "torch": "https://docs.pytorch.org/docs/stable/generated/{}.html",
    "print": "https://docs.python.org/3/library/functions.html#print",
}


def algebras() -> dict[str, semiring.Semiring]:
    """The built-in algebras that are public names; functions make the others."""
    return {name: S for name in semiring.__all__ if isinstance(S := getattr(semiring, name), semiring.Semiring)}


def pages() -> list[str]:
    """Every public function and class, by its full name."""
    plain = set(semiring.__all__) - algebras().keys() - {"catalogue", "counter_examples"}
    return [f"semiring.{name}" for name in sorted(plain)] + [
        f"{module}.{name}" for module in FURTHER for name in functions(module)]


def functions(module: str) -> list[str]:
    """Public functions of a module, which may need a library that is missing: read from its source."""
    file = Path(semiring.__file__).parent / f"{module.rpartition('.')[2]}.py"
    found = [node for node in ast.parse(file.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)]
    return [node.name for node in found if not node.name.startswith("_")]


# Members of classes, and what their docstrings say of them.


def sections(doc: str | None, title: str) -> dict[str, tuple[str, str]]:
    """Type and text of each entry of a section of a docstring; several names may share a line."""
    text = re.search(rf"^{title}\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", inspect.cleandoc(doc or ""), re.M | re.S)
    found = {}
    for head, body in re.findall(r"^(\S.*)\n?((?:(?: +.*|)\n?)*)", text[1] if text else "", re.M):
        names, _, kind = head.partition(" : ")
        found |= {name.strip(): (kind.strip(), inspect.cleandoc(body)) for name in names.split(",")}
    return found


def told(cls: type, name: str) -> tuple[str, str]:
    """Type and text of an attribute, from the docstring of the class or one of its bases, or of its parameter."""
    found = [known[name] for base in cls.__mro__ for title in ("Attributes", "Parameters")
             if name in (known := sections(base.__doc__, title))]
    found = [(kind, text) for kind, text in found if kind]  # without a type: "as the parameter"
    return next((kind for kind, _ in found), ""), next((text for _, text in found if text), "")


def members(cls: type) -> dict[str, str]:
    """The public members of a class, each with the kind of its entry, in alphabetical order."""
    ours = [base for base in cls.__mro__ if base.__module__.startswith("semiring.")]
    names = {name for base in ours for name in (*vars(base), *vars(base).get("__annotations__", ()))}
    names |= {name for base in ours for name in sections(base.__doc__, "Attributes")}
    kinds = {}
    for name in sorted(names):
        value = inspect.getattr_static(cls, name, None)
        method = isinstance(value, (FunctionType, classmethod, staticmethod))
        if not name.startswith("_"):
            getter = value.__doc__ and not method and type(value).__name__ in ("property", "cached_property")
            kinds[name] = "method" if method else "property" if getter else "attribute"
    return kinds


def page(full: str) -> str:
    """The source of the page of a function or class."""
    module, _, name = full.rpartition(".")
    thing = getattr(semiring, name) if module == "semiring" else None
    title = full.removeprefix("semiring.")
    head = f"{title}\n{'=' * len(title)}\n\n.. currentmodule:: {module}\n\n"
    if not inspect.isclass(thing):
        return head + f".. autofunction:: {name}\n"
    kind = "autoexception" if issubclass(thing, (Exception, Warning)) else "autoclass"
    return head + f".. {kind}:: {name}\n\n" + "".join(listed(thing, name))


def listed(cls: type, name: str) -> Iterator[str]:
    """The entries of the members of a class: attributes, then methods."""
    kinds = members(cls)
    for title, wanted in (("Attributes", ("property", "attribute")), ("Methods", ("method",))):
        chosen = [member for member, kind in kinds.items() if kind in wanted]
        if chosen:
            yield f"{title}\n{'-' * len(title)}\n\n"
        for member in chosen:
            if kinds[member] == "attribute":
                kind, text = told(cls, member)
                body = "\n".join(f"   {line}" for line in f"*{kind or 'attribute'}*\n\n{text}".split("\n"))
                yield f".. py:attribute:: {name}.{member}\n\n{body}\n\n"
            else:
                yield f".. auto{kinds[member]}:: {name}.{member}\n\n"


def write(*_: Any) -> None:
    """Write the pages that changed, and remove those of names that are gone."""
    PAGES.mkdir(exist_ok=True)
    texts = {f"{full}.rst": page(full) for full in pages()}
    for file in PAGES.glob("*.rst"):
        if file.name not in texts:
            file.unlink()
    for name, text in texts.items():
        if not (PAGES / name).exists() or (PAGES / name).read_text(encoding="utf-8") != text:
            (PAGES / name).write_text(text, encoding="utf-8")


# Docstrings as they are shown.


def shown(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Show an object's own parameters as code; leave out a class's attributes, which have entries of their own."""
    own = sections("\n".join(lines), "Parameters")
    plain = re.compile(r"(?<![`:\w])`(\w+)`(?!`)")
    lines[:] = [plain.sub(lambda found: f"`{found[0]}`" if found[1] in own else found[0], line) for line in lines]
    if what in ("class", "exception"):
        text = re.sub(r"^Attributes\n-+\n.*?(?=^\w[\w ]*\n-+\n|\Z)", "", "\n".join(lines), flags=re.M | re.S)
        lines[:] = text.split("\n")
    elif returned := re.search(r"^Returns\n-+\n.*?(?=^\w[\w ]*\n-+\n|\Z)", "\n".join(lines), re.M | re.S):
        lines[:] = "\n".join(lines).replace(returned[0], answered(returned[0])).split("\n")


def answered(text: str) -> str:
    """The section Returns: links to members of the classes that it names; other names that are not public are code."""
    classes = [name for name in dict.fromkeys(re.findall(r"[A-Z]\w+", text)) if hasattr(semiring, name)]

    def one(found: re.Match[str]) -> str:
        for cls in classes:
            if found[1] in members(getattr(semiring, cls)):
                return f"`{found[1]}{found[2] or ''} <semiring.{cls}.{found[1]}>`"
        return found[0] if hasattr(semiring, found[1]) else f"`{found[0]}`"

    return re.sub(r"(?<![`:\w])`(\w+)(\(.*?\))?`(?!`)", one, text)


def signed(app: Any, what: str, name: str, thing: Any, options: Any, given: str | None, _: Any) -> Any:
    """Leave out the signature of a class that callers do not construct: its docstring has no parameters."""
    made = what in ("class", "exception") and not sections(thing.__doc__, "Parameters")
    return ("", None) if given and made else None


# Links.


@cache
def parameters() -> set[str]:
    """The names of all parameters, and of what functions return, which docstrings call by name."""
    things = [getattr(semiring, name) for name in semiring.__all__]
    things += [getattr(import_module("semiring.csgraph"), name) for name in functions("semiring.csgraph")]
    things += [found for thing in things if inspect.isclass(thing) for member in members(thing)
               if callable(found := getattr(thing, member, None))]
    named = {name for thing in things for title in ("Parameters", "Returns", "Attributes")
             for name in sections(getattr(thing, "__doc__", ""), title)}
    return named | {"left", "right"}


def is_code(text: str) -> bool:
    """Whether a text is an expression or a keyword argument, and no name."""
    if re.fullmatch(r"[\w.]+", text):
        return False
    try:
        return bool(ast.parse(text, mode="eval"))
    except SyntaxError:
        return bool(re.fullmatch(r"\w+=.*", text))


def is_internal(text: str) -> bool:
    """Whether a text is the full name of a module of the library, or of something in it."""
    module, _, name = text.rpartition(".")
    try:
        return text.startswith("semiring.") and (bool(find_spec(text)) or hasattr(import_module(module), name))
    except ModuleNotFoundError:
        return False


def link(app: Any, env: Any, node: Any, content: Any) -> Any:
    """Answer a name that Sphinx does not know: another library's, a parameter, an expression, an internal name."""
    from docutils import nodes

    target = node["reftarget"]
    if re.match("python:|numpy:", target):  # a type of another library, which numpydoc would link
        return nodes.inline("", re.sub("^(python|numpy):", "", content.astext()))
    code = nodes.literal("", content.astext(), classes=["code"])
    if called := re.fullmatch(r"([\w.]+)\(.*\)", target):
        again = env.domains.python_domain.resolve_xref(
            env, node["refdoc"], app.builder, node.get("reftype", "obj"), called[1], node, content)
        if again is not None:
            return again
    for start, address in ELSEWHERE.items():
        if target == start or target.startswith(f"{start}."):
            return nodes.reference("", "", content, refuri=address.format(target), internal=False)
    return code if target in parameters() or is_code(target) or is_internal(target) else None


def linked(app: Any, doctree: Any, docname: str) -> None:
    """Link code in the text of a page that begins with a public name, such as `sr.closure(A, S)` or `Matrix`."""
    from docutils import nodes
    from sphinx import addnodes

    domain = app.env.domains.python_domain
    for node in list(doctree.findall(nodes.literal)):
        text = re.match(r"(?:sr|semiring)\.([\w.]+)|([A-Z]\w+(?:\.\w+)?)", node.astext())
        above = node.parent
        while above is not None and not isinstance(above, (nodes.reference, nodes.title, addnodes.desc_signature)):
            above = above.parent
        if text and above is None:
            target = f"semiring.{text[1] or text[2]}"
            found = domain.resolve_xref(
                app.env, docname, app.builder, "obj", target, addnodes.pending_xref(), nodes.inline())
            if found is not None:
                found.replace(found[0], node.deepcopy())
                node.replace_self(found)


def setup(app: Any) -> dict[str, bool]:
    """Connect all this to Sphinx."""
    app.connect("builder-inited", write)
    app.connect("autodoc-process-docstring", shown, priority=400)  # before numpydoc
    app.connect("autodoc-process-signature", signed, priority=900)  # after it
    app.connect("missing-reference", link)
    app.connect("doctree-resolved", linked)
    app.add_directive("algebras", directive())
    return {"parallel_read_safe": True}


def directive() -> type:
    """A directive that gives each built-in algebra an entry, so that it can be linked."""
    from docutils import nodes
    from docutils.statemachine import StringList
    from sphinx.util.docutils import SphinxDirective

    class Algebras(SphinxDirective):
        def run(self) -> list[nodes.Node]:
            lines = []
            for name, S in algebras().items():
                laws = ", ".join(S.flags) or "none"
                lines += [f".. py:data:: {name}", "   :module: semiring", "", f"   ``{S.notation}``", "",
                          f"   The closure computes: {S.description}. Laws beyond a semiring's: {laws}.", ""]
            holder = nodes.container()
            self.state.nested_parse(StringList(lines, "algebras"), self.content_offset, holder)
            return holder.children

    return Algebras
