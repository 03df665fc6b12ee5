"""A file is there; a pattern matches, whatever it costs to find that out."""

import os
import sys
from pathlib import Path

import pytest

from planloop.state import PlanStep
from planloop.tools import CallCheck, CheckedStep, CheckResult, checks_of


def check(
    name: str, argument: str, workspace: Path | None = None, result: str = "", file: str = ""
) -> CheckResult:
    step = PlanStep(id="s1", name="write")
    given = CheckedStep(step=step, argument=argument, workspace=workspace, result=result, file=file)
    return CallCheck(checks_of()[name], given).run()


@pytest.mark.parametrize("argument", ["poem.txt", "`poem.txt`", '"poem.txt"', "poem.txt."])
def test_a_file_that_is_there_is_met(tmp_path: Path, argument: str) -> None:
    (tmp_path / "poem.txt").write_text("rivers")
    assert check("file", argument, tmp_path) == CheckResult(True, "poem.txt: 6 bytes")


@pytest.mark.parametrize("name", ["empty.txt", "gone.txt", "folder", "pipe", "my poem.txt"])
def test_a_file_that_is_empty_or_gone_or_none_is_not_met(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty.txt").touch()
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    assert check("file", name, tmp_path) == CheckResult(False, f"{name} is missing or empty")


def test_a_file_of_any_size_is_only_looked_at(tmp_path: Path) -> None:
    with (tmp_path / "huge.bin").open("wb") as file:
        file.truncate(1 << 40)
    assert check("file", "huge.bin", tmp_path) == CheckResult(True, f"huge.bin: {1 << 40} bytes")


@pytest.mark.parametrize("name", ["../secret.txt", "link.txt", "/etc/passwd", "a\0b", "", "l/l/x"])
def test_a_file_outside_the_workspace_shows_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.txt").write_text("x")
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "link.txt").symlink_to("../secret.txt")
    (tmp_path / "ws" / "l").symlink_to("l")
    assert check("file", name, tmp_path / "ws").met is None


def test_prose_in_place_of_a_file_name_shows_nothing(tmp_path: Path) -> None:
    (tmp_path / "poem.txt").write_text("rivers")
    result = check("file", "poem.txt exists and rhymes", tmp_path)
    assert result.met is None and "nothing but a name" in result.evidence


@pytest.mark.parametrize("name", ["file", "regex"])
def test_without_a_workspace_files_show_nothing(name: str) -> None:
    assert check(name, "poem.txt", file="poem.txt").met is None


def test_a_pattern_is_found_in_the_result() -> None:
    found = check("regex", r"Total: \d+", result="So:\nTotal: 15 euros")
    assert found == CheckResult(True, "the result: Total: 15")
    assert check("regex", r"`计\w`", result="计划") == CheckResult(True, "the result: 计划")
    assert check("regex", "^$") == CheckResult(True, "the result matches the pattern")
    missing = check("regex", r"Total: \d+", result="Total: none")
    assert missing == CheckResult(False, "nothing in the result matches the pattern")
    assert check("regex", r"`a`|`b`", result="a`").met is False


def test_a_pattern_is_found_in_a_declared_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xff Total: 15")
    found = check("regex", r"\d+", tmp_path, file="a.txt")
    assert found == CheckResult(True, "a.txt: 15")
    assert check("regex", "none", tmp_path, "none", "a.txt").met is False
    assert check("regex", "none", tmp_path, "none", "b.txt").evidence == "b.txt is missing or empty"
    assert check("regex", "x", tmp_path, "x", "../b.txt").met is None


def test_a_pattern_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planloop.tools.file_checks._SEARCH_SECONDS", 0.3)
    result = check("regex", "(a+)+$", result="a" * 40 + "b")
    assert result == CheckResult(None, "the pattern took more than 0.3 s")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds a process to its memory")
def test_a_pattern_that_asks_for_all_memory_gets_none() -> None:
    result = check("regex", "(?:(a)(b)?|(c))*?" * 5 + "d", result="a" * 1_000_000)
    assert result == CheckResult(None, "the pattern cannot be used: MemoryError")


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("[a", "unterminated character set"),
        ("a{99999999999999999999}", "repetition number is too large"),
        ("(?R)", "unknown extension"),
        ("", "1 to 1,000 characters"),
        ("a" * 1_001, "1 to 1,000 characters"),
    ],
)
def test_a_pattern_that_is_none_is_unknown_with_the_reason(pattern: str, told: str) -> None:
    result = check("regex", pattern, result="a")
    assert result.met is None and told in result.evidence


def test_what_is_too_large_to_search_shows_nothing(tmp_path: Path) -> None:
    (tmp_path / "huge.txt").write_text("计" * 1_000_000)
    in_file = check("regex", "x", tmp_path, file="huge.txt")
    assert in_file == CheckResult(None, "huge.txt is too large to search: 3,000,000 bytes")
    in_result = check("regex", "x", result="x" * 1_000_001)
    assert in_result.met is None and "too long to search" in in_result.evidence


def test_a_long_match_is_cut() -> None:
    result = check("regex", ".+", result="计\U0001f600" * 10_000)
    assert result.met and len(result.evidence) < 200
