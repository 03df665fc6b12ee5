"""The drawn graphs, held against the contracts."""

import itertools

from helpers import planner_of

from planloop import StepBrief, create_planner_graph, create_planning_graph, create_react_graph
from planloop.state import NODE_PHASES, PHASES, TRANSITIONS, lifecycle_mermaid
from planloop.testing import ScriptedModel


def done(brief: StepBrief) -> str:
    return str(brief["step"].name)


def arrows(graph: object) -> set[tuple[str, str]]:
    return {(e.source, e.target) for e in graph.get_graph().edges}  # type: ignore[attr-defined]


def test_the_react_graph_is_the_drawn_one() -> None:
    assert arrows(create_react_graph(ScriptedModel())) == {
        ("__start__", "prepare"),
        ("prepare", "think"),
        ("think", "act"),
        ("think", "approve"),
        ("think", "compact"),
        ("compact", "think"),
        ("think", "think"),
        ("think", "finish"),
        ("approve", "act"),
        ("approve", "think"),
        ("act", "think"),
        ("finish", "__end__"),
    }


def test_the_planner_graph_is_the_drawn_one() -> None:
    assert arrows(create_planner_graph(ScriptedModel())) == {
        ("__start__", "generate"),
        ("generate", "reflect"),
        ("generate", "__end__"),
        ("reflect", "generate"),
        ("reflect", "__end__"),
    }


def test_every_edge_of_the_lifecycle_is_a_move_that_the_table_allows() -> None:
    edges = arrows(create_planning_graph(ScriptedModel(), done))
    nodes = {node for edge in edges for node in edge} - {"__start__", "__end__"}
    assert nodes == set(NODE_PHASES)
    moves = set()
    # A node that leaves the phase as it is passes on the phases of those before it.
    leaves = {node: set(phases[-1:]) for node, phases in NODE_PHASES.items()}
    for _ in nodes:
        for source, target in edges:
            if source in leaves and target in leaves and not NODE_PHASES[target]:
                leaves[target] |= leaves[source]
    for source, target in edges:
        if source in leaves and target in leaves and NODE_PHASES[target]:
            moves |= {(old, NODE_PHASES[target][0]) for old in leaves[source]}
    moves |= {pair for phases in NODE_PHASES.values() for pair in itertools.pairwise(phases)}
    # Approval that sends a plan back enters NO_PLAN by itself, before the plan is made anew;
    # and a `create_plan` that made no plan leaves NO_PLAN as it is on its way to the fallback.
    by_the_way = {
        ("PLAN_CREATED", "PLAN_CREATED"),
        ("FALLBACK_PLAN", "PLAN_CREATED"),
        ("PLAN_CREATED", "FALLBACK_PLAN"),
        # A plan that was made anew is sent back to `replan`, the first one to `create_plan`.
        ("COMPLETED", "PLAN_CREATED"),
        ("ERROR_REPORTED", "PLAN_CREATED"),
    }
    moves = moves - by_the_way | {("NO_PLAN", "FALLBACK_PLAN")}
    allowed = {(old, new) for old, after in TRANSITIONS.items() for new in after}
    assert moves <= allowed
    # What the drawing cannot show: a new request on the thread, and the way back to NO_PLAN.
    hidden = {("DONE", "NO_PLAN"), ("PLAN_CREATED", "NO_PLAN"), ("FALLBACK_PLAN", "NO_PLAN")}
    assert allowed - moves == hidden


def test_the_seeds_moves_are_all_in_the_table() -> None:
    seeds = """NO_PLAN PLAN_CREATED; NO_PLAN FALLBACK_PLAN; PLAN_CREATED STEP_SELECTED;
        FALLBACK_PLAN STEP_SELECTED; STEP_SELECTED IN_PROGRESS; IN_PROGRESS EXECUTOR_RUN;
        EXECUTOR_RUN COMPLETED; EXECUTOR_RUN ERROR_REPORTED; ERROR_REPORTED STEP_SELECTED;
        COMPLETED STEP_SELECTED; COMPLETED FINAL_SUMMARY; FINAL_SUMMARY DONE"""
    for move in seeds.split(";"):
        old, new = move.split()
        assert new in TRANSITIONS[old]  # type: ignore[index]
    assert set(TRANSITIONS) == set(PHASES)
    assert "STEP_SELECTED --> IN_PROGRESS" in lifecycle_mermaid()


def test_a_run_passes_through_the_phases_in_an_allowed_order() -> None:
    graph = create_planning_graph(planner_of("A", "B"), done)
    events = list(graph.stream({"request": "x"}, stream_mode="custom"))
    phases = [e["phase"] for e in events if e["type"] == "phase"]
    assert all(new in TRANSITIONS[old] for old, new in itertools.pairwise(phases))
    assert phases[0] == "NO_PLAN" and phases[-1] == "DONE"
    assert phases.count("COMPLETED") == 2


def test_xray_shows_the_inner_graph_of_every_executor() -> None:
    react = create_react_graph(ScriptedModel())
    one = create_planning_graph(ScriptedModel(), react).get_graph(xray=True).draw_mermaid()
    assert "run_executor\\3athink" in one and "create_plan\\3agenerate" in one
    two = create_planning_graph(ScriptedModel(), {"a": react, "b": react, "f": done})
    text = two.get_graph(xray=True).draw_mermaid()
    assert "run_executor\\3aa\\3athink" in text and "run_executor\\3ab\\3athink" in text
    assert set(two.get_graph().nodes) - {"__start__", "__end__"} == set(NODE_PHASES)


def test_json_schemas_of_all_graphs_can_be_made() -> None:
    react = create_react_graph(ScriptedModel())
    planning = create_planning_graph(ScriptedModel(), react)
    for graph in (react, create_planner_graph(ScriptedModel()), planning):
        assert "request" in graph.get_input_jsonschema()["properties"]
        assert "messages" in graph.get_output_jsonschema()["properties"]
        assert "workspace" in (graph.get_context_jsonschema() or {})["properties"]
    assert set(planning.get_output_jsonschema()["properties"]) == {
        "plan", "phase", "report", "summary", "messages",
    }  # fmt: skip
