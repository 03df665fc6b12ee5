"""Commands run only where they are allowed, and within bounds."""

import asyncio
import os
import select
import sys
from pathlib import Path

import pytest
from helpers import both_ways

from planloop.state import PlanStep, WrongUse
from planloop.tools import CallCheck, Check, CheckedStep, CheckResult, command_check

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="speaks to a POSIX shell")


def call(check: Check, command: str, workspace: Path | None) -> CallCheck:
    step = PlanStep(id="s1", name="test")
    return CallCheck(check, CheckedStep(step=step, argument=command, workspace=workspace))


def run(command: str, workspace: Path | None, *programs: str, timeout: float = 60) -> CheckResult:
    return call(command_check(*programs, timeout=timeout), command, workspace).run()


@both_ways
async def test_the_exit_code_decides_and_the_last_lines_are_evidence(
    tmp_path: Path, awaited: bool
) -> None:
    check = command_check("sh")
    for code, met in ((0, True), (1, False), (3, False)):
        called = call(check, f"sh -c 'seq 100; pwd; exit {code}'", tmp_path)
        result = await called.arun() if awaited else await asyncio.to_thread(called.run)
        lines = [*map(str, range(92, 101)), str(tmp_path.resolve())]
        assert result == CheckResult(met, "\n".join([f"exit code {code}", *lines]))


def test_python_is_this_interpreter(tmp_path: Path) -> None:
    result = run("python -c 'import sys; print(sys.executable)'", tmp_path, "python")
    assert result == CheckResult(True, f"exit code 0\n{sys.executable}")


@pytest.mark.parametrize(
    "command",
    [
        "touch {0}",
        "/bin/sh -c 'touch {0}'",
        "./sh -c 'touch {0}'",
        "SH -c 'touch {0}'",
        "X=1 sh -c 'touch {0}'",
        "'sh ' -c 'touch {0}'",
        "sh -c 'touch {0}",
        "",
    ],
)
def test_a_command_that_is_not_allowed_is_not_run(tmp_path: Path, command: str) -> None:
    effect = tmp_path / "effect"
    (tmp_path / "sh").symlink_to("/bin/sh")
    assert run("sh -c 'touch effect'", tmp_path, "sh").met and effect.exists()
    effect.unlink()
    result = run(command.format(effect), tmp_path, "sh")
    assert result.met is None and result.evidence
    assert not effect.exists()


def test_no_shell_reads_the_command(tmp_path: Path) -> None:
    result = run("echo a; touch effect && $(touch effect) > effect", tmp_path, "echo")
    assert result == CheckResult(True, "exit code 0\na; touch effect && $(touch effect) > effect")
    assert os.listdir(tmp_path) == []


def test_without_a_workspace_nothing_is_run(tmp_path: Path) -> None:
    effect = tmp_path / "effect"
    assert run(f"touch {effect}", None, "touch").met is None
    assert run(f"touch {effect}", tmp_path / "gone", "touch").met is None
    assert not effect.exists()


def test_a_program_that_is_not_there_shows_nothing(tmp_path: Path) -> None:
    assert run("no-such-program", tmp_path, "no-such-program").met is None


def test_a_command_that_hangs_is_killed_and_not_met(tmp_path: Path) -> None:
    result = run("sh -c 'echo begun; exec sleep 600'", tmp_path, "sh", timeout=0.3)
    assert result == CheckResult(False, "killed after 0.3 s\nbegun")


def test_a_flood_of_output_is_bounded(tmp_path: Path) -> None:
    script = "head -c 20000000 /dev/zero | tr '\\0' x; echo; echo last"
    result = run(f'sh -c "{script}"', tmp_path, "sh")
    assert result.met and result.evidence.endswith("last") and len(result.evidence) <= 700


async def test_a_cancelled_run_leaves_no_command_behind(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "held")
    reader = os.open(tmp_path / "held", os.O_RDONLY | os.O_NONBLOCK)
    poll = select.poll()
    poll.register(reader, select.POLLIN)
    script = "sh -c 'echo begun >held; exec sleep 600 3>held'"
    task = asyncio.create_task(call(command_check("sh"), script, tmp_path).arun())
    assert await asyncio.to_thread(poll.poll, 30_000)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    os.read(reader, 100)
    poll.modify(reader, select.POLLHUP)
    assert await asyncio.to_thread(poll.poll, 30_000)
    os.close(reader)


@pytest.mark.parametrize("programs", [[], [""], ["pytest -q"], ["sh", " "]])
def test_programs_are_words(programs: list[str]) -> None:
    with pytest.raises(WrongUse, match="each a word"):
        command_check(*programs)
