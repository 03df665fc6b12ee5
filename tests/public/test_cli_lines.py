"""Single events as a person reads them, also those of plans within the plan."""

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from planloop.cli.lines import line_of
from planloop.cli.live import watching
from planloop.cli.progress import Progress
from planloop.cli.screen import Screen
from planloop.state import Plan

OUTER = Plan.model_validate({"title": "Outer", "steps": ["Buy", "Paint"]})
INNER = Plan.model_validate({"title": "Inner", "steps": ["Mix", "Brush"]})


def phase(name: str, step: str = "", **fields: Any) -> dict[str, Any]:
    return {"type": "phase", "phase": name, "step": step, **fields}


def told(progress: Progress, *events: dict[str, Any]) -> list[str]:
    """The lines of these events, one after another."""
    lines = []
    for event in events:
        progress.take(event)
        lines += line_of(event, progress).splitlines()
    return lines


def test_a_wait_for_the_model_is_told_with_its_reason() -> None:
    event = {"type": "retry", "seconds": 2.0, "why": "The model server limits the rate."}
    progress = Progress(plan=Plan(), tokens=0, started=0.0)
    line = line_of(event, progress)
    assert line.strip() == "asking the model again in 2 s: The model server limits the rate."
    progress.take(event)
    assert progress.doing == line.strip()


def test_a_plan_within_a_step_is_told_indented_and_by_its_own_names() -> None:
    inner: dict[str, Any] = {"within": "s2"}
    assert told(
        Progress(plan=OUTER),
        phase("IN_PROGRESS", "s2", attempt=1),
        phase("NO_PLAN", **inner),
        phase("PLAN_CREATED", plan=INNER.model_dump(mode="json"), **inner),
        phase("IN_PROGRESS", "s1", attempt=2, **inner),
        phase("COMPLETED", "s1", verified=True, **inner),
        phase("ERROR_REPORTED", "s2", reason="dry.", recovery="block", **inner),
        phase("IN_PROGRESS", "s1", attempt=1, within="s2/s1"),
        phase("COMPLETED", "s2", verified=True, within=""),
    ) == [
        "[→] s2 Paint",
        "  s2 › Planning …",
        "  s2 › Plan: Inner",
        "    [ ] s1 Mix",
        "    [ ] s2 Brush",
        "  [→] s2 › s1 Mix (attempt 2)",
        "  [✓] s2 › s1 Mix",
        "  [!] s2 › s2 Brush: dry; it is blocked",
        "  [→] s2 › s1 › s1",
        "[✓] s2 Paint",
    ]


@pytest.mark.parametrize(
    ("event", "doing"),
    [
        (phase("NO_PLAN"), "s2 › planning"),
        (phase("PLAN_CREATED", plan=INNER.model_dump(mode="json")), "thinking"),
        (phase("IN_PROGRESS", "s1", attempt=1), "s2 › s1"),
        (phase("EXECUTOR_RUN", "s1"), "s2 › checking the step"),
        (phase("COMPLETED", "s1", verified=True), "thinking"),
        (phase("ERROR_REPORTED", "s1", reason="x", recovery="stop"), "thinking"),
        (phase("FINAL_SUMMARY"), "s2 › summing up"),
        (phase("DONE"), "thinking"),
        ({"type": "replan", "reason": "x", "plan": INNER.model_dump(mode="json")}, "thinking"),
    ],
)
def test_a_plan_within_a_step_changes_only_what_is_done_now(
    event: dict[str, Any], doing: str
) -> None:
    progress = Progress(plan=OUTER, doing="thinking")
    progress.take({**event, "within": "s2"})
    assert progress.plan == OUTER
    assert progress.doing == doing


def test_new_plans_within_a_step_are_told_with_their_own_steps() -> None:
    plan = INNER.model_dump(mode="json")
    assert told(
        Progress(plan=OUTER),
        {"type": "replan", "reason": "x", "plan": plan, "within": "s2"},
        {"type": "revise", "reason": "s2 was\nenough", "plan": plan},
    ) == [
        "  s2 › New plan after a failure:",
        "    [ ] s1 Mix",
        "    [ ] s2 Brush",
        "Plan changed, s2 was enough:",
        "  [ ] s1 Mix",
        "  [ ] s2 Brush",
    ]


@pytest.mark.parametrize(
    ("what", "text", "line"),
    [
        ("note", "use\nblue", "Noted: use blue"),
        ("pause", "", "Pausing before the next step"),
        ("cancel", "too dear", "Cancelling before the next step: too dear"),
        ("unheard", "no store", "What people say cannot be read: no store"),
        ("note", "x" * 9_000, f"Noted: {'x' * 159}…"),
    ],
)
def test_what_a_person_says_is_told_in_one_line(what: str, text: str, line: str) -> None:
    assert told(Progress(plan=OUTER), {"type": "steer", "what": what, "text": text}) == [line]


def test_a_check_is_told_only_where_something_is_not_met() -> None:
    def check(*verdicts: str, **fields: str) -> dict[str, Any]:
        found = [{"criterion": f"c{n} " * 99, "verdict": v} for n, v in enumerate(verdicts)]
        return {"type": "verify", "step": "s1", "verdicts": found, **fields}

    progress = Progress(plan=OUTER)
    assert told(progress, check("met", "unknown"), check()) == []
    (line,) = told(progress, check("met", "not_met"))
    assert line.startswith("      s1 not met: c1 c1") and len(line) < 150
    (line,) = told(progress, check("not_met", "not_met", "not_met", within="s2"))
    assert line.startswith("        s2 › s1 not met: c0 ") and line.endswith("… and 2 more")


def test_at_a_terminal_only_what_people_say_and_what_failed_leaves_a_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    console = Console(file=StringIO(), force_terminal=True, width=80)
    monkeypatch.setattr(Screen, "is_watched", property(lambda _: True))
    monkeypatch.setattr(Screen, "console", property(lambda _: console))
    progress = Progress(plan=OUTER)
    with watching(Screen(), progress) as on_event:
        on_event(phase("IN_PROGRESS", "s1", attempt=1, within="s2"))
        on_event({"type": "steer", "what": "note", "text": "use \x1b[31mblue"})
        on_event({"type": "verify", "step": "s1", "verdicts": []})
    shown = console.file.getvalue()  # type: ignore[attr-defined]  # a StringIO
    assert shown.count("Noted: use blue") == 1
    assert "[→]" not in shown
    assert progress.doing == "s2 › s1"
