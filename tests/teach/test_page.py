"""The page against Python: the same steps, values, walks and failures; and what the file promises."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from teach.cases import DRIVER, answer, as_json, cases, differences, question
from teach.node import NODE

import semiring as sr
from semiring.teach.page import FOLDER, engine, page, stripped, tight

needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")
ROADS = [("a", "b", 7.0), ("a", "c", 2.0), ("b", "c", 1.0), ("b", "d", 4.0), ("c", "e", 3.0), ("d", "f", 6.0),
         ("e", "d", 1.0), ("e", "f", 9.0), ("d", "b", 2.0), ("f", "a", 5.0)]


def in_node(text: str, folder: Path, given: str) -> object:
    assert NODE is not None
    driver, questions = folder / "driver.cjs", folder / "cases.json"
    read = 'const asked_ = JSON.parse(require("fs").readFileSync(process.argv[2], "utf8"));\n'
    driver.write_text(engine() + DRIVER + read + text, encoding="utf-8")
    questions.write_text(given, encoding="utf-8")
    done = subprocess.run([NODE, str(driver), str(questions)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@needs_node
def test_steps_are_those_of_python(tmp_path: Path) -> None:
    made = list(cases(3))
    given = as_json([question(E, calls, matrix) for _, _, E, calls, matrix in made])
    found = in_node("process.stdout.write(JSON.stringify(answer_(asked_)));", tmp_path, given)
    for (name, method, E, calls, matrix), theirs in zip(made, found, strict=True):
        bad = differences(answer(E, calls, matrix), theirs, exact=name != "log")
        assert not bad, f"{name}, {method}, {matrix}: {bad[0]}"


@needs_node
def test_a_difference_is_noticed(tmp_path: Path) -> None:
    made = next(iter(cases(1)))
    theirs = in_node("process.stdout.write(JSON.stringify(answer_(asked_)));", tmp_path,
                     as_json([question(*made[2:])]))
    ours = answer(*made[2:])
    assert not differences(ours, theirs[0], exact=True)
    ours[0][-1][4] = not ours[0][-1][4]
    assert differences(ours, theirs[0], exact=True)


@needs_node
def test_expressions_that_a_reader_types(tmp_path: Path) -> None:
    good = {
        "1 + 2 * 3": 7, "2 ** 3 ** 2": 512, "-2 ** 2": -4, "(1 + 2) × 3 − 1": 8, "min(3, 1, 2)": 1, "7 % 4": 3,
        "where(2 > 1, 5, 6)": 5, "2 > 1 ? 5 : 6": 5, "1 <= 1 and not 2 < 1": True, "∞": "Infinity", "-inf": "-Infinity",
        "not 1 > 2": True, "true and not false": True, "5 | 8": 13, "6 & 3 ^ 1": 3, "lcm(4, 6)": 12, "lcm(0, 6)": 0,
        "2 ** 62 | 1": "NaN", "gcd(∞, 3)": "NaN", "a != 2": True,
        "0 <= a <= 1": True, "3 > 2 > 2": False, "1 < 2 == 2": True,
        "logaddexp(0, 0)": 0.6931471805599453, "gcd(12, 18)": 6, "abs(-3) + floor(2.5)": 5, "1e3": 1000, ".5": 0.5,
    }
    bad = {
        "": "nothing is written", "1 +": "missing at the end", "(1": "“)” is missing", "1 2": "“2” was not expected",
        "foo(1)": "“foo” is not known", "min(1)": "min takes 2 operands", "sqrt(1, 2)": "sqrt takes 1",
        "a.b": "“.” cannot stand", "alert`1`": "cannot stand",
        "a[0]": "“[” follows a pair", "(a, 1)": "this is a pair, and a number is needed",
        "(1, (1, 2))": "“( , )” is of", "constructor": "not known", "__proto__": "not known",
    }
    script = """process.stdout.write(JSON.stringify(asked_.map(text => {
      try {
        const x = parsed(text, ["a"])({a: 1});
        return typeof x === "number" && !Number.isFinite(x) ? String(x) : x;
      }
      catch (error) { return {error: error.message}; } })));"""
    found = in_node(script, tmp_path, json.dumps([*good, *bad]))
    assert found[: len(good)] == list(good.values())
    for (text, part), answered in zip(bad.items(), found[len(good) :], strict=True):
        assert part in answered["error"], (text, answered)


@needs_node
def test_expressions_of_pairs(tmp_path: Path) -> None:
    good = {"min(p, q)": [1, 2], "max(p, q, (0, 9))": [1, 3], "(p[0] + q[0], 4)": [2, 4], "((p))": [1, 2],
            "(p == q ? p : (0, 4))": [0, 4], "where(p < q and not q <= p and q > p and p != q, p, q)": [1, 2]}
    bad = {"p + q": "“+” is of numbers, not of pairs", "-p": "“-” is of numbers", "not p": "“not” is of numbers",
           "!p": "“!” is of numbers", "min(p, 1)": "all pairs, or none", "p < 1": "all pairs, or none",
           "abs(p)": "“abs” is of numbers", "(p, 1)": "“( , )” is of numbers", "p[2]": "are [0] and [1]",
           "(p[0": "“]” is missing", "p ? p : q": "“? :” is of numbers", "where(p, q)": "takes 3",
           "where(p, p, q)": "“where” is of numbers", "p[0]": "this is a number, and a pair is needed, as in (0, 1)",
           "p ** 2": "“**” is of numbers",
           "p < q": "this is a truth value, and a pair"}
    script = """process.stdout.write(JSON.stringify(asked_.map(text => {
      try { return parsed(text, ["p", "q"], "pair", "pair")({p: [1, 2], q: [1, 3]}); }
      catch (error) { return {error: error.message}; } })));"""
    found = in_node(script, tmp_path, json.dumps([*good, *bad]))
    assert found[: len(good)] == list(good.values())
    for (text, part), answered in zip(bad.items(), found[len(good) :], strict=True):
        assert part in answered["error"], (text, answered)


@needs_node
def test_laws_of_other_elements(tmp_path: Path) -> None:
    """Whole numbers, truth values and pairs, as the library has them, and what breaks a law of each."""
    count = "where(a[0] < b[0], a, where(b[0] < a[0], b, (a[0], a[1] + b[1])))"
    wide = "where(a[0] > b[0] or a[0] == b[0] and a[1] <= b[1], a, b)"
    texts = [
        ("whole", "gcd(a, b)", "lcm(a, b)", "0", "1", "a >= 0 and a < inf"),
        ("whole", "a | b", "a & b", "0", "15", "a >= 0 and a <= 15"),
        ("truth", "a or b", "a and b", "false", "true", ""), ("truth", "a != b", "a and b", "0", "1", ""),
        ("pair", count, "(a[0] + b[0], a[1] * b[1])", "(inf, 0)", "(0, 1)",
         "a[0] == inf ? a[1] == 0 : a[0] >= 0 and a[1] >= 1"),
        ("pair", "min(a, b)", "(a[0] + b[0], a[1] + b[1])", "(inf, inf)", "(0, 0)",
         "abs(a[0]) < inf and abs(a[1]) < inf or a == (inf, inf)"),
        ("whole", "min(a, b)", "a / b", "inf", "1", ""), ("truth", "not (a and b)", "a and b", "0", "1", ""),
        ("pair", wide, "(min(a[0], b[0]), a[1] + b[1])", "(0, inf)", "(inf, 0)",
         "a[0] >= 0 and a[1] >= 0 and (a[0] > 0 or a[1] == inf)"),
    ]
    names = ("of", "add", "mul", "zero", "one", "carrier")
    script = """process.stdout.write(JSON.stringify(asked_.map(given => {
      const report = tried(ownAlgebra({...given, star: ""}), given.of);
      const broken = report.laws.filter(law => law.witness).map(law => [law.name, law.witness.chosen]);
      return [report.holds, report.flags, broken]; })));"""
    found = in_node(script, tmp_path, json.dumps([dict(zip(names, t, strict=True)) for t in texts]))
    twice = sr.lexicographic(sr.min_plus, sr.min_plus)
    same = (sr.gcd_lcm, sr.bitset_may, sr.boolean, sr.gf2, sr.shortest_count, twice)
    assert [holds for holds, *_ in found] == [True] * 6 + [False] * 3, [broken for *_, broken in found]
    for (_, flags, _), S in zip(found, same, strict=False):
        assert ("idempotent" in flags, "selective" in flags) == (S.idempotent, S.selective), S.name
    assert "⊗ stays in the carrier" in [law for law, _ in found[6][2]]
    assert found[7][2][0] == ["⊕ is associative", [False, False, True]]
    assert found[8][2][0][0] == "⊗ distributes on the left", "as the library says of shortest_widest"
    assert not sr.check_laws(sr.shortest_widest).ok


@needs_node
def test_laws_of_a_reader_s_algebra(tmp_path: Path) -> None:
    """Accepted and refused as the library does, the witness being small."""
    texts = [
        ("max(a, b)", "a * b", "0", "1", "a >= 0 and a <= 1", ""), ("min(a, b)", "a + b", "inf", "0", "a >= 0", ""),
        ("max(a, b)", "min(a, b)", "-inf", "inf", "", ""),
        ("a + b", "a * b", "0", "1", "abs(a) < inf", "a == 1 ? 0/0 : 1/(1-a)"),
        ("(a + b) / 2", "a + b", "inf", "0", "", ""), ("a + b", "min(a, b)", "0", "inf", "a >= 0", ""),
        ("max(a, b)", "a - b", "-inf", "0", "", ""), ("min(a, b)", "a * b", "inf", "1", "", ""),
    ]
    names = ("add", "mul", "zero", "one", "carrier", "star")
    script = """process.stdout.write(JSON.stringify(asked_.map(given => {
      const report = tried(ownAlgebra(given));
      const broken = report.laws.filter(law => law.witness).map(law => [law.name, law.witness.chosen.map(String)]);
      return [report.holds, broken, report.flags]; })));"""
    found = in_node(script, tmp_path, json.dumps([dict(zip(names, t, strict=True)) for t in texts]))
    assert [holds for holds, _, _ in found] == [True] * 4 + [False] * 4
    assert found[0][2] == ["idempotent", "selective", "bounded", "commutative"]
    assert found[3][2] == ["commutative"]
    assert found[4][1][0] == ["⊕ is associative", ["2", "3", "5"]]
    assert ["⊗ distributes on the left", ["2", "3", "5"]] in found[5][1]


@needs_node
def test_what_is_undefined_is_no_counterexample(tmp_path: Path) -> None:
    """An operation without a value for some elements leaves the carrier; other laws are judged as in the library."""
    algebras: list[tuple[str, str, Any, Any]] = [
        ("a + b", "", lambda a, b: a + b, None), ("(a + b) / 2", "", lambda a, b: (a + b) / 2, None),
        ("a - b", "", lambda a, b: a - b, None), ("a + b", "abs(a) < inf", lambda a, b: a + b, np.isfinite),
        ("a + b", "a > -inf", lambda a, b: a + b, lambda a: a > -np.inf),
    ]
    given = [{"add": add, "mul": "a * b", "zero": "0", "one": "1", "carrier": carrier, "star": "1"}
             for add, carrier, *_ in algebras]
    script = """process.stdout.write(JSON.stringify(asked_.map(given =>
      tried(ownAlgebra(given)).laws.filter(law => law.witness).map(law => law.name))));"""
    found = in_node(script, tmp_path, json.dumps(given))
    for (_, _, add, carrier), names in zip(algebras, found, strict=True):
        S = sr.Semiring("own", add=add, mul=np.multiply, zero=0.0, one=1.0, carrier=carrier, product_only=True)
        report = sr.check_laws(S)
        assert {name for name in names if "star" not in name} >= {v.law.name for v in report.failures}
        assert not {v.law.name for v in report.axioms if v.holds} & set(names)
    assert "⊕ stays in the carrier" in found[0] and "⊕ is commutative" not in found[1]


def test_the_file_needs_nothing_else() -> None:
    text = page(sr.explain(sr.as_graph(ROADS), sr.min_plus))
    assert len(text.encode()) <= 100_000
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    assert not re.search(r"\beval\b|\bnew Function\b|\bimport\(|<link|\bsrc=", text)
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    assert len(data["algebras"]) == 9
    assert len(data["methods"]) == 5
    assert data["names"] == list("abcdef")


def test_names_stay_text() -> None:
    wild = '</script><b>"x" & \'y\''
    text = page(sr.explain(sr.as_graph([(wild, "b", 1.0)]), sr.min_plus, title=wild))
    assert wild not in text
    assert "&lt;/script&gt;&lt;b&gt;" in text
    assert json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])["names"] == [wild, "b"]


def test_scripts_hold_no_text_that_is_read_as_something_else() -> None:
    """Lines are stripped one by one, so no text goes over several; and none ends the script."""
    for file in FOLDER.glob("*.js"):
        text = file.read_text(encoding="utf-8")
        assert "</" not in text, file
        assert all(line.count("`") % 2 == 0 for line in text.splitlines()), file
        assert stripped(text) == stripped(stripped(text))


def test_blanks_that_mean_something_stay() -> None:
    """Texts and regular expressions keep theirs, and nothing but blanks goes."""
    for file in FOLDER.glob("*.js"):
        for line in stripped(file.read_text(encoding="utf-8")).splitlines():
            short = tight(line)
            assert re.sub(r"\s", "", line) == re.sub(r"\s", "", short), line
            if "`" not in line:
                assert re.findall('"[^"]*"', line) == re.findall('"[^"]*"', short), line
            assert re.findall(r"`[^`]*`", line) == re.findall(r"`[^`]*`", short), line
            assert "</" not in short, line
    for text, short in {
        "return `${a ? `, ${b} = c` : ``}`;": None,
        'x.replace(/^(a: b|[/ ,]) /g, ", ")': 'x.replace(/^(a: b|[/ ,]) /g,", ")',
        "f((a + b) / c, d / e)": "f((a + b)/ c,d / e)", "a ? / = / : b": "a?/ = /:b",
    }.items():
        assert tight(text) == (short or text)
