"""The model of a run: chosen, fetched if it has to be, and named to the person."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from langchain_core.language_models import BaseChatModel
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, TaskID, TextColumn, TransferSpeedColumn
from rich.progress import Progress as Bar

from planloop.models import default_model_name, load_model

from .screen import Screen

CHILDISH = (
    "SmolLM2 is a very small model: its plans are childish.\n"
    "This run shows the machinery, not the quality."
)


def ready_model(wanted: str, screen: Screen) -> tuple[str, BaseChatModel]:
    """The full name of the model to use, and the model.

    Args:
        wanted: What `--model` says; empty means the default of the environment.

    Raises:
        ModelSetupError: There is none; the message says what to do.
    """
    name = (wanted or default_model_name()).strip()
    if name == "local:" and find_spec("xllamacpp"):
        name = f"local:{_best_local(screen)}"
    model = load_model(name)
    return _full_name(name, model), model


def local_weights() -> Any:
    """The catalogue of local models; loaded only where it is asked for."""
    return import_module("planloop.models.local_weights")


def local_fetch() -> Any:
    """What fetches local models; loaded only where it is asked for."""
    return import_module("planloop.models.local_fetch")


def remarks(name: str) -> list[str]:
    """What a person should know of this model before it begins."""
    return [CHILDISH] if "smollm2" in name.lower() else []


def _full_name(name: str, model: BaseChatModel) -> str:
    """The name with which another process gets the same model."""
    return f"openai:{getattr(model, 'model_name', '')}" if name.startswith("openai:") else name


def _best_local(screen: Screen) -> str:
    """The best weights that are here; if there are none, those that can be fetched."""
    found = local_weights().best_installed()
    if found is None:
        with download_bar() as bar:
            local_fetch().fetch_default(screen.say, bar)
        found = local_weights().best_installed()
    return found.name if found else ""


class DownloadBar:
    """Bytes of a download as a bar that appears with the first of them."""

    def __init__(self, bar: Bar) -> None:
        self.bar = bar
        self.task: TaskID | None = None

    def __call__(self, done: int, total: int) -> None:
        if self.task is None:
            self.task = self.bar.add_task("fetching")
        self.bar.update(self.task, completed=done, total=total)


@contextmanager
def download_bar() -> Iterator[DownloadBar]:
    """A bar on stderr."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        yield DownloadBar(bar)
