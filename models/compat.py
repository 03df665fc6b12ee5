"""Read what servers that only resemble OpenAI's send, before the client trips over it.

`ChatOpenAI` raises on arguments that are an object, encoded twice or a list, on a missing name and
on a body that is no completion; a stream that ends inside a call it completes by guessing. Here
the body is put right first where its meaning is plain, and marked as unreadable where it is not.
"""

import json
import warnings
from collections.abc import AsyncIterator, Iterator
from functools import cache
from typing import Any, Final, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable

from planloop.state import PlanloopError, one_line

BROKEN: Final = "planloop_broken_calls"
"""In `response_metadata`: raw arguments of calls that a stream left unfinished."""
_FORMATS: Final = {"json_schema": "json_schema", "json_mode": "json_object"}
_MALFORMED: Final = (ValueError, TypeError, KeyError, IndexError, AttributeError)


class UnreadableReply(PlanloopError):
    """What the server sent is no chat completion."""

    def __init__(self, why: object) -> None:
        super().__init__(
            "The server's reply is no chat completion: check OPENAI_BASE_URL, which often ends in "
            f"/v1 ({one_line(str(why), 200)})."
        )


def tolerant(model: BaseChatModel) -> BaseChatModel:
    """The same client, reading replies as servers send them; other classes are given back."""
    kind = type(model)
    ours = kind.__module__.startswith("planloop.")
    if ours or not any(c.__module__.startswith("langchain_openai.") for c in kind.__mro__):
        return model
    reader: Any = model.model_copy()
    object.__setattr__(reader, "__class__", _tolerant_class(kind))
    _take_over_retries(reader)
    return cast(BaseChatModel, reader)


def _take_over_retries(reader: Any) -> None:
    """Switch off the retries of OpenAI's SDK and note how many there were.

    They are made by planloop instead: one layer of them, within one bound on the time.
    """
    clients = {"client": "root_client", "async_client": "root_async_client"}
    if not all(hasattr(getattr(reader, root, None), "max_retries") for root in clients.values()):
        return  # no key: the client says so when it is used
    most = reader.root_client.max_retries
    for completions, root in clients.items():
        client = getattr(reader, root).with_options(max_retries=0)
        object.__setattr__(reader, root, client)
        object.__setattr__(reader, completions, client.chat.completions)
    object.__setattr__(reader, "_planloop_retries", most)


# The client advises on a refusal of structured output; the ladder has already taken another way.
for _advice in (
    "This model does not support OpenAI's struct",
    "Invalid schema for OpenAI's struct",
):
    warnings.filterwarnings("ignore", message=_advice, category=UserWarning)


@cache
def _tolerant_class(kind: type[BaseChatModel]) -> type[BaseChatModel]:
    return type(kind.__name__, (_ReadsAnything, kind), {"__module__": __name__})


class _ReadsAnything:
    """Mixed into a subclass of ChatOpenAI; `Any` stands for its types, which are imported late."""

    @property
    def retries_taken_over(self) -> int | None:
        """Retries that the SDK would make; `None` if it still makes them."""
        return cast("int | None", vars(self).get("_planloop_retries"))

    def asking_for(self, schema: dict[str, Any], form: str) -> Runnable[Any, Any]:
        """The client asking for JSON, by a field that the SDK hands on without parsing.

        Its own way raises on a reply that was cut off and warns on a refusal.

        Raises:
            NotImplementedError: This way of asking does not go by the body.
        """
        me: Any = self
        if form not in _FORMATS or me.use_responses_api:
            raise NotImplementedError(form)
        wanted: dict[str, Any] = {"type": _FORMATS[form]}
        if form == "json_schema":
            wanted["json_schema"] = {"name": schema["title"], "schema": schema}
        asking: Runnable[Any, Any] = me.bind(
            extra_body={**(me.extra_body or {}), "response_format": wanted}
        )
        return asking

    def _create_chat_result(self, response: Any, generation_info: Any = None) -> ChatResult:
        parent: Any = super()
        result: ChatResult = parent._create_chat_result(readable(response), generation_info)
        return result

    def _generate(self, *args: Any, **options: Any) -> ChatResult:
        parent: Any = super()
        try:
            result: ChatResult = parent._generate(*args, **options)
        except _MALFORMED as error:
            raise UnreadableReply(error) from error
        return result

    async def _agenerate(self, *args: Any, **options: Any) -> ChatResult:
        parent: Any = super()
        try:
            result: ChatResult = await parent._agenerate(*args, **options)
        except _MALFORMED as error:
            raise UnreadableReply(error) from error
        return result

    def _stream(self, *args: Any, **options: Any) -> Iterator[ChatGenerationChunk]:
        parent: Any = super()
        pieces = _Pieces()
        try:
            for chunk in parent._stream(*args, **options):
                pieces.add(chunk)
                yield chunk
        except _MALFORMED as error:
            raise UnreadableReply(error) from error
        yield from pieces.ending()

    async def _astream(self, *args: Any, **options: Any) -> AsyncIterator[ChatGenerationChunk]:
        parent: Any = super()
        pieces = _Pieces()
        try:
            async for chunk in parent._astream(*args, **options):
                pieces.add(chunk)
                yield chunk
        except _MALFORMED as error:
            raise UnreadableReply(error) from error
        for chunk in pieces.ending():
            yield chunk


class _Pieces:
    """The arguments of streamed calls, put together to see whether each is whole."""

    def __init__(self) -> None:
        self._arguments: dict[Any, str] = {}

    def add(self, chunk: ChatGenerationChunk) -> None:
        for piece in getattr(chunk.message, "tool_call_chunks", ()):
            index = piece.get("index")
            self._arguments[index] = self._arguments.get(index, "") + (piece.get("args") or "")

    def ending(self) -> Iterator[ChatGenerationChunk]:
        """A last chunk that names the unfinished calls, if there are any."""
        broken = [raw for raw in self._arguments.values() if raw.strip() and not _is_json(raw)]
        if broken:
            yield ChatGenerationChunk(
                message=AIMessageChunk(content="", response_metadata={BROKEN: broken})
            )


def _is_json(text: str) -> bool:
    try:
        json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return False
    return True


def readable(given: Any) -> Any:
    """The body of a completion with each message in the form that the client expects.

    Raises:
        UnreadableReply: It holds no message.
    """
    if not isinstance(given, dict) and not hasattr(given, "model_dump"):
        raise UnreadableReply(f"{type(given).__name__}: {given!r}")
    response = given if isinstance(given, dict) else given.model_dump(warnings=False)
    if response.get("error"):
        raise UnreadableReply(response["error"])
    choices = response.get("choices")
    if not isinstance(choices, list) or not choices:
        raise UnreadableReply("it has no choices")
    read = [_choice(choice) for choice in choices]
    # What was right as it came keeps its class, for clients that look into it.
    return given if read == choices else {**response, "choices": read}


def _choice(choice: Any) -> dict[str, Any]:
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise UnreadableReply("it has no message")
    content = message.get("content")
    if isinstance(content, list):
        content = [block for block in content if says_something(block)]
    elif content is not None and not isinstance(content, str):
        content = json.dumps(content, ensure_ascii=False)
    given: Any = message.get("tool_calls")
    given = given if isinstance(given, list) else []
    calls = [_call(call) for call in given if isinstance(call, dict)] or None
    fixed = {"role": "assistant", "content": content, "tool_calls": calls}
    same = all(message.get(key) == value for key, value in fixed.items())
    return choice if same else {**choice, "message": {**message, **fixed}}


def says_something(block: Any) -> bool:
    """Whether a block can be stored and counted; a text block without a text cannot."""
    if isinstance(block, dict) and block.get("type") == "text":
        return isinstance(block.get("text"), str)
    return isinstance(block, dict | str)


def _call(call: dict[str, Any]) -> dict[str, Any]:
    function: Any = call.get("function")
    function = function if isinstance(function, dict) else {}
    name, call_id = function.get("name"), call.get("id")
    fixed = {
        "name": name if isinstance(name, str) else "",
        "arguments": _arguments(function.get("arguments")),
    }
    own_id = call_id if isinstance(call_id, str) else None
    return {**call, "id": own_id, "function": {**function, **fixed}}


def _arguments(given: Any) -> str:
    """Arguments as the text of an object; text that is none, if they cannot be read as one."""
    value = given
    for _ in range(2):  # as sent, and once more where the object was encoded twice
        if isinstance(value, dict):
            return json.dumps(value, ensure_ascii=False)
        if value is None or (isinstance(value, str) and not value.strip()):
            return "{}"
        if not isinstance(value, str):
            break
        try:
            value = json.loads(value, strict=False)
        except (ValueError, RecursionError):
            return str(given)
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return f"{text} (no JSON object)"
