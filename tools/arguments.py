"""The arguments of a call: what the model sent, reduced to what the tool takes, or a reason."""

import json
import logging
from collections.abc import Mapping
from typing import Any

from langchain_core.tools import BaseTool, InjectedToolCallId, ToolException
from pydantic import BaseModel, ValidationError

from planloop.state import cut_middle

from .results import safe_str, to_text

logger = logging.getLogger("planloop.tools")


def parameters_of(tool: BaseTool) -> frozenset[str] | None:
    """The names of a tool's parameters that a model may set; `None` where any name goes."""
    schema = tool.args_schema
    if isinstance(schema, dict):
        return (
            None if schema.get("additionalProperties") else frozenset(schema.get("properties", ()))
        )
    config = getattr(tool.get_input_schema(), "model_config", {})
    if schema is None or config.get("extra") == "allow":
        return None
    return frozenset(tool.args)


def unmet_injections(tool: BaseTool) -> list[str]:
    """Required parameters that neither the model nor LangChain fills, such as `ToolRuntime`."""
    schema = tool.args_schema
    if schema is None or isinstance(schema, dict) or not issubclass(schema, BaseModel):
        return []
    return [
        name
        for name, field in schema.model_fields.items()
        if field.is_required()
        and (field.alias or name) not in tool.args
        and not any(_is_call_id(note) for note in field.metadata)
    ]


def fit(tool: BaseTool, args: object, parameters: frozenset[str] | None) -> dict[str, Any]:
    """Read the arguments of a call and drop the ones the tool does not take.

    Raises:
        ToolException: They are no JSON object, or lack what a plain JSON schema requires.
    """
    given = _as_object(args)
    if isinstance(tool.args_schema, dict):  # LangChain leaves these unchecked
        missing = [name for name in tool.args_schema.get("required", []) if name not in given]
        if missing:
            raise ToolException(_wrong([f"{name}: required, but missing" for name in missing]))
    if parameters is None:
        return given
    if extra := sorted(given.keys() - parameters):
        logger.debug("%s: dropped the arguments %s", tool.name, ", ".join(extra))
    return {name: value for name, value in given.items() if name in parameters}


def is_wrong_arguments(tool: BaseTool, error: BaseException) -> bool:
    """Whether a validation error is about the call and not from inside the tool."""
    return isinstance(error, ValidationError) and error.title == getattr(
        tool.get_input_schema(), "__name__", ""
    )


def explain(error: ValidationError) -> str:
    """Name each wrong argument with its reason."""
    return _wrong(
        [
            f"{'.'.join(map(str, problem['loc'])) or 'arguments'}: {_reason(problem)}"
            for problem in error.errors(include_url=False, include_context=False)
        ]
    )


def _is_call_id(note: object) -> bool:
    return note is InjectedToolCallId or isinstance(note, InjectedToolCallId)


def _reason(problem: Mapping[str, Any]) -> str:
    if problem["type"] == "missing":
        return "required, but missing"
    given = cut_middle(to_text(repr(problem["input"])), 80)
    return f"{problem['msg']} (got {given})"


def _wrong(reasons: list[str]) -> str:
    return "Wrong arguments. " + "; ".join(reasons) + ". Call it again with these corrected."


def _as_object(args: object) -> dict[str, Any]:
    """Accept an object, or its JSON text, once or twice encoded; nothing at all is `{}`."""
    for _ in range(2):
        if args is None or (isinstance(args, str) and args.strip() in {"", "null"}):
            return {}
        if not isinstance(args, str):
            break
        try:
            args = json.loads(args)
        except ValueError:
            break
    if isinstance(args, Mapping):
        return {safe_str(name): value for name, value in args.items()}
    given = cut_middle(to_text(repr(args)), 200)
    raise ToolException(f"Wrong arguments. They must be one JSON object, not {given}.")
