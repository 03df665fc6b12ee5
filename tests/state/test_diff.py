"""Versions of a plan, and what is different between them."""

import pytest

from planloop.errors import PlanError
from planloop.state import (
    Plan,
    apply_patch,
    create_plan,
    mark_step,
    plan_diff,
    update_plan,
    versions_of,
)


def steps(*names: str) -> list[dict[str, str]]:
    """Steps that say which one they are by their first letter: `a2` is the step s1 renamed."""
    return [{"id": f"s{ord(name[0]) - 96}", "name": name} for name in names]


def plan(*names: str) -> Plan:
    return Plan.model_validate({"title": "T", "steps": steps(*names)})


def test_steps_are_told_by_id_as_new_gone_changed_or_the_same() -> None:
    old, new = plan("a", "b", "c", "d"), plan("a", "b2", "d", "e")
    assert plan_diff(old, new).splitlines() == [
        "  s1 a",
        "~ s2 b2",
        '    name: "b" → "b2"',
        "- s3 c",
        "  s4 d",
        "+ s5 e",
    ]


def test_only_the_words_that_changed_are_told() -> None:
    before = {"id": "s1", "name": "n", "description": "read the one table and stop"}
    after = {**before, "description": "read both tables and stop", "executor": "x"}
    told = plan_diff(Plan(steps=[before]), Plan(steps=[after]))  # type: ignore[list-item]  # read
    assert told.splitlines()[1:] == [
        '    description: … "the one table" … → … "both tables" …',
        '    executor: nothing → "x"',
    ]


@pytest.mark.parametrize(
    ("field", "before", "after", "told"),
    [
        ("requires_code", False, True, '"no" → "yes"'),
        ("success_criteria", ["a"], ["a", "b c"], '"a" → "a; b c"'),
        ("depends_on", ["s1", "s2"], [], '"s1; s2" → nothing'),
        ("description", "a b", "a\n\nb", "only blanks and line breaks"),
        ("description", "x", "y" * 500, f'"x" → "{"y" * 119}…"'),
    ],
)
def test_each_field_is_told_in_its_words(
    field: str, before: object, after: object, told: str
) -> None:
    old = Plan.model_validate([{"id": "s3", "name": "n", field: before}])
    new = Plan.model_validate([{"id": "s3", "name": "n", field: after}])
    assert plan_diff(old, new).splitlines() == ["~ s3 n", f"    {field}: {told}"]


def test_a_step_that_stands_elsewhere_was_moved() -> None:
    told = plan_diff(plan("a", "b", "c"), plan("c", "a", "b")).splitlines()
    assert told == ["~ s3 c", "    moved", "  s1 a", "  s2 b"]


def test_what_is_gone_stands_where_it_was() -> None:
    told = plan_diff(plan("a", "b", "c", "d"), plan("e", "b", "f")).splitlines()
    assert told == ["- s1 a", "+ s5 e", "  s2 b", "- s3 c", "- s4 d", "+ s6 f"]


def test_what_became_of_a_step_is_no_change_of_the_plan() -> None:
    old = create_plan(["a", "b"], request="r")
    assert plan_diff(old, mark_step(old, 0, "completed", notes="done")) == ""
    assert plan_diff(old, old) == ""


def test_a_new_title_is_told() -> None:
    new = plan("a").model_copy(update={"title": "T two"})
    assert plan_diff(plan("a"), new).splitlines() == ['~ title: nothing → … "two"', "  s1 a"]


def test_long_runs_without_a_change_are_left_out_and_long_diffs_are_cut() -> None:
    old = create_plan([f"n{n}" for n in range(1_000)], request="r", max_steps=1_000)
    new = apply_patch(old, {"s500": {"name": "x"}})
    assert plan_diff(old, new).splitlines() == [
        "  s1 n0", "  s2 n1", "  … 495 steps as before …", "  s498 n497", "  s499 n498",
        "~ s500 x", '    name: "n499" → "x"',
        "  s501 n500", "  s502 n501", "  … 496 steps as before …", "  s999 n998", "  s1000 n999",
    ]  # fmt: skip
    told = plan_diff(Plan(), old).splitlines()
    assert len(told) == 201
    assert told[-1] == "  … 800 more lines …"


def test_a_step_stays_on_its_line_whatever_it_says() -> None:
    odd = Plan.model_validate([{"id": "x\n+ y", "name": "a\n- b" + "c" * 500}])
    (line,) = plan_diff(Plan(), odd).splitlines()
    assert line.startswith("+ x + y a - bccc") and len(line) < 130


def test_every_version_is_told_with_the_reason_that_made_it() -> None:
    first = create_plan(["A", "B"], request="r")
    second = update_plan(first, ["A", "C"], reason="replanned: B failed")
    third = update_plan(second, ["C"], reason="edited by a person")
    told = [(e.version, e.reason, [s.name for s in e.plan.steps]) for e in versions_of(third)]
    assert told == [
        (1, "", ["A", "B"]),
        (2, "replanned: B failed", ["A", "C"]),
        (3, "edited by a person", ["C"]),
    ]
    assert versions_of(third)[2].plan == third
    assert versions_of(third)[1].plan == second
    assert versions_of(Plan())[0].plan == Plan()


def test_a_history_that_cannot_be_read_is_refused_in_a_sentence() -> None:
    broken = {"version": 1, "reason": "r", "steps": [{"id": "s1", "status": "half"}]}
    given = Plan.model_validate({"steps": ["A"], "history": [broken]})
    with pytest.raises(PlanError, match="no plan that this version can read"):
        versions_of(given)
