import asyncio
import os
import select
from pathlib import Path

import pytest
from langchain_core.messages import ToolCall, ToolMessage

from planloop.tools import ToolRegistry, python_tool, traits_of


def python(root: Path, code: str, *, timeout: float = 20, max_output: int = 8_000) -> ToolMessage:
    registry = ToolRegistry([python_tool(root, timeout=timeout, max_output=max_output)])
    message = registry.run(ToolCall(name="python", args={"code": code}, id="c1"))
    assert isinstance(message, ToolMessage)
    return message


def test_what_is_printed_is_seen(tmp_path: Path) -> None:
    message = python(tmp_path, "import os\nprint('计划 →', os.getcwd())")
    assert message.content == f"Exit code 0.\n计划 → {tmp_path.resolve()}"
    assert message.status == "success"


def test_silence_is_explained(tmp_path: Path) -> None:
    assert "use print()" in str(python(tmp_path, "1 + 1").content)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("1 / 0", "Exit code 1.\nTraceback (most recent call last)"),
        ("print(", "SyntaxError"),
        ("import sys; print('so far'); sys.exit(4)", "Exit code 4.\nso far"),
        ("input()", "EOFError"),
        ("x = '\udc81'; print(x == '?')", "True"),
    ],
)
def test_failures_are_told(tmp_path: Path, code: str, said: str) -> None:
    message = python(tmp_path, code)
    assert said in str(message.content)
    assert message.status == ("success" if said == "True" else "error")


def test_files_and_modules_of_the_workspace_can_be_used(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("def twice(n): return 2 * n")
    code = "import helper; open('out.txt', 'w').write('✓'); print(helper.twice(21))"
    assert python(tmp_path, code).content == "Exit code 0.\n42"
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == "✓"


def test_code_that_never_ends_is_killed_with_what_it_printed(tmp_path: Path) -> None:
    message = python(tmp_path, "print('begun')\nwhile True: pass", timeout=2)
    assert message.content == "Killed: it ran longer than 2 s.\nbegun"
    assert message.status == "error"


def test_a_flood_is_cut_but_says_how_it_ended(tmp_path: Path) -> None:
    text = str(python(tmp_path, "print('x' * 100_000 + 'end')", max_output=500).content)
    assert text.startswith("Exit code 0.\nxxx") and text.endswith("xend")
    assert "left out" in text and len(text) < 550


def test_secrets_are_not_in_its_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "hidden-value")
    assert "hidden-value" not in python(tmp_path, "import os; print(os.environ)").content


async def test_a_cancelled_call_leaves_no_process(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "held")
    reader = os.open(tmp_path / "held", os.O_RDONLY | os.O_NONBLOCK)
    poll = select.poll()
    poll.register(reader, select.POLLIN)
    code = "f = open('held', 'w')\nf.write('begun')\nf.flush()\nwhile True: pass"
    registry = ToolRegistry([python_tool(tmp_path)])
    task = asyncio.ensure_future(
        registry.arun(ToolCall(name="python", args={"code": code}, id="c1"))
    )
    assert await asyncio.to_thread(poll.poll, 30_000)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    poll.modify(reader, select.POLLHUP)
    assert await asyncio.to_thread(poll.poll, 30_000)
    os.close(reader)


def test_traits_and_hints() -> None:
    tool = python_tool()
    traits = traits_of(tool)
    assert (traits.effect, traits.sequential, traits.on_replay) == ("execute", True, "ask")
    assert tool.args["code"]["maxLength"] == 4000
