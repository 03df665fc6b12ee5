"""The report as a Markdown page. What strangers wrote is shown, and is never part of the page."""

import re
from collections.abc import Iterator
from typing import Final

from .markup import in_markdown
from .outcome import Usage
from .plan import Plan
from .report import PlanReport, StepReport, headline
from .status import MARKS
from .text import cut_middle

_NAME: Final = 120
_LINE: Final = 500
_TEXT: Final = 4_000
"""Characters of a name, of a sentence, of a longer text."""
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_HEAD: Final = ("", "Step", "Name", "Executor", "Attempts", "Verified", "Seconds", "Tokens")


def report_markdown(plan: Plan, report: PlanReport, summary: str = "") -> str:
    """The report as a page: counts, a table of the steps, then what is known of each.

    Args:
        summary: The model's words, shown as such behind the counts.
    """
    blocks = [
        f"# {in_markdown(plan.title, _NAME) or 'Plan'}",
        headline(report),
        _facts_of(plan, report),
    ]
    if summary:
        blocks += ["## Summary by the model", _quoted(summary)]
    if report["warnings"]:
        blocks += ["## Warnings", _items(report["warnings"])]
    blocks += ["## Steps", _table(list(_HEAD), list(_rows(report, "")))]
    blocks += _details(report, "")
    if causes := report.get("root_causes"):
        blocks += ["## Root causes of failures", _items(causes)]
    for name, texts in report.get("facts", {}).items():
        blocks += [f"## Facts: {in_markdown(name.replace('_', ' '), _NAME)}", _items(texts)]
    blocks += ["## Usage", *_usage(report["usage"])]
    return "\n\n".join(blocks) + "\n"


def _fenced(text: str) -> str:
    """A longer text in a fence that it cannot close."""
    text = cut_middle(_CONTROLS.sub("", text), _TEXT)
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def _quoted(text: str) -> str:
    return "\n".join(
        f"> {in_markdown(line, _TEXT)}" for line in cut_middle(text, _TEXT).splitlines()
    )


def _items(texts: list[str]) -> str:
    return "\n".join(f"* {in_markdown(text, _LINE)}" for text in texts)


def _facts_of(plan: Plan, report: PlanReport) -> str:
    return _items(
        [
            f"Request: {plan.request}",
            f"Plan: {plan.id}, version {plan.version}, made by: {report['plan_origin']}",
            f"Replans: {report['replans']}",
        ]
    )


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _rows(report: PlanReport, within: str) -> Iterator[list[str]]:
    """A row for each step; the steps of a plan within a plan follow the step they belong to."""
    for step in report["steps"]:
        usage = step["usage"]
        yield [
            in_markdown(MARKS[step["status"]], _NAME),
            in_markdown(within + step["id"], _NAME),
            in_markdown(step["name"], _NAME),
            in_markdown(step["executor"], _NAME),
            str(step["attempts"]),
            "yes" if step["verified"] else "no",
            f"{usage['seconds']:.1f}" if usage else "",
            f"{usage['input_tokens'] + usage['output_tokens']:,}" if usage else "",
        ]
        if "sub_plan" in step:
            yield from _rows(step["sub_plan"], f"{within}{step['id']}/")


def _details(report: PlanReport, within: str) -> Iterator[str]:
    for step in report["steps"]:
        yield from _detail(step, within, step["status"].replace("_", " "))
        if "sub_plan" in step:
            yield f"By a plan of its own. {headline(step['sub_plan'])}"
            yield from _details(step["sub_plan"], f"{within}{step['id']}/")
    for gone in report["replaced"]:
        yield from _detail(gone, within, f"{gone['status'].replace('_', ' ')}, replaced")


def _detail(step: StepReport, within: str, status: str) -> Iterator[str]:
    yield f"### {in_markdown(within + step['id'], _NAME)} {in_markdown(step['name'], _NAME)}"
    ended = f"; its latest attempt ended with {step['reason']}" if step["reason"] else ""
    check = ", not verified" if step["status"] == "completed" and not step["verified"] else ""
    lines = [f"* Status: {status}{check}{ended}"]
    for title, text in (("Executor", step["routing"]), ("Notes", step["notes"])):
        lines += [f"* {title}: {in_markdown(text, _LINE)}"] if text else []
    for verdict in step["verdicts"]:
        evidence = f": {in_markdown(verdict['evidence'], _LINE)}" if verdict["evidence"] else ""
        word = verdict["verdict"].replace("_", " ")
        lines.append(f"* {word}: {in_markdown(verdict['criterion'], _LINE)}{evidence}")
    yield "\n".join(lines)
    if step["result"]:
        yield _fenced(step["result"])


def _usage(usage: Usage) -> Iterator[str]:
    guess = ", in part estimated" if usage["estimated"] else ""
    cost = f", cost {usage['cost']:g}" if "cost" in usage else ""
    yield (
        f"{usage['steps']:,} turns, {usage['tool_calls']:,} tool calls, "
        f"{usage['input_tokens']:,} tokens read and {usage['output_tokens']:,} written{guess}, "
        f"{usage['seconds']:.1f} seconds{cost}."
    )
    rows = [
        [
            in_markdown(name, _NAME),
            f"{spent['calls']:,}",
            f"{spent['input_tokens']:,}",
            f"{spent['output_tokens']:,}",
            in_markdown(", ".join(spent["modes"]), _NAME),
        ]
        for name, spent in usage.get("models", {}).items()
    ]
    if rows:
        yield _table(["Model", "Calls", "Tokens read", "Tokens written", "Asked with"], rows)
