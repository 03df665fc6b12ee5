"""People speak to a plan that runs: notes, pauses, the wish to end it, a further request."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from helpers import APPROVED, both_ways, plan_json
from langgraph.types import interrupt

from planloop import (
    Runs,
    StepBrief,
    create_planning_graph,
    create_react_graph,
    open_saver,
    open_store,
)
from planloop.errors import EmptyRequest, FinishedThread, StoreError, UnfinishedThread, WrongUse
from planloop.testing import ScriptedModel, call
from planloop.tools import ask_human

THREAD = "t"


class Speaking:
    """An executor during whose first step something is said to the plan."""

    def __init__(self, say: Any) -> None:
        self.say, self.runs, self.prompts = say, None, list[str]()

    def __call__(self, brief: StepBrief) -> str:
        self.prompts.append(brief.prompt)
        if len(self.prompts) == 1:
            self.say(self.runs)
        return f"did {brief.step.name}"


def speaking(say: Any, *script: Any, **options: Any) -> tuple[Runs, Speaking, ScriptedModel]:
    worker, model = Speaking(say), ScriptedModel([plan_json("A", "B"), APPROVED, *script])
    graph = create_planning_graph(
        model, worker, checkpointer=open_saver("memory:"), store=open_store("memory:"), **options
    )
    worker.runs = runs = Runs(graph)  # type: ignore[assignment]
    return runs, worker, model


def test_a_note_is_told_to_the_planner_and_to_every_later_step() -> None:
    runs, worker, model = speaking(
        lambda runs: runs.note(THREAD, "Use  metric units."), plan_json("C"), "sum"
    )
    report = runs.start("x", thread=THREAD).values["report"]
    assert [s["name"] for s in report["steps"]] == ["A", "C"]
    assert "The person says:\nUse metric units." in model.requests[2].messages[-1].text
    assert "did A" in model.requests[2].messages[-1].text
    assert "The person adds:\n- Use metric units." in worker.prompts[1]
    assert report["replans"] == 0  # no failure
    assert report["outcome"] == "completed_unverified"


def test_every_later_step_is_told_all_notes() -> None:
    def work(brief: StepBrief) -> str:
        prompts.append(brief.prompt)
        if note := {"A": "Use metric units.", "C": "Be brief."}.get(brief.step.name):
            runs.note(THREAD, note)
        return "ok"

    prompts: list[str] = []
    script = [plan_json("A", "B"), APPROVED, plan_json("C", "D"), plan_json("E"), "sum"]
    script += [plan_json("F"), APPROVED, "sum"]
    runs = Runs(
        create_planning_graph(
            ScriptedModel(script),
            work,
            checkpointer=open_saver("memory:"),
            store=open_store("memory:"),
        )
    )
    runs.start("x", thread=THREAD)
    assert "The person adds:\n- Use metric units.\n- Be brief.\n" in prompts[-1]
    assert len(prompts) == 3
    runs.start("y", thread=THREAD)
    assert "The person adds" not in prompts[-1]  # nor are they meant for another request


def test_a_note_is_heard_though_a_step_beside_has_failed() -> None:
    def work(brief: StepBrief) -> str:
        if brief.step.name == "B" and brief.attempt == 1:
            raise RuntimeError("no B")
        if brief.step.name == "A":
            runs.note(THREAD, "Leave B out.")
        return "ok"

    model = ScriptedModel([plan_json("A", "B"), APPROVED, plan_json("C"), "sum"])
    runs = Runs(
        create_planning_graph(
            model,
            work,
            max_parallel_steps=2,
            checkpointer=open_saver("memory:"),
            store=open_store("memory:"),
        )
    )
    report = runs.start("x", thread=THREAD).values["report"]
    assert [(s["name"], s["status"]) for s in report["steps"]] == [
        ("A", "completed"), ("C", "completed"),
    ]  # fmt: skip
    assert "The person says:\nLeave B out." in model.requests[2].messages[-1].text


def test_a_note_does_not_bring_back_a_plan_that_is_stopped() -> None:
    def fails(runs: Runs) -> None:
        runs.note(THREAD, "Hurry.")
        raise RuntimeError("no A")

    options: dict[str, Any] = {"max_attempts": 1, "max_replans": 0, "stop_on_blocked": True}
    runs, _, model = speaking(fails, "sum", **options)
    report = runs.start("x", thread=THREAD).values["report"]
    assert [s["status"] for s in report["steps"]] == ["blocked", "not_started"]
    assert model.left == 0


def test_a_planner_whose_plan_is_sent_back_is_told_the_notes() -> None:
    drafts = [plan_json(name) for name in "ABC"]
    model = ScriptedModel([*drafts, "sum"])
    runs = Runs(
        create_planning_graph(
            model,
            lambda _: "ok",
            approve_plan=True,
            max_reflections=0,
            checkpointer=open_saver("memory:"),
            store=open_store("memory:"),
        )
    )
    runs.start("x", thread=THREAD)
    runs.note(THREAD, "Use metric units.")
    for comment in ("not A", "not B"):
        runs.answer(THREAD, {"action": "reject", "comment": comment})
    told = model.requests[2].messages[-1].text
    assert "The person adds:\n- Use metric units." in told and "sent back: not B" in told


@pytest.mark.parametrize("verb", ["anote", "apause", "acancel"])
async def test_words_are_said_awaited_too(verb: str) -> None:
    said = {"anote": ["Use metric units."], "apause": [], "acancel": ["Too dear."]}[verb]
    prompts: list[str] = []

    async def work(brief: StepBrief) -> str:
        prompts.append(brief.prompt)
        if len(prompts) == 1:
            await getattr(runs, verb)(THREAD, *said)
        return "ok"

    model = ScriptedModel([plan_json("A", "B", "D"), APPROVED, plan_json("C"), "sum"])
    runs = Runs(
        create_planning_graph(
            model, work, checkpointer=open_saver("memory:"), store=open_store("memory:")
        )
    )
    view = await runs.astart("x", thread=THREAD)
    if verb == "anote":
        assert "- Use metric units." in prompts[1]
    elif verb == "apause":
        assert view.pending[0].value["type"] == "paused"
        assert (await runs.aresume(THREAD)).status == "finished"
    else:
        assert any("Too dear." in w for w in view.values["report"]["warnings"])
    with pytest.raises(FinishedThread):
        await getattr(runs, verb)(THREAD, *said)


async def test_an_awaited_follow_up_needs_a_finished_thread_too() -> None:
    with pytest.raises(UnfinishedThread):
        await _waiting().afollow_up(THREAD, "more")


def test_a_note_that_no_plan_can_be_made_of_leaves_the_plan_and_is_still_told() -> None:
    runs, worker, _ = speaking(lambda runs: runs.note(THREAD, "Hurry."), "no", "no", "no", "sum")
    report = runs.start("x", thread=THREAD).values["report"]
    assert [s["status"] for s in report["steps"]] == ["completed", "completed"]
    assert "- Hurry." in worker.prompts[1]
    assert any("No new plan could be made" in w for w in report["warnings"])


def test_a_paused_plan_waits_before_its_next_step_until_it_is_resumed() -> None:
    runs, worker, _ = speaking(lambda runs: runs.pause(THREAD), "sum")
    view = runs.start("x", thread=THREAD)
    assert view.status == "waiting"
    assert view.pending[0].value["type"] == "paused"
    assert "0. [✓] A" in view.pending[0].value["text"]
    assert len(worker.prompts) == 1
    view = runs.resume(THREAD)
    assert view.status == "finished"
    assert view.values["report"]["counts"]["completed"] == 2


def test_a_cancelled_plan_ends_after_the_step_in_work_and_reports_it() -> None:
    runs, worker, _ = speaking(lambda runs: runs.cancel(THREAD, "Too dear."), "sum")
    report = runs.start("x", thread=THREAD).values["report"]
    assert report["outcome"] == "cancelled"
    assert [s["status"] for s in report["steps"]] == ["completed", "not_started"]
    assert any("Too dear." in w for w in report["warnings"])
    assert len(worker.prompts) == 1


@both_ways
async def test_a_cancelled_plan_keeps_what_steps_in_work_have_come_to(awaited: bool) -> None:
    agent = create_react_graph(
        ScriptedModel(["Dug.", call("ask_human", question="Deeper?")]), [ask_human]
    )
    inner = create_planning_graph(ScriptedModel([plan_json("Dig", "Ask"), APPROVED]), agent)
    graph = create_planning_graph(
        ScriptedModel(["sum"]),
        {"plans": inner, "plain": lambda _: "It is 4 m deep."},
        checkpointer=open_saver("memory:"),
        max_parallel_steps=2,
    )
    runs = Runs(graph)
    steps = [{"name": "Look", "executor": "plain"}, {"name": "Do it", "executor": "plans"}]
    given = {"request": "x", "plan": steps}
    if awaited:
        await runs.astart(given, thread=THREAD)
        view = await runs.acancel(THREAD)
    else:
        runs.start(given, thread=THREAD)
        view = runs.cancel(THREAD)
    looked, done = view.values["plan"].steps
    assert (looked.result, looked.status, looked.verified) == ("It is 4 m deep.", "blocked", False)
    assert [step.status for step in done.sub_plan.steps] == ["completed", "in_progress"]
    report = view.values["report"]
    assert report["outcome"] == "cancelled" and report["counts"]["completed"] == 0
    assert report["usage"]["steps"] == 5  # a plan, its review, two turns, the summary


def test_what_was_said_to_an_earlier_run_is_not_meant_for_the_next() -> None:
    def late(runs: Runs) -> None:
        runs.cancel(THREAD)
        runs.pause(THREAD)

    second = [plan_json("C"), APPROVED, "sum"]
    runs, _, _ = speaking(late, "sum", *second)
    runs.start("x", thread=THREAD)
    store: Any = runs.graph.store
    store.put(("planloop_inbox", THREAD), "late", {"kind": "cancel", "text": ""})
    view = runs.start("y", thread=THREAD)
    assert view.values["report"]["counts"] == {
        "completed": 1, "total": 1, "not_started": 0, "in_progress": 0, "blocked": 0,
    }  # fmt: skip


@pytest.mark.parametrize("odd", [{"kind": "approve", "text": "x"}, {}, {"kind": "note"}])
def test_words_that_mean_nothing_change_nothing(odd: dict[str, Any]) -> None:
    def say(runs: Runs) -> None:
        runs.graph.store.put(("planloop_inbox", THREAD), "k", odd)  # type: ignore[union-attr]

    runs, worker, model = speaking(say, "sum")
    events: list[dict[str, Any]] = []
    view = runs.start("x", thread=THREAD, on_event=events.append)
    assert view.values["report"]["counts"]["completed"] == 2
    assert model.left == 0
    assert not [event for event in events if event["type"] == "steer"]
    assert "The person adds" not in worker.prompts[1]
    assert runs.graph.store.search(("planloop_inbox", THREAD)) == []  # type: ignore[union-attr]


def test_a_store_that_fails_does_not_stop_the_plan() -> None:
    runs, _, _ = speaking(lambda runs: None, "sum")

    def fail(*_: Any, **__: Any) -> Any:
        raise RuntimeError("gone")

    runs.graph.store.search = fail  # type: ignore[union-attr,method-assign]
    events: list[dict[str, Any]] = []
    view = runs.start("x", thread=THREAD, on_event=events.append)
    assert view.values["report"]["counts"]["completed"] == 2
    assert any(e.get("what") == "unheard" and "gone" in e["text"] for e in events)


def test_without_a_store_a_running_plan_cannot_be_spoken_to() -> None:
    asks = create_planning_graph(
        ScriptedModel([plan_json("A"), APPROVED]),
        lambda brief: str(interrupt("?")),
        checkpointer=open_saver("memory:"),
    )
    runs = Runs(asks)
    runs.start("x", thread=THREAD)
    with pytest.raises(WrongUse, match="open_store"):
        runs.note(THREAD, "Hello.")
    with pytest.raises(WrongUse, match="open_store"):
        runs.pause(THREAD)


@pytest.mark.parametrize("awaited", [False, True])
def test_a_plan_that_waits_for_an_answer_is_ended_at_once(awaited: bool) -> None:
    def asks(brief: StepBrief) -> str:
        return "ok" if brief.step.name == "A" else str(interrupt("?"))

    model = ScriptedModel([plan_json("A", "B", "C"), APPROVED, "sum"])
    runs = Runs(create_planning_graph(model, asks, checkpointer=open_saver("memory:")))
    assert runs.start("x", thread=THREAD).status == "waiting"
    if awaited:
        view = asyncio.run(runs.acancel(THREAD, "No time."))
    else:
        view = runs.cancel(THREAD, "No time.")
    assert view.status == "finished"
    report = view.values["report"]
    assert report["outcome"] == "cancelled"
    assert [s["status"] for s in report["steps"]] == ["completed", "blocked", "not_started"]
    assert "cancelled while it was in work" in report["steps"][1]["notes"]
    assert "A person cancelled the plan. No time." in report["warnings"]


def test_an_agent_is_no_plan_and_a_finished_run_hears_nothing() -> None:
    def ask_me() -> str:
        """Ask."""
        return str(interrupt({"type": "question", "question": "?"}))

    from planloop.testing import call

    saver = open_saver("memory:")
    agent = create_react_graph(ScriptedModel([call("ask_me")]), [ask_me], checkpointer=saver)
    runs = Runs(agent)
    assert runs.start("x", thread=THREAD).status == "waiting"
    with pytest.raises(WrongUse, match="no planning graph"):
        runs.cancel(THREAD)
    runs, _, _ = speaking(lambda runs: None, "sum")
    with pytest.raises(UnfinishedThread):
        _waiting().follow_up(THREAD, "more")
    runs.start("x", thread="done")
    for verb in (runs.pause, runs.cancel, lambda thread: runs.note(thread, "x")):
        with pytest.raises(FinishedThread):
            verb("done")


def _waiting() -> Runs:
    graph = create_planning_graph(
        ScriptedModel([plan_json("A"), APPROVED]),
        lambda brief: str(interrupt("?")),
        checkpointer=open_saver("memory:"),
    )
    runs = Runs(graph)
    runs.start("x", thread=THREAD)
    return runs


def followed(**options: Any) -> tuple[Any, Any, ScriptedModel, list[str]]:
    ran: list[str] = []

    def work(brief: StepBrief) -> str:
        ran.append(brief.step.name)
        return f"did {brief.step.name}"

    again = {"steps": [{"name": "C"}, {"name": "D", "depends_on": ["C"]}]}
    script = [plan_json("A", "B"), APPROVED, "sum", json.dumps(again), APPROVED, "sum 2"]
    model = ScriptedModel(script)
    runs = Runs(create_planning_graph(model, work, checkpointer=open_saver("memory:")))
    first = runs.start("first things", thread=THREAD).values
    second = runs.follow_up(THREAD, "then the rest", **options).values
    return first, second, model, ran


def test_a_follow_up_sees_the_earlier_plan_and_makes_a_new_one() -> None:
    first, second, model, ran = followed()
    told = model.requests[3].messages[-1].text
    assert "first things" in told and "did B" in told and "then the rest" in told
    assert second["plan"].id != first["plan"].id
    assert [s.name for s in second["plan"].steps] == ["C", "D"]
    assert second["plan"].request == "then the rest"
    assert ran == ["A", "B", "C", "D"]


def test_a_follow_up_may_extend_the_earlier_plan() -> None:
    first, second, _, ran = followed(extend=True)
    plan = second["plan"]
    assert plan.id == first["plan"].id and plan.version == 2
    assert plan.next_step == 5  # no id is given twice, even if its step is dropped
    assert [(s.id, s.name, s.depends_on) for s in plan.steps] == [
        ("s1", "A", []), ("s2", "B", []), ("s3", "C", []), ("s4", "D", ["s3"]),
    ]  # fmt: skip
    assert plan.steps[0] == first["plan"].steps[0]
    assert second["report"]["counts"]["completed"] == 4
    assert ran == ["A", "B", "C", "D"]


def test_a_start_after_a_plan_was_extended_begins_anew() -> None:
    script = [plan_json("B"), APPROVED, "sum", plan_json("C"), APPROVED, "sum"]
    runs, _, model = speaking(lambda runs: None, "sum", *script)
    runs.start("x", thread=THREAD)
    runs.follow_up(THREAD, "y", extend=True)
    view = runs.start("z", thread=THREAD)
    assert [s.name for s in view.values["plan"].steps] == ["C"]
    assert "did A" not in model.requests[-3].messages[-1].text


def test_an_extended_plan_may_be_edited_though_it_has_more_than_the_most_steps() -> None:
    model = ScriptedModel(["sum", plan_json("C"), "sum"])
    graph = create_planning_graph(
        model,
        lambda _: "ok",
        approve_plan=True,
        max_reflections=0,
        max_plan_steps=2,
        checkpointer=open_saver("memory:"),
    )
    runs = Runs(graph)
    runs.start({"request": "x", "plan": ["A", "B"]}, thread=THREAD)
    runs.answer(THREAD, "accept")
    runs.follow_up(THREAD, "y", extend=True)
    view = runs.answer(THREAD, {"action": "edit", "steps": ["D"]})
    assert view.status == "finished", view.pending
    assert [s.name for s in view.values["plan"].steps] == ["A", "B", "D"]


def test_a_plan_that_is_given_extends_no_earlier_one() -> None:
    model = ScriptedModel([plan_json("A"), APPROVED, "sum", "sum"])
    runs = Runs(create_planning_graph(model, lambda _: "ok", checkpointer=open_saver("memory:")))
    runs.start("x", thread=THREAD)
    given = {"request": "y", "plan": ["B", "C"], "follow_up": "extend"}
    plan = runs.start(given, thread=THREAD).values["plan"]
    assert [s.name for s in plan.steps] == ["B", "C"]


def test_a_plan_that_was_extended_is_said_to_come_from_who_extended_it() -> None:
    model = ScriptedModel(["sum", plan_json("B"), APPROVED, "sum"])
    runs = Runs(create_planning_graph(model, lambda _: "ok", checkpointer=open_saver("memory:")))
    first = runs.start({"request": "x", "plan": ["A"]}, thread=THREAD).values["report"]
    second = runs.follow_up(THREAD, "then the rest", extend=True).values["report"]
    assert (first["plan_origin"], second["plan_origin"]) == ("user", "model")


def test_a_plan_that_was_extended_beyond_the_most_steps_is_planned_anew_after_a_failure() -> None:
    def work(brief: StepBrief) -> str:
        if brief.step.name == "C":
            raise RuntimeError("no C")
        return "ok"

    first, second = [plan_json("A", "B"), "sum"], [plan_json("C", "D"), plan_json("E", "D"), "sum"]
    runs = Runs(
        create_planning_graph(
            ScriptedModel([*first, *second]),
            work,
            max_plan_steps=2,
            max_attempts=1,
            max_reflections=0,
            checkpointer=open_saver("memory:"),
        )
    )
    runs.start("x", thread=THREAD)
    report = runs.follow_up(THREAD, "then the rest", extend=True).values["report"]
    assert [(s["id"], s["name"]) for s in report["steps"]] == [
        ("s1", "A"), ("s2", "B"), ("s5", "E"), ("s4", "D"),
    ]  # fmt: skip
    assert report["counts"]["completed"] == 4


def test_a_second_request_without_a_word_of_the_first_knows_nothing_of_it() -> None:
    model = ScriptedModel([plan_json("A"), APPROVED, "sum", plan_json("C"), APPROVED, "sum"])
    graph = create_planning_graph(model, lambda brief: "ok", checkpointer=open_saver("memory:"))
    runs = Runs(graph)
    runs.start("first things", thread=THREAD)
    second = runs.start("the second", thread=THREAD).values
    assert [s.name for s in second["plan"].steps] == ["C"]
    assert "first things" not in model.requests[3].messages[-1].text
    third = runs.status(THREAD).values
    assert third["earlier"] is None


def test_a_further_request_of_nothing_is_refused() -> None:
    runs, _, _ = speaking(lambda runs: None, "sum")
    runs.start("x", thread=THREAD)
    with pytest.raises(EmptyRequest):
        runs.follow_up(THREAD, "  ")


def test_an_agent_goes_on_with_its_conversation() -> None:
    model = ScriptedModel(["one", "two"])
    runs = Runs(create_react_graph(model, checkpointer=open_saver("memory:")))
    runs.start("first", thread=THREAD)
    assert runs.follow_up(THREAD, "second").values["outcome"]["answer"] == "two"
    assert [m.text for m in model.requests[1].messages[1:]] == ["first", "one", "second"]


async def test_a_store_in_a_file_carries_words_between_processes(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    with open_saver(url), open_store(url) as here, open_store(url) as there:
        here.put(("a", "b"), "k", {"kind": "note"})
        assert [i.value for i in await there.asearch(("a", "b"))] == [{"kind": "note"}]
    with pytest.raises(StoreError, match="was closed"):
        here.get(("a", "b"), "k")
    with open_store(f"sqlite:///{tmp_path / 'new' / 'my%20runs.db'}"):
        assert (tmp_path / "new" / "my runs.db").is_file()
    (tmp_path / "no.db").write_text("no database of anything, but long enough to be read as one")
    with pytest.raises(StoreError, match="no database"):
        open_store(f"sqlite:///{tmp_path / 'no.db'}")
    with pytest.raises(StoreError, match="The database"):
        open_store(f"sqlite:///{tmp_path / 'no.db' / 'runs.db'}")
    with pytest.raises(WrongUse, match="no place for a store"):
        open_store("postgres://x")
