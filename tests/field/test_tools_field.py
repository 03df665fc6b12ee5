"""Failures from public bug reports that a registry of tools must survive, by their case id."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from pydantic import BaseModel, ValidationError
from typing_extensions import TypedDict

from planloop.state import RunContext, ToolSetupError
from planloop.tools import ToolRegistry, ask_human, file_tools, python_tool, tool_traits

Run = Callable[[ToolRegistry, ToolCall], ToolMessage]


def run_sync(registry: ToolRegistry, call: ToolCall) -> ToolMessage:
    message = registry.run(call)
    assert isinstance(message, ToolMessage)
    return message


def run_async(registry: ToolRegistry, call: ToolCall) -> ToolMessage:
    message = asyncio.run(registry.arun(call))
    assert isinstance(message, ToolMessage)
    return message


both_ways = pytest.mark.parametrize("run", [run_sync, run_async])


def call(name: str, args: Any = None, id: str | None = "c1") -> ToolCall:
    return ToolCall(name=name, args={} if args is None else args, id=id)


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def write(path: str) -> str:
    """Write."""
    return path


def list_files() -> str:
    """List."""
    return "a.txt"


@both_ways
@pytest.mark.parametrize(
    "args", ['{"a": 1, "b": 2}', '"{\\"a\\": 1, \\"b\\": 2}"', {"a": 1, "b": 2}, {"a": "1", "b": 2}]
)
def test_c07_c08_arguments_encoded_twice_once_or_not_at_all(run: Run, args: Any) -> None:
    assert run(ToolRegistry([add]), call("add", args)).content == "3"


@both_ways
@pytest.mark.parametrize("args", ["[1]", [1], "{broken", 7])
def test_c07_arguments_that_are_no_object_are_answered(run: Run, args: Any) -> None:
    message = run(ToolRegistry([add]), call("add", args))
    assert message.status == "error"
    assert "must be one JSON object" in str(message.content)


@both_ways
@pytest.mark.parametrize("args", ["", "null", None, "{}"])
def test_c09_a_call_without_arguments(run: Run, args: Any) -> None:
    registry = ToolRegistry([list_files, add])
    request = ToolCall(name="list_files", args=args, id="c1")
    assert run(registry, request).content == "a.txt"
    message = run(registry, ToolCall(name="add", args=args, id="c1"))
    assert "a: required, but missing; b: required, but missing" in str(message.content)


@both_ways
@pytest.mark.parametrize("name", ["Web_Search ", "functions.web_search", "web_searc", "parallel"])
def test_c17_a_wrong_name_is_never_guessed(run: Run, name: str) -> None:
    ran: list[str] = []

    def web_search(q: str) -> None:
        """Search."""
        ran.append(q)

    message = run(ToolRegistry([web_search]), call(name, {"q": "x"}))
    assert message.status == "error" and not ran
    assert str(message.content) == (
        f'There is no tool named "{name.strip()}". Valid names: web_search.'
    )


@both_ways
def test_c17_white_space_around_a_name_is_forgiven(run: Run) -> None:
    message = run(ToolRegistry([add]), call(" add\n", {"a": 1, "b": 2}))
    assert (message.content, message.name) == ("3", "add")


@both_ways
@pytest.mark.parametrize("id", [None, ""])
def test_c19_a_call_without_an_id_runs_once(run: Run, id: str | None) -> None:
    ran: list[int] = []

    def note() -> None:
        """Note."""
        ran.append(1)

    message = run(ToolRegistry([note]), call("note", id=id))
    assert message.tool_call_id == "" and ran == [1]


@both_ways
def test_c20_calls_of_one_id_are_both_run(run: Run) -> None:
    registry = ToolRegistry([write])
    answers = [run(registry, call("write", {"path": path}, id="x")) for path in ("a", "b")]
    assert [answer.content for answer in answers] == ["a", "b"]


@both_ways
@pytest.mark.parametrize(
    ("name", "args", "said"),
    [
        ("add", {"a": 1, "b": 2, "unit": "m"}, "3"),
        ("add", {"a": "x", "b": 2}, "a: Input should be a valid integer"),
        ("add", {"a": 1}, "b: required, but missing"),
        ("write", {"path": None}, "path: Input should be a valid string (got None)"),
    ],
)
def test_c31_surplus_and_wrong_arguments(run: Run, name: str, args: Any, said: str) -> None:
    message = run(ToolRegistry([add, write]), call(name, args))
    assert said in str(message.content)
    assert message.status == ("success" if said == "3" else "error")
    assert "Traceback" not in str(message.content)


@both_ways
def test_c68_c120_a_huge_result_is_cut_in_the_middle(run: Run) -> None:
    def flood() -> str:
        """Flood."""
        return "begin" + "x" * 50_000_000 + "end"

    content = str(run(ToolRegistry([flood]), call("flood")).content)
    assert content.startswith("begin") and content.endswith("end")
    assert len(content) <= 8_000 and "characters left out" in content


class Pause(TypedDict, total=False):
    said: str


@pytest.mark.parametrize("timeout", [None, 30.0])
@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("answer", ["go", False, ""])
def test_c83_an_interrupt_in_a_tool_pauses_the_graph(
    timeout: float | None, asynchronous: bool, answer: object
) -> None:
    @tool_traits(effect="read", timeout=timeout)
    @tool
    def confirm() -> str:
        """Ask."""
        return f"{interrupt('ok?')!r}"

    registry = ToolRegistry([confirm])

    def act(state: Pause) -> Pause:
        return {"said": str(run_sync(registry, call("confirm")).content)}

    async def aact(state: Pause) -> Pause:
        message = await registry.arun(call("confirm"))
        assert isinstance(message, ToolMessage)
        return {"said": str(message.content)}

    async def main() -> None:
        node: Any = aact if asynchronous else act
        graph = StateGraph(Pause).add_node("act", node).add_edge(START, "act")
        app = graph.compile(checkpointer=InMemorySaver())
        config: Any = {"configurable": {"thread_id": "1"}}
        paused = await app.ainvoke({}, config)
        assert [pending.value for pending in paused["__interrupt__"]] == ["ok?"]
        assert (await app.ainvoke(Command(resume=answer), config))["said"] == repr(answer)

    asyncio.run(main())


def test_c83_a_refused_answer_keeps_the_question_open() -> None:
    class Verdict(BaseModel):
        approve: bool

    @tool
    def confirm() -> str:
        """Ask."""
        return str(interrupt("ok?", response_schema=Verdict).approve)

    registry = ToolRegistry([confirm])

    def act(state: Pause) -> Pause:
        return {"said": str(run_sync(registry, call("confirm")).content)}

    graph = StateGraph(Pause).add_node("act", act).add_edge(START, "act")
    app = graph.compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    app.invoke({}, config)
    with pytest.raises(ValidationError):
        app.invoke(Command(resume={"approve": "perhaps"}), config)
    assert app.invoke(Command(resume={"approve": True}), config)["said"] == "True"


@both_ways
@pytest.mark.parametrize(
    ("value", "said"),
    [
        (SimpleNamespace(rows=1), "namespace(rows=1)"),
        (ValueError("as a value"), "as a value"),
        (threading, "<module 'threading'"),
        ((number for number in [1]), "<generator object"),
        (threading.Lock(), "lock"),
    ],
)
def test_c99_what_cannot_be_saved_becomes_text(run: Run, value: object, said: str) -> None:
    def produce() -> object:
        """Produce."""
        return value

    message = run(ToolRegistry([produce]), call("produce"))
    assert said in str(message.content) and message.status == "success"


async def test_c106_a_blocking_tool_does_not_block_the_loop() -> None:
    # The two tools meet each other and then the loop: if one blocked it, nobody would come.
    barrier = threading.Barrier(3)

    def block() -> str:
        """Block."""
        barrier.wait(10)
        return "met"

    registry = ToolRegistry([block])
    calls = [asyncio.ensure_future(registry.arun(call("block"))) for _ in range(2)]
    await asyncio.to_thread(barrier.wait, 10)
    answers = await asyncio.gather(*calls)
    assert [answer.content for answer in answers if isinstance(answer, ToolMessage)] == ["met"] * 2


async def test_c107_siblings_of_a_failed_call_deliver_in_order() -> None:
    gate = asyncio.Event()

    @tool
    async def slow() -> str:
        """Wait for the others."""
        await gate.wait()
        return "slow"

    @tool
    async def boom() -> None:
        """Fail."""
        gate.set()
        raise RuntimeError("no")

    registry = ToolRegistry([slow, boom, list_files])
    names = ["slow", "boom", "list_files"]
    answers: list[Any] = await asyncio.gather(*(registry.arun(call(name)) for name in names))
    assert [answer.content for answer in answers] == ["slow", "RuntimeError: no", "a.txt"]
    assert [answer.status for answer in answers] == ["success", "error", "success"]
    assert asyncio.all_tasks() == {asyncio.current_task()}


@both_ways
def test_c108_a_tool_that_cancels_itself_has_failed(run: Run) -> None:
    def cancel() -> None:
        """Cancel."""
        raise asyncio.CancelledError

    async def acancel() -> None:
        """Cancel."""
        raise asyncio.CancelledError

    made = StructuredTool.from_function(func=cancel, coroutine=acancel)
    message = run(ToolRegistry([made]), call("cancel"))
    assert (message.status, message.content) == (
        "error",
        "The tool cancelled itself and gave no result.",
    )


@both_ways
def test_c109_a_late_result_is_discarded(run: Run) -> None:
    release, ended = threading.Event(), threading.Event()

    @tool_traits(effect="read", timeout=0.05)
    @tool
    def slow() -> str:
        """Take long."""
        release.wait(10)
        ended.set()
        return "late"

    message = run(ToolRegistry([slow]), call("slow"))
    assert message.status == "error"
    assert "timed out after 0.05 s; it may still be running" in str(message.content)
    before = message.model_dump()
    release.set()
    assert ended.wait(10)
    assert message.model_dump() == before


ESCAPES = [
    "../../etc/passwd",
    "/etc/passwd",
    "link/secret",
    "~/.ssh/id",
    "C:\\Windows\\x",
    "a\x00b",
    "../ws-evil/secret",
]


@both_ways
@pytest.mark.parametrize("path", ESCAPES)
def test_c115_c117_paths_out_of_the_workspace_are_refused_with_a_reason(
    run: Run, path: str, tmp_path: Path
) -> None:
    root, evil = tmp_path / "ws", tmp_path / "ws-evil"
    root.mkdir()
    evil.mkdir()
    (evil / "secret").write_text("hidden-value")
    (root / "link").symlink_to(evil)
    registry = ToolRegistry(file_tools(root))
    before = sorted(tmp_path.rglob("*"))
    for name, args in (
        ("read_file", {"path": path}),
        ("list_files", {"path": path}),
        ("write_file", {"path": path, "content": "x"}),
    ):
        message = run(registry, call(name, args))
        assert message.status == "error"
        assert "relative to the workspace" in str(message.content)
        assert "hidden-value" not in str(message.content) and "\0" not in str(message.content)
    assert sorted(tmp_path.rglob("*")) == before
    assert (evil / "secret").read_text() == "hidden-value"


@both_ways
@pytest.mark.parametrize("path", ["x; rm -rf .", "-rf", "$(touch pwned)"])
def test_c118_odd_names_are_names(run: Run, path: str, tmp_path: Path) -> None:
    root = tmp_path / "my dir; touch pwned"
    registry = ToolRegistry(file_tools(root))
    run(registry, call("write_file", {"path": path, "content": "kept"}))
    assert run(registry, call("read_file", {"path": path})).content == "kept"
    assert [entry.name for entry in root.iterdir()] == [path]
    assert not list(tmp_path.glob("**/pwned"))


@both_ways
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import time; print('hi'); time.sleep(600)", "Killed: it ran longer than 0.4 s.\n"),
        (
            "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('hi')\n"
            "while True: time.sleep(600)",
            "Killed: it ran longer than 0.4 s.\n",
        ),
        (
            "import subprocess; subprocess.Popen(['sleep', '600']); print('hi')",
            "Exit code 0.\nhi",
        ),
        ("print(repr(__import__('sys').stdin.read()))", "Exit code 0.\n''"),
    ],
    ids=["hangs", "ignores-sigterm", "leaves-a-child", "waits-for-input"],
)
def test_c119_a_command_ends_in_time_with_its_output(
    run: Run, code: str, said: str, tmp_path: Path
) -> None:
    # A command that should end by itself gets the time to start on a busy machine.
    timeout = 0.4 if said.startswith("Killed") else 30.0
    registry = ToolRegistry([python_tool(tmp_path, timeout=timeout)])
    content = str(run(registry, call("python", {"code": code})).content)
    # How far a killed one came in so short a time depends on the machine.
    assert content.startswith(said) if timeout < 1 else content == said


@both_ways
@pytest.mark.parametrize(
    ("value", "said"),
    [
        (b"\x00\xff", "\N{REPLACEMENT CHARACTER}"),
        ("a\x00b", "ab"),
        ("\udc81", "\N{REPLACEMENT CHARACTER}"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        (None, "(no output)"),
        ("", "(no output)"),
    ],
)
def test_c120_odd_output_becomes_text(run: Run, value: object, said: str) -> None:
    def produce() -> object:
        """Produce."""
        return value

    message = run(ToolRegistry([produce]), call("produce"))
    assert message.content == said
    str(message.content).encode("utf-8")


def test_c120_a_utf16_file_is_no_garbage(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("plan", encoding="utf-16")
    message = run_sync(ToolRegistry(file_tools(tmp_path)), call("read_file", {"path": "a.txt"}))
    assert message.content == "a.txt is a binary file of 10 bytes; it is not shown."


def test_c121_files_are_utf8_whatever_the_console_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "cp1252")
    registry = ToolRegistry(file_tools(tmp_path))
    run_sync(registry, call("write_file", {"path": "a", "content": "[→] ✓ 🤖 计划"}))
    assert (tmp_path / "a").read_bytes().decode("utf-8") == "[→] ✓ 🤖 计划"


@pytest.mark.parametrize(
    "names", [["act", "act"], ["查询"], ["x" * 70], ["terminate"], ["planning"]]
)
def test_c125_names_are_refused_when_the_registry_is_built(names: list[str]) -> None:
    tools = [StructuredTool.from_function(func=add, name=name) for name in names]
    with pytest.raises(ToolSetupError):
        ToolRegistry(tools)


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def raising(error: BaseException) -> BaseTool:
    def odd() -> None:
        """Raise."""
        raise error

    async def aodd() -> None:
        """Raise."""
        raise error

    return StructuredTool.from_function(func=odd, coroutine=aodd)


@both_ways
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (SystemExit(1), "The tool tried to end the program (exit code 1)."),
        (GeneratorExit("over"), "GeneratorExit: over"),
        (Mute(), "Mute: <Mute>"),
        (StopAsyncIteration(), "StopAsyncIteration"),
        (RuntimeError("x" * 1_000_000), "characters left out"),
    ],
)
def test_c126_odd_exceptions_are_answers(run: Run, error: BaseException, said: str) -> None:
    message = run(ToolRegistry([raising(error)]), call("odd"))
    assert message.status == "error"
    assert said in str(message.content) and len(str(message.content)) <= 8_000


@pytest.mark.parametrize("timeout", [None, 30.0])
def test_c126_somebody_who_wants_out_gets_out(timeout: float | None) -> None:
    def odd() -> None:
        """Raise."""
        raise KeyboardInterrupt

    made = tool_traits(effect="read", timeout=timeout)(StructuredTool.from_function(func=odd))
    registry = ToolRegistry([made])
    with pytest.raises(KeyboardInterrupt):
        registry.run(call("odd"))
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(_awaited(registry.arun(call("odd"))))


async def _awaited(work: Awaitable[Any]) -> Any:
    return await work


class Nothing(TypedDict, total=False):
    said: str


def test_c128_runs_with_folders_of_their_own_do_not_meet(tmp_path: Path) -> None:
    registry = ToolRegistry(file_tools())

    def act(state: Nothing) -> Nothing:
        return {"said": str(run_sync(registry, call("list_files")).content)}

    def put(state: Nothing) -> Nothing:
        run_sync(registry, call("write_file", {"path": "out.txt", "content": "x"}))
        return {}

    graph = StateGraph(Nothing, context_schema=RunContext).add_node("put", put).add_node("act", act)
    app = graph.add_conditional_edges(
        START, lambda state: "put" if state.get("said") == "put" else "act", ["put", "act"]
    ).compile()
    first, second = (RunContext(workspace=str(tmp_path / name)) for name in ("one", "two"))
    app.invoke({"said": "put"}, context=first)
    assert app.invoke({}, context=first)["said"] == "out.txt"
    assert app.invoke({}, context=second)["said"] == "(empty folder)"


def test_c137_a_question_is_an_interrupt_and_reads_no_stdin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    registry = ToolRegistry([ask_human])
    turn = AIMessage("", tool_calls=[call("ask_human", {"question": "Which file?"})])

    def act(state: Pause) -> Pause:
        return {"said": str(run_sync(registry, turn.tool_calls[0]).content)}

    graph = StateGraph(Pause).add_node("act", act).add_edge(START, "act")
    app = graph.compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    paused = app.invoke({}, config)
    assert paused["__interrupt__"][0].value["question"] == "Which file?"
    assert app.invoke(Command(resume="a.txt"), config)["said"] == "a.txt"
