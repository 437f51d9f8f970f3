"""Print the lowest versions that pyproject.toml declares for the library and its tests, as exact requirements.

`make test-lowest` installs these and runs all tests with them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def lowest(requirements: list[str], extras: dict[str, list[str]], name: str) -> Iterator[str]:
    """Each requirement NAME>=VERSION as NAME==VERSION, and those of the extras of this project that it names."""
    for requirement in requirements:
        if own := re.fullmatch(rf"{name}\[([\w,-]+)\]", requirement):
            for extra in own[1].split(","):
                yield from lowest(extras[extra], extras, name)
        elif re.fullmatch(r"[\w-]+(\[[\w,-]+\])?>=[\w.]+(;.*)?", requirement):
            yield requirement.replace(">=", "==", 1)
        else:
            raise ValueError(f"{requirement!r} in pyproject.toml declares no lowest version: write NAME>=VERSION")


if __name__ == "__main__":
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    print("\n".join(sorted(set(lowest([*project["dependencies"], *extras["test"]], extras, project["name"])))))
