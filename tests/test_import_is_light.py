"""`import planloop` needs no key, no network and no optional package (field cases C129, C130)."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph.state import CompiledStateGraph

import planloop

ROOT = Path(__file__).parents[1]

# Optional packages are made impossible to import, and so is every connection.
CLOSED = """
import socket, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {absent}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

def refuse(*args, **options):
    raise AssertionError("somebody wants to connect")

sys.meta_path.insert(0, Absent())
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
"""
OPTIONAL = ("typer", "rich", "platformdirs", "xllamacpp", "huggingface_hub")
SLOW = ("langchain_openai", "openai", "langchain", "langgraph_api")


def run_alone(code: str, folder: Path, *, absent: tuple[str, ...] = OPTIONAL) -> Any:
    """What `code` prints as JSON, in a new interpreter without keys and settings."""
    keep = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "LANG")
    env = {key: os.environ[key] for key in keep if key in os.environ} | {"HOME": str(folder)}
    command = [sys.executable, "-W", "error", "-c", CLOSED.format(absent=absent) + code]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_importing_planloop_loads_next_to_nothing(tmp_path: Path) -> None:
    code = "import json, planloop; print(json.dumps(sorted(sys.modules)))"
    loaded = run_alone(code, tmp_path, absent=())
    heavy = (*OPTIONAL, *SLOW, "langgraph", "langchain_core", "pydantic")
    assert [name for name in heavy if name in loaded] == []


DRAW = """
import json
import planloop

values = {name: getattr(planloop, name) for name in planloop.__all__}
from planloop import create_planner_graph, create_planning_graph, create_react_graph
from planloop.testing import ScriptedModel

model = ScriptedModel()
react = create_react_graph(model, planloop.default_tools())
graphs = [react, create_planner_graph(model), create_planning_graph(model, react)]
drawn = [graph.get_graph(xray=True).draw_mermaid() for graph in graphs]
print(json.dumps({"names": sorted(values), "drawn": drawn, "modules": sorted(sys.modules)}))
"""


def test_all_names_load_and_all_graphs_are_drawn_without_key_network_or_extra(
    tmp_path: Path,
) -> None:
    found = run_alone(DRAW, tmp_path)
    assert found["names"] == sorted(planloop.__all__)
    for drawing, node in zip(found["drawn"], ("think", "generate", "verify_step"), strict=True):
        assert drawing.startswith("---") and f"{node}({node})" in drawing
    assert "subgraph run_executor" in found["drawn"][2]
    assert [name for name in SLOW if name in found["modules"]] == []


def studio_graphs() -> dict[str, str]:
    """Name and place of each graph that Studio shows."""
    entries: dict[str, str] = json.loads((ROOT / "langgraph.json").read_text("utf-8"))["graphs"]
    return entries


def test_studio_shows_the_three_graphs_by_dotted_names() -> None:
    assert sorted(studio_graphs()) == ["planner", "planning", "react"]
    assert all("/" not in place and "." in place for place in studio_graphs().values())


@pytest.mark.parametrize("name", studio_graphs())
def test_a_studio_graph_is_compiled_without_a_saver(name: str) -> None:
    module, _, attribute = studio_graphs()[name].partition(":")
    graph = getattr(importlib.import_module(module), attribute)
    assert isinstance(graph, CompiledStateGraph)
    assert graph.checkpointer is None
    assert graph.get_graph(xray=True).draw_mermaid()


@pytest.mark.parametrize("name", studio_graphs())
def test_a_studio_graph_tells_its_schemas(name: str) -> None:
    module, _, attribute = studio_graphs()[name].partition(":")
    graph = getattr(importlib.import_module(module), attribute)
    assert graph.get_input_jsonschema()["properties"]
    assert graph.get_output_jsonschema()["properties"]
    assert graph.get_context_jsonschema()["properties"]


def test_a_missing_key_is_told_when_the_model_is_first_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "PLANLOOP_MODEL"):
        monkeypatch.delenv(name, raising=False)
    graph = planloop.create_react_graph("openai:gpt-5-mini")
    outcome = graph.invoke({"request": "hello"})["outcome"]
    assert outcome["reason"] == "error"
    assert "OPENAI_API_KEY" in outcome["detail"]
    assert "\n" not in outcome["detail"]
