"""The judge: holds the criteria of a step against what is there, and what is left of the plan."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel, Field, field_validator, model_validator

from planloop.models import ModelSource, Steps, structured
from planloop.state import (
    ModelSetupError,
    Plan,
    PlanStep,
    StepChange,
    Usage,
    Verdict,
    changes_of,
    cut_middle,
    no_usage,
    not_begun,
    one_line,
)

from ._prompts import prompt

_NOT_MET: Final = ("not_met", "notmet", "unmet", "no", "false", "fail", "failed")
_MET: Final = ("met", "yes", "true", "pass", "passed")
_TOLD_STEPS: Final = 30
_REQUEST: Final = 4_000  # characters of the request that the judge is told
MOST_CHANGES: Final = 20


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
    """What the judge says of a step, and of the steps that have not begun."""

    verdicts: list[JudgedCriterion] = Field(description="One for each criterion, in order")
    request_met: bool = Field(
        default=False, description="True only if the whole request is met already"
    )
    request_evidence: str = Field(
        default="", description="The words of the result that show that the request is met"
    )
    changes: list[StepChange] = Field(
        default_factory=list, description="Changes to steps that have not begun; usually none"
    )

    _changes = field_validator("changes", mode="before")(changes_of)

    @model_validator(mode="before")
    @classmethod
    def _bare_list(cls, value: Any) -> Any:
        return {"verdicts": value} if isinstance(value, list) else value


@dataclass(frozen=True)
class Judged:
    """What asking the judge gave."""

    criteria: Mapping[int, Verdict] = field(default_factory=dict)
    """Verdicts by place of the criterion."""
    problem: str = ""
    """Why the judge could not be heard; the verdicts are unknown then."""
    usage: Usage = field(default_factory=no_usage)
    met: str = ""
    """The words that show that the whole request is met; empty if nothing shows it."""
    changes: Sequence[StepChange] = ()


def judged(
    source: ModelSource, plan: Plan, step: PlanStep, places: Sequence[int], files: Mapping[str, str]
) -> Steps[Judged]:
    """Have the criteria at these places judged. A judge that fails leaves them unknown.

    Args:
        files: Texts of the files that the step has left, by name; evidence may quote them.
    """
    criteria = {place: step.success_criteria[place] for place in places}
    unknown = {place: unproven(text) for place, text in criteria.items()}
    try:
        yield from source.load()
    except ModelSetupError as error:
        return Judged(unknown, f"{step.id} was not checked: {error}")
    if not source.judges:
        why = "Success criteria were not judged: a local model's word does not count."
        return Judged(unknown, why)
    result = yield from structured(source, _request(plan, step, criteria, files), Judgement)
    usage = result.usage or no_usage()
    if result.value is None:
        return Judged(unknown, f"{step.id} was not checked: {result.problem}", usage)
    given = result.value.verdicts
    shown = "\n".join([step.result, step.observations, *files.values()])
    found = {
        place: _verdict(text, _said_of(text, n, given, len(criteria)), shown)
        for n, (place, text) in enumerate(criteria.items())
    }
    evidence = result.value.request_evidence
    met = evidence if result.value.request_met and occurs(evidence, shown) else ""
    return Judged(found, "", usage, met, result.value.changes[:MOST_CHANGES])


def unproven(criterion: str) -> Verdict:
    """A verdict where nothing is shown."""
    return Verdict(criterion=criterion, verdict="unknown", evidence="")


def _said_of(
    criterion: str, place: int, given: Sequence[JudgedCriterion], total: int
) -> JudgedCriterion | None:
    """What the judge says of a criterion: found by its words, else by its place."""
    named = (item for item in given if _plain(item.criterion) == _plain(criterion))
    return next(named, given[place] if len(given) == total else None)


def _verdict(criterion: str, said: JudgedCriterion | None, shown: str) -> Verdict:
    """The verdict with its evidence; a criterion is met only by words that are there."""
    if said is None:
        return unproven(criterion)
    found = occurs(said.evidence, shown)
    if said.verdict == "met" and not found:
        return unproven(criterion)
    evidence = one_line(said.evidence, 500) if found else ""
    return Verdict(criterion=criterion, verdict=said.verdict, evidence=evidence)


def occurs(evidence: str, shown: str) -> bool:
    """Whether a quotation stands in what is there; spaces, case and quotation marks aside."""
    words = _plain(evidence)
    return bool(words) and words in _plain(shown)


def _plain(text: str) -> str:
    return " ".join(text.split()).strip("\"'“”`.… ").casefold()


def _request(
    plan: Plan, step: PlanStep, criteria: Mapping[int, str], files: Mapping[str, str]
) -> list[BaseMessage]:
    listed = "\n".join(f"{n}. {text}" for n, text in enumerate(criteria.values(), 1))
    parts = [
        f"The request:\n{cut_middle(plan.request, _REQUEST)}",
        f"Step {step.id}: {step.name}\n{step.description}",
        f"Criteria:\n{listed}",
        f"<result>\n{fenced(step.result)}\n</result>",
        f"<tool_output>\n{fenced(step.observations) or '(no tool was used)'}\n</tool_output>",
    ]
    for name, text in files.items():
        parts.append(f'<file name="{fenced(one_line(name, 100))}">\n{fenced(text)}\n</file>')
    if later := not_begun(plan)[:_TOLD_STEPS]:
        told = "\n".join(f"[{s.id}] {one_line(s.text, 200)}" for s in later)
        parts.append(f"Steps that have not begun:\n{told}")
    return [SystemMessage(prompt("judge")), HumanMessage("\n\n".join(parts))]


def fenced(text: str) -> str:
    """Data cannot close the tags that it stands in."""
    return text.replace("</", "<\\/")
