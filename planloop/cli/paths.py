"""Where things are kept: the data folder, its database, and a workspace for each thread."""

import os
import re
from pathlib import Path
from urllib.parse import quote

from planloop.errors import StoreError, WrongUse


def data_dir() -> Path:
    """PLANLOOP_DATA_DIR, else the user's data folder."""
    if given := os.environ.get("PLANLOOP_DATA_DIR"):
        return Path(given).expanduser()
    from platformdirs import user_data_path

    return user_data_path("planloop")


def workspace_of(thread: str) -> Path:
    """The folder of a thread that was given none."""
    return data_dir() / "workspaces" / thread


def database_file(given: str | None) -> Path | None:
    """The file that `--db` means, or `None` where it is a URL."""
    if given and (":/" in given or given == "memory:"):
        return None
    return Path(given).expanduser().absolute() if given else data_dir().absolute() / "runs.db"


def database_url(given: str | None, *, must_exist: bool = False) -> str:
    """The URL for `open_saver`.

    Raises:
        StoreError: It must exist and does not.
    """
    file = database_file(given)
    if file is None:
        return str(given)
    if must_exist and not file.exists():
        raise StoreError(f"No runs are saved in {file}: `planloop run` begins one.")
    return f"sqlite:///{quote(str(file))}"


def checked_thread(name: str) -> str:
    """A thread id that can also name a folder.

    Raises:
        WrongUse: It cannot.
    """
    if not re.fullmatch(r"\w[\w.-]{0,99}", name):
        raise WrongUse(
            f"{name!r} cannot be a thread id: use letters, digits, '-', '_' and '.', at most 100."
        )
    return name
