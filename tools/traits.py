"""What a tool can do to the world, written on the tool itself."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal, TypeVar, get_args

from langchain_core.tools import BaseTool

from planloop.state import ToolSetupError

Effect = Literal["read", "write", "execute", "network", "irreversible"]
OnReplay = Literal["repeat", "ask"]
T = TypeVar("T", bound=BaseTool)

_TRAITS: Final = "planloop.traits"
_OWN: Final = "planloop.own"
_WORKSPACE: Final = "planloop.workspace"


@dataclass(frozen=True, kw_only=True)
class ToolTraits:
    """What one tool declares; a tool that declares nothing gets these, the strictest.

    Raises:
        ToolSetupError: A value outside the lists below, or a limit that is not positive.
    """

    effect: Effect = "irreversible"
    """The worst that a call can do."""
    origin: str = "local"
    """Who made the tool: `local` or `mcp:<server>`."""
    timeout: float | None = None
    """Seconds one call may take; `None` means the tool bounds itself."""
    sequential: bool = True
    """Calls of one turn run in order, never side by side."""
    on_replay: OnReplay = "ask"
    """What is to happen to a call that a crash cut off: make it again, or ask a person.

    `Runs` knows of such calls where the saver has a ledger, as those of `open_saver` have.
    """
    max_output: int | None = None
    """Characters of the result that a model is shown; `None` means the registry's default."""

    def __post_init__(self) -> None:
        for field, allowed in (("effect", get_args(Effect)), ("on_replay", get_args(OnReplay))):
            if getattr(self, field) not in allowed:
                raise ToolSetupError(
                    f"A tool's {field} is one of {', '.join(allowed)}, "
                    f"not {getattr(self, field)!r}."
                )
        for field in ("timeout", "max_output"):
            if (limit := getattr(self, field)) is not None and limit <= 0:
                raise ToolSetupError(f"A tool's {field} is more than zero, not {limit}.")


def tool_traits(
    *,
    effect: Effect,
    origin: str = "local",
    timeout: float | None = None,
    sequential: bool = False,
    on_replay: OnReplay | None = None,
    max_output: int | None = None,
) -> Callable[[T], T]:
    """Declare on a LangChain tool what it can do; put it above `@tool`.

    The arguments are those of `ToolTraits`; without `on_replay`, a tool that only reads is
    repeated after a crash and any other asks.

    Raises:
        ToolSetupError: An illegal value, or something that is not a LangChain tool.
    """
    traits = ToolTraits(
        effect=effect,
        origin=origin,
        timeout=timeout,
        sequential=sequential,
        on_replay=on_replay or ("repeat" if effect == "read" else "ask"),
        max_output=max_output,
    )
    return lambda tool: _noted(tool, _TRAITS, asdict(traits))


def traits_of(tool: BaseTool) -> ToolTraits:
    """Return what the tool declares; a tool that declares nothing gets the strictest traits."""
    return ToolTraits(**(tool.metadata or {}).get(_TRAITS, {}))


def own(tool: T) -> T:
    """Mark a tool as planloop's, so that it may carry a reserved name."""
    return _noted(tool, _OWN, True)


def settled(tool: T, workspace: Path | None) -> T:
    """Note on a tool in which folder it works where a run names none."""
    return _noted(tool, _WORKSPACE, str(workspace)) if workspace is not None else tool


def workspace_of(tool: BaseTool) -> Path | None:
    """Return the folder that `settled` noted."""
    noted = (tool.metadata or {}).get(_WORKSPACE)
    return Path(noted) if noted else None


def is_own(tool: BaseTool) -> bool:
    """Tell whether planloop made the tool."""
    return (tool.metadata or {}).get(_OWN) is True


def _noted(tool: T, key: str, value: object) -> T:
    if not isinstance(tool, BaseTool):
        raise ToolSetupError(f"{tool!r} is not a LangChain tool: put this decorator above @tool.")
    tool.metadata = {**(tool.metadata or {}), key: value}
    return tool
