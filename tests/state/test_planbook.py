"""Several plans with one active, as the planning tool keeps them."""

from typing import Any

import pytest

from planloop.errors import PlanError
from planloop.state import PlanBook, empty_book, fold_book, plan_of, run_command


def done(book: PlanBook, *commands: tuple[str, dict[str, Any]]) -> PlanBook:
    """The book after these commands."""
    for command, args in commands:
        book = fold_book(book, [run_command(book, command, args).patch])
    return book


def two_plans() -> PlanBook:
    return done(
        empty_book(),
        ("create", {"plan_id": "one", "title": "First", "steps": ["A", "B", "C"]}),
        ("create", {"plan_id": "two", "title": "Second", "steps": ["D"]}),
    )


def said(book: PlanBook, command: str, **args: Any) -> str:
    return run_command(book, command, args).text


def refused(book: PlanBook, command: str, **args: Any) -> str:
    with pytest.raises(PlanError) as error:
        run_command(book, command, args)
    return str(error.value)


def test_the_newest_plan_is_active_until_another_is_chosen() -> None:
    book = two_plans()
    assert said(book, "list") == (
        "- one: First, 0/3 steps completed\n- two (active): Second, 0/1 steps completed"
    )
    assert "Plan: Second (ID: two)" in said(book, "get")
    book = done(book, ("set_active", {"plan_id": "one"}))
    assert "0. [ ] A" in said(book, "get")
    assert "Plan: Second" in said(book, "get", plan_id="two")


def test_a_deleted_plan_is_gone_and_no_longer_active() -> None:
    book = done(two_plans(), ("delete", {"plan_id": "two"}))
    assert book["active"] == ""
    assert "No plan is active" in refused(book, "get") and "there are one" in refused(book, "get")
    assert "There are no plans" in said(done(book, ("delete", {"plan_id": "one"})), "list")


def test_a_title_that_is_missing_comes_from_the_steps() -> None:
    book = done(empty_book(), ("create", {"steps": ["Look around", "Leap"]}))
    assert plan_of(book).title == "Look around"
    assert plan_of(book).id == "plan_1"
    assert plan_of(done(book, ("create", {"steps": ["B"]}))).id == "plan_2"


@pytest.mark.parametrize("steps", ['["A","B"]', "1. A\n2. B", [{"name": "A"}, {"step": "B"}]])
def test_c02_c03_steps_in_any_shape_are_read(steps: Any) -> None:
    book = done(empty_book(), ("create", {"title": "T", "steps": steps}))
    assert [s.name for s in plan_of(book).steps] == ["A", "B"]


@pytest.mark.parametrize(
    ("command", "args", "reason"),
    [
        ("make", {}, "use one of create, update"),
        ("create", {"plan_id": "one", "steps": ["A"]}, "use `update`"),
        ("create", {"title": "T"}, "no steps"),
        ("create", {"title": "T", "steps": ["", " "]}, "no steps"),
        (
            "create",
            {"title": "T", "steps": ["x"] * 10 + [f"n{n}" for n in range(60)]},
            "at most 50",
        ),
        ("update", {"plan_id": "three", "steps": ["A"]}, "there are one, two"),
        ("update", {}, "Give a new title, or the whole list"),
        ("update", {"steps": []}, "Give a new title, or the whole list"),
        ("get", {"plan_id": "three"}, "no plan 'three'"),
        ("set_active", {}, "Give the plan_id: there are one, two"),
        ("delete", {}, "Give the plan_id"),
        ("mark_step", {"step_status": "completed"}, "indices 0 to 0"),
        ("mark_step", {"step_index": 0}, "Give a step_status"),
        ("mark_step", {"step_index": 0, "step_status": "maybe"}, "not_started, in_progress"),
    ],
)
def test_what_is_wrong_is_refused_with_what_may_be_given(
    command: str, args: dict[str, Any], reason: str
) -> None:
    book = two_plans()
    assert reason in refused(book, command, **args)


def test_there_is_a_most_of_plans() -> None:
    commands = [("create", {"plan_id": f"p{n}", "steps": ["A"]}) for n in range(20)]
    assert "delete one first" in refused(done(empty_book(), *commands), "create", steps=["A"])


@pytest.mark.parametrize("index", [1, "1", 1.0, "s2", " s2 "])
def test_a_step_is_marked_by_its_place_or_its_id(index: Any) -> None:
    book = done(two_plans(), ("set_active", {"plan_id": "one"}))
    book = done(book, ("mark_step", {"step_index": index, "step_status": "done"}))
    assert [s.status for s in plan_of(book).steps] == ["not_started", "completed", "not_started"]


LONG = "x" * 9_000
ODD = [3, -1, "3", "-1", 1.5, True, None, "s9", "", [1], {}, "²", "9" * 5_000, 10**400]


@pytest.mark.parametrize("index", [*ODD, float("inf"), float("nan")], ids=lambda i: repr(i)[:9])
def test_an_odd_index_is_refused_with_the_valid_range(index: Any) -> None:
    book = done(two_plans(), ("set_active", {"plan_id": "one"}))
    told = refused(book, "mark_step", step_index=index, step_status="done")
    assert "indices 0 to 2" in told and len(told) < 200


@pytest.mark.parametrize(
    ("command", "args"),
    [(LONG, {}), ("get", {"plan_id": LONG}), ("mark_step", {"step_index": LONG})],
)
def test_a_refusal_does_not_repeat_a_long_text(command: str, args: dict[str, Any]) -> None:
    assert len(refused(two_plans(), command, **args)) < 400


def test_notes_are_set_and_cleared_and_statuses_follow_the_table() -> None:
    book = done(
        two_plans(), ("mark_step", {"step_index": 0, "step_status": "done", "step_notes": "fine"})
    )
    assert plan_of(book).steps[0].notes == "fine"
    told = refused(book, "mark_step", step_index=0, step_status="not_started")
    assert "from completed to not_started" in told and "nothing else" in told
    book = done(book, ("mark_step", {"step_index": 0, "step_notes": ""}))
    assert plan_of(book).steps[0].notes == ""
    assert plan_of(book).steps[0].status == "completed"


def test_c36_an_update_keeps_status_by_identity() -> None:
    book = done(
        empty_book(),
        ("create", {"plan_id": "p", "steps": ["A", "B", "B", "C"]}),
        ("mark_step", {"step_index": 0, "step_status": "completed"}),
        ("mark_step", {"step_index": 1, "step_status": "in_progress", "step_notes": "half"}),
    )
    # A model's loop: the second B is dropped when the plan is made.
    steps: list[Any] = ["Z", {"id": "s2", "name": "B, better"}, "C", "A"]
    plan = plan_of(done(book, ("update", {"steps": steps})))
    assert [(s.name, s.status, s.notes) for s in plan.steps] == [
        ("Z", "not_started", ""),
        ("B, better", "in_progress", "half"),
        ("C", "not_started", ""),
        ("A", "completed", ""),
    ]


def test_an_update_of_the_title_keeps_the_steps() -> None:
    book = done(two_plans(), ("update", {"plan_id": "one", "title": "Better"}))
    assert plan_of(book, "one").title == "Better"
    assert len(plan_of(book, "one").steps) == 3


def test_a_plan_that_is_changed_often_does_not_grow() -> None:
    book = done(empty_book(), ("create", {"plan_id": "p", "steps": ["A"]}))
    for n in range(30):
        book = done(book, ("update", {"steps": ["A", f"n{n}"]}))
    assert len(plan_of(book).history) == 5


def test_changes_side_by_side_all_land() -> None:
    book = done(two_plans(), ("set_active", {"plan_id": "one"}))
    marks = [
        run_command(book, "mark_step", {"step_index": place, "step_status": "done"}).patch
        for place in (0, 2)
    ]
    for patches in (marks, marks[::-1]):
        statuses = [step.status for step in plan_of(fold_book(book, patches)).steps]
        assert statuses == ["completed", "not_started", "completed"]


def test_a_mark_costs_the_same_bytes_in_a_long_plan() -> None:
    sizes = []
    for steps in (2, 50):
        book = done(empty_book(), ("create", {"plan_id": "p", "steps": [*map(str, range(steps))]}))
        mark = {"step_index": 1, "step_status": "done"}
        sizes.append(len(repr(run_command(book, "mark_step", mark).patch)))
    assert sizes[0] == sizes[1]


def test_a_book_that_a_person_gives_is_read_as_plans_are() -> None:
    book = fold_book(None, [{"plans": {"p": {"steps": ["A", "B"]}}, "active": "p"}])
    marked = done(book, ("mark_step", {"step_index": 1, "step_status": "done"}))
    assert [(s.id, s.status) for s in plan_of(marked).steps] == [
        ("s1", "not_started"),
        ("s2", "completed"),
    ]


@pytest.mark.parametrize(
    "patch",
    [
        "all done",
        {"plans": ["A"]},
        {"plans": {"p": {"steps": [{"id": "s1", "name": "A", "status": "odd"}]}}},
        {"steps": {"one": {"s1": {"status": "odd"}}}},
    ],
)
def test_no_change_by_hand_brings_in_what_is_no_plan(patch: Any) -> None:
    with pytest.raises(PlanError):
        fold_book(two_plans(), [patch])
