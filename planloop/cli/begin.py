"""`planloop run` and `planloop plan`: begin something."""

import asyncio
import uuid
from dataclasses import replace
from typing import Any

from planloop.errors import EmptyRequest, UnknownThread
from planloop.runs import Runs
from planloop.state import Plan
from planloop.tools import open_workspace

from .build import planner_graph, planning_graph
from .database import opened
from .model import ready_model, remarks
from .paths import checked_thread, workspace_of
from .screen import Screen
from .session import Session
from .settings import RunSettings


def run(
    request: str,
    settings: RunSettings,
    *,
    thread: str | None,
    workspace: str | None,
    db: str | None,
    as_json: bool,
) -> int:
    """Plan, act and report; return the exit code."""
    if not request.strip():
        raise EmptyRequest
    screen = Screen(as_json)
    name = checked_thread(thread) if thread else uuid.uuid4().hex[:12]
    if workspace:
        open_workspace(workspace)
    with opened(db) as database:
        model_name, model = ready_model(settings.model, screen)
        settings = replace(settings, model=model_name)
        runs = Runs(planning_graph(settings, model, *database))
        folder = open_workspace(workspace or _former_workspace(runs, name) or workspace_of(name))
        screen.say(f"Model {model_name}, thread {name}, workspace {folder}")
        for line in remarks(model_name):
            screen.say(line)
        return Session(runs, name, screen, db).go(
            lambda on_event: runs.astart(
                request,
                thread=name,
                workspace=str(folder),
                notes=settings.notes(),
                on_event=on_event,
            )
        )


def _former_workspace(runs: Runs, thread: str) -> str | None:
    """Where an earlier run on this thread has worked."""
    try:
        return runs.status(thread).workspace
    except UnknownThread:
        return None


def plan(request: str, settings: RunSettings, *, as_json: bool) -> int:
    """Only plan; return 0, or 1 if no model made the plan."""
    if not request.strip():
        raise EmptyRequest
    screen = Screen(as_json)
    name, model = ready_model(settings.model, screen)
    screen.say(f"Model {name}")
    for line in remarks(name):
        screen.say(line)
    graph = planner_graph(replace(settings, model=name), model)
    result = asyncio.run(graph.ainvoke({"request": request}))
    made: Plan = result["plan"]
    for problem in result["problems"]:
        screen.say(f"Problem: {problem}")
    if as_json:
        screen.document(_planned(result, name))
    else:
        screen.result(made.render())
        screen.result(_judged(result))
    return 1 if made.origin == "fallback" else 0


def _planned(result: dict[str, Any], model: str) -> dict[str, Any]:
    plain = {key: result[key] for key in ("approved", "reviewed", "review", "problems")}
    return {"plan": result["plan"].model_dump(mode="json"), **plain, "model": model}


def _judged(result: dict[str, Any]) -> str:
    if result["plan"].origin == "fallback":
        return "\nNo plan could be made: these are the three steps of the fallback."
    if result["approved"]:
        return "\nReviewed and approved by the model."
    return "\nReviewed, but not approved." if result["reviewed"] else "\nNot reviewed."
