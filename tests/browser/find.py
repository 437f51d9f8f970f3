"""Print the path of a Chromium; install Debian's where that is allowed, and Playwright's own where it can be loaded."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
HELP = ("no browser was found, and none could be installed: install Chromium (on Debian: apt install chromium), or "
        "name one, as in: SEMIRING_BROWSER=/usr/bin/chromium make test-browser")


def found() -> str | None:
    """A browser that is there."""
    return os.environ.get("SEMIRING_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)


def installed() -> str | None:
    """A browser that was put there now."""
    if shutil.which("apt-get") and os.geteuid() == 0:
        quiet = {"stdout": sys.stderr, "env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}}
        subprocess.run(["apt-get", "update", "-q"], check=False, **quiet)
        subprocess.run(["apt-get", "install", "-q", "-y", "--no-install-recommends", "chromium"], check=False, **quiet)
        if found():
            return found()
    done = subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], stdout=sys.stderr, check=False)
    if done.returncode:
        return None
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


if __name__ == "__main__":
    path = found() or installed()
    print(path) if path else sys.exit(HELP)
