"""Calls with an effect that a crash has cut off: their result is used, or a person decides."""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphBubbleUp
from langgraph.types import interrupt

from planloop.models import Blocking, Effect, Steps
from planloop.tools import KEY, CallLedger, Claim, ToolTraits

from ._stops import answer_call

IN_DOUBT: Final = "call_in_doubt"
"""The type of the question."""
REPEAT: Final = ("repeat", "yes", "y", "true", "again")
SKIP: Final = ("skip", "no", "n", "false")
SKIPPED: Final = (
    "This call had begun when the run was cut off. Whether it took effect is not known, and the "
    "person does not want it made again. Find out how things stand before you go on."
)
_UNCLEAR: Final = "Answer 'repeat' to make the call again, or 'skip' to go on without."


def at_most_once(
    run: Effect,
    call: ToolCall,
    traits: ToolTraits,
    config: RunnableConfig,
    ledger: CallLedger,
) -> Steps[Any]:
    """Make a call with an effect, unless its result is known.

    Where it is in doubt, a tool that may be repeated is run again with the same key. For others a
    person is asked, with an interrupt whose value is `{"type": "call_in_doubt", "id", "name",
    "args", "effect", "begun", "text", "problem"}`; the answer is `repeat` or `skip`.
    """
    given = config.get("configurable", {})
    key = f"{given[KEY]}:{_digest(call)}"
    claim: Claim = yield Blocking(ledger.claim, (str(given.get("thread_id") or ""), key))
    if claim.result is not None:
        return claim.result
    if claim.state == "doubt" and traits.on_replay == "ask" and not _again(call, traits, claim):
        result: Any = answer_call(call, SKIPPED)
    else:
        try:
            result = yield run
        except GraphBubbleUp:  # it asks somebody first
            yield Blocking(ledger.release, (key,))
            raise
    if isinstance(result, ToolMessage):
        yield Blocking(ledger.finish, (key, result))
    return result


def _digest(call: ToolCall) -> str:
    """A call whose arguments were edited is another one."""
    content = json.dumps([call["name"], call["args"]], sort_keys=True, default=str)
    return hashlib.sha256(content.encode(errors="replace")).hexdigest()[:12]


def _again(call: ToolCall, traits: ToolTraits, claim: Claim) -> bool:
    asked, problem = _asked(call, traits, claim), ""
    while True:
        answer = interrupt({**asked, "problem": problem})
        if isinstance(answer, Mapping):
            answer = answer.get(str(call["id"]), answer.get("action"))
        word = str(answer).strip().lower()
        if word in REPEAT or word in SKIP:
            return word in REPEAT
        problem = _UNCLEAR


def _asked(call: ToolCall, traits: ToolTraits, claim: Claim) -> dict[str, Any]:
    begun = datetime.fromtimestamp(claim.begun, UTC).isoformat(timespec="seconds")
    return {
        "type": IN_DOUBT,
        "id": call["id"],
        "name": call["name"],
        "args": call["args"],
        "effect": traits.effect,
        "begun": begun,
        "text": (
            f"The call of {call['name']} had begun at {begun} when the run was cut off. It may "
            "have taken effect, or not. Make it again?"
        ),
    }
