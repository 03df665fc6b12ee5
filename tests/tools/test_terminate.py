from langchain_core.messages import ToolCall, ToolMessage

from planloop.tools import ToolRegistry, terminate, traits_of


def test_it_takes_a_status_and_gives_back_the_summary() -> None:
    registry = ToolRegistry([terminate])
    args = {"status": "failure", "summary": "no data"}
    message = registry.run(ToolCall(name="terminate", args=args, id="c1"))
    assert isinstance(message, ToolMessage) and message.content == "no data"
    wrong = registry.run(ToolCall(name="terminate", args={"status": "done"}, id="c1"))
    assert isinstance(wrong, ToolMessage) and "'success' or 'failure'" in str(wrong.content)


def test_it_changes_nothing() -> None:
    assert traits_of(terminate).effect == "read"
