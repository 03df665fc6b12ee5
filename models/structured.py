"""Get an object of a schema out of any model: down a ladder of ways to ask, truthfully.

json_schema, then function calling, then json_object, then a plain prompt. A way that the server
refuses is left for good; a reply that does not validate is asked for again with the error named,
at most twice in all. What is read from a reply is never more than what it says.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Generic, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import Runnable
from pydantic import BaseModel, ValidationError

from planloop.state import PlanError, Usage, add_usage, explain

from .ask import call, usage_by
from .effects import Invoke, Steps
from .extract import cut_off_json, find_json
from .reply import read_reply, readable_message, text_of
from .source import ModelSource
from .tokens import count_tokens

M = TypeVar("M", bound=BaseModel)
FORMS: Final = ("json_schema", "function_calling", "json_mode", "prompt")
MAX_REASKS: Final = 2
_UNTOLD: Final = ("json_mode", "prompt")  # ways that do not tell the server the schema


@dataclass(slots=True)
class Structured(Generic[M]):
    """What asking gave."""

    value: M | None = None
    raw: AIMessage | None = None
    """The model's own words, of the last reply."""
    problem: str = ""
    """Why there is no value; one sentence."""
    form: str = ""
    """The way of asking that was used last."""
    reasked: int = 0
    failed: bool = False
    """The model could not be called; another one may do better."""
    usage: Usage | None = None
    problems: list[str] = field(default_factory=list)


def structured(
    source: ModelSource,
    messages: Sequence[BaseMessage],
    schema: type[M],
    *,
    check: Callable[[M], Any] = lambda value: value,
    reasks: int = MAX_REASKS,
) -> Steps[Structured[M]]:
    """Ask for an object of `schema`; where a model cannot be called, its fallbacks are asked.

    Args:
        reasks: How often a reply that does not fit is asked for again.
        check: Raises `PlanError` for an object that breaks a rule; its text goes to the model.
    """
    usage: Usage | None = None
    problems: list[str] = []
    result: Structured[M] = Structured()
    for candidate in source.chain:
        result = yield from _by_one(candidate, messages, schema, check, reasks)
        usage = add_usage(usage, result.usage) if result.usage else usage
        problems += result.problems
        if not result.failed:
            break
    result.usage, result.problems = usage, problems
    return result


def _by_one(
    source: ModelSource,
    messages: Sequence[BaseMessage],
    schema: type[M],
    check: Callable[[M], Any],
    reasks: int,
) -> Steps[Structured[M]]:
    result: Structured[M] = Structured(form=source.form or FORMS[0])
    request = list(messages)
    while True:
        reply = yield from _asked(source, request, schema, result)
        if reply is None:
            return result
        value, problem = read_structured(reply, schema, check)
        if value is not None:
            if result.reasked < MAX_REASKS:  # then it was not our choice to fall back to a prompt
                source.form = result.form
            result.value, result.problem = value, ""
            return result
        result.problem = problem
        result.problems.append(problem)
        if result.reasked == reasks:
            return result
        result.reasked += 1
        request = [*messages, *_reask(reply, problem)]
        if result.reasked == MAX_REASKS:
            result.form = "prompt"


def _asked(
    source: ModelSource, request: Sequence[BaseMessage], schema: type[M], result: Structured[M]
) -> Steps[AIMessage | None]:
    """One reply, by the first way of asking that the model takes, from the present one down.

    `None` if there is none; `result` then says why, and in any case how it was asked.
    """
    while True:
        sent = _with_schema(request, schema) if result.form in _UNTOLD else request
        called = yield from call(source, sent, partial(_asking, source, schema, result.form))
        reply = _cut_reply(called.error) if called.failure else _raw_message(called.value)
        if reply is None and called.failure is not None:
            if called.failure.refused and result.form != "prompt":
                result.form = _below(result.form)
                continue
            result.problem, result.failed = called.failure.detail, True
            return None
        result.raw = reply
        if reply is not None:
            spent = usage_by(source, reply, count_tokens(called.sent), result.form)
            result.usage = add_usage(result.usage, spent)
        return reply


def _below(form: str) -> str:
    return FORMS[FORMS.index(form) + 1]


def _asking(
    source: ModelSource, schema: type[BaseModel], form: str, request: list[BaseMessage]
) -> Invoke:
    """The call in one way of asking.

    Raises:
        NotImplementedError: The model's class has no such way.
    """
    model = source.get()
    asker: Runnable[Any, Any] = model
    if form != "prompt":
        asker = _asker(model, schema, form)
    return Invoke(asker, request, {"tags": ["nostream"]})


def _asker(model: BaseChatModel, schema: type[BaseModel], form: str) -> Runnable[Any, Any]:
    plain = {**schema.model_json_schema(), "title": schema.__name__}
    ways: list[Callable[[], Runnable[Any, Any]]] = [
        lambda: model.with_structured_output(plain, method=form, include_raw=True)
    ]
    if own := getattr(model, "asking_for", None):
        ways.insert(0, lambda: own(plain, form))
    for way in ways:
        try:
            return way()
        except (NotImplementedError, ValueError, TypeError):
            continue
    raise NotImplementedError(f"{type(model).__name__} cannot be asked by {form}.")


def _raw_message(raw: Any) -> AIMessage:
    message = raw.get("raw") if isinstance(raw, dict) else raw
    if isinstance(message, AIMessage):
        return readable_message(message)
    return AIMessage(content=str(message or ""))


def _cut_reply(error: Exception | None) -> AIMessage | None:
    """The text inside the error that openai's client raises for a reply cut by the token limit."""
    completion = getattr(error, "completion", None)
    choices = getattr(completion, "choices", None)
    if not choices:
        return None
    return AIMessage(
        content=choices[0].message.content or "", response_metadata={"finish_reason": "length"}
    )


def _with_schema(messages: Sequence[BaseMessage], schema: type[BaseModel]) -> list[BaseMessage]:
    text = json.dumps(schema.model_json_schema(), ensure_ascii=False)
    note = f"Answer with one JSON object and nothing else. It must fit this JSON schema:\n{text}"
    return [*messages, HumanMessage(note)]


def _reask(reply: AIMessage, problem: str) -> list[BaseMessage]:
    """The model's words and what is wrong with them; nothing empty is ever sent."""
    words = text_of(reply)
    note = HumanMessage(f"That cannot be used: {problem} Send the whole corrected object.")
    return [AIMessage(words[:4_000]), note] if words else [note]


def read_structured(
    reply: AIMessage, schema: type[M], check: Callable[[M], Any] = lambda value: value
) -> tuple[M | None, str]:
    """The object in a reply, or `None` and one sentence on why there is none."""
    read = read_reply(reply)
    candidates: list[Any] = [call["args"] for call in read.calls]
    candidates += list(find_json(str(reply.text)))
    problem = "the reply holds no JSON object." if not read.is_empty else "the reply is empty."
    shapes = [shape for candidate in candidates for shape in _unwrapped(candidate)]
    for nth, shape in enumerate(shapes):
        try:
            value = schema.model_validate(shape)
            check(value)
        except ValidationError as error:
            problem = problem if nth else f"{explain(error)}."
        except PlanError as error:
            problem = str(error)
        else:
            return value, ""
    if read.cut_off:
        problem = _cut_off_problem(read.text)
    return None, problem


def _unwrapped(candidate: Any) -> list[Any]:
    """A candidate as it is, then what stands in the envelope of a call or a schema."""
    shapes = [candidate]
    if isinstance(candidate, dict):
        inner = [candidate.get(key) for key in ("arguments", "parameters", "args", "properties")]
        shapes += [value for value in inner if isinstance(value, dict)]
        if isinstance(candidate.get("plan"), dict | list):
            shapes.append(candidate["plan"])
    return shapes


def _cut_off_problem(text: str) -> str:
    part = cut_off_json(text)
    steps = part.get("steps") if isinstance(part, dict) else None
    whole = f" after {max(len(steps) - 1, 0)} complete steps" if isinstance(steps, list) else ""
    return f"the reply was cut off by the token limit{whole}: send a shorter one, few coarse steps."
