"""The tools of one agent: names checked when it is built, calls answered whatever happens."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, ToolException
from langgraph.errors import GraphBubbleUp, is_invalid_resume
from langgraph.types import Command

from planloop.state import ToolSetupError, cut_middle

from .agent_state import is_stateful
from .answers import Shown, answer, failure, is_heavy
from .arguments import fit, parameters_of
from .invoke import Ending, Runner, acall_within, call_within
from .registration import as_tools
from .results import MAX_OUTPUT, clean, safe_str
from .traits import ToolTraits, traits_of, workspace_of

_LISTED: Final = 30  # names told to a model that asked for one that does not exist


@dataclass(frozen=True)
class _Entry:
    """A tool with what is worked out once for all of its calls."""

    tool: BaseTool
    runner: Runner
    traits: ToolTraits
    parameters: frozenset[str] | None

    @classmethod
    def of(cls, tool: BaseTool) -> "_Entry":
        return cls(tool, Runner.of(tool), traits_of(tool), parameters_of(tool))

    def answer(self, call: ToolCall, ending: Ending, shown: Shown) -> ToolMessage | Command[Any]:
        """Answer with how the call ended; what is not the tool's to decide is raised."""
        error = ending.error
        if error is None:
            return answer(call, ending.value, shown)
        if isinstance(error, GraphBubbleUp | KeyboardInterrupt) or is_invalid_resume(error):
            raise error
        return failure(call, error, tool=self.tool, limit=shown.limit)


class ToolRegistry:
    """Tools by name; read-only once it is built.

    Args:
        tools: LangChain tools, or functions with a docstring and typed parameters.

    Raises:
        ToolSetupError: A name that is illegal, reserved or used twice, or something that cannot
            be made a tool; the message says what to do.
    """

    def __init__(self, tools: Iterable[BaseTool | Callable[..., Any]] = ()) -> None:
        self._entries = {tool.name: _Entry.of(tool) for tool in as_tools(tools)}
        folders = (workspace_of(entry.tool) for entry in self._entries.values())
        self.lends_state = any(is_stateful(entry.tool) for entry in self._entries.values())
        """Whether a tool works on the state of the agent."""
        self.workspace = next((folder for folder in folders if folder is not None), None)
        """The folder in which the tools work where a run names none."""

    @property
    def tools(self) -> tuple[BaseTool, ...]:
        """The tools, in the order given."""
        return tuple(entry.tool for entry in self._entries.values())

    @property
    def names(self) -> tuple[str, ...]:
        """Their names, in the order given."""
        return tuple(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[BaseTool]:
        return iter(self.tools)

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, name: str) -> BaseTool | None:
        """Return the tool of exactly this name, white space around it aside."""
        entry = self._entries.get(name.strip())
        return entry.tool if entry else None

    def traits(self, name: str) -> ToolTraits | None:
        """What the tool of this name declares; none if there is no such tool."""
        entry = self._entries.get(name.strip())
        return entry.traits if entry else None

    def subset(self, names: Iterable[str]) -> "ToolRegistry":
        """Return a registry of these tools only.

        Raises:
            ToolSetupError: A name that is not registered.
        """
        wanted = list(names)
        if unknown := [name for name in wanted if name not in self]:
            raise ToolSetupError(f"No tool is called {unknown[0]!r}. {self._valid_names()}")
        return ToolRegistry(self._entries[name].tool for name in wanted)

    def search(self, text: str) -> tuple[BaseTool, ...]:
        """Return the tools whose name or description contains the text, in any case."""
        sought = text.casefold()
        return tuple(
            tool for tool in self if sought in f"{tool.name}\n{tool.description}".casefold()
        )

    def run(
        self, call: ToolCall, config: RunnableConfig | None = None, *, limit: int | None = None
    ) -> ToolMessage | Command[Any]:
        """Run one call and answer it; a failure of any kind is an answer with `status="error"`.

        Unknown names, wrong arguments, exceptions, `SystemExit` and time limits are told to the
        model. Longer text is cut, and kept as a whole in the workspace, as images are. A tool that
        is asynchronous only runs on a loop in the background.

        Args:
            call: `{"name": ..., "args": {...}, "id": ...}`; surplus arguments are dropped.
            config: Handed to the tool, with callbacks; left out, that of the running node.
            limit: Characters of the result to show; a tool may declare fewer.

        Raises:
            GraphBubbleUp: The tool asks a person or steers the graph.
            KeyboardInterrupt: Somebody wants out.
        """
        try:
            entry, request = self._accept(call)
        except ToolException as error:
            return failure(call, error)
        ending = call_within(entry.runner, request, config, entry.traits.timeout)
        return entry.answer(request, ending, self._shown(entry, limit))

    async def arun(
        self, call: ToolCall, config: RunnableConfig | None = None, *, limit: int | None = None
    ) -> ToolMessage | Command[Any]:
        """Run one call as `run` does, without blocking the loop.

        Synchronous tools run in a thread of their own. When the caller is cancelled the
        cancellation is passed on; a tool that cancels itself has merely failed.
        """
        try:
            entry, request = self._accept(call)
        except ToolException as error:
            return failure(call, error)
        ending = await acall_within(entry.runner, request, config, entry.traits.timeout)
        shown = self._shown(entry, limit)
        if ending.error is None and is_heavy(ending.value, shown):
            return await asyncio.to_thread(entry.answer, request, ending, shown)
        return entry.answer(request, ending, shown)

    def _shown(self, entry: _Entry, limit: int | None) -> Shown:
        declared = entry.traits.max_output
        if limit is None or declared is None:
            return Shown(limit or declared or MAX_OUTPUT, self.workspace)
        return Shown(min(limit, declared), self.workspace)

    def _accept(self, call: ToolCall) -> tuple[_Entry, ToolCall]:
        """Find the tool and read the arguments, or raise a ToolException for the model."""
        name = safe_str(call.get("name") or "").strip()
        entry = self._entries.get(name)
        if entry is None:
            shown = cut_middle(clean(name), 100)
            raise ToolException(f'There is no tool named "{shown}". {self._valid_names()}')
        args = fit(entry.tool, call.get("args"), entry.parameters)
        request = ToolCall(name=name, args=args, id=call.get("id") or "", type="tool_call")
        return entry, request

    def _valid_names(self) -> str:
        names = self.names
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        return f"Valid names: {', '.join(names[:_LISTED]) or '(none)'}{more}."
