"""A run whose state an earlier version of planloop began has not all that today's has."""

from typing import Any, NotRequired, get_origin, get_type_hints

import pytest
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.memory import InMemorySaver

from planloop import create_planning_graph, open_store
from planloop.state import PlanningState
from planloop.testing import ScriptedModel

CONFIG: Any = {"configurable": {"thread_id": "t"}}
HINTS = get_type_hints(PlanningState, include_extras=True)
NEWER = sorted(key for key, hint in HINTS.items() if get_origin(hint) is NotRequired)


def forget(saver: InMemorySaver, keys: list[str]) -> None:
    """Save the thread's latest state again, without these channels."""
    saved = saver.get_tuple(CONFIG)
    assert saved is not None
    versions = saved.checkpoint["channel_versions"]
    left = {key: version for key, version in versions.items() if key not in keys}
    checkpoint: Any = {**saved.checkpoint, "id": str(uuid6()), "channel_versions": left}
    there: Any = saved.config
    place: Any = {"configurable": {**there["configurable"], "checkpoint_ns": ""}}
    saver.put(place, checkpoint, saved.metadata, {})


@pytest.mark.parametrize("node", ["select_step", "verify_step", "report_error", "final_summary"])
def test_a_run_goes_on_without_what_an_earlier_version_did_not_save(node: str) -> None:
    tries = iter(["no", "yes", "yes"])
    saver = InMemorySaver()
    graph: Any = create_planning_graph(
        ScriptedModel(["Done."]),
        lambda _: next(tries),
        checkpointer=saver,
        store=open_store("memory:"),
    )
    steps = [{"name": "A", "success_criteria": ["regex: yes"]}, {"name": "B"}]
    graph.invoke({"request": "go", "plan": steps}, CONFIG, interrupt_before=[node])
    assert graph.get_state(CONFIG).next == (node,)
    keys = [key for key in NEWER if key not in ("request", "plan_id", "summary", "report")]
    assert "heard" in keys and "halt" in keys
    forget(saver, keys)
    assert not keys & graph.get_state(CONFIG).values.keys()
    state = graph.invoke(None, CONFIG)
    assert [step.status for step in state["plan"].steps] == ["completed", "completed"]
    assert state["report"]["outcome"] == "completed_unverified"
