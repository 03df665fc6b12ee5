"""A saved run as others read it: its exit code, its JSON document, its state in words."""

from datetime import datetime
from typing import Any, Final

from planloop.runs import RunView
from planloop.state import Plan, one_line, plan_diff, versions_of

COMPLETED: Final = 0
NOT_COMPLETED: Final = 1
WAITING: Final = 3
INTERRUPTED: Final = 130


def exit_code(view: RunView) -> int:
    """What the process says of this run."""
    if view.status == "waiting":
        return WAITING
    if view.status in ("interrupted", "running"):
        return INTERRUPTED
    return COMPLETED if outcome_of(view).startswith("completed") else NOT_COMPLETED


def outcome_of(view: RunView) -> str:
    """How the plan ended; empty while it has not."""
    report = view.values.get("report") if view.status == "finished" else None
    return str(report["outcome"]) if report else ""


def document(view: RunView) -> dict[str, Any]:
    """The run as one JSON document."""
    values, finished = view.values, view.status == "finished"
    plan = values.get("plan")
    return {
        "thread": view.thread,
        "status": view.status,
        "phase": values.get("phase"),
        "plan": plan.model_dump(mode="json") if isinstance(plan, Plan) else None,
        "report": values.get("report") if finished else None,
        "summary": values.get("summary") if finished else None,
        "pending": [{"id": question.id, **question.asked} for question in view.pending],
        "workspace": view.workspace,
        "model": view.notes.get("model") or None,
    }


def row(view: RunView) -> list[str]:
    """The run as a line of a table: thread, status, phase, progress, request, updated."""
    plan = view.values.get("plan") or Plan()
    counts = plan.counts()
    return [
        view.thread,
        outcome_of(view).removeprefix("completed_") or view.status,
        str(view.values.get("phase") or "-"),
        f"{counts['completed']}/{counts['total']}",
        one_line(str(view.values.get("task") or ""), 80),
        local_time(view.updated)[5:16],
    ]


def described(view: RunView) -> str:
    """The run in words: what it was asked, how far it is, what came out."""
    outcome = outcome_of(view).replace("_", ", ")
    head = [
        f"Thread:    {view.thread}",
        f"Status:    {view.status}{f' ({outcome})' if outcome else ''}",
        f"Phase:     {view.values.get('phase') or '-'}",
        f"Request:   {one_line(str(view.values.get('task') or '-'), 300)}",
        f"Model:     {view.notes.get('model') or '-'}",
        f"Workspace: {view.workspace or '-'}",
        f"Updated:   {local_time(view.updated)}",
    ]
    plan = view.values.get("plan") or Plan()
    body = view.values.get("summary") if view.status == "finished" else ""
    return "\n".join([*head, "", str(body or plan.render())])


def changes_text(plan: Plan) -> str:
    """Each version of a plan with its reason, as a diff against the one before."""
    parts, before = [], Plan()
    for version, reason, edition in versions_of(plan):
        head = f"Version {version}: {one_line(reason, 300) or 'the first plan'}"
        parts.append(f"{head}\n{plan_diff(before, edition) or '  no step is different'}")
        before = edition
    return "\n\n".join(parts)


def local_time(stamp: str) -> str:
    """An ISO 8601 time as this machine's clock shows it."""
    return f"{datetime.fromisoformat(stamp).astimezone():%Y-%m-%d %H:%M:%S}" if stamp else "-"
