"""Every error planloop raises, by who can mend it.

PlanloopError
├── WrongUse                 the call is wrong: change the call (also a ValueError)
│   ├── EmptyRequest         nothing was asked
│   ├── PlanError            a plan that breaks the rules of plans
│   ├── ToolSetupError       tools that cannot be offered to a model
│   └── IllegalTransition    a phase or status change that the table does not allow
├── ModelSetupError          no model, an unknown provider, weights that are not there
│   └── MissingExtra         an optional package is not installed
├── WorkspaceError           the workspace folder cannot be used
├── StoreError               the database of runs cannot be opened, read or written
└── RunError                 the thread is not in the condition the verb needs
    ├── UnknownThread
    ├── UnfinishedThread
    ├── FinishedThread
    ├── ThreadBusy
    ├── GraphChanged         the graph has no more what the run was stopped in
    └── AnswerError          an answer that fits no open question

A run itself does not end with one of these: it ends with an `Outcome` or a `PlanReport`.
Each message says in one sentence what happened and what to do next.
"""


class PlanloopError(Exception):
    """The root of every error raised by planloop."""


class WrongUse(PlanloopError, ValueError):
    """The caller's input cannot be used as it is."""


class EmptyRequest(WrongUse):
    """The request holds no text."""

    def __init__(self) -> None:
        super().__init__("The request is empty: say in a sentence what should be done.")


class PlanError(WrongUse):
    """A plan breaks a rule; the message names the step and the rule."""


class ToolSetupError(WrongUse):
    """A tool cannot be registered: illegal, reserved or repeated name."""


class IllegalTransition(WrongUse):
    """A change of phase or status that the table does not allow."""

    def __init__(self, kind: str, old: str, new: str) -> None:
        self.kind, self.old, self.new = kind, old, new
        super().__init__(f"The {kind} cannot change from {old} to {new}.")


class ModelSetupError(PlanloopError):
    """No usable model: the message names the ways to get one."""


class MissingExtra(ModelSetupError):
    """An optional dependency is not installed."""

    def __init__(self, extra: str, purpose: str) -> None:
        self.extra = extra
        super().__init__(f"{purpose} needs the extra '{extra}': pip install 'planloop[{extra}]'.")


class WorkspaceError(PlanloopError):
    """The workspace folder does not exist, is no folder, or cannot be written."""


class StoreError(PlanloopError):
    """The database of runs cannot be opened, read or written."""


class RunError(PlanloopError):
    """The thread is not in the condition that the verb needs."""

    def __init__(self, thread: str, problem: str) -> None:
        self.thread = thread
        super().__init__(f"Thread '{thread}' {problem}")


class UnknownThread(RunError):
    """No run with this thread id is saved."""


class UnfinishedThread(RunError):
    """New work was given to a thread whose run has not ended."""


class FinishedThread(RunError):
    """A run that has ended was asked to go on."""


class ThreadBusy(RunError):
    """Somebody is driving a run on this thread."""


class GraphChanged(RunError):
    """A run was stopped before a node or an executor that its graph has no more."""


class AnswerError(RunError):
    """The answer fits no open question of the thread."""
