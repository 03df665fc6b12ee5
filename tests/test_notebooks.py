"""Notebooks are committed as they are read: without outputs, and with a last cell that asserts.

That they run is tested by `pytest --nbmake notebooks`.
"""

import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def code_cells(path: Path) -> list[dict[str, Any]]:
    """The cells with code."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def source(cell: dict[str, Any]) -> str:
    """The text of a cell."""
    return "".join(cell["source"])


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_has_no_outputs(path: Path) -> None:
    for cell in code_cells(path):
        assert cell["outputs"] == []
        assert cell["execution_count"] is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_ends_with_assertions(path: Path) -> None:
    assert "assert " in source(code_cells(path)[-1])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_runs_anywhere(path: Path) -> None:
    text = path.read_text("utf-8")
    assert json.loads(text)["metadata"]["kernelspec"]["name"] == "python3"
    code = "\n".join(source(cell) for cell in code_cells(path))
    for word in ("draw_mermaid_png", "OPENAI_API_KEY", "getpass"):
        assert word not in code
