"""HTML tables for notebooks."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

CAPTION = "white-space: nowrap; text-align: left"


def html_table(caption: str, rows: Iterable[Sequence[str]], head: Sequence[str] = ()) -> str:
    """Make an HTML table in which every text is escaped; the first cell of a row is its heading.

    The caption stays on one line, also above a narrow table. For screen readers, headings say whether they belong to a
    row or a column; an empty corner above the headings of rows is a plain cell.

    >>> page = html_table("<a>", [("b", "c")])
    >>> page.removeprefix(f'<table><caption style="{CAPTION}">')
    '&lt;a&gt;</caption><tbody><tr><th scope="row">b</th><td>c</td></tr></tbody></table>'
    """

    def cells(row: Iterable[str], scope: str = "") -> str:
        opened = [f'<th scope="{scope}">{html.escape(text)}</th>' if scope and text else f"<td>{html.escape(text)}</td>"
                  for text in row]
        return "".join(opened)

    top = f"<thead><tr>{cells(head, 'col')}</tr></thead>" if head else ""
    body = "".join(f"<tr>{cells(row[:1], 'row')}{cells(row[1:])}</tr>" for row in rows)
    return f'<table><caption style="{CAPTION}">{html.escape(caption)}</caption>{top}<tbody>{body}</tbody></table>'
