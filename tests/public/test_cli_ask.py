"""A person at the terminal: what is shown while it runs, how answers and edits are read."""

from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from cli_cast import Cast
from rich.console import Console
from rich.spinner import Spinner
from typer.testing import Result

from planloop.cli.answers import read_answer
from planloop.cli.ask import ask
from planloop.cli.edit import edited_text
from planloop.cli.live import drawn
from planloop.cli.outcome import document
from planloop.cli.progress import Progress
from planloop.cli.questions import waiting_text
from planloop.cli.screen import Screen
from planloop.errors import WrongUse
from planloop.runs import Pending, RunView
from planloop.state import Plan, read_plan_lines
from planloop.testing import call

Cli = Callable[..., Result]
CALLS = {
    "type": "tool_approval",
    "calls": [
        {"id": "c1", "name": "python", "args": {"code": "a\nb"}, "effect": "execute"},
        {"id": "c2", "name": "fetch", "args": {"url": "x"}, "effect": "network"},
    ],
}
PLAN = Plan.model_validate(
    {
        "title": "Paint",
        "steps": [
            {"name": "Buy", "description": "buy paint", "success_criteria": ["paint is there"]},
            {"name": "Paint", "description": "paint the wall"},
        ],
    }
)
APPROVAL = {"type": "plan_approval", "plan": PLAN.model_dump(mode="json"), "text": PLAN.render()}


@pytest.fixture
def typing(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """What the person types, line by line."""

    def lines(*words: str) -> None:
        left = iter(words)

        def next_line(*_: Any) -> str:
            try:
                return next(left)
            except StopIteration:
                raise EOFError from None

        monkeypatch.setattr("planloop.cli.ask.ask_line", next_line)

    for name in ("EDITOR", "VISUAL"):
        monkeypatch.delenv(name, raising=False)
    return lines


def test_an_option_is_chosen_by_number_or_by_other_words(typing: Callable[..., None]) -> None:
    question = {"type": "question", "question": "Which?", "options": ["red", "blue"]}
    for typed, given in (("2", "blue"), ("3", "3"), ("green", "green")):
        typing("", typed)
        assert ask(Screen(), question) == given


def test_each_call_is_shown_whole_and_decided_by_itself(
    typing: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    typing("what?", "y", "n", "too far")
    assert ask(Screen(), CALLS) == {"c1": True, "c2": {"reject": "too far"}}
    shown = capsys.readouterr().err
    assert "python (effect: execute)\n    code:\n      a\n      b\n" in shown
    assert "    url: x\n" in shown


@pytest.mark.parametrize(
    ("typed", "given"),
    [
        (["a"], True),
        (["c"], False),
        (["r", "more colours"], {"action": "reject", "comment": "more colours"}),
        (["hm", "r more colours"], {"action": "reject", "comment": "more colours"}),
    ],
)
def test_a_plan_is_accepted_called_off_or_sent_back(
    typing: Callable[..., None], typed: list[str], given: Any
) -> None:
    typing(*typed)
    assert ask(Screen(), APPROVAL) == given


def test_a_plan_is_typed_anew_where_there_is_no_editor(typing: Callable[..., None]) -> None:
    typing("e", "s2: Paint -- twice", "Look at it", "")
    answer = ask(Screen(), APPROVAL)
    assert answer["action"] == "edit"
    assert answer["text"] == "s2: Paint -- twice\nLook at it"


def test_a_plan_goes_through_the_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "sed -i s/wall/fence/")
    steps = read_plan_lines(PLAN, edited_text(PLAN, pytest.fail))
    assert steps[1]["description"] == "paint the fence"


def test_an_editor_that_fails_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "an-editor-that-is-not-there")
    with pytest.raises(WrongUse, match="an-editor-that-is-not-there"):
        edited_text(PLAN, pytest.fail)


def test_at_a_terminal_questions_are_asked_until_the_run_has_ended(
    cli: Cli, cast: Cast, typing: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Screen, "asks", property(lambda _: True))
    cast.steps["s1"] = [
        call("ask_human", question="Which?"),
        call("python", code="print(1)"),
        "done",
    ]
    typing("a", "blue", "y")
    result = cli("run", "do both", "--approve-plan")
    assert result.exit_code == 0


def test_who_leaves_a_question_open_can_answer_later(
    cli: Cli, cast: Cast, typing: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Screen, "asks", property(lambda _: True))
    cast.steps["s1"] = [call("ask_human", question="Which?"), "done"]
    typing()
    result = cli("run", "do both", "--thread", "t")
    assert result.exit_code == 3
    assert "planloop answer t" in result.stdout


def shown(progress: Progress, *, room: int = 20, ascii_only: bool = False) -> str:
    console = Console(width=60, record=True, file=StringIO())
    console.print(drawn(progress, Spinner("line"), room, ascii_only=ascii_only))
    return console.export_text()


def test_the_checklist_follows_the_events() -> None:
    progress = Progress()
    usage = {"input_tokens": 1_000, "output_tokens": 234}
    for event in (
        {"type": "phase", "phase": "PLAN_CREATED", "plan": PLAN.model_dump(mode="json")},
        {"type": "phase", "phase": "IN_PROGRESS", "step": "s1", "attempt": 1},
        {"type": "phase", "phase": "COMPLETED", "step": "s1", "verified": True},
        {"type": "phase", "phase": "IN_PROGRESS", "step": "s2", "attempt": 1},
        {"type": "turn", "number": 1, "text": "", "usage": usage},
        {"type": "tool_call", "name": "python", "args": {"code": "1 +\n1"}, "id": "c"},
    ):
        progress.take(event)
    lines = shown(progress).splitlines()
    assert lines[:3] == ["Paint (1/2)", "  [✓] Buy", "  [→] Paint"]
    assert "python(code=1 + 1)" in lines[3]
    assert "1,234 tokens" in lines[3]
    assert "  [>] Paint" in shown(progress, ascii_only=True)


def test_failures_are_marked_with_what_depends_on_them() -> None:
    progress = Progress(plan=PLAN)
    failed = {"type": "phase", "phase": "ERROR_REPORTED", "step": "s1", "reason": "no paint"}
    progress.take({**failed, "recovery": "retry"})
    assert progress.plan.step("s1").status == "not_started"
    progress.take({**failed, "recovery": "block"})
    assert "  [!] Buy (no paint)" in shown(progress)


def test_a_long_plan_is_cut_around_what_is_open() -> None:
    steps = [
        {"name": f"n{n}", "status": "completed" if n < 25 else "not_started"} for n in range(40)
    ]
    text = shown(Progress(plan=Plan.model_validate({"title": "Long", "steps": steps})), room=6)
    assert "22 earlier steps" in text
    assert "12 later steps" in text
    assert len(text.splitlines()) == 10


DOUBT = {
    "type": "call_in_doubt",
    "id": "c1",
    "name": "send",
    "args": {"to": "me"},
    "effect": "network",
    "begun": "2026-01-01T00:00:00+00:00",
    "text": "The call of send had begun. Make it again?",
}


def test_a_call_in_doubt_is_shown_whole_and_repeated_or_skipped(
    typing: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    for words, answer in ((("perhaps", "R"), "repeat"), (("s",), "skip"), (("no",), "skip")):
        typing(*words)
        assert ask(Screen(), DOUBT) == answer
    shown = capsys.readouterr().err
    assert "Make it again?" in shown and "to: me" in shown and "effect: network" in shown


def test_how_a_call_in_doubt_is_answered_by_a_command() -> None:
    view = RunView("t", "waiting", {}, [Pending("i1", DOUBT)], "")
    told = waiting_text(view, None)
    assert "planloop answer t --yes (make it again)" in told and "--no (go on without)" in told
    assert read_answer(DOUBT, None, True) is True
    assert read_answer(DOUBT, "too dear", False) is False
    assert read_answer(DOUBT, "skip", None) == "skip"


def test_a_question_in_a_form_of_somebodys_own_is_shown_and_saved_as_it_is() -> None:
    view = RunView("t", "waiting", {}, [Pending("i1", "Really?")], "")
    assert "Really?" in waiting_text(view, None)
    assert document(view)["pending"] == [{"id": "i1", "value": "Really?"}]
