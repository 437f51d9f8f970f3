"""HTML tables for notebooks, and texts that they show in part."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

import numpy as np

CAPTION = "text-align: left; width: max-content; max-width: min(40em, 80vw)"
PADDING = 4  # pixels around the texts of a table on a page without a style of its own
WHOLE = 2000  # the most characters of a whole text


class Cut(str):
    """A text that is shown in part; pages show `whole` when a pointer is over it.

    >>> Cut("wheelb…", "wheelbarrow").whole
    'wheelbarrow'
    """

    whole: str

    def __new__(cls, text: str, whole: str) -> Cut:
        made = super().__new__(cls, text)
        made.whole = whole if len(whole) <= WHOLE else whole[:WHOLE] + "…"
        return made


def dtype_text(dtype: np.dtype) -> str:
    """A dtype in words, records by their fields.

    >>> dtype_text(np.dtype("f8")), dtype_text(np.dtype([("km", "f8"), ("m", "i8", 2)], align=True))
    ('float64', '(km float64, m 2 × int64)')
    """
    if dtype.names is not None:
        names = (field if field.isprintable() else repr(field)[1:-1] for field in dtype.names)
        return f"({', '.join(f'{name} {dtype_text(dtype[i])}' for i, name in enumerate(names))})"
    return " × ".join([*map(str, dtype.shape), str(dtype.base)])


def html_table(caption: str, rows: Iterable[Sequence[str]], head: Sequence[str] = (), align: str = "left") -> str:
    """Make an HTML table in which every text is escaped; the first cell of a row is its heading.

    A short caption stays on one line, also above a narrow table. For screen readers, headings say whether they belong
    to a row or a column; an empty corner above the headings of rows is a plain cell. A text that is `Cut` has the whole
    of it as its title. On a page without a style for tables, columns do not touch, and texts are aligned at one side.

    >>> page = html_table("<a>", [("b", Cut("c…", "cd"))])
    >>> page.removeprefix(f'<table cellpadding="{PADDING}" style="text-align: left"><caption style="{CAPTION}">')
    '&lt;a&gt;</caption><tbody><tr><th scope="row">b</th><td title="cd">c…</td></tr></tbody></table>'
    """

    def cells(row: Iterable[str], scope: str = "") -> str:
        made = []
        for text in row:
            kind, named = ("th", f' scope="{scope}"') if scope and text else ("td", "")
            made.append(f"<{kind}{named}{_title(text)}>{html.escape(text)}</{kind}>")
        return "".join(made)

    top = f"<thead><tr>{cells(head, 'col')}</tr></thead>" if head else ""
    body = "".join(f"<tr>{cells(row[:1], 'row')}{cells(row[1:])}</tr>" for row in rows)
    return (f'<table cellpadding="{PADDING}" style="text-align: {align}">'
            f'<caption style="{CAPTION}"{_title(caption)}>{html.escape(caption)}</caption>'
            f"{top}<tbody>{body}</tbody></table>")


def _title(text: str) -> str:
    return f' title="{html.escape(text.whole)}"' if isinstance(text, Cut) else ""
