"""Plans: how they are drawn, changed, routed, and what they refuse."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planloop import Plan, PlanDraft, PlanStep
from planloop.errors import IllegalTransition, PlanError
from planloop.state import (
    PlanChannel,
    apply_patch,
    as_plan,
    create_plan,
    fallback_plan,
    find_step,
    mark_step,
    ready_steps,
    update_plan,
)


def test_the_plan_is_drawn_in_the_seeds_form() -> None:
    plan = create_plan(["读取 CSV", "[DATA_ANALYSIS] 画趋势图", "写总结"], request="分析销售数据")
    plan = mark_step(mark_step(plan, 0, "completed"), 1, "in_progress", notes="half\nway")
    lines = plan.render().splitlines()
    assert lines[0] == f"Plan: 分析销售数据 (ID: {plan.id})"
    assert lines[2] == "Progress: 1/3 steps completed (33.3%)"
    assert lines[3] == "Status: 1 not started, 1 in progress, 1 completed, 0 blocked"
    assert lines[6:] == [
        "0. [✓] 读取 CSV",
        "1. [→] [DATA_ANALYSIS] 画趋势图",
        "   Notes: half way",
        "2. [ ] 写总结",
    ]
    drawn = create_plan(["a"], request="b").render(ascii_only=True)
    assert drawn.isascii()


def test_c45_odd_texts_stay_on_their_line() -> None:
    plan = create_plan(["1. 1) A", "- [x] C", "D\nsub-line", "E" * 10_000], request="r")
    lines = plan.render(width=80).splitlines()[6:]
    assert len(lines) == 4
    assert all(len(line) < 100 for line in lines)
    assert plan.counts()["completed"] == 0
    assert len(plan.steps[3].name) == 10_000


def test_a_long_plan_is_drawn_around_its_open_step() -> None:
    plan = create_plan([f"n{n}" for n in range(40)], request="r")
    for n in range(30):
        plan = mark_step(plan, n, "completed")
    drawn = plan.render(limit=10)
    assert "30. [ ] n30" in drawn and "0. [✓] n0\n" not in drawn
    assert "earlier steps" in drawn


def test_nothing_is_zero_of_zero_and_a_hundred_percent() -> None:
    assert "0/0 steps completed (0.0%)" in Plan().render()


def test_the_fallback_plan_has_three_steps_and_says_what_it_is() -> None:
    plan = fallback_plan("x" * 80)
    assert [s.name for s in plan.steps] == [
        "Analyze the request", "Execute the task", "Verify the results",
    ]  # fmt: skip
    assert plan.origin == "fallback"
    assert plan.title == f"Plan for: {'x' * 50}…"


def test_a_draft_has_no_field_of_the_record() -> None:
    record = set(PlanStep.model_fields) - {"id"}
    asked = set(PlanDraft.model_json_schema()["$defs"]["DraftStep"]["properties"])
    assert asked == {
        "name", "description", "requires_code", "expected_outputs", "success_criteria",
        "executor", "depends_on",
    }  # fmt: skip
    assert asked < record


def test_ids_are_never_used_twice() -> None:
    plan = create_plan(["A", "B"], request="r")
    plan = update_plan(plan, ["A"], reason="less")
    plan = update_plan(plan, ["A", "C"], reason="more")
    assert [s.id for s in plan.steps] == ["s1", "s3"]
    assert plan.version == 3


def test_ids_of_a_given_plan_are_kept_and_not_used_again() -> None:
    given = as_plan({"steps": [{"id": "s5", "name": "A"}, {"id": "own", "name": "B"}]})
    assert given.next_step == 6
    new = update_plan(given, ["A", "B", "C"], reason="more")
    assert [s.id for s in new.steps] == ["s5", "own", "s6"]


def test_a_models_loop_is_one_step_and_a_persons_repetition_is_meant() -> None:
    assert [s.name for s in create_plan(["A", "A", "B", "A"], request="r").steps] == ["A", "B", "A"]
    assert len(create_plan(["A", "A"], request="r", origin="user").steps) == 2


def test_an_update_matches_equal_texts_one_by_one() -> None:
    plan = create_plan(["A", "A", "A"], request="r", origin="user")
    plan = mark_step(plan, 1, "completed")
    new = update_plan(plan, ["A", "A"], reason="less")
    assert [s.id for s in new.steps] == ["s1", "s2"]


def test_a_step_can_be_renamed_by_its_id() -> None:
    plan = mark_step(create_plan(["A", "B"], request="r"), 0, "in_progress")
    new = update_plan(plan, [{"id": "s1", "name": "A, better"}, "B"], reason="words")
    assert [(s.id, s.name, s.status) for s in new.steps] == [
        ("s1", "A, better", "in_progress"), ("s2", "B", "not_started"),
    ]  # fmt: skip


def test_a_completed_step_stays_completed() -> None:
    plan = mark_step(create_plan(["A"], request="r"), "s1", "completed")
    for status in ("not_started", "in_progress", "blocked"):
        with pytest.raises(IllegalTransition, match="s1"):
            mark_step(plan, "s1", status)


def test_unknown_steps_are_refused_with_the_valid_range() -> None:
    plan = create_plan(["A", "B"], request="r")
    for wrong in (2, -1, "x", "s9", ""):
        with pytest.raises(PlanError, match="0 to 1"):
            find_step(plan, wrong)


def test_dependencies_are_read_by_id_number_or_name() -> None:
    steps = [{"name": "A"}, {"name": "B"}, {"name": "C", "depends_on": ["s1", 2, "a"]}]
    plan = create_plan(steps, request="r")
    assert plan.steps[2].depends_on == ["s1", "s2"]
    assert [s.id for s in ready_steps(plan)] == ["s1", "s2"]


def test_c40_an_unknown_executor_is_named_with_the_valid_ones() -> None:
    with pytest.raises(PlanError, match=r"steps\[0\].executor 'x' is unknown: use one of a, b"):
        create_plan([{"name": "A", "executor": "x"}], request="r", executors=("a", "b"))


def test_what_is_no_plan_is_refused_by_name() -> None:
    for wrong in ({"steps": [{"id": "s1", "status": "half"}]}, {"steps": 3}, "text"):
        with pytest.raises(PlanError):
            as_plan(wrong)


NAMES = st.lists(st.sampled_from(["A", "B", "C", "D"]), min_size=1, max_size=6)


@given(NAMES, NAMES, st.integers(0, 5))
@settings(deadline=None, derandomize=True, max_examples=200)
def test_no_update_loses_or_restarts_a_finished_step(
    old: list[str], new: list[str], n: int
) -> None:
    plan = create_plan(old, request="r", origin="user")
    plan = mark_step(plan, n % len(old), "completed")
    updated = update_plan(plan, new, reason="any", keep_completed=True)
    (finished,) = [s for s in updated.steps if s.status == "completed"]
    assert finished == plan.steps[n % len(old)]
    assert len({s.id for s in updated.steps}) == len(updated.steps)
    assert len(updated.steps) in (len(new), len(new) + 1)


@given(st.lists(st.tuples(st.integers(0, 2), st.text(max_size=4)), max_size=8), st.integers(0, 8))
@settings(deadline=None, derandomize=True, max_examples=60)
def test_the_channel_folds_patches_the_same_in_any_batches(
    notes: list[tuple[int, str]], cut: int
) -> None:
    whole = create_plan(["A", "B", "C"], request="r").model_dump(mode="json")
    patches = [whole, *({f"s{n + 1}": {"notes": text}} for n, text in notes)]
    once, twice = PlanChannel().from_checkpoint(None), PlanChannel().from_checkpoint(None)
    once.update(patches)
    for batch in (patches[: cut + 1], patches[cut + 1 :]):
        twice.update(batch)
    assert once.get() == twice.get()
    assert once.get() == apply_patch(Plan(), once.get().model_dump(mode="json"))
