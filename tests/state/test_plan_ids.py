"""The ids that models give their steps unasked."""

import pytest

from planloop.errors import PlanError
from planloop.state import create_plan


def test_a_models_own_ids_are_understood_in_dependencies() -> None:
    steps = [
        {"id": "fetch", "name": "A"},
        {"id": "2", "name": "B", "depends_on": ["Fetch"]},
        {"id": "", "name": "C", "depends_on": ["2", "s1"]},
    ]
    plan = create_plan(steps, request="r")
    assert [(s.id, s.depends_on) for s in plan.steps] == [
        ("s1", []), ("s2", ["s1"]), ("s3", ["s2", "s1"]),
    ]  # fmt: skip


def test_two_steps_with_one_id_are_refused() -> None:
    with pytest.raises(PlanError, match="Two steps have the id 'a'"):
        create_plan([{"id": "a", "name": "A"}, {"id": "A ", "name": "B"}], request="r")
