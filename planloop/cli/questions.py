"""Open questions in words, and how they are answered by another command."""

import json
import shlex
from collections.abc import Mapping
from typing import Any

from planloop.runs import Pending, RunView

_KINDS = {
    "question": "a question",
    "tool_approval": "tool calls need approval",
    "plan_approval": "the plan needs approval",
    "call_in_doubt": "a call was cut off",
}


def waiting_text(view: RunView, db: str | None) -> str:
    """What a run waits for, and the commands that answer."""
    parts = []
    for pending in view.pending:
        if pending.kind == "paused":
            parts.append(f"\nPaused, as you asked. Go on with: {command('resume', view, db)}")
            continue
        named = f" --id {pending.id}" if len(view.pending) > 1 else ""
        parts += [question_text(pending.asked), _how(pending, command("answer", view, db) + named)]
    return "\n".join(parts)


def command(verb: str, view: RunView | str, db: str | None) -> str:
    """The command line that goes on with a thread."""
    thread = view if isinstance(view, str) else view.thread
    where = f" --db {shlex.quote(db)}" if db else ""
    return f"planloop {verb} {shlex.quote(thread)}{where}"


def question_text(asked: Mapping[str, Any]) -> str:
    """A question as a person reads it."""
    kind = asked.get("type")
    head = f"\nWaiting: {_KINDS.get(str(kind), 'an answer is needed')}."
    if kind == "question":
        options = asked.get("options") or []
        listed = (f"  {number}. {option}" for number, option in enumerate(options, 1))
        return "\n".join([head, str(asked.get("question")), *listed])
    if kind == "tool_approval":
        return "\n".join([head, *(call_text(call) for call in asked["calls"])])
    if kind == "call_in_doubt":
        return "\n".join([head, str(asked.get("text")), call_text(asked)])
    if kind == "plan_approval":
        return "\n".join([head, *_why_asked(asked), str(asked.get("text"))])
    return f"{head}\n{json.dumps(asked, ensure_ascii=False, default=str)}"


def _why_asked(asked: Mapping[str, Any]) -> list[str]:
    """Why a plan is shown again: what could not be used, or what it was made anew for."""
    lines = [f"Not usable: {asked['problem']}"] if asked.get("problem") else []
    if asked.get("reason"):
        lines += [f"The plan was made anew: {asked['reason']}", str(asked.get("changes") or ""), ""]
    return lines


def call_text(call: Mapping[str, Any]) -> str:
    """A tool call with all its arguments, each in full: this is what a person signs."""
    lines = [f"  {call['name']} (effect: {call.get('effect', 'unknown')})"]
    for name, value in call["args"].items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        first, *more = text.split("\n")
        lines += [f"    {name}: {first}" if not more else f"    {name}:"]
        lines += [f"      {line}" for line in [first, *more] if more]
    return "\n".join(lines)


def _how(pending: Pending, answer: str) -> str:
    kind = pending.kind
    if kind == "tool_approval":
        return f'Answer with: {answer} --yes   or: {answer} --no "the reason"'
    if kind == "call_in_doubt":
        return f"Answer with: {answer} --yes (make it again)   or: {answer} --no (go on without)"
    if kind == "plan_approval":
        return f'Answer with: {answer} --yes   or: {answer} --no "what to change"'
    return f'Answer with: {answer} "your answer"'
