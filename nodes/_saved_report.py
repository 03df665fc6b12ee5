"""The report as files beside the workspace, where neither executors nor checks meet it."""

import json
import os
import tempfile
from pathlib import Path

from planloop.models import Blocking, Steps
from planloop.state import Plan, PlanReport, legal_name, report_markdown, run_context

from ._nesting import nesting


def report_files(workspace: str, plan_id: str) -> list[Path]:
    """Where the report of a plan is saved: as JSON and as Markdown.

    Raises:
        OSError, ValueError, RuntimeError: The path of the workspace cannot be followed.
    """
    folder = Path(workspace).expanduser().resolve()
    stem = f"{folder.name}.{legal_name(plan_id or 'plan')}.report"
    return [folder.parent / f"{stem}.{ending}" for ending in ("json", "md")]


def save_report(plan: Plan, report: PlanReport, prose: str) -> Steps[tuple[list[str], str]]:
    """Save the report of an outermost plan that has a workspace.

    Returns:
        The files, and why there are none; both empty where there is nothing to save.
    """
    workspace = run_context().workspace
    if workspace is None or nesting()["within"]:
        return [], ""
    saved: tuple[list[str], str] = yield Blocking(_save, (workspace, plan, report, prose))
    return saved


def _save(workspace: str, plan: Plan, report: PlanReport, prose: str) -> tuple[list[str], str]:
    texts = (
        json.dumps(report, ensure_ascii=False, indent=2) + "\n",
        report_markdown(plan, report, prose),
    )
    try:
        files = report_files(workspace, plan.id)
        if files[0].parent == Path(workspace).expanduser().resolve():
            return [], "The report was not saved: there is no folder beside the workspace."
        files[0].parent.mkdir(parents=True, exist_ok=True)
        for file, text in zip(files, texts, strict=True):
            _write(file, text)
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        return [], f"The report was not saved beside the workspace: {reason}."
    return [str(file) for file in files], ""


def _write(file: Path, text: str) -> None:
    """Write it whole or not at all; half characters, which UTF-8 cannot hold, become `?`."""
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name[:40]}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(text.encode("utf-8", "replace"))
        os.replace(name, file)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
