"""One server for each module of this folder, with a new script for each test."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from wire.stub_server import StubServer

Run = Callable[[Any, Any], Awaitable[dict[str, Any]]]


@pytest.fixture(scope="module")
def server() -> Iterator[StubServer]:
    with StubServer() as running:
        yield running


@pytest.fixture
def stub(server: StubServer) -> Iterator[StubServer]:
    """The server, strict, with an empty script; what it had to refuse fails the test."""
    server.play()
    yield server
    server.verify()


@pytest.fixture(params=["sync", "async"])
def run(request: pytest.FixtureRequest) -> Run:
    """Run a graph to its end, once in each form."""

    async def sync(graph: Any, given: Any) -> dict[str, Any]:
        result: dict[str, Any] = await asyncio.to_thread(graph.invoke, given)
        return result

    async def by_await(graph: Any, given: Any) -> dict[str, Any]:
        result: dict[str, Any] = await graph.ainvoke(given)
        return result

    return sync if request.param == "sync" else by_await
