"""Objects as pages: in a notebook's frame, and in a file."""

from __future__ import annotations

import html
from pathlib import Path

from semiring.teach.shown import Shown


class Example(Shown):
    title, height = 'A "page" <here>', 321

    def _page(self) -> str:
        return '<p title="a & b">é</p>'


def test_a_notebook_shows_the_page_in_a_frame() -> None:
    frame = Example()._repr_html_()
    assert 'title="A &quot;page&quot; &lt;here&gt;"' in frame and "height: 321px" in frame
    assert html.unescape(frame.split('srcdoc="')[1].split('" ')[0]) == Example()._page()


def test_the_file_is_the_page(tmp_path: Path) -> None:
    Example().save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_bytes() == Example()._page().encode("utf-8")
