"""Call a plain tool's function straight away where nobody listens to LangChain's events.

LangChain inspects a tool's signature three times a call and never keeps what it found; here it is
looked at once. Only tools whose function takes the model's arguments and nothing else qualify.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.tracers import context
from pydantic import BaseModel


@dataclass(frozen=True, slots=True)
class Direct:
    """A tool's function, and how its arguments are validated."""

    schema: type[BaseModel]
    function: Callable[..., Any] | None
    coroutine: Callable[..., Awaitable[Any]] | None
    fields: tuple[str, ...]
    defaults: frozenset[str]

    def arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """What the function is called with: what was given, validated, and the defaults.

        Raises:
            ValidationError: An argument is missing or wrong.
        """
        if not self.fields:
            return {}
        result = self.schema.model_validate(given)
        known = result.model_fields_set
        return {
            name: getattr(result, name)
            for name in self.fields
            if name in known or name in self.defaults
        }


def direct_form(tool: BaseTool) -> Direct | None:
    """How to call this tool without LangChain; `None` if only LangChain can do it."""
    schema = tool.args_schema
    if type(tool) is not StructuredTool or not _is_plain(tool):
        return None
    if not isinstance(schema, type) or not issubclass(schema, BaseModel):
        return None
    fields = schema.model_fields
    if schema.model_config.get("extra") == "allow" or set(tool.args) != set(fields):
        return None
    for function in filter(None, (tool.func, tool.coroutine)):
        if not set(_parameters(function)) <= set(fields) - {"args", "kwargs"}:
            return None
    defaults = frozenset(name for name, field in fields.items() if not field.is_required())
    return Direct(schema, tool.func, tool.coroutine, tuple(fields), defaults)


def _is_plain(tool: StructuredTool) -> bool:
    special = (tool.callbacks, tool.verbose, tool.handle_tool_error, tool.handle_validation_error)
    return tool.response_format == "content" and not any(special)


def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return ("?",)


def is_heard(config: RunnableConfig | None) -> bool:
    """Whether somebody listens to events of this run: a tracer, or a stream of messages."""
    if config is None:
        return True
    listening = config.get("callbacks")
    if getattr(listening, "handlers", listening):
        return True
    # Handlers that a `with` block around the run brings in, such as `collect_runs`. The list has
    # no public name; `CallbackManager.configure` reads it too, but costs more than the call.
    return any(hook[0].get() is not None for hook in getattr(context, "_configure_hooks", ()))
