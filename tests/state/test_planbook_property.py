"""Whatever commands come, a book holds plans that can be read; no finished step begins again."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from planloop.errors import PlanError
from planloop.state import as_plan, empty_book, fold_book, run_command

VALUES = st.one_of(
    st.none(),
    st.integers(-2, 4),
    st.sampled_from(["a", "b", "s1", "0", "done", "blocked", "x", "", "²", 1.0, True]),
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
