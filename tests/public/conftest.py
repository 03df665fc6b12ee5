"""The command line in this process: a data folder of its own, no key, a scripted model."""

from collections.abc import Callable
from pathlib import Path

import pytest
from cli_cast import Cast
from typer.testing import CliRunner, Result

from planloop.cli.app import app

Cli = Callable[..., Result]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder; the environment names no model."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "PLANLOOP_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PLANLOOP_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def cast(data: Path, monkeypatch: pytest.MonkeyPatch) -> Cast:
    """Who plays the model that PLANLOOP_MODEL names."""
    playing = Cast()
    monkeypatch.setenv("PLANLOOP_MODEL", "scripted:cast")
    monkeypatch.setattr("planloop.cli.model.load_model", lambda _: playing.model)
    return playing


@pytest.fixture
def cli(data: Path) -> Cli:
    """Call the command line; an error that it does not expect fails the test."""

    def call(*args: str, charset: str = "utf-8", given: str | None = None) -> Result:
        runner = CliRunner(charset=charset)
        return runner.invoke(app, list(args), input=given, catch_exceptions=False)

    return call
