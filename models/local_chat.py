"""A chat model over a small local model: ChatOpenAI whose tools and schemas become one grammar.

`bind_tools` and `with_structured_output` work as with any chat model; on the wire goes a
`json_schema` with every string and list bounded, which llama.cpp's server enforces token by token.
This module imports `langchain_openai`, so only `load` imports it, when a model is loaded.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, ClassVar, Final

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_json_schema
from langchain_openai import ChatOpenAI
from openai import DefaultAsyncHttpxClient, DefaultHttpxClient
from pydantic import SecretStr

from .local_decision import ask_for, charged
from .local_server import shared_server

MAX_TOKENS: Final = 1024
"""Most tokens of one reply: about 3000 characters of English or code."""
TEMPERATURE: Final = 0.2
TIMEOUT: Final = 300.0
"""Seconds for one reply: a 1.5B model reads a long prompt for a minute on two cores."""
_NOT_YET: Final = "http://127.0.0.1/v1"


class LocalChat(ChatOpenAI):
    """One grammar-constrained decision a turn, given back as an ordinary message.

    Replies cut by the token limit come back as text with `finish_reason` "length". A tool call
    that repeats one made since the last human message is asked again as an answer.
    """

    judges: ClassVar[bool] = False
    """A small model claims success readily: nodes do not let it judge success criteria."""

    gguf: Path | None = None
    """Weights to serve in this process, from the first request on; None: `base_url` is served."""

    @classmethod
    def from_weights(cls, gguf: Path, *, temperature: float | None = None) -> "LocalChat":
        """Make a model of a GGUF file without starting the engine.

        Args:
            gguf: A file that exists.
            temperature: How freely tokens are drawn; None means 0.2.
        """
        return cls.for_endpoint(
            _NOT_YET,
            "set-at-start",
            gguf=gguf,
            model=f"local:{gguf.stem}",
            temperature=TEMPERATURE if temperature is None else temperature,
        )

    @classmethod
    def for_endpoint(cls, base_url: str, api_key: str, **settings: Any) -> "LocalChat":
        """Make a model of a llama.cpp server on this machine, past any proxy.

        Connections are not kept: the server may restart, and event loops come and go.
        """
        return cls(
            base_url=base_url,
            api_key=SecretStr(api_key),
            max_completion_tokens=MAX_TOKENS,
            timeout=TIMEOUT,
            max_retries=0,  # a second try would read the same prompt for the same minutes
            stream_usage=True,
            use_responses_api=False,
            default_headers={"Connection": "close"},
            http_client=DefaultHttpxClient(trust_env=False),
            http_async_client=DefaultAsyncHttpxClient(trust_env=False),
            **settings,
        )

    @property
    def _llm_type(self) -> str:
        return "planloop-local"

    def with_structured_output(
        self, schema: Any = None, *, method: str = "json_schema", **kwargs: Any
    ) -> Runnable[LanguageModelInput, Any]:
        """Structured output by the bounded schema, whichever method is asked for.

        Args:
            schema: A pydantic class, TypedDict or JSON schema; None with "json_mode" only.
            method: "json_schema" and "json_mode" are the same; "function_calling" is one forced
                call. `strict` is always so and may be left out.
            kwargs: `include_raw` and what `bind` takes.

        Raises:
            OutputParserException: The reply does not fit (when invoked, without `include_raw`).
        """
        kwargs.pop("strict", None)
        if method == "function_calling":
            return super().with_structured_output(schema, method="function_calling", **kwargs)
        if schema is not None:
            # json_mode's parsers mend cut JSON and raise an error that holds the text; the
            # json_schema ones need a reply that the SDK has parsed.
            form = {"name": "output", "schema": convert_to_json_schema(schema)}
            kwargs["response_format"] = {"type": "json_schema", "json_schema": form}
        return super().with_structured_output(schema, method="json_mode", **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self._connect()
        ask = ask_for(messages, kwargs)
        result = ask.read(super()._generate(ask.messages, stop, run_manager, **ask.kwargs))
        if not ask.repeats(result):
            return result
        last = ask.answer_only()
        again = super()._generate(last.messages, stop, run_manager, **last.kwargs)
        return charged(last.read(again), earlier=result)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        await asyncio.to_thread(self._connect)
        ask = ask_for(messages, kwargs)
        result = ask.read(await super()._agenerate(ask.messages, stop, run_manager, **ask.kwargs))
        if not ask.repeats(result):
            return result
        last = ask.answer_only()
        again = await super()._agenerate(last.messages, stop, run_manager, **last.kwargs)
        return charged(last.read(again), earlier=result)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        ask = ask_for(messages, kwargs)
        if not ask.decides:
            self._connect()
            yield from super()._stream(ask.messages, stop, run_manager, **ask.kwargs)
            return
        chunk = _as_chunk(self._generate(messages, stop, None, **kwargs))
        if run_manager:
            run_manager.on_llm_new_token(chunk.text, chunk=chunk)
        yield chunk

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        ask = ask_for(messages, kwargs)
        if not ask.decides:
            await asyncio.to_thread(self._connect)
            async for part in super()._astream(ask.messages, stop, run_manager, **ask.kwargs):
                yield part
            return
        chunk = _as_chunk(await self._agenerate(messages, stop, None, **kwargs))
        if run_manager:
            await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
        yield chunk

    def _connect(self) -> None:
        """Start the engine of these weights, or find it running, and point the clients at it."""
        if self.gguf is None:
            return
        base_url, api_key = shared_server(self.gguf).start()
        for client in (self.root_client, self.root_async_client):
            client.base_url, client.api_key = base_url, api_key


def _as_chunk(result: ChatResult) -> ChatGenerationChunk:
    """A decision as one chunk: it is short, and half a decision is of no use."""
    generation = result.generations[0]
    message = generation.message
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    chunk = AIMessageChunk(
        content=message.content,
        usage_metadata=message.usage_metadata if isinstance(message, AIMessage) else None,
        tool_call_chunks=[
            tool_call_chunk(name=c["name"], args=json.dumps(c["args"]), id=c["id"], index=i)
            for i, c in enumerate(calls)
        ],
    )
    return ChatGenerationChunk(message=chunk, generation_info=generation.generation_info)
