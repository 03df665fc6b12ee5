"""A model for tests that plays a script: no key, no network, every request recorded."""

import json
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import partial
from threading import Lock
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, ConfigDict, PrivateAttr

Scripted = str | AIMessage | BaseException | Callable[[list[BaseMessage]], "str | AIMessage"]


class ScriptExhausted(AssertionError):
    """The model was asked more often than the script has replies."""


class Request(BaseModel):
    """One request as the model saw it."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    messages: list[BaseMessage]
    tools: list[str] = []
    """Names of the tools that were offered."""
    options: dict[str, Any] = {}
    """What else was bound: `tool_choice`, `response_format`."""


class ScriptedModel(BaseChatModel):
    """Plays a list of replies in order.

    Args:
        script: Each item is a text, an `AIMessage`, an exception to raise, or a function from the
            messages to one of the first two.
        repeat: What is answered when the script is used up; `None` raises `ScriptExhausted`.

    A reply is copied for each turn. `requests` holds what was asked.

    >>> model = ScriptedModel(["hello"])
    >>> model.invoke("hi").text
    'hello'
    >>> model.requests[0].messages[0].text
    'hi'
    """

    script: list[Any]
    repeat: Any = None
    _requests: list[Request] = PrivateAttr(default_factory=list)
    _lock: Any = PrivateAttr(default_factory=Lock)

    def __init__(self, script: Sequence[Scripted] = (), *, repeat: Scripted | None = None) -> None:
        super().__init__(script=list(script), repeat=repeat)  # type: ignore[call-arg]  # pydantic fields

    @property
    def requests(self) -> list[Request]:
        """Every request so far, in order."""
        return self._requests

    @property
    def left(self) -> int:
        """Replies that were not asked for yet; a test should end with none."""
        return max(len(self.script) - len(self._requests), 0)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _next(self, messages: list[BaseMessage], options: dict[str, Any]) -> AIMessage:
        with self._lock:
            turn = len(self._requests)
            tools = [tool["function"]["name"] for tool in options.pop("tools", [])]
            request = Request(messages=list(messages), tools=tools, options=options)
            self._requests.append(request)
        item = self.script[turn] if turn < len(self.script) else self.repeat
        if item is None:
            raise ScriptExhausted(
                f"The script has {len(self.script)} replies and was asked for number {turn + 1}. "
                f"The last message was: {messages[-1].text if messages else ''!r}"
            )
        if isinstance(item, BaseException):
            raise item
        reply: Any = item(list(messages)) if callable(item) else item
        if isinstance(reply, BaseException):
            raise reply
        return AIMessage(reply) if isinstance(reply, str) else _copy(reply)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._next(messages, kwargs))])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages, stop, None, **kwargs)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in _chunks(self._next(messages, kwargs)):
            if run_manager:
                run_manager.on_llm_new_token(str(chunk.message.text), chunk=chunk)
            yield chunk

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in _chunks(self._next(messages, kwargs)):
            if run_manager:
                await run_manager.on_llm_new_token(str(chunk.message.text), chunk=chunk)
            yield chunk

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: Any = None, **kwargs: Any
    ) -> Runnable[Any, AIMessage]:
        """Offer tools; their names are recorded with each request."""
        options = {} if tool_choice is None else {"tool_choice": tool_choice}
        return self.bind(
            tools=[convert_to_openai_tool(tool) for tool in tools], **options, **kwargs
        )

    def with_structured_output(
        self,
        schema: Any,
        *,
        include_raw: bool = False,
        method: str = "json_schema",
        **kwargs: Any,
    ) -> Runnable[Any, Any]:
        """Ask for an object; the next reply of the script is taken as it is."""
        asked = self.bind(response_format=method)
        read = partial(_parsed, schema=schema, include_raw=include_raw)
        return asked | RunnableLambda(read)


def _copy(message: AIMessage) -> AIMessage:
    return message.model_copy(deep=True)


def _chunks(message: AIMessage) -> Iterator[ChatGenerationChunk]:
    """A reply in pieces, word by word; calls come whole with the last one."""
    words = str(message.text).split(" ") if isinstance(message.content, str) else []
    for number, word in enumerate(words[:-1]):
        text = word + " "
        chunk_id = message.id if number == 0 else None
        yield ChatGenerationChunk(message=AIMessageChunk(content=text, id=chunk_id))
    fields = message.model_dump(exclude={"type", "content", "tool_call_chunks"})
    content = words[-1] if words else message.content
    yield ChatGenerationChunk(message=AIMessageChunk(content=content, **fields))


def _parsed(raw: AIMessage, schema: Any, include_raw: bool) -> Any:
    value, error = None, None
    try:
        value = raw.tool_calls[0]["args"] if raw.tool_calls else _load(raw.text, schema)
    except ValueError as problem:
        error = problem
    if include_raw:
        return {"raw": raw, "parsed": value, "parsing_error": error}
    if error:
        raise error
    return value


def _load(text: str, schema: Any) -> Any:
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        return schema.model_validate_json(text)
    return json.loads(text)


def call(name: str, _id: str | None = None, /, **args: Any) -> AIMessage:
    """A reply that calls one tool.

    >>> call("search", q="x").tool_calls[0]["args"]
    {'q': 'x'}
    """
    return calls((name, args), ids=[_id] if _id else None)


def calls(*pairs: tuple[str, dict[str, Any]], ids: Sequence[str] | None = None) -> AIMessage:
    """A reply that calls several tools at once."""
    own = ids or [f"call_{uuid.uuid4().hex[:8]}" for _ in pairs]
    return AIMessage(
        content="",
        tool_calls=[
            {"name": name, "args": args, "id": own[n], "type": "tool_call"}
            for n, (name, args) in enumerate(pairs)
        ],
    )


__all__ = ["Request", "ScriptExhausted", "ScriptedModel", "call", "calls"]
