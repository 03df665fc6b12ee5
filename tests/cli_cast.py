"""A model for the command line's tests, scripted by who is asked."""

from dataclasses import dataclass, field

from helpers import plan_json
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from planloop.testing import ScriptedModel

Turns = list[str | AIMessage]


@dataclass
class Cast:
    """Who says what: the planner's reply, and the agent's turns in each step.

    A turn is chosen by how many tool results the step has seen, so that it is the same in a
    process that resumes.
    """

    plan: str = field(default_factory=lambda: plan_json("one", "two"))
    steps: dict[str, Turns] = field(default_factory=dict)
    judged: str = '{"verdicts": []}'
    clarify: str = '{"questions": []}'
    answered: str = '{"verdict": "unknown"}'

    def reply(self, messages: list[BaseMessage]) -> str | AIMessage:
        """The next words."""
        system, task = messages[0].text, messages[1].text
        if system.startswith(("You write plans", "A plan has met")):
            return self.plan
        if system.startswith("You review"):
            return "[APPROVED]"
        if system.startswith("You check whether the results"):
            return self.answered
        if system.startswith("You check"):
            return self.judged
        if system.startswith("You are about to plan"):
            return self.clarify
        if system.startswith("Write a short"):
            return "That was all."
        step = next((s for s in self.steps if f"Your step ({s})" in task), "")
        turns = self.steps.get(step, ["done"])
        return turns[sum(isinstance(message, ToolMessage) for message in messages)]

    @property
    def model(self) -> ScriptedModel:
        """A model that plays this."""
        return ScriptedModel(repeat=self.reply)
