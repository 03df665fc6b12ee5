"""Where a node gets its model from: an object, a name, or the default; loaded at first use."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import Any, Final

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableBinding, RunnableWithFallbacks
from langchain_core.tools import BaseTool

from planloop.state import WrongUse

from .compat import tolerant
from .effects import Blocking, Steps
from .load import default_model_name, load_model

Role = str
ROLES: Final[tuple[Role, ...]] = ("planner", "reviewer", "judge", "summary", "default")
RETRIES: Final = 2
"""How often a call that failed in passing is tried again, where the model does not say."""
_CORE: Final = "langchain_core."
Asking = tuple[Runnable[Any, Any], Mapping[str, Any]]
"""What to invoke, and with which further arguments."""


class ModelSource:
    """One model for a graph. A graph can so be built and drawn without key or network.

    What is learnt of the model's server is kept here, for all who share the source.
    """

    def __init__(
        self, model: BaseChatModel | str | None = None, fallbacks: Sequence["ModelSource"] = ()
    ) -> None:
        self._given = model
        self._model = tolerant(model) if isinstance(model, BaseChatModel) else None
        self._lock = Lock()
        self._bound: dict[tuple[str, tuple[int, ...]], tuple[Asking, Sequence[BaseTool]]] = {}
        self.fallbacks = tuple(fallbacks)
        """Asked in this order where this one fails."""
        self.form: str | None = None
        """The way of asking for structured output that worked, remembered by `structured`."""
        self.cannot: set[str] = set()
        """Names of limits that the server turned out to have; see `planloop.models.limits`."""
        self.window: int | None = None
        """Tokens that a request may have, once the server refused a longer one."""

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
    def chain(self) -> tuple["ModelSource", ...]:
        """This source and its fallbacks."""
        return (self, *self.fallbacks)

    @property
    def judges(self) -> bool:
        """Whether its word on success criteria counts; that of a tiny local model does not."""
        return bool(getattr(self.get(), "judges", True))

    @cached_property
    def name(self) -> str:
        """What the model is called, as price tables name it."""
        model: Any = self.get()
        named = (getattr(model, key, None) for key in ("model_name", "model", "model_id"))
        return next((name for name in named if isinstance(name, str) and name), model._llm_type)

    @property
    def retries(self) -> int:
        """How often a call that failed in passing is tried again here.

        A client with retries of its own is left to them, so that layers do not multiply;
        `tolerant` takes over those of OpenAI's client.
        """
        model: Any = self._model
        taken_over = getattr(model, "retries_taken_over", None)
        if taken_over is not None:
            return int(taken_over)
        return 0 if hasattr(model, "max_retries") else RETRIES

    def asking(self, tools: Sequence[BaseTool] = (), choice: str = "auto") -> Asking:
        """The model with these tools on offer; bound once for each set of tools."""
        if not tools or choice == "none":
            return self.get(), {}
        if choice == "required" and "forced tools" in self.cannot:
            choice = "auto"
        key = (choice, tuple(map(id, tools)))
        if key not in self._bound:
            options = {} if choice == "auto" else {"tool_choice": choice}
            bound = _unbound(self.get().bind_tools(tools, **options))
            self._bound[key] = (bound, tuple(tools))  # the tools are kept, so that ids stay theirs
        return self._bound[key][0]


def _unbound(bound: Runnable[Any, Any]) -> Asking:
    """A plain binding as what it binds and the arguments: invoking that skips merging configs."""
    plain = isinstance(bound, RunnableBinding) and type(bound).__module__.startswith(_CORE)
    if not plain or bound.config or bound.config_factories:  # type: ignore[attr-defined]  # as above
        return bound, {}
    return bound.bound, bound.kwargs  # type: ignore[attr-defined]  # as above


ModelLike = (
    BaseChatModel
    | ModelSource
    | str
    | Sequence["BaseChatModel | ModelSource | str"]
    | RunnableWithFallbacks[Any, Any]
    | None
)
"""A chat model, `"provider:name"`, or `None` for the default of the environment.

Several in a list, or LangChain's `model.with_fallbacks([...])`, are asked in turn: the next one
where the one before it fails. A `ModelSource` is used as it is, so that two graphs share what they
learn of one model.
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
        if id(given) not in sources:
            sources[id(given)] = as_source(given)
        roles[role] = sources[id(given)]
    return roles


def as_source(model: ModelLike) -> ModelSource:
    """The source of a model.

    Raises:
        WrongUse: Something that is no chat model, or an empty list.
    """
    if isinstance(model, ModelSource):
        return model
    if isinstance(model, RunnableWithFallbacks):
        model = [model.runnable, *model.fallbacks]  # type: ignore[list-item]  # checked below
    if isinstance(model, Sequence) and not isinstance(model, str):
        if not model:
            raise WrongUse("The list of models is empty: give at least one.")
        first, *rest = model
        return ModelSource(_only_model(first), [as_source(other) for other in rest])
    return ModelSource(_only_model(model))


def _only_model(model: Any) -> BaseChatModel | str | None:
    if model is None or isinstance(model, str | BaseChatModel):
        return model
    raise WrongUse(
        f"{type(model).__name__} is no chat model: give one, 'provider:name', or a list of these. "
        "Tools and schemas are bound here, so give the model as it is."
    )
