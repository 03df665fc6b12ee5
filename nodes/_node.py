"""The shape of every node and every router: one body, sync and async."""

from collections.abc import AsyncIterator, Callable, Generator, Iterator
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langchain_core.runnables.config import set_config_context

from planloop.models import aperform, perform


class Node(RunnableLambda[Any, Any]):
    """A graph node made of one function.

    The function takes the state and returns an update, or is a generator of effects that returns
    one (see `planloop.models.effects`). LangGraph would run a sync function in a thread when the
    graph is awaited; a node of ours neither blocks the loop nor leaves it.

    It is a `RunnableLambda` because LangGraph asks those for the graphs they depend on, to draw
    them and to read their state; their tracing and its cost are left out.

    Args:
        inner: The graph that the function calls, if it calls one.
    """

    def __init__(
        self, body: Callable[[Any], Any], name: str | None = None, *, inner: Any = None
    ) -> None:
        super().__init__(body, name=name or body.__name__)
        self.body = body
        self.deps = [inner] if isinstance(inner, Runnable) else []

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        update = self.body(input)  # LangGraph has set the context of the config already
        return perform(update) if isinstance(update, Generator) else update

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        update = self.body(input)
        return await aperform(update) if isinstance(update, Generator) else update

    # LangGraph reads nodes in this form under LangChain's `astream_events`.

    def stream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Any]:
        yield self.invoke(input, config)

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        yield await self.ainvoke(input, config)


class Router(Node):
    """What decides which node comes next: a function of the state.

    A plain function would run in a thread, too, which costs a quarter of a turn. LangGraph sets no
    context here; the config holds the thread's id.
    """

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        if config is None:
            return self.body(input)
        with set_config_context(config) as context:
            return context.run(self.body, input)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return self.invoke(input, config)
