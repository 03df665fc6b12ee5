import os
from pathlib import Path

import pytest
from langchain_core.tools import ToolException
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from planloop.state import RunContext, WorkspaceError
from planloop.tools import current_workspace, open_workspace, resolve_inside


def test_a_workspace_is_made_with_its_parents(tmp_path: Path) -> None:
    assert open_workspace(str(tmp_path / "a" / "b")) == (tmp_path / "a" / "b").resolve()
    assert (tmp_path / "a" / "b").is_dir()
    assert open_workspace(tmp_path) == tmp_path.resolve()


@pytest.mark.parametrize("path", ["file", "file/below", "a\0b"])
def test_a_workspace_that_cannot_be_made(tmp_path: Path, path: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WorkspaceError, match=r"name a(nother)? folder"):
        open_workspace(f"{tmp_path}/{path}")


@pytest.mark.parametrize(("right", "verb"), [(os.R_OK, "read"), (os.W_OK, "written")])
def test_a_workspace_without_permissions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, right: int, verb: str
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & right)
    with pytest.raises(WorkspaceError, match=f"cannot be {verb}"):
        open_workspace(tmp_path)


@pytest.mark.parametrize(
    "path",
    ["a.txt", "./a.txt", "sub/../a.txt", "..data", "a..b", "...", "a/./b", ".hidden", "计划"],
)
def test_paths_inside_are_resolved(tmp_path: Path, path: str) -> None:
    assert resolve_inside(tmp_path, path) == Path(os.path.realpath(tmp_path / path))


def test_the_workspace_itself_is_inside_also_by_its_full_name(tmp_path: Path) -> None:
    assert resolve_inside(tmp_path, ".") == tmp_path.resolve()
    assert resolve_inside(tmp_path, f"{tmp_path}/a.txt") == tmp_path.resolve() / "a.txt"


def test_links_that_stay_inside_are_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert resolve_inside(tmp_path, "link/a") == tmp_path.resolve() / "real" / "a"


def test_a_workspace_behind_a_link_is_one_folder(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "ws").symlink_to("real")
    assert resolve_inside(tmp_path / "ws", "a") == tmp_path.resolve() / "real" / "a"


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "../ws-evil/a",
        "sub/../../a",
        "/etc/passwd",
        "/",
        "out/secret",
        "chain/secret",
        "circle/a",
        "~/.ssh/id",
        "~root",
        "C:\\Windows\\x",
        "C:/Windows/x",
        "..\\x",
        "a\0b",
        "",
        "  ",
    ],
)
def test_paths_that_lead_out_are_refused(tmp_path: Path, path: str) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (tmp_path / "ws-evil").mkdir()
    (root / "out").symlink_to(tmp_path / "ws-evil")
    (root / "chain").symlink_to("out")
    (root / "circle").symlink_to("circle")
    with pytest.raises(ToolException, match="relative to the workspace"):
        resolve_inside(root, path)
    if not path.startswith("~"):
        return
    with pytest.raises(ToolException):
        resolve_inside(Path.home(), path)


def test_a_look_alike_of_the_workspaces_name_is_outside(tmp_path: Path) -> None:
    with pytest.raises(ToolException, match="outside"):
        resolve_inside(tmp_path / "ws", f"{tmp_path}/ws-evil/a")


class Found(TypedDict, total=False):
    path: str


def ask_inside_a_graph(default: Path | None, context: RunContext | None) -> str:
    def look(state: Found) -> Found:
        return {"path": str(current_workspace(default))}

    graph = StateGraph(Found, context_schema=RunContext).add_node("look", look)
    result = graph.add_edge(START, "look").compile().invoke({}, context=context)
    return str(result["path"])


def test_the_runs_context_wins_over_the_default(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    context = RunContext(workspace=str(theirs))
    assert ask_inside_a_graph(ours, context) == str(theirs.resolve())
    assert ask_inside_a_graph(ours, RunContext()) == str(ours.resolve())
    assert ask_inside_a_graph(ours, None) == str(ours.resolve())


def test_without_a_workspace_the_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(ToolException, match="no workspace"):
        current_workspace(None)
    (tmp_path / "file").touch()
    with pytest.raises(ToolException, match="is a file"):
        current_workspace(tmp_path / "file")
