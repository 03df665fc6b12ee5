"""Plans as lines that a person edits."""

import pytest

from planloop import Plan
from planloop.errors import PlanError
from planloop.state import plan_lines, read_plan_lines, update_plan

PLAN = Plan.model_validate(
    {
        "id": "p",
        "steps": [
            {"name": "Buy", "description": "buy\npaint", "success_criteria": ["paint is there"]},
            {"name": "Paint", "description": "paint it"},
        ],
    }
)


def test_a_plan_that_was_not_edited_is_the_same() -> None:
    steps = read_plan_lines(PLAN, plan_lines(PLAN))
    same = update_plan(PLAN, {"steps": steps}, reason="none")
    assert same.steps == PLAN.steps


def test_lines_are_changed_moved_added_and_removed() -> None:
    steps = read_plan_lines(PLAN, "# a remark\n\ns2: Paint -- twice\nLook at it\n")
    new = update_plan(PLAN, {"steps": steps}, reason="edited")
    assert [(s.id, s.name, s.description) for s in new.steps] == [
        ("s2", "Paint", "twice"), ("s3", "Look at it", ""),
    ]  # fmt: skip


def test_a_text_without_bounds_is_refused() -> None:
    with pytest.raises(PlanError, match="200,000 characters"):
        read_plan_lines(PLAN, "x" * 200_000)
