"""The one folder that the tools of a run read and write, and the walls around it."""

import os
import re
from pathlib import Path
from typing import Final

from langchain_core.tools import ToolException

from planloop.state import WorkspaceError, run_context

_DRIVE: Final = re.compile(r"[a-zA-Z]:")
_ADVICE: Final = "Use a path relative to the workspace, such as notes.txt or data/table.csv."


def open_workspace(path: str | Path) -> Path:
    """Make the folder if it is not there, and return its real path.

    Raises:
        WorkspaceError: It cannot be made, is no folder, or cannot be read or written.
    """
    try:
        folder = Path(path).expanduser().resolve()
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise WorkspaceError(f"The workspace {path} is a file: name a folder.") from None
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise WorkspaceError(
            f"The workspace {str(path)!r} cannot be made ({reason}): name another folder."
        ) from error
    for right, verb in ((os.R_OK | os.X_OK, "read"), (os.W_OK, "written")):
        if not os.access(folder, right):
            raise WorkspaceError(
                f"The workspace {path} cannot be {verb}: change its permissions "
                "or name another folder."
            )
    return folder


def current_workspace(default: Path | None) -> Path:
    """Return the workspace of the run this is called in, else the default.

    Raises:
        ToolException: There is neither, or the folder cannot be used.
    """
    workspace = run_context().workspace or default
    if workspace is None:
        raise ToolException("This run has no workspace folder: go on without files.")
    try:
        return open_workspace(workspace)
    except WorkspaceError as error:
        raise ToolException(str(error)) from error


def resolve_inside(root: Path, path: str) -> Path:
    """Return the real path of a file or folder that lies in `root`, whether it exists or not.

    Decided where symbolic links really lead, so that `..`, links and look-alike names cannot
    get out; names with dots in them are fine.

    Raises:
        ToolException: The path leads out of `root`, or is none.
    """
    if problem := _problem(path):
        raise ToolException(f"The path {path!r} {problem}. {_ADVICE}")
    home = root.resolve()
    try:
        target = (home / path).resolve()
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: links in a circle
        raise ToolException(f"The path {path!r} cannot be followed. {_ADVICE}") from error
    if not target.is_relative_to(home):
        raise ToolException(f"The path {path!r} is outside the workspace. {_ADVICE}")
    return target


def _problem(path: str) -> str:
    if not path.strip():
        return "is empty"
    if "\0" in path:
        return "holds a NUL character"
    if path.startswith("~"):
        return "is in a home folder"
    if _DRIVE.match(path) and os.name != "nt":
        return "names a drive"
    if "\\" in path and os.name != "nt":
        return "holds a backslash; folders are parted by /"
    return ""
