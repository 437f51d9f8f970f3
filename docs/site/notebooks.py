"""Every page with code as a notebook to download: its text, its cells and the answers, without helpers of the site.

A page names its notebook below its title. The first cell is the set-up. Cells that check the page itself are left out.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

HERE = Path(__file__).parent
SET_UP = "import semiring as sr    # if there is no such module: pip install . in a copy of the repository"
CARRIED = ("drawing",)  # helpers of the site that a notebook takes along; figures by others are on the page alone
BLOCK = re.compile(r"^(`{3,})(\{code-cell\} python|\{[\w-]+\}[^\n]*|python|)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
TAGS = re.compile(r"\A((?::[^\n]*\n)+)\n?")


def parts(source: str) -> Iterator[tuple[str, str, set[str]]]:
    """The texts and blocks of a page, in order: kind ("text", "cell", "python", "plain" or a directive), body, tags."""
    source = re.sub(r"\A---\n.*?^---\n", "", source, flags=re.MULTILINE | re.DOTALL)
    at = 0
    for block in BLOCK.finditer(source):
        yield "text", source[at:block.start()], set()
        at, kind, body = block.end(), block[2], block[3]
        head = TAGS.match(body) if kind.startswith("{code-cell}") else None
        tags = re.search(r":tags: \[(.*)\]", head[1]) if head else None
        kind = "cell" if kind.startswith("{code-cell}") else kind.strip("{}") or "plain"
        yield kind, body[head.end():] if head else body, set(re.split(r",\s*", tags[1])) if tags else set()
    yield "text", source[at:], set()


def has_code(source: str) -> bool:
    """Whether a page shows code of Python that a reader may want to run."""
    return any(kind == "python" or (kind == "cell" and not tags & {"remove-cell", "remove-input"})
               for kind, _, tags in parts(source))


def helpers(code: str) -> set[str]:
    """The modules beside this file that a cell imports."""
    tree = list(ast.walk(_tree(code)))
    named = {name for node in tree if isinstance(node, (ast.Import, ast.ImportFrom)) for name in (
        [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])}
    return {name for name in named if (HERE / f"{name}.py").exists()}


def names(code: str, what: type) -> set[str]:
    """The names that a cell binds (ast.Store) or reads (ast.Load)."""
    tree = list(ast.walk(_tree(code)))
    imported = {alias.asname or alias.name for node in tree if isinstance(node, ast.ImportFrom) for alias in node.names}
    found = {node.id for node in tree if isinstance(node, ast.Name) and isinstance(node.ctx, what)}
    return found | imported if what is ast.Store else found


def _tree(code: str) -> ast.Module:
    try:
        return ast.parse(code)
    except SyntaxError:  # code of an example, with an ellipsis
        return ast.Module([], [])


def plain(text: str) -> str:
    """Text as notebooks show it: notes are quotations, links within the site and roles are their words."""
    note = r"^(:{3,})\{(\w+)\} ?([^\n]*)\n((?::[^\n]*\n)*)(.*?)^\1$"
    text = re.sub(note, _note, text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^\([\w-]+\)=\n|^\{[.#][^}]*\}\n|^%[^\n]*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"\{math\}`([^`]*)`", r"$\1$", text)
    text = re.sub(r"\{term\}`([^`<]*?)(?:\s*<[^>]*>)?`", r"\1", text)
    text = re.sub(r"\{[\w:]+\}`~?(?:semiring\.)?([^`<]*?)(?:\s*<[^>]*>)?`", r"`\1`", text)
    return re.sub(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|mailto:)[^)]*\)", r"\1", text).strip("\n")


def _note(found: re.Match[str]) -> str:
    title = found[3].strip() or found[2].capitalize()
    if ":collapsible: closed" in found[4]:
        return f"<details><summary>{title}</summary>\n\n{found[5].strip()}\n\n</details>"
    return "\n".join(f"> {line}".rstrip() for line in (f"**{title}**", "", *found[5].strip("\n").split("\n")))


def cells(source: str) -> Iterator[dict[str, Any]]:
    """The cells of the notebook of a page."""
    blocks = list(parts(source))
    code = [(body, tags) for kind, body, tags in blocks if kind == "cell"]
    carried = {name for body, tags in code if "remove-cell" not in tags for name in helpers(body) & {*CARRIED}}
    yield _code(SET_UP)
    for name in sorted(carried):
        source = (HERE / f"{name}.py").read_text(encoding="utf-8")
        yield _code(f"%%writefile {name}.py\n{source}", {"jupyter": {"source_hidden": True}, "cellView": "form"})
    words, lost = list[str](), set[str]()
    for kind, body, tags in blocks:
        if kind in ("text", "plain"):
            words.append(plain(body) if kind == "text" else f"```\n{body}```")
            continue
        foreign = helpers(body) - {*CARRIED} or ("remove-input" in tags and names(body, ast.Load) & lost)
        if kind in ("cell", "python") and "remove-cell" not in tags and not foreign:
            yield from _text(words)
            hidden = {"jupyter": {"source_hidden": True}} if tags & {"hide-cell", "hide-input", "remove-input"} else {}
            answer = "# An answer; try the exercise first.\n" if "hide-cell" in tags else ""
            yield _code(answer + body.strip("\n"), hidden)
        elif kind == "cell" and "remove-cell" not in tags:
            lost |= names(body, ast.Store)
            words.append("*The page on the site has a figure here.*")
    yield from _text(words)


def _text(words: list[str]) -> Iterator[dict[str, Any]]:
    """One cell of the text that has been gathered, if there is any; then gathering begins anew."""
    text = "\n\n".join(filter(None, words))
    words.clear()
    if text:
        yield {"cell_type": "markdown", "metadata": {}, "source": text.splitlines(keepends=True)}


def _code(code: str, metadata: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": None, "metadata": metadata or {}, "outputs": [],
            "source": code.splitlines(keepends=True)}


def notebook(source: str) -> str:
    """The notebook of a page, as JSON."""
    numbered = [{"id": f"cell-{k}", **cell} for k, cell in enumerate(cells(source))]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    made = {"cells": numbered, "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}}, "nbformat": 4,
            "nbformat_minor": 5}
    return json.dumps(made, ensure_ascii=False, indent=1) + "\n"


def sources(app: Any) -> dict[str, str]:
    """The pages with code, by name."""
    files = {name: Path(app.env.doc2path(name)) for name in app.env.found_docs}
    texts = {name: file.read_text(encoding="utf-8") for name, file in files.items() if file.suffix == ".md"}
    return {name: text for name, text in texts.items() if has_code(text)}


def write(app: Any, failed: Exception | None) -> None:
    """Write the notebooks beside their pages, and those of the course in one file."""
    if failed or app.builder.format != "html":
        return
    with ZipFile(Path(app.outdir) / "course" / "course.zip", "w", ZIP_DEFLATED) as course:
        for name, text in sorted(sources(app).items()):
            made = notebook(text)
            (Path(app.outdir) / f"{name}.ipynb").write_text(made, encoding="utf-8")
            if name.startswith("course/"):
                course.writestr(ZipInfo(f"{name}.ipynb"), made)


def offer(app: Any, doctree: Any, docname: str) -> None:
    """Put a link to the notebook below the title of a page."""
    from docutils import nodes

    title = next(iter(doctree.findall(nodes.title)), None)
    source = Path(app.env.doc2path(docname))
    found = ("course.zip", "All chapters as notebooks (.zip)") if docname == "course/index" else (
        f"{Path(docname).name}.ipynb", "Download this page as a notebook (.ipynb)")
    runs = source.suffix == ".md" and has_code(source.read_text(encoding="utf-8"))
    if title is not None and (runs or docname == "course/index"):
        link = f'<p class="notebook"><a href="{found[0]}" download>{found[1]}</a></p>'
        title.parent.insert(title.parent.index(title) + 1, nodes.raw("", link, format="html"))


def setup(app: Any) -> dict[str, bool]:
    """Connect all this to Sphinx."""
    app.connect("doctree-resolved", offer)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True}
