"""Several plans with one active, as the planning tool keeps them."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planloop.errors import PlanError
from planloop.state import PlanBook, as_plan, empty_book, fold_book, plan_of, run_command


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
    assert plan_of(book).id.startswith("plan_")


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


@pytest.mark.parametrize("index", [3, -1, "3", "-1", 1.5, True, None, "s9", "", [1], {}])
def test_an_odd_index_is_refused_with_the_valid_range(index: Any) -> None:
    book = done(two_plans(), ("set_active", {"plan_id": "one"}))
    assert "indices 0 to 2" in refused(book, "mark_step", step_index=index, step_status="done")


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


VALUES = st.one_of(
    st.none(),
    st.integers(-2, 4),
    st.sampled_from(["a", "b", "s1", "0", "done", "blocked", "x", ""]),
)
COMMANDS = st.sampled_from(
    ["create", "update", "list", "get", "set_active", "mark_step", "delete", "?"]
)
STEPS = st.one_of(st.none(), st.lists(st.sampled_from(["A", "B", "C"]), max_size=4))


@given(
    st.lists(
        st.tuples(
            COMMANDS,
            st.fixed_dictionaries(
                {
                    "plan_id": st.sampled_from(["a", "b", None]),
                    "steps": STEPS,
                    "step_index": VALUES,
                    "step_status": VALUES,
                    "step_notes": st.one_of(st.none(), st.text(max_size=5)),
                }
            ),
        ),
        max_size=12,
    ),
    st.integers(0, 12),
)
@settings(deadline=None, derandomize=True, max_examples=150)
def test_no_commands_break_a_book(commands: list[tuple[str, dict[str, Any]]], cut: int) -> None:
    book, patches = empty_book(), list[dict[str, Any]]()
    for command, args in commands:
        try:
            change = run_command(book, command, args)
        except PlanError:
            continue
        finished = {
            (plan_id, step["id"])
            for plan_id, plan in book["plans"].items()
            for step in plan["steps"]
            if step["status"] == "completed"
        }
        patches.append(change.patch)
        book = fold_book(book, [change.patch])
        for plan_id, step_id in finished:  # finished steps are dropped, never begun again
            steps = book["plans"].get(plan_id, {"steps": []})["steps"]
            found = [step for step in steps if step["id"] == step_id]
            if command != "create":
                assert all(step["status"] == "completed" for step in found)
        assert book["active"] in ("", *book["plans"])
        for plan in book["plans"].values():
            assert as_plan(plan).model_dump(mode="json") == plan
    assert fold_book(fold_book(None, patches[:cut]), patches[cut:]) == book
