"""Tables for notebooks."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

CAPTION = "white-space: nowrap; text-align: left"


def html_table(caption: str, rows: Iterable[Sequence[str]], head: Sequence[str] = ()) -> str:
    """A table in HTML, in which every text is escaped; the first cell of a row is its heading.

    The caption stays on one line, also above a narrow table.

    >>> page = html_table("<a>", [("b", "c")])
    >>> page.removeprefix(f'<table><caption style="{CAPTION}">')
    '&lt;a&gt;</caption><tbody><tr><th>b</th><td>c</td></tr></tbody></table>'
    """

    def cells(row: Iterable[str], tag: str) -> str:
        return "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in row)

    top = f"<thead><tr>{cells(head, 'th')}</tr></thead>" if head else ""
    body = "".join(f"<tr>{cells(row[:1], 'th')}{cells(row[1:], 'td')}</tr>" for row in rows)
    return f'<table><caption style="{CAPTION}">{html.escape(caption)}</caption>{top}<tbody>{body}</tbody></table>'
