"""Ask the person a question: the graph pauses until there is an answer."""

from langchain_core.tools import tool
from langgraph.types import interrupt

from .results import to_text
from .traits import tool_traits


@tool_traits(effect="read")
@tool
def ask_human(question: str, options: list[str] | None = None) -> str:
    """Ask the person a question that only they can answer."""
    answer = interrupt({"type": "question", "question": question, "options": options})
    if isinstance(answer, dict) and "answer" in answer:
        answer = answer["answer"]
    return "(no answer)" if answer is None or answer == "" else to_text(answer)
