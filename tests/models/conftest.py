# Modules that planloop.models does not export: type checkers know the folders' stubs only.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false
"""Loopback servers for the tests of this folder: any handler, and a scripted llama.cpp."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from planloop.models.local_chat import LocalChat

Serve = Callable[[type[BaseHTTPRequestHandler]], str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serve with a handler class until the test ends; gives the address without a slash."""
    running: list[tuple[ThreadingHTTPServer, threading.Thread]] = []

    def start(handler: type[BaseHTTPRequestHandler]) -> str:
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        running.append((server, thread))
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server, thread in running:
        server.shutdown()
        server.server_close()
        thread.join()


class Stub:
    """Answers in the order of the script and keeps each request's body."""

    def __init__(self, serve: Serve) -> None:
        self.script: list[tuple[str, str]] = []
        self.bodies: list[dict[str, Any]] = []
        self.url = f"{serve(self.handler())}/v1"
        self.model = LocalChat.for_endpoint(self.url, "key", model="local:stub")

    def will_say(self, *replies: object, finish: str = "stop") -> None:
        texts = (r if isinstance(r, str) else json.dumps(r) for r in replies)
        self.script += [(text, finish) for text in texts]

    def schema(self, request: int = 0) -> dict[str, Any]:
        schema: dict[str, Any] = self.bodies[request]["json_schema"]
        return schema

    def handler(self) -> type[BaseHTTPRequestHandler]:
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"  # keeps connections, as the real server does

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                stub.bodies.append(body)
                text, finish = stub.script.pop(0)
                data, kind = reply(text, finish, stream=body.get("stream", False))
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                """Keep quiet."""

        return Handler


def reply(text: str, finish: str, *, stream: bool) -> tuple[bytes, str]:
    """What llama.cpp's server sends for this text, in one piece or word by word."""
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    if not stream:
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": finish}
        return json.dumps({"choices": [choice], "usage": usage}).encode(), "application/json"
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": {"content": f"{word} "}}]} for word in text.split()
    ]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    chunks.append({"choices": [], "usage": usage})
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return "".join([*lines, "data: [DONE]\n\n"]).encode(), "text/event-stream"


@pytest.fixture
def stub(serve: Serve) -> Stub:
    return Stub(serve)
