"""What needs no run: the graphs, the models, the version."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from planloop import __version__
from planloop.state import PHASES

Cli = Callable[..., Result]


def test_the_version_is_printed(cli: Cli) -> None:
    assert cli("--version").stdout == f"planloop {__version__}\n"


@pytest.mark.parametrize(
    ("name", "nodes"),
    [
        ("react", ["think(think)", "act(act)", "approve(approve)"]),
        ("planner", ["generate(generate)", "reflect(reflect)"]),
        ("planning", ["select_step(select_step)", "run_executor\\3athink(think)"]),
    ],
)
def test_a_graph_is_drawn_as_mermaid_with_what_is_inside(
    cli: Cli, name: str, nodes: list[str]
) -> None:
    drawn = cli("graph", name)
    assert drawn.exit_code == 0
    assert "graph TD;" in drawn.stdout
    for node in nodes:
        assert node in drawn.stdout


def test_the_lifecycle_is_drawn_with_every_phase(cli: Cli) -> None:
    drawn = cli("graph", "--lifecycle").stdout
    assert drawn.startswith("stateDiagram-v2")
    assert all(phase in drawn for phase in PHASES)
    assert cli("graph", "react", "--lifecycle").exit_code == 2


def test_a_graph_is_drawn_as_text_where_grandalf_is(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "langchain_core.runnables.graph_ascii", None)
    missing = cli("graph", "react", "--ascii")
    assert missing.exit_code == 2
    assert missing.stderr == "Error: Drawing with --ascii needs grandalf: pip install grandalf.\n"


def test_models_are_listed_with_size_licence_and_whether_they_are_here(
    cli: Cli, data: Path
) -> None:
    (data / "models").mkdir(parents=True)
    (data / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf").touch()
    lines = cli("models").stdout.splitlines()
    assert len(lines) == 3
    assert lines[-1].split()[:4] == ["smollm2-135m", "installed", "93", "MB"]
    assert all("Apache-2.0" in line for line in lines)
    assert "not fetched" in lines[0]


def test_a_model_is_fetched_by_name(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(name: str, *, progress: Callable[[int, int], None]) -> Path:
        progress(10, 93)
        return Path("models") / f"{name}.gguf"

    monkeypatch.setattr("planloop.models.local_fetch.fetch", fetch)
    result = cli("models", "fetch", "smollm2-135m")
    assert result.exit_code == 0
    assert "--model local:smollm2-135m" in result.stdout
    assert "93 MB" in result.stderr


def test_an_unknown_model_cannot_be_fetched(cli: Cli) -> None:
    result = cli("models", "fetch", "hal")
    assert result.exit_code == 2
    assert "choose one of" in result.stderr


def test_where_no_weights_are_run_fetches_them_and_says_what_they_are_worth(
    cli: Cli, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cli_cast import Cast

    def fetch_default(say: Callable[[str], None], progress: Any) -> None:
        say("Fetching smollm2-135m (93 MB, once).")
        (data / "models").mkdir(parents=True)
        (data / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf").touch()

    monkeypatch.setattr("planloop.models.local_fetch.fetch_default", fetch_default)
    monkeypatch.setattr("planloop.cli.model.load_model", lambda _: Cast().model)
    result = cli("run", "do both", "--model", "local:")
    assert result.exit_code == 0
    told = result.stderr
    for words in ("93 MB", "Model local:smollm2-135m", "plans are childish", "not the quality"):
        assert words in told


@pytest.mark.parametrize("name", ["react", "planner", "planning"])
def test_every_graph_can_be_drawn_in_characters(cli: Callable[..., Result], name: str) -> None:
    drawn = cli("graph", name, "--ascii")
    assert drawn.exit_code == 0
    assert "__start__" in drawn.stdout
    if name == "react":
        assert "think ..> think" in drawn.stdout
