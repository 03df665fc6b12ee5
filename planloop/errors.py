"""The error tree; it is drawn on top of `planloop.state.errors`."""

from planloop.state import (
    AnswerError,
    EmptyRequest,
    FinishedThread,
    IllegalTransition,
    MissingExtra,
    ModelSetupError,
    PlanError,
    PlanloopError,
    RunError,
    StoreError,
    ThreadBusy,
    ToolSetupError,
    UnfinishedThread,
    UnknownThread,
    WorkspaceError,
    WrongUse,
)

__all__ = [
    "AnswerError",
    "EmptyRequest",
    "FinishedThread",
    "IllegalTransition",
    "MissingExtra",
    "ModelSetupError",
    "PlanError",
    "PlanloopError",
    "RunError",
    "StoreError",
    "ThreadBusy",
    "ToolSetupError",
    "UnfinishedThread",
    "UnknownThread",
    "WorkspaceError",
    "WrongUse",
]
