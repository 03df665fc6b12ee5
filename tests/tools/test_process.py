"""Real commands; that a process is gone is seen by the end of a named pipe that it holds open."""

import os
import select
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from planloop.tools import ProcessResult, run_process

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="speaks to a POSIX shell")


def run(*argv: str, **more: Any) -> ProcessResult:
    settings: dict[str, Any] = {"cwd": Path("/"), "timeout": 20, "max_output": 1_000, **more}
    return run_process(argv, **settings)


def shell(script: str, **more: Any) -> ProcessResult:
    return run("sh", "-c", script, **more)


class Held:
    """A named pipe that ends when the last process that writes to it is gone."""

    def __init__(self, path: Path) -> None:
        self.path = path
        os.mkfifo(path)
        self.reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def wait_for(self, event: int) -> bool:
        poll = select.poll()
        poll.register(self.reader, event)
        return any(seen & event for _, seen in poll.poll(30_000))

    def is_let_go(self) -> bool:
        return self.wait_for(select.POLLHUP)


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Held]:
    pipe = Held(tmp_path / "held")
    yield pipe
    os.close(pipe.reader)


def test_both_outputs_and_the_exit_code_come_back(tmp_path: Path) -> None:
    result = shell("pwd; echo oops >&2; exit 3", cwd=tmp_path)
    assert result == ProcessResult(
        exit_code=3, output=f"{tmp_path.resolve()}\noops\n", timed_out=False, truncated=False
    )


def test_a_signal_is_a_negative_exit_code() -> None:
    assert shell("kill -9 $$").exit_code == -9


def test_no_shell_reads_the_arguments(tmp_path: Path) -> None:
    odd = "x; touch pwned $(touch pwned) `touch pwned` -rf 'a"
    assert run("printf", "%s", odd, cwd=tmp_path).output == odd
    assert os.listdir(tmp_path) == []


def test_a_program_that_is_not_there() -> None:
    result = run("no-such-program")
    assert result.exit_code == 127 and "no-such-program: No such file" in result.output


def test_input_is_what_was_given_or_nothing() -> None:
    assert run("cat", stdin=b"hello").output == "hello"
    assert run("cat").output == ""
    assert run("true", stdin=b"x" * 1_000_000).exit_code == 0


def test_a_command_that_runs_too_long_is_killed() -> None:
    result = shell("exec sleep 600", timeout=0.2)
    assert (result.exit_code, result.timed_out) == (None, True)


def test_its_whole_group_is_killed_and_what_it_wrote_is_kept(held: Held) -> None:
    children = f"sleep 600 3>{held.path} & trap '' TERM; echo hi; echo begun >{held.path}"
    result = stopped_when_begun(f"{children}; while :; do :; done", held)
    assert result == ProcessResult(exit_code=None, output="hi\n", timed_out=True, truncated=False)
    assert held.is_let_go()


def stopped_when_begun(script: str, held: Held) -> ProcessResult:
    """Run a script, and stop it from this thread once it has written to the pipe."""
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(shell, script, stop=stop, timeout=60)
        assert held.wait_for(select.POLLIN)
        stop.set()
        return running.result(30)


@pytest.mark.parametrize("silent", ["", " 2>&1"])
def test_children_left_in_the_background_are_killed(held: Held, silent: str) -> None:
    result = shell(f"sleep 600 3>{held.path} {'>/dev/null' + silent if silent else ''} & echo hi")
    assert (result.exit_code, result.output, result.timed_out) == (0, "hi\n", False)
    assert held.is_let_go()


def test_a_flood_is_kept_by_its_ends_in_little_memory() -> None:
    script = "echo first; head -c 50000000 /dev/zero | tr '\\0' x; echo; echo last"
    tracemalloc.start()
    result = shell(script)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.truncated and len(result.output) <= 1_000
    assert result.output.startswith("first\n") and result.output.endswith("last\n")
    assert "bytes left out" in result.output
    assert peak < 2_000_000


def test_odd_output_becomes_text() -> None:
    result = run("printf", "\\000a\\377\\033[31mred\\033[0m")
    assert result.output == "a\N{REPLACEMENT CHARACTER}red"
    assert not result.truncated
    assert run("printf", "é" * 1_001).truncated
    assert not run("printf", "é" * 1_000).truncated


def test_secrets_of_the_environment_are_not_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "gh_token", "DB_PASSWORD", "MY_SECRETS"):
        monkeypatch.setenv(name, "hidden-value")
    monkeypatch.setenv("HARMLESS", "1")
    result = run("env", env={"MORE": "2"}, max_output=100_000)
    assert "hidden-value" not in result.output
    lines = result.output.splitlines()
    assert {"HARMLESS=1", "MORE=2", "PYTHONUTF8=1", f"PATH={os.environ['PATH']}"} <= set(lines)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children of our death")
def test_a_command_dies_with_us(held: Held) -> None:
    code = (
        "import sys, pathlib, planloop.tools as t; t.run_process(['sh', '-c', sys.argv[1]],"
        " cwd=pathlib.Path('/'), timeout=600, max_output=100)"
    )
    script = f"echo begun >{held.path}; exec sleep 600 3>{held.path}"
    ours = subprocess.Popen([sys.executable, "-c", code, script])
    try:
        assert held.wait_for(select.POLLIN)
    finally:
        ours.kill()
        ours.wait()
    assert held.is_let_go()
