"""Verify steps: a judge holds each success criterion against what is there, with evidence."""

from collections.abc import Sequence
from typing import Any, Literal

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel, Field, field_validator, model_validator

from planloop.models import Blocking, ModelSource, Steps, structured
from planloop.state import (
    ModelSetupError,
    PlanningState,
    PlanningUpdate,
    PlanStep,
    Usage,
    Verdict,
    add_usage,
    is_done,
    no_usage,
)

from ._checks import check_files
from ._node import Node
from ._prompts import prompt

SWITCHED_OFF = "Verification was switched off (verify=False)."
_NOT_MET = ("not_met", "notmet", "unmet", "no", "false", "fail", "failed")
_MET = ("met", "yes", "true", "pass", "passed")


class JudgedCriterion(BaseModel):
    """What the judge says of one criterion."""

    criterion: str = Field(default="", description="The criterion, as given")
    verdict: Literal["met", "not_met", "unknown"]
    evidence: str = Field(default="", description="The words of the result that show it")

    @field_validator("verdict", mode="before")
    @classmethod
    def _spelling(cls, value: Any) -> str:
        word = str(value).strip().lower().replace(" ", "_").replace("-", "_")
        return "met" if word in _MET else "not_met" if word in _NOT_MET else "unknown"


class Judgement(BaseModel):
    """What the judge says of a step."""

    verdicts: list[JudgedCriterion] = Field(description="One for each criterion, in order")

    @model_validator(mode="before")
    @classmethod
    def _bare_list(cls, value: Any) -> Any:
        return {"verdicts": value} if isinstance(value, list) else value


def make_verify_step(source: ModelSource, *, verify: bool) -> Node:
    """The node `verify_step`. With `verify=False` nothing is asked and nothing counts as shown."""

    def verify_step(state: PlanningState) -> Steps[PlanningUpdate]:
        patch: dict[str, Any] = {}
        warnings = [] if verify else [SWITCHED_OFF]
        usage = no_usage()
        for step_id in state["active"]:
            step = state["plan"].step(step_id)
            verdicts: list[Verdict] = []
            if verify and _is_done(step):
                verdicts += yield Blocking(check_files, (step,))
            if verify and _is_done(step) and not _has_unmet(verdicts):
                judged, why, spent = yield from _judged(source, step)
                verdicts += judged
                warnings += [why] if why else []
                usage = add_usage(usage, spent)
            met = bool(verdicts) and all(v["verdict"] == "met" for v in verdicts)
            patch[step_id] = {"verdicts": verdicts, "verified": met}
        new = [warning for warning in warnings if warning not in state["warnings"]]
        return PlanningUpdate(plan=patch, warnings=new, usage=usage)

    return Node(verify_step)


def _is_done(step: PlanStep) -> bool:
    return step.outcome is not None and is_done(step.outcome)


def _has_unmet(verdicts: Sequence[Verdict]) -> bool:
    return any(verdict["verdict"] == "not_met" for verdict in verdicts)


def _unknown(criterion: str) -> Verdict:
    return Verdict(criterion=criterion, verdict="unknown", evidence="")


def _judged(source: ModelSource, step: PlanStep) -> Steps[tuple[list[Verdict], str, Usage]]:
    """Verdicts on the criteria, why the judge could not be heard (or nothing), what it cost."""
    if not step.success_criteria:
        return [], "", no_usage()
    unknown = [_unknown(criterion) for criterion in step.success_criteria]
    try:
        yield from source.load()
    except ModelSetupError as error:
        return unknown, f"{step.id} was not checked: {error}", no_usage()
    if not source.judges:
        why = "Success criteria were not judged: a local model's word does not count."
        return unknown, why, no_usage()
    result = yield from structured(source, _request(step), Judgement)
    usage = result.usage or no_usage()
    if result.value is None:
        return unknown, f"{step.id} was not checked: {result.problem}", usage
    given = result.value.verdicts
    return [_verdict(step, n, c, given) for n, c in enumerate(step.success_criteria)], "", usage


def _verdict(
    step: PlanStep, number: int, criterion: str, given: Sequence[JudgedCriterion]
) -> Verdict:
    """The verdict on one criterion: by its words, else by its place; evidence must be there."""
    named = (j for j in given if _same(j.criterion, criterion))
    by_place = given[number] if len(given) == len(step.success_criteria) else None
    judged = next(named, by_place)
    if judged is None:
        return _unknown(criterion)
    shown = _occurs(judged.evidence, step)
    if judged.verdict == "met" and not shown:
        return _unknown(criterion)
    evidence = judged.evidence if shown or judged.verdict == "not_met" else ""
    return Verdict(criterion=criterion, verdict=judged.verdict, evidence=evidence)


def _occurs(evidence: str, step: PlanStep) -> bool:
    words = _plain(evidence)
    return bool(words) and words in _plain(f"{step.result}\n{step.observations}")


def _same(left: str, right: str) -> bool:
    return _plain(left) == _plain(right)


def _plain(text: str) -> str:
    return " ".join(text.split()).strip("\"'“”`.… ").casefold()


def _request(step: PlanStep) -> list[BaseMessage]:
    criteria = "\n".join(f"{n}. {text}" for n, text in enumerate(step.success_criteria, 1))
    text = (
        f"Step: {step.name}\n{step.description}\n\nCriteria:\n{criteria}\n\n"
        f"<result>\n{_fenced(step.result)}\n</result>\n\n"
        f"<tool_output>\n{_fenced(step.observations) or '(no tool was used)'}\n</tool_output>"
    )
    return [SystemMessage(prompt("judge")), HumanMessage(text)]


def _fenced(text: str) -> str:
    """Data cannot close the tags that it stands in."""
    return text.replace("</", "<\\/")
