"""A plan as a Mermaid flowchart."""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from .markup import in_mermaid
from .render import shown_steps

if TYPE_CHECKING:
    from .plan import Plan, PlanStep

_STEPS: Final = 100
_ARROWS: Final = 300
_LABEL: Final = 48
"""Bounds that keep any plan below what Mermaid draws unasked: 500 arrows, 50,000 characters."""
_COLOURS: Final = (
    "classDef not_started fill:#f1f3f5,stroke:#868e96,color:#212529",
    "classDef in_progress fill:#d0ebff,stroke:#1971c2,color:#212529",
    "classDef completed fill:#d3f9d8,stroke:#2f9e44,color:#212529",
    "classDef blocked fill:#ffe3e3,stroke:#e03131,color:#212529",
    "classDef note fill:none,stroke:none,color:#868e96",
)


def render_mermaid(plan: "Plan") -> str:
    """A flowchart: an arrow a dependency, a colour a status, a box around a plan within a step.

    A plan without dependencies is a chain of dotted arrows. What a long plan leaves out is noted.
    """
    chart = _Chart()
    chart.draw(plan, _STEPS, "  ")
    if chart.left_out:
        chart.note(f"{chart.left_out} arrows are left out", "  ")
    return "\n".join(["flowchart TD", *chart.lines, *(f"  {line}" for line in _COLOURS)])


@dataclass
class _Chart:
    """The lines so far. Nodes have ids of their own: those of steps may be any text."""

    lines: list[str] = field(default_factory=list)
    nodes: int = 0
    arrows: int = 0
    left_out: int = 0

    def draw(self, plan: "Plan", limit: int, indent: str) -> None:
        """Add the nodes of a plan, then its arrows."""
        window = shown_steps(plan, limit)
        chain = [self.note(f"{window.first} earlier steps", indent)] if window.first else []
        nodes = {step.id: self._step(step, window.room, indent) for step in window.steps}
        chain += nodes.values()
        if window.later:
            chain.append(self.note(f"{window.later} later steps", indent))
        if not any(step.depends_on for step in plan.steps):
            for before, after in pairwise(chain):
                self._arrow(f"{before} -.-> {after}", indent)
            return
        for step in window.steps:
            for needed in dict.fromkeys(step.depends_on):
                if needed in nodes:
                    self._arrow(f"{nodes[needed]} --> {nodes[step.id]}", indent)

    def note(self, text: str, indent: str) -> str:
        """Add a node that is no step; return its id."""
        node = self._next()
        self.lines.append(f'{indent}{node}["{in_mermaid(text, _LABEL)}"]:::note')
        return node

    def _step(self, step: "PlanStep", room: int, indent: str) -> str:
        """A node, or a box where the step has a plan of its own that has room."""
        node, inner = self._next(), step.sub_plan
        label = in_mermaid(f"{step.id} {step.text}", _LABEL)
        if inner is None or not inner.steps or not room:
            self.lines.append(f'{indent}{node}["{label}"]:::{step.status}')
            return node
        self.lines.append(f'{indent}subgraph {node}["{label}"]')
        self.draw(inner, room, indent + "  ")
        self.lines += [f"{indent}end", f"{indent}class {node} {step.status}"]
        return node

    def _next(self) -> str:
        self.nodes += 1
        return f"n{self.nodes}"

    def _arrow(self, line: str, indent: str) -> None:
        if self.arrows < _ARROWS:
            self.lines.append(indent + line)
            self.arrows += 1
        else:
            self.left_out += 1
