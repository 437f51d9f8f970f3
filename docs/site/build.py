"""Build the site in build/site: every cell runs, and a warning or a broken link is an error.

    python docs/site/build.py
"""

from __future__ import annotations

import re
import shutil
import sys
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

HERE = Path(__file__).parent
OUT = HERE.parents[1] / "build" / "site"
# What a browser loads by itself; links that a reader has to follow may lead to other sites.
LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"), ("object", "data")}
NOT_LOADED = {"canonical", "search", "next", "prev", "index", "author"}


class Page(HTMLParser):
    """The anchors, links and loaded files of a page; its pictures without text and its names without a link."""

    def __init__(self, file: Path):
        super().__init__()
        self.anchors, self.links, self.loads, self.silent = set[str](), list[str](), list[str](), list[str]()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        for name, value in given.items():
            if (tag, name) in LOADED and given.get("rel") not in NOT_LOADED:
                self.loads.append(value)
        texts = {"img": "alt", "iframe": "title"}
        if tag in texts and not given.get(texts[tag]):
            self.silent.append(f"<{tag}> without {texts[tag]}")
        if tag == "cite":
            self.silent.append("a name in italics that leads nowhere")
        if tag == "svg" and given.get("class") == "drawing" and not given.get("aria-label"):
            self.silent.append("<svg> without aria-label")


def faults(folder: Path) -> Iterator[str]:
    """Yield the faults of the pages in a folder: broken links, files of other sites, pictures without text."""
    files = [file.relative_to(folder) for file in sorted(folder.rglob("*.html"))]
    pages = {(folder / file).resolve(): Page(folder / file) for file in files if "_static" not in file.parts}
    for file, page in pages.items():
        name = file.relative_to(folder.resolve())
        for target in {*page.links, *page.loads}:
            if re.match(r"data:|mailto:", target):
                continue
            if re.match(r"\w+:|//", target):
                if target in page.loads:
                    yield f"{name} loads {target}"
                continue
            path, _, anchor = target.partition("#")
            to = (file.parent / unquote(path.partition("?")[0])).resolve() if path else file
            if not to.exists():
                yield f"{name} leads to {target}, which does not exist"
            elif anchor and to in pages and unquote(anchor) not in pages[to].anchors:
                yield f"{name} leads to {target}, an anchor that does not exist"
        yield from (f"{name} has {what}" for what in page.silent)
    for file in sorted(folder.rglob("*.css")):
        for target in re.findall(r"(?:@import\s+|url\()['\"]?((?:\w+:)?//[^'\")]+)", file.read_text(encoding="utf-8")):
            yield f"{file.relative_to(folder)} loads {target}"


def main() -> int:
    """Build, check and print the time; return 1 if something is wrong."""
    from sphinx.cmd.build import build_main

    start = time.perf_counter()
    shutil.rmtree(OUT, ignore_errors=True)
    # One job: kernels that start at the same moment may pick the same free port, and one of them dies.
    options = ["--quiet", "--fresh-env", "--fail-on-warning", "--keep-going"]
    status = build_main(["-b", "html", *options, str(HERE), str(OUT)])
    found = [] if status else list(faults(OUT))
    print(*found, sep="\n", end="\n" * bool(found), file=sys.stderr)
    pages = len(list(OUT.glob("**/[!_]*.html")))
    print(f"{pages} pages in build/site, {time.perf_counter() - start:.0f} s")
    return int(bool(status or found))


if __name__ == "__main__":
    raise SystemExit(main())
