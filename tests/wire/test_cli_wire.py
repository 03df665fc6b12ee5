"""`planloop run` as a process of its own, against a server, at a terminal of its own."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from wire.stub_server import Reply, StubServer, text, tool_call

REQUEST = "Note the weather and fetch the archive"
DRAFT = {
    "title": "Weather",
    "steps": [
        {"name": "Write notes", "expected_outputs": ["notes.txt"]},
        {"name": "Fetch the archive"},
    ],
}
AGAIN = {"root_cause": "The host is gone.", "steps": [{"name": "Fetch the mirror"}]}
BOAST = "All steps were completed successfully."


def reply(request: Any) -> Reply:
    """Play everybody: the first step can be done, no other can."""
    messages = request.body["messages"]
    system, task = str(messages[0]["content"]), str(messages[1]["content"])
    if system.startswith("You write plans"):
        return text(json.dumps(DRAFT))
    if system.startswith("A plan has met"):
        return text(json.dumps(AGAIN))
    if system.startswith("You review"):
        return text('{"approved": true}')
    if system.startswith("Write a short"):
        return text(BOAST)
    if "Your step (s1)" not in task:
        failure = {"status": "failure", "summary": "The host does not answer."}
        return tool_call("terminate", json.dumps(failure))
    if messages[-1]["role"] == "tool":
        return text("I wrote notes.txt.")
    return tool_call("write_file", json.dumps({"path": "notes.txt", "content": "sunny"}))


def command(*options: str) -> list[str]:
    run = [sys.executable, "-m", "planloop.cli", "run", REQUEST, "--model", "openai:stub-model"]
    return [*run, "--thread", "t", *options]


def environment(folder: Path, server: StubServer, **more: str) -> dict[str, str]:
    own = {
        "OPENAI_BASE_URL": server.base_url,
        "OPENAI_API_KEY": "x",
        "PLANLOOP_DATA_DIR": str(folder),
        "COLUMNS": "200",
    }
    kept = {k: v for k, v in os.environ.items() if k not in ("VISUAL", "EDITOR")}
    return {**kept, **own, **more}


def report_of(folder: Path) -> dict[str, Any]:
    (file,) = folder.glob("workspaces/t.plan_*.report.json")
    found = json.loads(file.read_text("utf-8"))
    return dict(found.get("report", found))


def check_end(code: int, shown: str, folder: Path) -> None:
    assert code == 1
    assert "Plan partly completed: 1 of 2 steps completed, 1 blocked." in shown
    assert BOAST not in shown.split("Warning:")[0]
    report = report_of(folder)
    assert report["outcome"] == "partial" and report["replans"] == 1
    assert report["root_causes"] == ["The host is gone."]
    assert [(s["name"], s["attempts"]) for s in report["steps"]] == [
        ("Write notes", 1), ("Fetch the mirror", 2),
    ]  # fmt: skip


def test_a_step_that_cannot_succeed_ends_with_1_and_a_true_report(tmp_path: Path) -> None:
    with StubServer(reply) as server:
        env = environment(tmp_path, server)
        ran = subprocess.run(command(), env=env, capture_output=True, text=True, timeout=120)
    assert "it will be tried again" in ran.stderr and "planned anew" in ran.stderr
    check_end(ran.returncode, ran.stdout, tmp_path)


def test_the_plan_is_edited_by_hand_and_shown_again_when_it_was_made_anew(tmp_path: Path) -> None:
    with StubServer(reply) as server:
        env = environment(tmp_path, server, EDITOR="sed -i s/archive/archives/", TERM="xterm")
        code, shown = at_a_terminal(command("--approve-plan"), env, ["e", "accept"])
    assert "The plan was made anew: s2: " in shown
    assert "- s2 Fetch the archives" in shown and "+ s3 Fetch the mirror" in shown
    check_end(code, shown, tmp_path)
    assert report_of(tmp_path)["replaced"][0]["name"] == "Fetch the archives"


def at_a_terminal(argv: list[str], env: dict[str, str], answers: list[str]) -> tuple[int, str]:
    """Run a command at a terminal and answer each prompt: its exit code and what it showed."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(argv, env=env, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown, left = "", list(answers)
    while part := _read(ours):
        shown += part
        if left and shown.count("ancel the run: ") > len(answers) - len(left):
            os.write(ours, f"{left.pop(0)}\n".encode())
    os.close(ours)
    return process.wait(60), re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)


def _read(terminal: int) -> str:
    try:
        return os.read(terminal, 65_536).decode("utf-8", "replace")
    except OSError:  # the other side has closed it
        return ""
