"""Imports run downwards only, from one folder's `__init__` to another, light where it matters."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BELOW: dict[str, tuple[str, ...]] = {
    "state": (),
    "models": ("state",),
    "tools": ("state",),
    "nodes": ("state", "models", "tools"),
    "graphs": ("state", "models", "tools", "nodes"),
    "planloop": ("state", "models", "tools", "nodes", "graphs"),
}
NEVER = ("langchain", "langgraph.prebuilt", "langgraph_api", "langgraph_runtime_inmem")
# Slow or optional: imported where they are used, so that `import planloop` needs none of them.
LATE = ("langchain_openai", "openai", "xllamacpp", "huggingface_hub")
LATE_EXCEPT = {"models/local_chat.py": ("langchain_openai", "openai")}  # itself imported late
ONLY_IN_CLI = ("typer", "rich", "platformdirs", "click")


def sources() -> list[Path]:
    """Every Python file of the package."""
    return [path for folder in BELOW for path in sorted((ROOT / folder).rglob("*.py"))]


def imports(tree: ast.AST, late: bool = False) -> Iterator[tuple[str, bool]]:
    """Each imported name, dotted, and whether it is imported inside a function.

    `from a import b` gives `a.b`; a relative import keeps its dots.
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, late) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            dot = "." if node.module else ""
            yield from ((f"{base}{dot}{alias.name}", late) for alias in node.names)
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from imports(node, late or inside)


def is_in(name: str, packages: tuple[str, ...]) -> bool:
    """Whether a dotted name is one of the packages or within one."""
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def faults(file: str, code: str) -> list[str]:
    """What is wrong with the imports of one file, given by its path in the repository."""
    folder = file.split("/")[0]
    found = []
    for name, late in imports(ast.parse(code)):
        if name.startswith(".."):
            found.append(f"{name}: one dot at most, or the full name of another folder")
        elif is_in(name, tuple(BELOW)) and name.split(".")[0] != "planloop":
            found.append(f"{name}: a bare folder name is no package of ours")
        elif is_in(name, ("planloop",)):
            found += own_faults(folder, name)
        elif is_in(name, NEVER):
            found.append(f"{name}: never a dependency of the core")
        elif is_in(name, LATE) and not late and not is_in(name, LATE_EXCEPT.get(file, ())):
            found.append(f"{name}: import it inside the function that needs it")
        elif is_in(name, ONLY_IN_CLI) and not late and not file.startswith("planloop/cli/"):
            found.append(f"{name}: at the top of a module only in the command line")
    return found


def own_faults(folder: str, name: str) -> list[str]:
    """What is wrong with importing `planloop.…` from a folder."""
    parts = name.split(".")
    target = parts[1] if len(parts) > 1 and parts[1] in BELOW else "planloop"
    if folder == target == "planloop":  # the public modules, by their full names as users write
        return []
    if target == folder:
        return [f"{name}: one dot within a folder"]
    if target not in BELOW[folder]:
        return [f"{name}: {folder}/ lies below {target}/ or beside it"]
    if len(parts) != 3:
        return [f"{name}: from the folder's __init__, as in `from planloop.{target} import X`"]
    if (ROOT / target / f"{parts[2]}.py").is_file() and parts[2] not in exported(target):
        return [f"{name}: a module of {target}/; import what its __init__ exports"]
    return []


def exported(folder: str) -> list[str]:
    """The `__all__` of a folder."""
    for node in ast.parse((ROOT / folder / "__init__.py").read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names: list[str] = ast.literal_eval(node.value)
            return names
    return []


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_run_downwards(path: Path) -> None:
    assert faults(path.relative_to(ROOT).as_posix(), path.read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("state/plan.py", "from planloop.tools import clean"),
        ("state/plan.py", "import planloop"),
        ("state/plan.py", "from planloop import Plan"),
        ("tools/files.py", "from planloop.models import load_model"),
        ("models/load.py", "from planloop.tools import ToolRegistry"),
        ("nodes/act.py", "from planloop.graphs import create_react_graph"),
        ("nodes/act.py", "def act():\n    from planloop.graphs import create_react_graph"),
        ("graphs/react.py", "from planloop.runs import Runs"),
        ("graphs/react.py", "from planloop.state.plan import Plan"),
        ("graphs/react.py", "from planloop.state import plan"),
        ("graphs/react.py", "import planloop.state"),
        ("graphs/react.py", "from planloop.graphs import create_planner_graph"),
        ("graphs/react.py", "from ..state import Plan"),
        ("graphs/react.py", "from state import Plan"),
        ("graphs/react.py", "import tools.files"),
        ("graphs/react.py", "from langgraph.prebuilt import ToolNode"),
        ("graphs/react.py", "from langgraph import prebuilt"),
        ("graphs/react.py", "def build():\n    import langchain.agents"),
        ("planloop/runs.py", "import langgraph_api"),
        ("models/load.py", "from langchain_openai import ChatOpenAI"),
        ("models/load.py", "if True:\n    import openai"),
        ("models/local_chat.py", "import xllamacpp"),
        ("planloop/runs.py", "import typer"),
    ],
)
def test_a_wrong_import_is_seen(file: str, code: str) -> None:
    assert len(faults(file, code)) == 1


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("state/plan.py", "from .text import one_line"),
        ("graphs/react.py", "from planloop.state import Plan, Budget"),
        ("graphs/react.py", "from langchain_core.tools import BaseTool"),
        ("models/load.py", "def load():\n    from langchain_openai import ChatOpenAI"),
        ("models/local_chat.py", "from langchain_openai import ChatOpenAI"),
        ("planloop/runs.py", "from planloop.errors import WrongUse"),
        ("planloop/cli/run.py", "import typer"),
    ],
)
def test_a_right_import_is_left_alone(file: str, code: str) -> None:
    assert faults(file, code) == []
