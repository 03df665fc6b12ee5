"""Reflect: have the draft reviewed. A review that is empty or fails approves nothing."""

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from planloop.models import ModelSource, Steps, is_approval, structured, text_of
from planloop.state import PlanDraft, PlannerState, PlannerUpdate, add_usage

from ._node import Node
from ._prompts import prompt


class Review(BaseModel):
    """A reviewer's verdict."""

    approved: bool = Field(description="Whether the plan is good as it is")
    feedback: str = Field(default="", description="What must change, if anything")


def make_reflect(source: ModelSource) -> Node:
    """The node `reflect`."""

    def reflect(state: PlannerState) -> Steps[PlannerUpdate]:
        result = yield from structured(source, _request(state), Review, reasks=0)
        words = text_of(result.raw) if result.raw else ""
        approved = result.value.approved if result.value else is_approval(words)
        review = (result.value.feedback if result.value else words).strip()
        reviewed = result.value is not None or bool(words)
        update = PlannerUpdate(
            reviews=state["reviews"] + 1,
            review=review,
            reviewed=reviewed,
            approved=approved,
            revising=reviewed and not approved,
            usage=add_usage(state["usage"], result.usage),
        )
        if review:
            update["messages"] = [AIMessage(review, name="reviewer")]
        if not reviewed:
            why = result.problem if result.raw is None else "the reviewer sent nothing."
            update["problems"] = [*state["problems"], f"The plan was not reviewed: {why}"]
        return update

    return Node(reflect)


def _request(state: PlannerState) -> list[BaseMessage]:
    draft = PlanDraft.model_validate(state["plan"].model_dump(mode="json"))
    text = f"Task:\n{state['task']}\n\nPlan:\n{draft.model_dump_json(indent=1)}"
    return [SystemMessage(prompt("reviewer")), HumanMessage(text)]
