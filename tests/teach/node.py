"""JavaScript run by node, with elements there and back."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from semiring.teach.javascript import runtime

NODE = shutil.which("node")
DRIVER = r"""
const special = {NaN, Infinity, "-Infinity": -Infinity, "-0": -0};
const read = x => Array.isArray(x) ? x.map(read) : typeof x === "string" ? special[x]
  : x !== null && typeof x === "object" ? BigInt(x.big) : x;
const write = x => Array.isArray(x) ? x.map(write) : typeof x === "bigint" ? {big: String(x)}
  : typeof x !== "number" || Number.isFinite(x) && !Object.is(x, -0) ? x : Object.is(x, -0) ? "-0" : String(x);
const cases = JSON.parse(require("fs").readFileSync(process.argv[2], "utf8"));
const found = cases.map(([text, calls]) => {
  const f = eval(text);
  return calls.map(call => write(f(...read(call))));
});
process.stdout.write(JSON.stringify(found));
"""


def run(cases: Sequence[tuple[str, list[list[Any]]]], folder: Path) -> list[list[Any]]:
    """What functions, given as text, answer to lists of arguments: NumPy scalars, or lists of them for records."""
    assert NODE is not None
    driver, given = folder / "driver.cjs", folder / "cases.json"
    driver.write_text(runtime() + DRIVER, encoding="utf-8")
    given.write_text(json.dumps([[text, _written(calls)] for text, calls in cases]), encoding="utf-8")
    done = subprocess.run([NODE, str(driver), str(given)], capture_output=True, text=True, check=True)
    return [_read(answers) for answers in json.loads(done.stdout)]


def _written(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return [_written(y) for y in x]
    if isinstance(x, (np.int64, np.uint64)):
        return {"big": str(int(x))}
    plain = x.item()
    if isinstance(plain, float):
        if math.isnan(plain):
            return "NaN"
        if math.isinf(plain):
            return "Infinity" if plain > 0 else "-Infinity"
        return "-0" if plain == 0 and math.copysign(1, plain) < 0 else plain
    return plain


def _read(x: Any) -> Any:
    if isinstance(x, list):
        return [_read(y) for y in x]
    if isinstance(x, dict):
        return int(x["big"])
    return float(x) if isinstance(x, str) else x
