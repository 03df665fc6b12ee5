"""What the demo's model says: a function of the conversation, so that a new process goes on.

It plays the planner, the reviewer, the agent, the judge and the writer of the summary.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from planloop.testing import ScriptedModel, call

REQUEST = "Add up the orders and write a report in the currency I choose."
QUESTION = "In which currency are the orders?"
ANSWER = "EUR"
AGAIN = "repeat"
TOTAL = "Total: 60.00 EUR"
COUNTED = "calls.log"
"""Each tool call of the last step writes a line here: so repeated ones would show."""
POWER = "power.on"
"""The last step's second call waits for this file, until the process is killed."""

STEPS: tuple[dict[str, Any], ...] = (
    {
        "name": "Write the orders",
        "description": "Write orders.csv with the three orders.",
        "success_criteria": ["orders.csv was written"],
    },
    {
        "name": "Add them up",
        "description": "Sum the amounts in orders.csv with Python.",
        "requires_code": True,
        "success_criteria": ["the sum was printed"],
    },
    {
        "name": "Ask for the currency",
        "description": "Ask the person in which currency the orders are.",
        "success_criteria": ["the person named a currency"],
    },
    {
        "name": "Write the report",
        "description": "Write report.md with the total and the currency.",
        "requires_code": True,
        "success_criteria": ["report.md holds the total"],
    },
)
EVIDENCE = ("to orders.csv", "60.00", ANSWER, TOTAL)
"""What the tools print in each step, as the judge quotes it."""

SUM = """\
import csv
rows = list(csv.DictReader(open({file!r})))
print(f"{{sum(float(row['amount']) for row in rows):.2f}}")
"""
DRAFT = f"""\
with open({COUNTED!r}, "a") as log:
    log.write("draft\\n")
open("draft.md", "w").write("# Orders\\n\\nTotal: 60.00 CURRENCY\\n")
print("drafted")
"""
PUBLISH = f"""\
import os, time
with open({COUNTED!r}, "a") as log:
    log.write("publish\\n")
parent = os.getppid()
while not os.path.exists({POWER!r}):
    time.sleep(0.02)
    if os.getppid() != parent:
        raise SystemExit("the process that called me is gone")
os.replace("draft.md", "report.md")
print(open("report.md").read())
"""


def scripted_model() -> ScriptedModel:
    """The demo's model, the same in every process."""
    return ScriptedModel(repeat=reply)


def reply(messages: list[BaseMessage]) -> str | AIMessage:
    """The next words, by what stands in the conversation."""
    system, task = messages[0].text, messages[1].text
    if system.startswith("You write plans"):
        return json.dumps({"title": "Report on the orders", "steps": STEPS})
    if system.startswith("You review a plan"):
        return json.dumps({"approved": True, "feedback": ""})
    if system.startswith("You check whether"):
        return _verdict(task)
    if system.startswith("Write a short summary"):
        return "The orders were added up, and report.md says what they come to."
    place = next(n for n in range(4) if f"Your step (s{n + 1})" in task)
    made = sum(isinstance(message, ToolMessage) for message in messages)
    return _ACTS[place](made, task, messages)


def _verdict(task: str) -> str:
    place = next(n for n in range(4) if f"Step s{n + 1}: " in task)
    criterion = STEPS[place]["success_criteria"][0]
    verdict = {"criterion": criterion, "verdict": "met", "evidence": EVIDENCE[place]}
    return json.dumps({"verdicts": [verdict]})


def _write_orders(made: int, task: str, messages: Sequence[BaseMessage]) -> str | AIMessage:
    table = "item,amount\nlamp,12.50\ndesk,40.00\ncup,7.50\n"
    if not made:
        return call("write_file", path="orders.csv", content=table)
    return "I wrote three orders to orders.csv."


def _add_up(made: int, task: str, messages: Sequence[BaseMessage]) -> str | AIMessage:
    second = "The last attempt at your step failed" in task
    if not made:
        return call("python", code=SUM.format(file="orders.csv" if second else "order.csv"))
    if second:
        return "The sum of orders.csv is 60.00."
    return call("terminate", status="failure", summary="There is no file order.csv.")


def _ask(made: int, task: str, messages: Sequence[BaseMessage]) -> str | AIMessage:
    if not made:
        return call("ask_human", question=QUESTION, options=["EUR", "USD"])
    return f"The currency is {messages[-1].text}."


def _report(made: int, task: str, messages: Sequence[BaseMessage]) -> str | AIMessage:
    told = re.search(r"The currency is (\w+)", task)
    if made < 2:
        code = (DRAFT, PUBLISH)[made].replace("CURRENCY", told[1] if told else "?")
        return call("python", code=code)
    return "I wrote report.md with the total and the currency."


_ACTS: tuple[Callable[[int, str, Sequence[BaseMessage]], str | AIMessage], ...] = (
    _write_orders,
    _add_up,
    _ask,
    _report,
)
