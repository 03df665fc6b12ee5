"""An answer as it is written on the command line, in the form that a question wants."""

import json
from collections.abc import Mapping
from typing import Any

from planloop.errors import WrongUse


def read_answer(asked: Mapping[str, Any], text: str | None, yes: bool | None) -> Any:
    """The answer for `Runs.answer`.

    Args:
        asked: What the run waits with.
        text: Plain text or JSON; with a no, the reason.
        yes: `--yes` or `--no`.

    Raises:
        WrongUse: There is no answer, or it is yes and something else.
    """
    text = (text or "").strip()
    if yes and text:
        raise WrongUse("Give either an answer or --yes.")
    if yes is None and not text:
        raise WrongUse("Give an answer, --yes or --no.")
    kind = asked.get("type")
    if yes is None:
        found = _json(text)
        # What answers a question is text, also where it happens to be JSON.
        wanted = dict if kind == "question" else (dict, list, bool)
        return found if isinstance(found, wanted) else text
    if kind == "question":
        return "yes" if yes else f"no: {text}" if text else "no"
    return True if yes else refusal(str(kind), text)


def refusal(kind: str, reason: str) -> Any:
    """A no, with its reason if there is one."""
    if not reason or kind == "call_in_doubt":
        return False
    if kind == "plan_approval":
        return {"action": "reject", "comment": reason}
    return {"reject": reason}


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
