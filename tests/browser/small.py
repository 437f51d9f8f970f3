"""The small pages of the course: where they are, how they are opened, what the cells of a chapter define."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from browser.conftest import Opener

import semiring as sr

SITE = Path(__file__).resolve().parents[2] / "docs" / "site"
TOUCH = SITE / "_static" / "touch"
NAMES = sorted(file.stem for file in TOUCH.glob("*.html"))
# What makes a page show more than it begins with.
USED = {
    "fill": "() => { for (const v of [0, 5, 3]) vertices[v].click(); vertices[6].focus(); }",
    "cache": "() => { move(1000); }",
    "temperature": "() => { $('T').value = 70; show(); }",
    "powers": "() => { $('graph').value = 'three roundabouts'; $('k').value = 12; $('most').value = '1'; begin(); }",
    "laws": "() => { $('preset').value = 'wider, then shorter'; $('preset').onchange(); find(); }",
}


def small(visit: Opener, name: str, **options: Any) -> Any:
    return visit(file=TOUCH / f"{name}.html", **options)


def chapter(name: str, *parts: str) -> dict[str, Any]:
    """What the cells of a chapter define that contain one of some texts."""
    text = next(SITE.glob(f"course/{name}-*.md")).read_text(encoding="utf-8")
    found = re.findall(r"^```\{code-cell\} python\n(?::[^\n]*\n)*(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    space: dict[str, Any] = {"np": np, "sr": sr}
    for code in found:
        if any(part in code for part in parts):
            exec(code, space)
    return space
