"""What checks may answer, and how they are called."""

import asyncio
from typing import Any

import pytest
from helpers import both_ways
from langchain_core.tools import ToolException
from langgraph.errors import GraphInterrupt

from planloop.state import PlanStep, WrongUse
from planloop.tools import CallCheck, CheckedStep, CheckResult, checks_of, read_criterion

STEP = PlanStep(id="s1", name="add up")


async def outcome(check: Any, awaited: bool, **given: Any) -> CheckResult:
    """What comes of a check that is awaited, or called in a thread."""
    called = CallCheck(check, CheckedStep(step=STEP, **given))
    return await called.arun() if awaited else await asyncio.to_thread(called.run)


def in_both_forms(answer: Any) -> list[Any]:
    """A check with this answer, or error: plain, async, and as an object with an async call."""

    def plain(step: CheckedStep) -> Any:
        if isinstance(answer, BaseException):
            raise answer
        return answer

    async def later(step: CheckedStep) -> Any:
        await asyncio.sleep(0)
        return plain(step)

    class Callable:
        async def __call__(self, step: CheckedStep) -> Any:
            return await later(step)

    return [plain, later, Callable()]


@both_ways
@pytest.mark.parametrize(
    ("answer", "result"),
    [
        (True, CheckResult(True)),
        (False, CheckResult(False)),
        (None, CheckResult(None)),
        (CheckResult(True, "3 = 3"), CheckResult(True, "3 = 3")),
        (CheckResult(None, "no ledger\0"), CheckResult(None, "no ledger")),
    ],
)
async def test_an_answer_of_any_form_is_read(
    answer: Any, result: CheckResult, awaited: bool
) -> None:
    for check in in_both_forms(answer):
        assert await outcome(check, awaited) == result


@both_ways
@pytest.mark.parametrize("answer", ["yes", 1, CheckResult("yes")])  # type: ignore[arg-type]
async def test_an_answer_that_is_neither_yes_nor_no_shows_nothing(
    answer: Any, awaited: bool
) -> None:
    for check in in_both_forms(answer):
        result = await outcome(check, awaited)
        assert result.met is None and "not yes or no" in result.evidence


@both_ways
@pytest.mark.parametrize(
    ("error", "told"),
    [
        (KeyError("total"), "the check failed: KeyError: 'total'"),
        (ToolException("no such ledger"), "no such ledger"),
        (SystemExit(0), "the check failed: SystemExit: 0"),
        (asyncio.CancelledError(), "the check failed: CancelledError: "),
        (FileNotFoundError(2, "No such file", "/home/me"), "FileNotFoundError: No such file"),
    ],
)
async def test_a_check_that_raises_is_unknown_with_the_reason(
    error: BaseException, told: str, awaited: bool
) -> None:
    for check in in_both_forms(error):
        result = await outcome(check, awaited)
        assert result.met is None
        assert result.evidence.endswith(told.strip())


@both_ways
async def test_an_interrupt_passes(awaited: bool) -> None:
    for check in in_both_forms(GraphInterrupt()):
        with pytest.raises(GraphInterrupt):
            await outcome(check, awaited)


@both_ways
async def test_evidence_is_bounded(awaited: bool) -> None:
    for answer in (CheckResult(True, "x" * 1_000_000), ValueError("x" * 1_000_000)):
        for check in in_both_forms(answer):
            assert 500 < len((await outcome(check, awaited)).evidence) <= 800


async def test_a_check_is_cancelled_with_the_run() -> None:
    begun = asyncio.Event()

    async def endless(step: CheckedStep) -> bool:
        begun.set()
        return await asyncio.Future()

    task = asyncio.create_task(outcome(endless, True))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def balanced(step: CheckedStep) -> bool:
    return True


@pytest.mark.parametrize(
    ("criterion", "argument"),
    [
        ("balanced", ""),
        ("Well-Balanced: 3", "3"),
        ("  well balanced :  a: b\nc ", "a: b\nc"),
        ("Well_balanced：计划", "计划"),
        ("`well balanced: x`", "x"),
        ("well balanced: `x`", "`x`"),
    ],
)
def test_a_criterion_names_a_check(criterion: str, argument: str) -> None:
    checks = checks_of({"balanced": balanced, "Well balanced": balanced})
    assert read_criterion(criterion, checks) == (balanced, argument, "")


@pytest.mark.parametrize(
    "criterion",
    [
        "",
        "the books are balanced",
        "balanced books: all",
        "unheard_of: x",
        "command: true",
        "the file: it rhymes",
        "file poem.txt: it rhymes",
        "regex other.txt: x",
        "balanced: " + "x" * 2_000,
        "``",
    ],
)
def test_everything_else_is_prose(criterion: str) -> None:
    assert read_criterion(criterion, checks_of({"balanced": balanced}), ["poem.txt"]) is None


def test_a_pattern_may_be_held_against_a_declared_file() -> None:
    for criterion in ("regex poem.txt: a: b", "Regex `poem.txt`: a: b"):
        named = read_criterion(criterion, checks_of(), ["poem.txt"])
        assert named and named[1:] == ("a: b", "poem.txt")


def test_file_and_regex_are_always_there_and_commands_never() -> None:
    assert set(checks_of()) == {"file", "regex"}
    assert set(checks_of({"Balanced-Books": balanced})) == {"file", "regex", "balanced_books"}


@pytest.mark.parametrize("name", ["", " - ", "a:b", "a：b", "x" * 65, 3])
def test_an_illegal_name_is_refused(name: Any) -> None:
    with pytest.raises(WrongUse, match="no legal name"):
        checks_of({name: balanced})


@pytest.mark.parametrize("names", [["File"], ["regex"], ["a b", "A-b"]])
def test_a_name_that_is_taken_is_refused(names: list[str]) -> None:
    with pytest.raises(WrongUse, match="is there already"):
        checks_of(dict.fromkeys(names, balanced))


def test_what_cannot_be_called_is_refused() -> None:
    wrong: Any = {"balanced": True}
    with pytest.raises(WrongUse, match="not callable"):
        checks_of(wrong)
