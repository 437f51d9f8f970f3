r"""Formulas of pages as MathML, which browsers draw themselves: no script, no font and no network.

A page writes LaTeX, as notebooks do: $a \otimes b$ within a line, and $$…$$ on lines of their own for a displayed
formula. Docutils translates it when the page is built; one that it cannot translate is a warning, and so an error.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml


def mathml(latex: str, display: bool = False) -> str:
    """Translate LaTeX into a `<math>` element; raise MathError if that is not possible."""
    # White space between tags would stand between a formula and the comma after it.
    lines = tex2mathml(latex, as_block=display).splitlines()
    joined = "".join(line.strip() if line.strip().startswith("<") else line for line in lines)
    joined = joined.replace("<mo>*</mo>", "<mo>∗</mo>")  # as TeX does: the sign in the middle of the line, not above it
    return joined.replace("<mo>&ApplyFunction;</mo>", '<mspace width="0.17em"/>')  # a thin space, as TeX has it


def visit(page: Any, node: nodes.math | nodes.math_block) -> None:
    """Write a formula where it stands; a displayed one can be scrolled, also with keys."""
    display = isinstance(node, nodes.math_block)
    try:
        formula = mathml(node.astext(), display)
    except MathError as error:
        from sphinx.util.logging import getLogger

        getLogger(__name__).warning("no MathML for %r: %s", node.astext(), error, location=node)
        raise nodes.SkipNode from None
    page.body.append(f'<div class="formula" tabindex="0">{formula}</div>\n' if display else formula)
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer, which `html_math_renderer` in conf.py names."""
    app.add_html_math_renderer("mathml", (visit, None), (visit, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
