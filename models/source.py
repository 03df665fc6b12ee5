"""Where a node gets its model from: an object, a name, or the default; loaded at first use."""

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, Final

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool

from planloop.state import WrongUse

from .compat import tolerant
from .effects import Blocking, Steps
from .load import default_model_name, load_model

Role = str
ROLES: Final[tuple[Role, ...]] = ("planner", "reviewer", "judge", "summary", "default")


class ModelSource:
    """One model for a graph. A graph can so be built and drawn without key or network."""

    def __init__(self, model: BaseChatModel | str | None = None) -> None:
        self._given = model
        self._model = tolerant(model) if isinstance(model, BaseChatModel) else None
        self._lock = Lock()
        self._bound: dict[tuple[str, str], Runnable[Any, Any]] = {}
        self.form: str | None = None
        """The way of asking for structured output that worked, remembered by `structured`."""

    def get(self) -> BaseChatModel:
        """The model.

        Raises:
            ModelSetupError: No such model; the message says what to do.
        """
        with self._lock:
            if self._model is None:
                name = self._given if isinstance(self._given, str) else default_model_name()
                self._model = tolerant(load_model(name))
            return self._model

    @property
    def is_loaded(self) -> bool:
        """Whether `get` returns at once."""
        return self._model is not None

    def load(self) -> Steps[BaseChatModel]:
        """The model, loaded off the event loop when it is first asked for.

        Raises:
            ModelSetupError: No such model; the message says what to do.
        """
        if self._model is None:
            yield Blocking(self.get)
        return self.get()

    @property
    def judges(self) -> bool:
        """Whether its word on success criteria counts; that of a tiny local model does not."""
        return bool(getattr(self.get(), "judges", True))

    def bound(self, tools: Sequence[BaseTool], choice: str) -> Runnable[Any, Any]:
        """The model with tools bound, made once for each set of tools."""
        if not tools or choice == "none":
            return self.get()
        key = (choice, ",".join(tool.name for tool in tools))
        if key not in self._bound:
            options = {} if choice == "auto" else {"tool_choice": choice}
            self._bound[key] = self.get().bind_tools(tools, **options)
        return self._bound[key]


ModelLike = BaseChatModel | ModelSource | str | None
"""A chat model, `"provider:name"`, or `None` for the default of the environment.

A `ModelSource` is used as it is, so that two graphs share what they learn of one model.
"""


def model_roles(
    model: ModelLike | Mapping[str, ModelLike], needed: Sequence[Role]
) -> dict[Role, ModelSource]:
    """One source for each needed role; roles that share a model share what is learnt of it.

    Raises:
        WrongUse: The mapping has an unknown role, or neither a needed one nor a default.
    """
    if not isinstance(model, Mapping):
        return dict.fromkeys(needed, as_source(model))
    if unknown := set(model) - set(ROLES):
        raise WrongUse(f"Unknown roles {sorted(unknown)}: use {', '.join(ROLES)}.")
    sources: dict[int, ModelSource] = {}
    roles = {}
    for role in needed:
        if role not in model and "default" not in model:
            raise WrongUse(f"No model for the role '{role}': give it, or one for 'default'.")
        given = model.get(role, model.get("default"))
        roles[role] = sources.setdefault(id(given), as_source(given))
    return roles


def as_source(model: ModelLike) -> ModelSource:
    """The source of a model."""
    return model if isinstance(model, ModelSource) else ModelSource(model)
