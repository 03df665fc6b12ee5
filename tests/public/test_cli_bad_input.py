"""What cannot be done ends with 2, one sentence on stderr, and nothing on stdout."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_cast import Cast
from typer.testing import Result

from planloop.testing import call

Cli = Callable[..., Result]


def refused(result: Result, *words: str) -> None:
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.splitlines()[-1].startswith("Error: ")
    assert "Traceback" not in result.stderr
    for word in words:
        assert word in result.stderr


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_request(cli: Cli, cast: Cast, text: str) -> None:
    refused(cli("run", text), "The request is empty")
    refused(cli("plan", text), "The request is empty")


def test_no_model(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planloop.models.load._has_engine", lambda: False)
    refused(cli("run", "x"), "There is no model to use", "OPENAI_API_KEY", "PLANLOOP_MODEL")
    refused(cli("plan", "x"), "There is no model to use")


def test_an_unknown_provider(cli: Cli) -> None:
    refused(cli("run", "x", "--model", "hal:9000"), "'hal:9000' names no model")


def test_local_weights_that_are_not_there(cli: Cli) -> None:
    refused(cli("run", "x", "--model", "local:qwen2.5-coder-0.5b"), "planloop models fetch")


def test_a_server_that_is_not_there(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    refused(cli("run", "x"), "does not list its models")


def test_a_workspace_that_is_a_file(cli: Cli, cast: Cast, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused(cli("run", "x", "--workspace", str(tmp_path / "file")), "is a file: name a folder")


def test_a_corrupt_database(cli: Cli, cast: Cast, tmp_path: Path) -> None:
    (tmp_path / "runs.db").write_bytes(b"no database at all" * 100)
    for verb in (["run", "x"], ["show", "t"], ["runs"]):
        refused(cli(*verb, "--db", str(tmp_path / "runs.db")), "is damaged or no database")


def test_a_locked_database(
    cli: Cli, cast: Cast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = str(tmp_path / "runs.db")
    assert cli("run", "x", "--db", file).exit_code == 0
    monkeypatch.setattr("planloop.sqlite_saver.BUSY_SECONDS", 0.01)
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    refused(cli("run", "x", "--db", file), "is locked by another process")
    holder.close()


def test_a_database_that_cannot_be(cli: Cli, cast: Cast, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused(cli("run", "x", "--db", str(tmp_path / "file" / "runs.db")), "cannot be opened")
    refused(cli("run", "x", "--db", "mysql://here"), "is no place for runs")


def test_an_unknown_thread(cli: Cli, cast: Cast) -> None:
    refused(cli("show", "t"), "No runs are saved")
    cli("run", "x", "--thread", "known")
    for verb in (["show", "t"], ["resume", "t"], ["answer", "t", "yes"]):
        refused(cli(*verb), "Thread 't' is unknown")


def test_a_thread_id_that_leads_elsewhere(cli: Cli, cast: Cast) -> None:
    refused(cli("run", "x", "--thread", "../t"), "cannot be a thread id")


def test_new_work_for_an_unfinished_thread(cli: Cli, cast: Cast) -> None:
    cast.steps["s1"] = [call("ask_human", question="Which?")]
    cli("run", "x", "--thread", "t")
    refused(cli("run", "y", "--thread", "t"), "`planloop resume t` goes on with it")


def test_a_finished_thread_cannot_go_on(cli: Cli, cast: Cast) -> None:
    cli("run", "x", "--thread", "t")
    refused(cli("resume", "t"), "has ended: start a new run, or give it a further request")
    refused(cli("answer", "t", "yes"), "waits for no answer")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "Give an answer, --yes or --no"),
        (["blue", "--yes"], "either an answer or --yes"),
        (["blue", "--id", "nobody"], "has no question nobody"),
    ],
)
def test_an_answer_that_is_none(cli: Cli, cast: Cast, words: list[str], told: str) -> None:
    cast.steps["s1"] = [call("ask_human", question="Which?")]
    cli("run", "x", "--thread", "t")
    refused(cli("answer", "t", *words), told)


@pytest.mark.parametrize(
    "words", [["fly"], ["run"], ["run", "x", "--max-attempts", "0"], ["graph", "moon"]]
)
def test_wrong_use_of_the_command_line(cli: Cli, words: list[str]) -> None:
    result = cli(*words)
    assert (result.exit_code, result.stdout) == (2, "")


def test_the_missing_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from planloop.cli import __main__

    monkeypatch.setattr(__main__, "NEEDED", ("typer", "a_package_that_is_not_there"))
    with pytest.raises(SystemExit) as ended:
        __main__.main()
    assert ended.value.code == 2
    assert "pip install 'planloop[cli]'" in capsys.readouterr().err
