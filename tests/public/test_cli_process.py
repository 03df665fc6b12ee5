"""The command line as a process: signals, a terminal, and the demo."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import Result
from wire.stub_server import Reply, Request, StubServer, hang, text, tool_call

PLANLOOP = [sys.executable, "-m", "planloop.cli"]
# Where the tests run in the background, Ctrl-C is ignored by inheritance: here it is not.
INTERRUPTIBLE = [
    sys.executable,
    "-c",
    "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "runpy.run_module('planloop.cli', run_name='__main__', alter_sys=True)",
]
PLAN = json.dumps({"title": "T", "steps": [{"name": "one"}, {"name": "two"}]})


class Agent:
    """A served model that plans two steps; the second hangs until it is let go."""

    def __init__(self) -> None:
        self.hangs = False
        self.reached = threading.Event()
        self.steps: list[str] = []

    def __call__(self, request: Request) -> Reply:
        system = str(request.messages[0]["content"])
        task = str(request.messages[1]["content"])
        if system.startswith("You write plans"):
            return text(PLAN)
        if system.startswith("You review"):
            return text("[APPROVED]")
        if system.startswith("Write a short"):
            return text("That was all.")
        step = "s1" if "Your step (s1)" in task else "s2"
        self.steps.append(step)
        if step == "s2" and self.hangs:
            self.reached.set()
            return hang()
        if step == "s1" and "ask" in task and request.messages[-1]["role"] == "user":
            return tool_call("ask_human", '{"question": "Which colour?"}')
        return text(f"{step} is done")


@pytest.fixture
def agent() -> Agent:
    return Agent()


@pytest.fixture
def env(agent: Agent, tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of a process whose model is the agent."""
    with StubServer(agent) as server:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI", "PLANLOOP"))}
        yield kept | {"OPENAI_BASE_URL": server.base_url, "PLANLOOP_DATA_DIR": str(tmp_path)}
        server.verify()


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_keeps_the_work_and_resume_goes_on(
    agent: Agent,
    env: dict[str, str],
    ending: signal.Signals,
    cli: Callable[..., Result],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    agent.hangs = True
    command = [*INTERRUPTIBLE, "run", "do it", "--thread", "t", "--json"]
    with subprocess.Popen(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        try:
            assert agent.reached.wait(30)
            run.send_signal(ending)
            out, err = run.communicate(timeout=30)
        finally:
            run.kill()
    assert run.returncode == 130
    assert json.loads(out)["status"] == "interrupted"
    assert err.splitlines()[-1].endswith("Go on with: planloop resume t")
    assert "Traceback" not in err
    agent.hangs = False
    agent.steps.clear()
    for name in ("OPENAI_BASE_URL", "PLANLOOP_DATA_DIR"):
        monkeypatch.setenv(name, env[name])
    ended = cli("resume", "t")
    assert ended.exit_code == 0
    assert "2 of 2 steps completed" in ended.stdout
    assert agent.steps == ["s2"]


class Terminal:
    """A process at a pseudo terminal."""

    def __init__(self, command: list[str], env: dict[str, str]) -> None:
        self.ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            command, env=env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)
        self.seen = ""

    def await_text(self, wanted: str) -> None:
        """Read until this is on the screen."""
        while wanted not in self.seen:
            ready, _, _ = select.select([self.ours], [], [], 30)
            assert ready, f"no {wanted!r} in {self.seen!r}"
            try:
                self.seen += os.read(self.ours, 4_096).decode("utf-8", "replace")
            except OSError:
                pytest.fail(f"ended without {wanted!r}: {self.seen!r}")

    def type(self, line: str) -> None:
        os.write(self.ours, f"{line}\n".encode())

    def ends_with(self) -> int:
        code = self.process.wait(30)
        os.close(self.ours)
        return code


def test_at_a_terminal_the_plan_ticks_and_the_question_is_asked(
    agent: Agent, env: dict[str, str]
) -> None:
    command = [*PLANLOOP, "run", "ask me", "--thread", "t", "--approve-plan"]
    terminal = Terminal(command, env | {"TERM": "xterm", "COLUMNS": "80"})
    terminal.await_text("[a]ccept")
    terminal.type("a")
    terminal.await_text("Your answer:")
    assert "Which colour?" in terminal.seen
    assert "[→] one" in terminal.seen
    terminal.type("blue")
    terminal.await_text("Files are in")
    assert "[✓] one" in terminal.seen
    assert terminal.ends_with() == 0


def test_the_demo_ends_with_0_on_a_pipe() -> None:
    demo = subprocess.run([*PLANLOOP, "demo"], capture_output=True, text=True, timeout=120)
    assert demo.returncode == 0, demo.stderr
    assert "a script plays the model's part" in demo.stdout.splitlines()[0]
    for words in ("it will be tried again", "Answer (scripted): EUR", "SIGKILL", "resumed"):
        assert words in demo.stdout
    claims = [line for line in demo.stdout.splitlines() if line.startswith(("yes ", "NO "))]
    assert len(claims) == 6
    assert all(line.startswith("yes ") for line in claims)
    assert demo.stderr == ""
