"""Ask the person at the terminal."""

from collections.abc import Mapping
from typing import Any

from rich.text import Text

from planloop.state import Plan, as_plan

from .answers import refusal
from .edit import edited_text
from .questions import question_text
from .screen import Screen

_YES = ("y", "yes", "a", "approve", "accept")
_NO = ("n", "no", "r", "reject")


def ask(screen: Screen, asked: Mapping[str, Any]) -> Any:
    """Show a question and read its answer.

    Raises:
        EOFError: The person gave none.
    """
    screen.say(question_text(asked))
    if asked.get("type") == "tool_approval":
        return _ask_calls(screen, asked)
    if asked.get("type") == "call_in_doubt":
        return _ask_again(screen)
    if asked.get("type") == "plan_approval":
        return _ask_plan(screen, asked)
    return _ask_text(screen, asked)


def ask_line(screen: Screen, prompt: str) -> str:
    """One line from the person."""
    return screen.console.input(Text(prompt, style="bold")).strip()


def _ask_text(screen: Screen, asked: Mapping[str, Any]) -> str:
    options = asked.get("options") or []
    while not (text := ask_line(screen, "Your answer: ")):
        pass
    chosen = int(text) if text.isdecimal() else 0
    return str(options[chosen - 1]) if 0 < chosen <= len(options) else text


def _ask_calls(screen: Screen, asked: Mapping[str, Any]) -> dict[str, Any]:
    return {
        call["id"]: _ask_yes_no(screen, f"Run {call['name']}? [y]es / [n]o: ")
        for call in asked["calls"]
    }


def _ask_yes_no(screen: Screen, prompt: str) -> Any:
    while True:
        word, _, reason = ask_line(screen, prompt).partition(" ")
        if word.lower() in _YES:
            return True
        if word.lower() in _NO:
            return refusal("tool_approval", reason.strip() or ask_line(screen, "Why? "))


def _ask_again(screen: Screen) -> str:
    while True:
        word = ask_line(screen, "[r]epeat the call / [s]kip it: ").lower()
        if word in ("r", "repeat", "y", "yes"):
            return "repeat"
        if word in ("s", "skip", "n", "no"):
            return "skip"


def _ask_plan(screen: Screen, asked: Mapping[str, Any]) -> Any:
    plan: Plan = as_plan(asked["plan"])
    prompt = "[a]ccept / [e]dit / [r]eject with a comment / [c]ancel the run: "
    while True:
        word, _, comment = ask_line(screen, prompt).partition(" ")
        if word.lower() in _YES:
            return True
        if word.lower() in ("c", "cancel"):
            return False
        if word.lower() in ("e", "edit"):
            return {"action": "edit", "text": edited_text(plan, lambda: _lines(screen))}
        if word.lower() in _NO:
            comment = comment.strip() or ask_line(screen, "What should change? ")
            if comment:
                return refusal("plan_approval", comment)


def _lines(screen: Screen) -> str:
    screen.say("One step a line, NAME -- DESCRIPTION; an empty line ends the plan.")
    lines: list[str] = []
    while line := ask_line(screen, f"{len(lines) + 1}: "):
        lines.append(line)
    return "\n".join(lines)
