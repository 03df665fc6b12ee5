"""Clarify: a few questions to the person before planning, where an answer would change the plan."""

from typing import Any, Final

from langchain_core.messages import HumanMessage, SystemMessage
from langgraph.types import interrupt
from pydantic import BaseModel, Field, field_validator, model_validator

from planloop.models import ModelSource, Steps, structured
from planloop.state import (
    ModelSetupError,
    PlanningState,
    PlanningUpdate,
    Question,
    no_usage,
    one_line,
)
from planloop.tools import to_text

from ._node import Node
from ._prompts import prompt
from ._task import task_of

NO_ANSWER: Final = "(no answer)"
_WIDTH: Final = 500
_OPTIONS: Final = 8


class AskedQuestion(BaseModel):
    """One question, with answers to choose from if there are any."""

    question: str
    options: list[str] = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _bare(cls, value: Any) -> Any:
        return {"question": value} if isinstance(value, str) else value

    @field_validator("options", mode="before")
    @classmethod
    def _texts(cls, value: Any) -> list[str]:
        return [str(item) for item in value] if isinstance(value, list) else []


class Questions(BaseModel):
    """What the person must be asked; usually nothing."""

    questions: list[AskedQuestion] = Field(default_factory=list)


def make_clarify(source: ModelSource, most: int) -> Node:
    """The node `clarify`: the model says what it must know, `most` questions at most.

    A model that fails, or one that is too small to be trusted with it, asks nothing.
    """

    def clarify(state: PlanningState) -> Steps[PlanningUpdate]:
        if state["plan"].steps:  # the caller has planned
            return PlanningUpdate(questions=[])
        try:
            yield from source.load()
        except ModelSetupError:  # the planner meets it again and says so
            return PlanningUpdate(questions=[])
        if not source.judges:
            return PlanningUpdate(questions=[])
        request = [
            SystemMessage(prompt("clarify", most=str(most))),
            HumanMessage(f"Task:\n{task_of(state)}"),
        ]
        result = yield from structured(source, request, Questions, reasks=0)
        given = result.value.questions if result.value else []
        texts = [item for item in given if item.question.strip()][:most]
        update = PlanningUpdate(
            questions=[
                Question(
                    question=one_line(item.question, _WIDTH),
                    options=[one_line(option, _WIDTH) for option in item.options[:_OPTIONS]],
                    answer="",
                )
                for item in texts
            ],
            usage=result.usage or no_usage(),
        )
        if result.value is None:
            update["warnings"] = [f"The person was asked nothing: {result.problem}"]
        return update

    return Node(clarify)


def make_ask_person() -> Node:
    """The node `ask_person`: one question, then the next.

    The interrupt's value is that of the tool `ask_human`: `{"type": "question", "question": "...",
    "options": [...]}`. An empty answer means that the person leaves it open.
    """

    def ask_person(state: PlanningState) -> PlanningUpdate:
        questions = [item.copy() for item in state.get("questions") or []]
        asked = next(item for item in questions if not item["answer"])
        answer = interrupt(
            {"type": "question", "question": asked["question"], "options": asked["options"] or None}
        )
        if isinstance(answer, dict) and "answer" in answer:
            answer = answer["answer"]
        said = NO_ANSWER if answer is None or answer == "" else to_text(answer)
        asked["answer"] = one_line(said, 2_000) or NO_ANSWER
        update = PlanningUpdate(questions=questions)
        if all(item["answer"] for item in questions):
            update["task"] = _with_answers(state["task"], questions)
        return update

    return Node(ask_person)


def _with_answers(task: str, questions: list[Question]) -> str:
    """The task as everybody is told it from now on."""
    told = "\n".join(f"- {item['question']} {item['answer']}" for item in questions)
    return f"{task}\n\nAsked and answered:\n{told}"
