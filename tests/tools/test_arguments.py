import asyncio
from typing import Annotated, Any

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import InjectedToolCallId, StructuredTool, Tool
from pydantic import BaseModel, ConfigDict

from planloop.tools import ToolRegistry


def call(name: str, id: str | None = "c1", **args: Any) -> ToolCall:
    return ToolCall(name=name, args=args, id=id)


def both(registry: ToolRegistry, request: ToolCall) -> ToolMessage:
    """Run a call in both ways, which must agree."""
    message = registry.run(request)
    assert message == asyncio.run(registry.arun(request))
    assert isinstance(message, ToolMessage)
    return message


def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


def test_langchain_fills_in_id_and_config_and_the_model_cannot() -> None:
    def look(config: RunnableConfig, id: Annotated[str, InjectedToolCallId]) -> str:
        """Look."""
        return f"{id} {config.get('configurable', {}).get('user')}"

    registry = ToolRegistry([look])
    request = call("look", id="c9")
    request["args"] = {"id": "forged", "config": {"configurable": {"user": "forged"}}}
    message = registry.run(request, {"configurable": {"user": "ann"}})
    assert isinstance(message, ToolMessage) and message.content == "c9 ann"


def test_a_tool_of_one_unnamed_argument_works() -> None:
    upper = Tool(name="upper", func=str.upper, description="Shout.")
    assert both(ToolRegistry([upper]), call("upper", __arg1="hi")).content == "HI"


def test_a_tool_may_take_any_argument_if_it_says_so() -> None:
    class Open(BaseModel):
        model_config = ConfigDict(extra="allow")
        a: int

    def record(**given: Any) -> dict[str, Any]:
        """Record."""
        return given

    made = StructuredTool.from_function(func=record, args_schema=Open)
    assert both(ToolRegistry([made]), call("record", a=1)).content == '{"a": 1}'


def plain_schema(**more: Any) -> ToolRegistry:
    def fetch(**given: Any) -> dict[str, Any]:
        """Fetch."""
        return given

    schema = {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]}
    made = StructuredTool.from_function(func=fetch, args_schema={**schema, **more})
    return ToolRegistry([made])


def test_arguments_of_a_plain_json_schema_are_checked_too() -> None:
    assert both(plain_schema(), call("fetch", url="u", x=1)).content == '{"url": "u"}'
    message = both(plain_schema(), call("fetch", x=1))
    assert message.status == "error" and "url: required, but missing" in str(message.content)
    open_one = plain_schema(additionalProperties=True)
    assert both(open_one, call("fetch", url="u", x=1)).content == '{"url": "u", "x": 1}'
    assert both(open_one, call("fetch", x=1)).status == "error"


def test_a_validation_error_inside_a_tool_is_not_blamed_on_the_arguments() -> None:
    class Inner(BaseModel):
        z: int

    def parse(text: str) -> Inner:
        """Parse."""
        return Inner.model_validate_json(text)

    message = both(ToolRegistry([parse]), call("parse", text='{"z": "no"}'))
    assert message.status == "error"
    assert str(message.content).startswith("ValidationError: 1 validation error for Inner")


def test_defaults_of_the_tool_hold() -> None:
    assert both(ToolRegistry([add]), call("add", a=1)).content == "2"
