"""One node a module: a factory closes over models or tools and returns the node."""

from ._prompts import prompt
from .act import due_calls, make_act
from .approve import calls_to_approve, make_approve
from .finish import make_finish
from .prepare import make_prepare
from .think import Thinker, ToolChoice, make_think

__all__ = [
    "Thinker",
    "ToolChoice",
    "calls_to_approve",
    "due_calls",
    "make_act",
    "make_approve",
    "make_finish",
    "make_prepare",
    "make_think",
    "prompt",
]
