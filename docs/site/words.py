"""The words by which readers look for a page, as entries of the index, which the search finds first; descriptions."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from phrases import words
from sphinx import addnodes
from sphinx.transforms import SphinxTransform


class Words(SphinxTransform):
    """Enters the words of a page in the index, and its first paragraph as its description."""

    default_priority = 800  # before the index is collected

    def apply(self, **_: Any) -> None:
        found = words(self.env.docname)
        entries = [("single", phrase, anchor, "main", None) for anchor, phrase in found]
        metas = [nodes.meta(name="keywords", content=", ".join(phrase for _, phrase in found))] if found else []
        first = next((node for node in self.document.findall(nodes.paragraph)), None)
        if first is not None:
            text = " ".join(first.astext().split())
            metas.append(nodes.meta(name="description", content=text if len(text) < 300 else f"{text[:297]}…"))
        self.document.insert(0, [*metas, *([addnodes.index(entries=entries)] if entries else [])])


def on_page(app: Any, pagename: str, template: str, context: Any, doctree: Any) -> None:
    """Load the part of the search that knows these words on its page alone; no heading of a table is empty."""
    if pagename == "search":
        app.add_js_file("search.js", priority=900, loading_method="defer")
    context["body"] = context.get("body", "").replace("<th></th>", "<td></td>")  # corners of pandas' tables


def setup(app: Any) -> dict[str, bool]:
    """Connect all this to Sphinx."""
    app.add_transform(Words)
    app.connect("html-page-context", on_page)
    return {"parallel_read_safe": True}
