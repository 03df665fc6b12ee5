"""Checks by code: what one is given, what it may answer, and how it is called."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from langchain_core.tools import ToolException
from langgraph.errors import GraphBubbleUp

from planloop.state import PlanStep, cut_middle, one_line

from .results import clean, safe_str
from .workers import BACKGROUND, in_thread, is_given_up

MAX_EVIDENCE: Final = 800
"""Characters of evidence that are kept."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckedStep:
    """What a check is given. All text in it was written by models and tools."""

    step: PlanStep
    argument: str = ""
    """What follows the colon in `name: argument`."""
    file: str = ""
    """The declared output file that the criterion names before the colon."""
    workspace: Path | None = None
    """The run's folder, where it has one."""
    result: str = ""
    """What the step gave back."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What a check found."""

    met: bool | None
    """`None` where it cannot tell."""
    evidence: str = ""
    """What shows it, or why it cannot be told."""


CheckAnswer = bool | CheckResult | None
Check = Callable[[CheckedStep], CheckAnswer | Awaitable[CheckAnswer]]
"""Decides one criterion. It may raise: then the criterion is neither met nor unmet."""


@dataclass(frozen=True, slots=True)
class CallCheck:
    """The call of a check, in both forms. Only interrupts and cancellation are raised."""

    check: Check
    step: CheckedStep

    def run(self) -> CheckResult:
        """Call it here; one that is async runs on the loop in the background."""
        try:
            answer = self.check(self.step)
        except GraphBubbleUp:
            raise
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            return _failed(error)
        return BACKGROUND.run(_ended(answer)) if inspect.isawaitable(answer) else _read(answer)

    async def arun(self) -> CheckResult:
        """Await it, or call it in a thread."""
        return await _ended(self._answer())

    async def _answer(self) -> CheckAnswer:
        if inspect.iscoroutinefunction(self.check):
            answer: CheckAnswer = await self.check(self.step)
            return answer
        given = await in_thread(self.check, self.step)
        return await given if inspect.isawaitable(given) else given


async def _ended(work: Awaitable[CheckAnswer]) -> CheckResult:
    try:
        return _read(await work)
    except GraphBubbleUp:
        raise
    except asyncio.CancelledError as error:
        if is_given_up():
            raise
        return _failed(error)
    except (Exception, SystemExit) as error:  # an exit would stop the loop
        return _failed(error)


def _read(answer: object) -> CheckResult:
    if answer is None or isinstance(answer, bool):
        return CheckResult(answer)
    if isinstance(answer, CheckResult) and (answer.met is None or isinstance(answer.met, bool)):
        return CheckResult(answer.met, cut_middle(clean(safe_str(answer.evidence)), MAX_EVIDENCE))
    given = answer.met if isinstance(answer, CheckResult) else answer
    return CheckResult(None, f"the check answered with {type(given).__name__}, not yes or no")


def _failed(error: BaseException) -> CheckResult:
    if isinstance(error, ToolException):
        text = safe_str(error)
    else:  # an OSError's own text names paths of the machine
        told = getattr(error, "strerror", None) or safe_str(error)
        text = f"the check failed: {type(error).__name__}: {told}"
    return CheckResult(None, one_line(clean(text), MAX_EVIDENCE))
