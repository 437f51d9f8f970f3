"""The small pages of the course, `_static/touch/`, within a page of the site: frames that need no server.

Each is also a page by itself. A frame contains the whole page as text, because a page that is opened as a file may not
look into another file. So the frame takes the theme of the site, and its height follows its content.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

FOLDER = Path(__file__).parent / "_static" / "touch"


def whole(name: str) -> str:
    """Return a small page with the style and the script that all of them share."""
    text = (FOLDER / f"{name}.html").read_text(encoding="utf-8")
    style, script = ((FOLDER / f"touch.{end}").read_text(encoding="utf-8") for end in ("css", "js"))
    text = text.replace('<link rel="stylesheet" href="touch.css">', f"<style>{style}</style>")
    return text.replace('<script src="touch.js"></script>', f"<script>{script}</script>")


class Touch:
    """A small page as a frame, as a notebook shows it."""

    def __init__(self, name: str):
        self.name, self.text = name, whole(name)

    def _repr_html_(self) -> str:
        title = re.search("<title>(.*)</title>", self.text)
        assert title, f"{self.name} has no title"
        link = f'<a href="../_static/touch/{self.name}.html">Open this in a page of its own</a>'
        return (f'<iframe class="semiring-touch" title="{title[1]}" srcdoc="{escape(self.text)}"></iframe>'
                f'<p class="semiring-touch">{link}</p>')
