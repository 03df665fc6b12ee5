"""A chat-completions server on loopback that answers by script and can misbehave like real ones.

    with StubServer([tool_call("add", '{"a": 1, "b": 2}'), text("3")]) as server:
        model = server.model()

Every request is kept. A strict server also checks each request as the strictest real servers do,
and answers 400 to one that they would refuse. `verify` fails a test that asked for more than the
script holds, or sent something illegal.
"""

import json
import threading
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final, Literal

from langchain_openai import ChatOpenAI
from pydantic import SecretStr

Feature = Literal[
    "json_schema",
    "json_object",
    "forced_tools",
    "auto_tools",
    "tools",
    "images",
    "blocks",
    "system",
    "parallel_calls",
    "same_role_twice",
]
"""What a limited server refuses: a response format, being made to call, tools at all, an image, a
list as content, a system message, a turn of several calls, or two turns of one role."""

USAGE: Final = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
MODEL: Final = "stub-model"

_REFUSALS: Final[dict[Feature, str]] = {
    "json_schema": "This response_format type is unavailable now",
    "json_object": "response_format 'json_object' is not supported by this endpoint",
    "forced_tools": 'tool_choice "required" or a named tool is not yet supported',
    "auto_tools": (
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
    ),
    "tools": f"{MODEL} does not support tools",
    "images": f"{MODEL} is not a multimodal model",
    "blocks": "Input should be a valid string",
    "system": "System role not supported",
    "parallel_calls": "This model only supports single tool-calls at once!",
    "same_role_twice": "Conversation roles must alternate user/assistant/user/assistant/...",
}

Refusals = Mapping[Feature, tuple[int, str]]
SERVERS: Final[Mapping[str, Refusals]] = {
    "openai": {},
    "vllm": {
        "parallel_calls": (400, "This model only supports single tool-calls at once!"),
        "images": (400, "At most 0 image(s) may be provided in one prompt."),
        "system": (400, "System role not supported"),
    },
    "llama.cpp": {
        "same_role_twice": (
            500,
            "Value is not callable: raise_exception: After the optional system message, "
            "conversation roles must alternate user/assistant/user/assistant/...",
        ),
        "images": (
            500,
            "image input is not supported - hint: if this is unexpected, you may need to provide "
            "the mmproj",
        ),
    },
    "ollama": {
        "images": (400, "this model is missing data required for image input: not supported"),
        "json_schema": (400, "invalid format: schema is not supported by this model"),
    },
    "deepseek": {
        "json_schema": (400, "This response_format type is unavailable now"),
        "forced_tools": (400, "deepseek-reasoner does not support this tool_choice"),
        "images": (
            400,
            "Failed to deserialize the JSON body into the target type: messages[1]: unknown "
            "variant `image_url`, expected `text`",
        ),
        "blocks": (422, "messages[2]: invalid type: sequence, expected a string"),
    },
    "qwen": {
        "json_schema": (400, "'response_format.type' json_schema is not supported"),
        "forced_tools": (
            400,
            "<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not "
            "support being set to required or object in thinking mode",
        ),
        "same_role_twice": (400, "Roles must alternate between user and assistant."),
    },
}
"""What servers are reported to refuse, with the status and the words that they do it in."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server sends for one request."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    completion: Mapping[str, Any] | None = None
    """A whole completion, sent as one object or as events, as the client asks."""
    hangs: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came."""

    body: dict[str, Any]
    headers: dict[str, str]
    """By lower-case name."""
    refused: str = ""
    """Why the server answered 400 by itself; empty if the script answered."""

    @property
    def messages(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.body.get("messages", [])
        return found

    @property
    def tools(self) -> list[str]:
        """Names of the tools on offer."""
        return [tool["function"]["name"] for tool in self.body.get("tools", [])]

    @property
    def form(self) -> str:
        """The type of `response_format`, `tools`, or `plain`."""
        asked = self.body.get("response_format")
        return str(asked["type"]) if asked else "tools" if self.tools else "plain"

    def of_role(self, role: str) -> list[dict[str, Any]]:
        return [message for message in self.messages if message["role"] == role]

    @property
    def last(self) -> str:
        """The content of the last message."""
        return str(self.messages[-1]["content"])


Script = Sequence[Reply] | Callable[[Request], Reply]


def completion(
    message: Any, finish_reason: str | None = "stop", *, usage: Any = USAGE, **more: Any
) -> Reply:
    """A completion with one choice; `usage=None` leaves the count out."""
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    whole: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": MODEL,
        "choices": [choice],
    }
    if usage is not None:
        whole["usage"] = usage
    return Reply(completion={**whole, **more})


def text(content: Any, finish_reason: str | None = "stop", **more: Any) -> Reply:
    """A reply with this content, of whatever type; `more` are further fields of the message."""
    return completion({"role": "assistant", "content": content, **more}, finish_reason)


def raw_call(name: Any, arguments: Any, id: Any = "call_1") -> dict[str, Any]:
    """One entry of `tool_calls`; the arguments go out as they are."""
    function = {"name": name, "arguments": arguments}
    return {"id": id, "type": "function", "function": function}


def tool_calls(*raw: Any, content: Any = None, **more: Any) -> Reply:
    """A reply that calls tools, given as raw entries."""
    message = {"role": "assistant", "content": content, "tool_calls": list(raw), **more}
    return completion(message, "tool_calls")


def tool_call(name: Any, arguments: Any, id: Any = "call_1", **more: Any) -> Reply:
    """A reply that calls one tool; the arguments are raw, usually a JSON text."""
    return tool_calls(raw_call(name, arguments, id), **more)


def done(summary: str = "", status: str = "success", id: str = "call_end") -> Reply:
    """A reply that calls `terminate`."""
    return tool_call("terminate", json.dumps({"status": status, "summary": summary}), id)


def raw(body: Any, *, content_type: str = "application/json") -> Reply:
    """Any body with status 200: an object is sent as JSON, a text as it is."""
    return Reply(body=_encoded(body), content_type=content_type)


def status(code: int, body: Any, headers: Mapping[str, str] | None = None) -> Reply:
    """An HTTP error. A text is sent as an HTML page, an object as JSON."""
    kind = "text/html" if isinstance(body, str) else "application/json"
    return Reply(code, _encoded(body), kind, headers or {})


def error(code: int, message: str, headers: Mapping[str, str] | None = None, **more: Any) -> Reply:
    """An HTTP error in OpenAI's form."""
    return status(code, {"error": {"message": message, "code": code, **more}}, headers)


def sse(raw_events: str) -> Reply:
    """Server-sent events, byte for byte."""
    return Reply(body=raw_events.encode(), content_type="text/event-stream")


def hang() -> Reply:
    """No answer until the server is closed."""
    return Reply(hangs=True)


class StubServer:
    """The server; use it as a context manager.

    Args:
        script: Replies in order, or a function from the request to a reply.
        repeat: What is answered when the replies are used up; `None`: status 500.
        strict: Check every request, and answer 400 to an illegal one.
        refuse: Features that get a 400, or what each gets; a refused request uses up no reply.
    """

    def __init__(
        self,
        script: Script = (),
        *,
        repeat: Reply | None = None,
        strict: bool = True,
        refuse: Collection[Feature] | Refusals = (),
    ) -> None:
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self.play(script, repeat=repeat, strict=strict, refuse=refuse)
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    def play(
        self,
        script: Script = (),
        *,
        repeat: Reply | None = None,
        strict: bool = True,
        refuse: Collection[Feature] | Refusals = (),
    ) -> None:
        """Begin anew with another script; what was recorded is forgotten."""
        with self._lock:
            self._script, self._repeat = script, repeat
            self.strict, self.refuse = strict, _refusals(refuse)
            self._played = 0
            self.requests: list[Request] = []
            self.violations: list[str] = []
            self.overrun = 0

    def __enter__(self) -> "StubServer":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    key: Final = SecretStr("x")
    """The key that `model` sends."""

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def model(self, **options: Any) -> ChatOpenAI:
        """The real client, pointed at this server; it does not try again unless told to."""
        settings = {"model": MODEL, "max_retries": 0, "timeout": 30, **options}
        return ChatOpenAI(base_url=self.base_url, api_key=self.key, **settings)

    @property
    def unplayed(self) -> int:
        """Replies that nobody asked for."""
        return 0 if callable(self._script) else len(self._script) - self._played

    def verify(self) -> None:
        """Fail if a request was illegal, or if there were more than the script answers.

        Raises:
            AssertionError: With what was wrong.
        """
        problems = list(self.violations)
        if self.overrun:
            problems.append(f"{self.overrun} requests more than the script has replies")
        assert not problems, "; ".join(problems)

    def wait_closed(self) -> None:
        """Hold a request until the server goes down."""
        self._closing.wait()

    def answer(self, body: dict[str, Any], headers: dict[str, str]) -> Reply:
        """Record a request and choose the reply."""
        with self._lock:
            illegal = violations(body) if self.strict else []
            first: Feature | None = next(
                (name for name in _asked(body) if name in self.refuse), None
            )
            code, words = 400, "; ".join(illegal)
            if first is not None and not illegal:
                code, words = self.refuse[first]
            refused = bool(illegal or first)
            request = Request(body, headers, words)
            self.requests.append(request)
            self.violations += illegal
            if refused:
                return error(code, words, type="invalid_request_error")
            if callable(self._script):
                return self._script(request)
            turn, self._played = self._played, min(self._played + 1, len(self._script))
            if turn < len(self._script):
                return self._script[turn]
            if self._repeat is not None:
                return self._repeat
            self.overrun += 1
            return error(500, f"The script of {len(self._script)} replies is used up.")


def _refusals(refuse: Collection[Feature] | Refusals) -> Refusals:
    if isinstance(refuse, Mapping):
        return refuse
    return {name: (400, _REFUSALS[name]) for name in refuse}


def violations(body: Mapping[str, Any]) -> list[str]:
    """What a strict server would refuse in a request, one sentence each."""
    messages: list[dict[str, Any]] = body.get("messages") or []
    if not messages:
        return ["there are no messages"]
    found = []
    roles = [message.get("role") for message in messages]
    if "system" in roles[1:]:
        found.append("a system message is not the first")
    if roles[-1] not in ("user", "tool"):
        found.append(f"the last message is of the {roles[-1]}")
    for place, message in enumerate(messages):
        where = f"messages[{place}] ({message.get('role')})"
        calls = message.get("tool_calls") or []
        blank = not calls if message.get("role") == "assistant" else True
        if blank and not _says_something(message.get("content")):
            found.append(f"{where} is empty")
        found += [f"{where}: {problem}" for call in calls if (problem := _bad_call(call))]
    return found + _bad_pairs(messages)


def _says_something(content: Any) -> bool:
    return bool(content.strip()) if isinstance(content, str) else bool(content)


def _bad_call(call: Mapping[str, Any]) -> str:
    arguments = call.get("function", {}).get("arguments")
    if not isinstance(arguments, str):
        return f"the arguments are no string: {arguments!r}"
    try:
        value = json.loads(arguments)
    except ValueError:
        return f"the arguments are no JSON: {arguments!r}"
    if not isinstance(value, dict):
        return f"the arguments are no object: {arguments!r}"
    return "" if call.get("id") and call["function"].get("name") else "a call has no id or name"


def _bad_pairs(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """Calls that are not answered straight after their turn, strange answers, repeated ids."""
    found, seen = [], Counter[Any]()
    place = 0
    while place < len(messages):
        called = [call.get("id") for call in messages[place].get("tool_calls") or []]
        place += 1
        answered = []
        while place < len(messages) and messages[place].get("role") == "tool":
            answered.append(messages[place].get("tool_call_id"))
            place += 1
        if Counter(called) != Counter(answered):
            found.append(f"calls {called} are answered by {answered}")
        seen.update(called)
    return found + [f"the call id {name!r} is used {n} times" for name, n in seen.items() if n > 1]


def _asked(body: Mapping[str, Any]) -> list[Feature]:
    """Features that a request makes use of."""
    asked: list[Feature] = []
    kind = (body.get("response_format") or {}).get("type")
    if kind == "json_schema":
        asked.append("json_schema")
    if kind == "json_object":
        asked.append("json_object")
    if body.get("tools"):
        asked.append("tools")
        free = body.get("tool_choice", "auto") in ("auto", "none")
        asked.append("auto_tools" if free else "forced_tools")
    return asked + _used(body.get("messages") or [])


def _used(messages: Sequence[Mapping[str, Any]]) -> list[Feature]:
    """Features that the messages make use of."""
    used: list[Feature] = []
    lists = [m["content"] for m in messages if isinstance(m.get("content"), list)]
    if any(block.get("type") == "image_url" for content in lists for block in content):
        used.append("images")
    if lists:
        used.append("blocks")
    if any(message["role"] == "system" for message in messages):
        used.append("system")
    if any(len(message.get("tool_calls") or []) > 1 for message in messages):
        used.append("parallel_calls")
    plain = [m["role"] for m in messages if m["role"] == "user" or _is_text_turn(m)]
    if any(role != ("user", "assistant")[n % 2] for n, role in enumerate(plain)):
        used.append("same_role_twice")
    return used


def _is_text_turn(message: Mapping[str, Any]) -> bool:
    return message["role"] == "assistant" and not message.get("tool_calls")


def _encoded(body: Any) -> bytes:
    return (body if isinstance(body, str) else json.dumps(body)).encode()


def as_events(whole: Mapping[str, Any], *, with_usage: bool) -> bytes:
    """A completion as a stream: what was said, the reason it ended, the count."""
    choice = whole["choices"][0]
    delta = dict(choice["message"])
    if isinstance(calls := delta.get("tool_calls"), list):
        delta["tool_calls"] = [
            {"index": n, **call} if isinstance(call, dict) else call for n, call in enumerate(calls)
        ]
    parts = [
        [{"index": 0, "delta": delta, "finish_reason": None}],
        [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}],
    ]
    head = {"id": whole["id"], "object": "chat.completion.chunk", "created": 1, "model": MODEL}
    chunks: list[dict[str, Any]] = [{**head, "choices": part} for part in parts]
    if with_usage and "usage" in whole:
        chunks.append({**head, "choices": [], "usage": whole["usage"]})
    return b"".join(b"data: " + _encoded(chunk) + b"\n\n" for chunk in chunks) + b"data: [DONE]\n\n"


def _handler(server: StubServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        # HTTP/1.0: no connection is kept, so that none outlives an event loop.

        def do_GET(self) -> None:
            listed = {"object": "list", "data": [{"id": MODEL, "object": "model"}]}
            self._send(raw(listed) if self.path == "/v1/models" else error(404, "no such path"))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path != "/v1/chat/completions":
                return self._send(error(404, "no such path"))
            reply = server.answer(body, {k.lower(): v for k, v in self.headers.items()})
            if reply.hangs:
                return server.wait_closed()
            if reply.completion is None:
                return self._send(reply)
            if body.get("stream"):
                counted = bool((body.get("stream_options") or {}).get("include_usage"))
                events = as_events(reply.completion, with_usage=counted)
                return self._send(Reply(body=events, content_type="text/event-stream"))
            return self._send(raw(reply.completion))

        def _send(self, reply: Reply) -> None:
            self.send_response(reply.status)
            headers = {"Content-Type": reply.content_type, "Content-Length": str(len(reply.body))}
            for name, value in (headers | dict(reply.headers)).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing is printed."""

    return Handler
