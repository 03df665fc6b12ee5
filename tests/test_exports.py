"""The public names: complete, sorted, and the same in all the places that list them."""

import ast
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import planloop
import planloop.errors
import planloop.testing

# What users may rely on. Names may be added; none of these may go.
PROMISED = """
    create_react_graph create_planner_graph create_planning_graph Executor
    Plan PlanStep PlanDraft PlanReport StepBrief Outcome TRANSITIONS
    ToolRegistry ToolPolicy tool_traits Budget MemoryPolicy
    Runs open_saver serde_for load_model
""".split()  # noqa: SIM905  # as it is imported

# The parameters that callers write; `...` stands for no default.
PARAMETERS: dict[str, dict[str, Any]] = {
    "create_react_graph": {
        "model": ...,
        "tools": (),
        "name": "react",
        "description": "",
        "prompt": None,
        "tool_choice": "auto",
        "budget": planloop.Budget(),
        "memory": planloop.MemoryPolicy(),
        "policy": None,
        "checkpointer": None,
        "store": None,
    },
    "create_planner_graph": {
        "model": ...,
        "max_reflections": 1,
        "max_plan_steps": 20,
        "executors": None,
        "reviewer": None,
        "checkpointer": None,
    },
    "create_planning_graph": {
        "model": ...,
        "executors": ...,
        "default_executor": None,
        "planner": "reflect",
        "max_reflections": 1,
        "approve_plan": False,
        "verify": True,
        "max_attempts": 2,
        "max_replans": 1,
        "stop_on_blocked": False,
        "max_parallel_steps": 1,
        "max_plan_steps": 50,
        "strict_tags": False,
        "budget": planloop.Budget(steps=None),
        "checkpointer": None,
        "store": None,
    },
}

FOLDERS = ("state", "models", "tools", "nodes", "graphs")


def as_ruff_sorts(names: list[str]) -> list[str]:
    """CONSTANTS, then Classes, then functions; numbers within names by value."""

    def key(name: str) -> tuple[int, list[tuple[int, str]]]:
        kind = 0 if name.isupper() else 1 if name[0].isupper() else 2
        parts = re.findall(r"\d+|\D+", name)
        return kind, [(int(part), "") if part.isdigit() else (-1, part) for part in parts]

    return sorted(names, key=key)


def type_checked_names() -> set[str]:
    """What `planloop/__init__.py` imports for type checkers."""
    tree = ast.parse(Path(str(planloop.__file__)).read_text("utf-8"))
    blocks = [n for n in tree.body if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.dump(n.test)]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.name for node in imports for alias in node.names}


def test_every_promised_name_is_there() -> None:
    assert set(PROMISED) <= set(planloop.__all__)


def test_the_list_of_names_is_sorted_and_without_repeats() -> None:
    assert planloop.__all__ == as_ruff_sorts(list(set(planloop.__all__)))


def test_the_list_the_lazy_table_and_the_type_checkers_imports_agree() -> None:
    assert set(planloop.__all__) == set(planloop._HOMES) == type_checked_names()


@pytest.mark.parametrize("name", planloop.__all__)
def test_a_name_is_the_one_of_its_home(name: str) -> None:
    home = importlib.import_module(planloop._HOMES[name])
    assert getattr(planloop, name) is getattr(home, name)
    assert name in dir(planloop)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        planloop.nothing  # noqa: B018  # reading it is the test


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_exports_what_it_lists(folder: str) -> None:
    module = importlib.import_module(f"planloop.{folder}")
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
    assert module.__all__ == as_ruff_sorts(list(set(module.__all__)))


def test_the_errors_are_those_of_the_tree() -> None:
    root = planloop.errors.PlanloopError
    found = {
        name
        for name, value in vars(importlib.import_module("planloop.state.errors")).items()
        if isinstance(value, type) and issubclass(value, root) and not name.startswith("_")
    }
    assert set(planloop.errors.__all__) == found


def test_the_testing_module_has_the_scripted_model() -> None:
    assert "ScriptedModel" in planloop.testing.__all__


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_factory_takes_what_was_promised(name: str) -> None:
    found = inspect.signature(getattr(planloop, name)).parameters
    for parameter, default in PARAMETERS[name].items():
        assert parameter in found
        assert default is ... or found[parameter].default == default
    positional = [p for p in found.values() if p.kind is not p.KEYWORD_ONLY]
    assert len(positional) <= 2, "new parameters are keyword-only"
