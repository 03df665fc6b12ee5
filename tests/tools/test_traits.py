import pytest
from langchain_core.tools import BaseTool, tool

from planloop.state import ToolSetupError
from planloop.tools import Effect, ToolTraits, own, tool_traits, traits_of


def make() -> BaseTool:
    @tool
    def look(path: str) -> str:
        """Look at something."""
        return path

    return look


def test_a_tool_that_declares_nothing_is_taken_for_the_worst() -> None:
    traits = traits_of(make())
    assert traits == ToolTraits()
    assert (traits.effect, traits.on_replay, traits.sequential) == ("irreversible", "ask", True)


def test_the_decorator_gives_back_the_same_tool_with_its_traits() -> None:
    bare = make()
    bare.metadata = {"theirs": 1}
    declared = tool_traits(effect="network", origin="mcp:web", timeout=2.5, max_output=100)(bare)
    assert declared is bare
    assert traits_of(declared) == ToolTraits(
        effect="network", origin="mcp:web", timeout=2.5, sequential=False, max_output=100
    )
    assert declared.metadata is not None and declared.metadata["theirs"] == 1


@pytest.mark.parametrize(("effect", "replay"), [("read", "repeat"), ("write", "ask")])
def test_only_reading_is_repeated_after_a_crash_by_default(effect: Effect, replay: str) -> None:
    assert traits_of(tool_traits(effect=effect)(make())).on_replay == replay
    assert traits_of(tool_traits(effect=effect, on_replay="ask")(make())).on_replay == "ask"


@pytest.mark.parametrize(
    "wrong", [{"effect": "harmless"}, {"timeout": 0}, {"max_output": -1}, {"on_replay": "never"}]
)
def test_illegal_traits_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ToolSetupError):
        tool_traits(**{"effect": "read", **wrong})  # type: ignore[arg-type]


def test_the_decorator_says_where_it_belongs() -> None:
    with pytest.raises(ToolSetupError, match="above @tool"):
        tool_traits(effect="read")(len)  # type: ignore[type-var]


def test_a_mark_and_traits_stand_side_by_side() -> None:
    marked = own(tool_traits(effect="read")(make()))
    assert traits_of(marked).effect == "read"
