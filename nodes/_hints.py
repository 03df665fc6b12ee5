"""Short notes to the model. They go out with one request and are never stored as the user's."""

from typing import Final

EMPTY: Final = "(Note: your last reply was empty. Call a tool, or answer in plain text.)"
LEAKED: Final = (
    "(Note: you wrote a tool call as text; nothing was run. Make the call through the tool "
    "channel, or answer in plain text.)"
)
REQUIRED: Final = "(Note: answer with a tool call; call `terminate` when the work is done.)"
STUCK: Final = (
    "(Note: you repeat the same calls and get the same results. Try something else, "
    "or say what you have found so far and what stands in the way.)"
)
CLOSING: Final = (
    "(Note: this is the end of the run; no tool can be called any more. Answer now with what you "
    "have found, and say what is missing.)"
)
STRUCTURE: Final = (
    "(Note: the work is done. Give its answer now as one JSON object and nothing else; take every "
    "value from what was found above.)"
)
ALONE: Final = (
    "Not executed: `{}` came together with other calls. Read their results first, "
    "then call it alone."
)
NO_STEPS_LEFT: Final = "Not run: the recursion limit of the graph leaves no room for it."
DUPLICATE: Final = "Not run again: this is the same call as {}, whose result stands above."
NO_CALLS_LEFT: Final = "Not run: the budget of tool calls is used up."
DENIED: Final = "Not run: the policy of this run does not allow this call. Do not try it again."
WHY: Final[dict[str, str]] = {
    "empty_response": "The model sent nothing, again after a hint.",
    "output_truncated": "The model's output limit was reached before it said anything.",
    "recursion_limit": (
        "The recursion limit of the graph around this agent leaves no room for another turn: "
        'call that graph with a larger one, as in config={"recursion_limit": 1000}.'
    ),
    "no_tool_calls": (
        "The model writes tool calls as text or makes none: check that the server's tool parser "
        "is switched on and fits the model."
    ),
}
