"""Whatever executors, judges and planners do, a run ends within its bounds and tells the truth."""

import itertools
import json
from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from planloop import Plan, StepBrief, create_planning_graph
from planloop.state import TRANSITIONS, is_done, make_outcome
from planloop.testing import ScriptedModel

FEW = settings(deadline=None, derandomize=True, max_examples=120)
CRITERION = "it works"


def bad(reason: Any, **more: Any) -> Any:
    return {**make_outcome(reason, "It did not work."), **more}


WORK: dict[str, Any] = {
    "text": "it works",
    "other text": "something else",
    "nothing": "",
    "no text": 7,
    "error": RuntimeError("boom"),
    "failure": bad("terminated"),
    "budget": bad("budget_exhausted"),
    "stuck": bad("stuck"),
    "late": bad("timed_out"),
    "fatal": bad("error", fatal=True),
    "empty but right": make_outcome("final_answer", "Looked.", success=True),
    "abort": bad("terminated", abort=True),
}


def judgement(verdict: str, evidence: str, **more: Any) -> str:
    said = {"criterion": CRITERION, "verdict": verdict, "evidence": evidence}
    return json.dumps({"verdicts": [said], **more})


JUDGE: list[Any] = [
    judgement("met", "it works"),
    judgement("met", "invented"),
    judgement("not_met", "something else"),
    judgement("not_met", ""),
    judgement("unknown", ""),
    judgement("met", "it works", changes=[{"step": "s2", "drop": True}]),
    judgement(
        "met", "it works", changes=[{"step": "s1", "drop": True}, {"step": "s3", "name": "Z"}]
    ),
    judgement("met", "it works", request_met=True, request_evidence="it works"),
    "what?",
    RuntimeError("down"),
]
PLANS: list[Any] = [
    '{"steps": [{"name": "N", "success_criteria": ["it works"]}]}',
    '{"steps": [{"id": "s1", "name": "A"}, {"id": "s2", "name": "M", "depends_on": ["s1"]}]}',
    '{"steps": [{"name": "A"}, {"name": "B"}, {"name": "C"}]}',
    '{"steps": []}',
    "no plan",
    RuntimeError("down"),
]


@st.composite
def plans(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Up to four steps with dependencies on earlier ones, some with a criterion."""
    steps: list[dict[str, Any]] = []
    for n in range(draw(st.integers(1, 4))):
        needed = draw(st.lists(st.integers(1, n), max_size=2, unique=True)) if n else []
        checked = [CRITERION] if draw(st.booleans()) else []
        name = "ABCD"[n]
        depends_on = [f"s{place}" for place in needed]
        steps.append({"name": name, "success_criteria": checked, "depends_on": depends_on})
    return steps


class World:
    """Plays everybody, as drawn, and keeps what happened."""

    def __init__(self, data: st.DataObject) -> None:
        self.data = data
        self.runs: Counter[str] = Counter()
        self.done_at: dict[str, int] = {}

    def work(self, brief: StepBrief) -> Any:
        self.runs[brief.step.id] += 1
        what = self.data.draw(st.sampled_from(sorted(WORK)), label="work")
        if isinstance(WORK[what], Exception):
            raise WORK[what]
        return WORK[what]

    def judge(self, messages: Any) -> Any:
        return self.data.draw(st.sampled_from(JUDGE), label="judge")

    def planner(self, messages: Any) -> Any:
        return self.data.draw(st.sampled_from(PLANS), label="plan")


@given(plans(), st.data(), st.integers(1, 3), st.integers(0, 2), st.integers(1, 3), st.booleans())
@FEW
def test_every_run_ends_within_its_bounds_and_its_report_is_true(
    steps: list[dict[str, Any]],
    data: st.DataObject,
    attempts: int,
    replans: int,
    parallel: int,
    stop_on_blocked: bool,
) -> None:
    world = World(data)
    models = {
        "judge": ScriptedModel(repeat=world.judge),
        "planner": ScriptedModel(repeat=world.planner),
        "default": ScriptedModel(repeat="All steps are completed."),
    }
    graph = create_planning_graph(
        models,
        world.work,
        max_attempts=attempts,
        max_replans=replans,
        max_parallel_steps=parallel,
        stop_on_blocked=stop_on_blocked,
    )
    given_input: Any = {"request": "x", "plan": steps}
    events: list[Any] = []
    last: Any = None
    for mode, part in graph.stream(given_input, stream_mode=["custom", "values"]):
        events.append(part) if mode == "custom" else None
        if mode == "values":
            check_step_by_step(last, part)
            last = part
    check_end(last, events, world, attempts, replans)


def check_step_by_step(before: Any, after: Any) -> None:
    """Between two super-steps nothing that is finished changes."""
    if before is None or not before.get("plan") or not before["plan"].steps:
        return
    after_plan: Plan = after["plan"]
    for step in before["plan"].steps:
        if step.status == "completed":
            assert after_plan.step(step.id) == step


def check_end(state: Any, events: list[Any], world: World, attempts: int, replans: int) -> None:
    plan, report = state["plan"], state["report"]
    assert state["phase"] == "DONE"
    phases = [event["phase"] for event in events if event["type"] == "phase"]
    # Steps that run side by side each tell that they entered the same phase.
    moves = [(old, new) for old, new in itertools.pairwise(phases) if old != new]
    assert all(new in TRANSITIONS[old] for old, new in moves)
    assert report["replans"] <= replans
    assert all(count <= attempts + replans for count in world.runs.values())
    assert report["counts"] == plan.counts()
    by_status = Counter(step["status"] for step in report["steps"])
    assert all(report["counts"][status] == count for status, count in by_status.items())
    for step in plan.steps:
        if step.status == "completed":
            assert step.outcome is not None and is_done(step.outcome)
            assert all(verdict["verdict"] != "not_met" for verdict in step.verdicts)
            assert not step.verified or step.verdicts
        assert step.status != "in_progress"
        assert step.attempts == world.runs[step.id]
    open_steps = [step for step in plan.steps if step.status != "completed"]
    if report["outcome"].startswith("completed"):
        assert not open_steps
    if open_steps:
        assert "Summary by the model" not in state["summary"]
        assert not state["summary"].startswith("Plan completed")
