"""What the package promises as a whole: light imports, one direction of imports, complete packaging."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest
from lowest import lowest

import semiring as sr

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {"semiring": "semiring", "kernels": "semiring.kernels", "algorithms": "semiring.algorithms"}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

# A module may import from its own layer and from those before it; a longer name goes before a shorter one.
LAYERS = """
errors data suggestions
machine
algebra
kernels.interface kernels.facts
kernels.blocks
kernels.lowering
kernels.cpu.compile
kernels.numpy
kernels.cpu.dense
kernels.cpu.bits
kernels.cpu.sparse
kernels.cpu.history
kernels.cuda.compile
kernels.cuda.dense
kernels.cuda.lowering
kernels.cuda.bits
kernels.cuda
kernels.choose kernels.build
kernels.cuda.sparse
kernels.cuda.history
kernels.wrappers
kernels
algorithms
graphs
files
scale
operands
solvers
results
small
warming matrices
equations walks
shapes
api
tensors
torch jax
distances
csgraph
networkx_backend
teach
cli
__main__
""".split("\n")
LAYER = {f"semiring.{name}": rank for rank, names in enumerate(LAYERS) for name in names.split()}


def modules() -> Iterator[tuple[str, Path]]:
    """Name, once installed, and file of every module."""
    for folder, package in FOLDERS.items():
        for file in sorted((ROOT / folder).rglob("*.py")):
            parts = file.relative_to(ROOT / folder).with_suffix("").parts
            name = ".".join([package, *parts])
            yield name.removesuffix(".__init__"), file


MODULES = dict(modules())


@cache
def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def imports(name: str, file: Path, text: str | None = None) -> tuple[str, ...]:
    """Full names of what a module imports at run time, also within functions; not what it imports for types alone."""
    return tuple(imported(name, file, parsed(file) if text is None else ast.parse(text)))


def imported(name: str, file: Path, tree: ast.Module) -> Iterator[str]:
    skipped = {
        id(node)
        for test in ast.walk(tree)
        if isinstance(test, ast.If) and ast.unparse(test.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
        for statement in test.body
        for node in ast.walk(statement)
    }
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *([base] if base else [])])
            for alias in node.names:
                # `from . import laws` imports a module, `from .laws import Law` a name in one.
                inside = f"{base}.{alias.name}"
                yield inside if inside in MODULES else base


def layer(name: str) -> int | None:
    while name not in LAYER and "." in name:
        name = name.rpartition(".")[0]
    return LAYER.get(name)


def upward(name: str, file: Path, text: str | None = None) -> list[str]:
    own = layer(name)
    assert own is not None, f"{name} is in no layer: enter it in LAYERS"
    return [f"{name} imports {other}" for other in imports(name, file, text) if (layer(other) or 0) > own]


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("used", ["", "sr.min_plus; sr.catalogue", "sr.read_graph; sr.adjacency", "sr.closure"])
def test_import_is_light(used: str) -> None:
    heavy = "numba llvmlite scipy rich networkx pandas matplotlib cupy pyarrow igraph graphblas torch jax".split()
    assert run(f"import semiring as sr; {used}\nimport sys\nprint([m for m in {heavy} if m in sys.modules])") == "[]"


def test_import_compiles_nothing(tmp_path: Path) -> None:
    code = f"import os; os.environ['SEMIRING_CACHE_DIR'] = {str(tmp_path)!r}\nimport semiring as sr; sr.closure"
    run(code)
    assert list(tmp_path.iterdir()) == []


def test_imports_point_one_way() -> None:
    assert [wrong for name, file in MODULES.items() if name != "semiring" for wrong in upward(name, file)] == []


def test_the_layering_test_can_fail() -> None:
    file = MODULES["semiring.algebra.semiring"]
    for text in (
        "from .. import api",
        "from ..api import closure",
        "import semiring.api",
        "def f():\n    from semiring.api import closure",
    ):
        assert upward("semiring.algebra.semiring", file, text), text
    build = "semiring.kernels.build"
    assert upward(build, MODULES[build], "from semiring.graphs.graph import Matrix")
    assert not upward("semiring.algebra.semiring", file, "if TYPE_CHECKING:\n    from ..api import closure")


def circles(imported: dict[str, set[str]]) -> list[str]:
    """Modules that import each other, also by way of others: what is left when those that import nothing left go."""
    left = {name: set(others) for name, others in imported.items()}
    while ready := {name for name, others in left.items() if not others & left.keys() - {name}}:
        left = {name: others for name, others in left.items() if name not in ready}
    while ready := {name for name in left if not any(name in others for n, others in left.items() if n != name)}:
        left = {name: others for name, others in left.items() if name not in ready}
    return sorted(left)


HEAVY = "numba llvmlite scipy rich networkx matplotlib cupy pymetis jax torch".split()
# Modules of ours that are loaded where they are used although they need no other package: most calls do without them.
LATE = {
    "semiring.results.path_stacks": "paths are asked for by one verb, and need the searches",
    "semiring.results.nearest": "one verb of many",
    "semiring.solvers.paths.search": "vertices by name, for the same verb",
    "semiring.cli.demo": "a command that few give", "semiring.cli.plot": "pictures",
    "semiring.kernels.cpu.compile.cache": "what `info` says of the cache",
    "semiring.machine.threads": "what `info` says of threads",
    "semiring.machine.memory": "what `info` says of memory",
    "semiring.kernels.cpu.dense.choose": "an engine, made when it first runs",
    "semiring.kernels.cpu.dense.objects": "an engine, made when it first runs",
    "semiring.kernels.cpu.sparse.fronts": "an engine, made when it first runs",
    "semiring.kernels.cpu.sparse.tree_labels": "an engine, made when it first runs",
    "semiring.kernels.cpu.sparse.walks": "an engine, made when it first runs",
    "semiring.kernels.cpu.sparse.product": "an engine, made when it first runs",
    "semiring.kernels.cpu.sparse.substitution": "an engine, made when it first runs",
    "semiring.algebra.objects": "algebras over Python objects, whose laws take long to try",
    "semiring.warming": "a command that few give",
}


def at_the_top(name: str, file: Path) -> set[str]:
    """Full names of what a module imports when it is loaded."""
    loaded = [n for n in parsed(file).body if isinstance(n, (ast.Import, ast.ImportFrom))]
    return set(imported(name, file, ast.Module(loaded, [])))


def test_imports_within_functions_have_a_reason() -> None:
    """They load another package, an optional one or one that takes its time, or a module that most calls do without."""
    loads = {name: at_the_top(name, file) for name, file in MODULES.items()}

    def is_heavy(name: str, seen: set[str]) -> bool:
        if name.split(".")[0] in HEAVY or name.startswith("semiring.kernels.cuda"):
            return True
        if name not in loads or name in seen:
            return False
        seen.add(name)
        return any(is_heavy(other, seen) for other in loads[name])

    hidden = {
        (name, other) for name, file in MODULES.items() for other in set(imports(name, file)) - loads[name]
        if other in MODULES and name != "semiring"
    }
    assert len(hidden) > 20
    unexplained = {pair for pair in hidden if not is_heavy(pair[1], set()) and pair[1] not in LATE}
    assert unexplained == set()
    assert set(LATE) <= {other for _, other in hidden}, "no reason outlives its import"


def test_no_circles() -> None:
    """Also none that is hidden within functions."""
    assert circles({name: {*imports(name, file)} & MODULES.keys() for name, file in MODULES.items()}) == []
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == ["b", "c"]


# An import of a folder of the source tree by its place, not as a part of the package.
SECOND_COPY = re.compile(r"^[ \t]*(?:from|import(?: .*,)?)[ \t]+(?:kernels|algorithms)\b.*", re.MULTILINE)


def test_second_copies_are_never_imported() -> None:
    files = [*MODULES.values(), *sorted((ROOT / "tests").rglob("*.py"))]
    copies = [(str(file), line) for file in files for line in SECOND_COPY.findall(file.read_text(encoding="utf-8"))]
    assert len(files) > 500 and copies == []
    wrong = ["    from kernels.cpu import x", "import semiring.kernels, algorithms.y", "import kernels"]
    right = ["from .kernels import kernels", "import semiring.algorithms as algorithms", "# from kernels"]
    assert SECOND_COPY.findall("\n".join([*wrong, *right])) == wrong


def test_every_module_and_folder_says_what_it_holds() -> None:
    assert [name for name, file in MODULES.items() if not ast.get_docstring(parsed(file))] == []


def test_the_list_of_files_has_every_module() -> None:
    """In its tables: names are relative to the folder in the heading, or beside the one before."""
    listed, folder = set(), Path()
    for line in (ROOT / "docs" / "files.md").read_text(encoding="utf-8").splitlines():
        if heading := re.match(r"### `([a-z_/]+)/`", line):
            folder = Path(heading[1])
        elif line.startswith("| `"):
            beside = folder
            for name in re.findall(r"`([\w./]+)`", line.split("|")[1]):
                path = folder / name if "/" in name else beside / name
                listed.add(path.as_posix())
                beside = path.parent
    files = [file.relative_to(ROOT) for _, file in modules() if file.name != "__init__.py"]
    assert files and [str(file) for file in files if file.as_posix() not in listed] == [], "add a row to docs/files.md"


def test_the_design_names_what_there_is() -> None:
    """Files by the ends of their paths, and names that are in or of a file."""
    text = " ".join((ROOT / "docs" / "design.md").read_text(encoding="utf-8").split())
    files = {file.relative_to(ROOT).as_posix() for folder in ("semiring", "kernels", "algorithms", "tests", "docs")
             for file in (ROOT / folder).rglob("*.*")}
    named = set(re.findall(r"[\w/]*\w/\w+\.(?:pyi?|md|js|cuh?)\b", text))
    gone = [name for name in named if not any(f"/{file}".endswith(f"/{name}") for file in files)]
    assert len(named) > 80 and gone == []
    within = re.findall(r"`(\w+)`(?: table)? (?:in|of) `([\w/]+\.\w+)`", text)
    assert len(within) > 15
    assert [(name, file) for name, file in within if name not in (ROOT / file).read_text(encoding="utf-8")] == []


def test_every_folder_is_packaged() -> None:
    packages = {n for n, file in MODULES.items() if file.name == "__init__.py"}
    folders = {n if file.name == "__init__.py" else n.rpartition(".")[0] for n, file in MODULES.items()}
    assert packages == folders == set(PROJECT["tool"]["setuptools"]["packages"])


def test_every_data_file_is_packaged() -> None:
    patterns = PROJECT["tool"]["setuptools"]["package-data"]
    seen = 0
    for name, init in MODULES.items():
        if init.name == "__init__.py":
            for file in init.parent.iterdir():
                if file.is_file() and file.suffix != ".py":
                    parts = name.split(".")
                    above = [(".".join(parts[:k]), "/".join([*parts[k:], file.name])) for k in range(1, len(parts) + 1)]
                    kept = [p for owner, path in above for p in patterns.get(owner, []) if fnmatch(path, p)]
                    assert kept, file
                    seen += 1
    assert seen >= 4  # py.typed, two tables and what they are


def test_every_dependency_declares_its_lowest_version() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    for requirements in (PROJECT["project"]["dependencies"], *extras.values()):
        pins = list(lowest(requirements, extras, "semiring"))
        assert len(pins) >= len(requirements) and all("==" in pin for pin in pins)
    wanted = ["a>=1", "me[x,y]"], {"x": ["b[z]>=2.1; python_version > '3'"], "y": ["c>=3", "me[x]"]}, "me"
    assert list(lowest(*wanted)) == [
        "a==1", "b[z]==2.1; python_version > '3'", "c==3", "b[z]==2.1; python_version > '3'"
    ]
    for vague in ("a", "a>1", "a~=1.2", "a>=1,<2", "a==1", "a<3"):
        with pytest.raises(ValueError, match="declares no lowest version"):
            list(lowest([vague], {}, "me"))


def test_version() -> None:
    assert sr.__version__ == PROJECT["project"]["version"]
    assert f"## {sr.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_public_names_exist_and_are_declared_for_type_checkers() -> None:
    """The stub, read as Python, says the same as what the package made of its text."""
    tree = ast.parse((ROOT / "semiring" / "__init__.pyi").read_text(encoding="utf-8"))
    declared = {
        alias.name: f"semiring.{statement.module}"
        for statement in tree.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    assert set(declared) == set(sr.__all__)
    for name, module in declared.items():
        assert getattr(sr, name) is getattr(sys.modules[module], name)
    assert set(dir(sr)) == {*sr.__all__, "__version__"}, "what users may use, and nothing else"


def test_an_unknown_name_suggests_the_near_one() -> None:
    with pytest.raises(AttributeError, match="did you mean min_plus"):
        _ = sr.min_pluss
