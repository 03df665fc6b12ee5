"""Read, write and list the files of the workspace."""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from heapq import nsmallest
from pathlib import Path
from typing import Annotated, BinaryIO, Final

from langchain_core.tools import BaseTool, ToolException, tool
from pydantic import WithJsonSchema

from .results import MAX_OUTPUT, cut_bytes
from .traits import settled, tool_traits
from .workspace import current_workspace, resolve_inside

_END: Final = 2 * MAX_OUTPUT  # bytes read from each end of a file: 4 a character, half of them
_LISTED: Final = 500  # names in one listing

# A hint for decoders that are held to a schema; longer text is accepted. LangChain copies this kind
# of annotation into the schema that the model sees, and drops `json_schema_extra`.
Content = Annotated[str, WithJsonSchema({"type": "string", "maxLength": 4000})]


def file_tools(workspace: Path | None = None) -> list[BaseTool]:
    """Make `read_file`, `write_file` and `list_files`, confined to a workspace folder.

    Args:
        workspace: The folder where the run's context names none.
    """

    @tool_traits(effect="read")
    @tool
    def read_file(path: str) -> str:
        """Read a text file."""
        return _read(current_workspace(workspace), path)

    # The whole file is written at once, so writing it again after a crash changes nothing.
    @tool_traits(effect="write", sequential=True, on_replay="repeat")
    @tool
    def write_file(path: str, content: Content) -> str:
        """Write a text file, replacing it if it exists."""
        return _write(current_workspace(workspace), path, content)

    @tool_traits(effect="read")
    @tool
    def list_files(path: str = ".") -> str:
        """List a folder."""
        return _list(current_workspace(workspace), path or ".")

    return [settled(one, workspace) for one in (read_file, write_file, list_files)]


def _read(root: Path, path: str) -> str:
    head, tail, size = read_ends(root, path, _END)
    if b"\0" in head:
        return f"{path} is a binary file of {size:,} bytes; it is not shown."
    return cut_bytes(head, tail, size, MAX_OUTPUT) or f"{path} is empty."


def read_inside(root: Path, path: str, limit: int) -> str | None:
    """Return a file of the workspace as text of at most `limit` characters, its middle cut.

    `None` for a binary file.

    Raises:
        ToolException: It cannot be read, is no regular file, or lies outside the workspace.
    """
    head, tail, size = read_ends(root, path, 2 * limit)
    return None if b"\0" in head else cut_bytes(head, tail, size, limit)


def read_ends(root: Path, path: str, room: int) -> tuple[bytes, bytes, int]:
    """Return the first and the last `room` bytes of a file, not overlapping, and its size.

    Raises:
        ToolException: As `read_inside`.
    """
    with _reasons(path), _open(resolve_inside(root, path)) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ToolException(f"{path}: this is not a regular file.")
        head = file.read(room)
        if status.st_size > 2 * room:
            file.seek(status.st_size - room)
        return head, file.read(room), status.st_size


def _open(target: Path) -> BinaryIO:
    """Open a resolved path, which is not to be a link any more.

    Not blocking, since a pipe that nobody writes to would hold the call for ever.
    """
    more = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    return open(target, "rb", opener=lambda name, flags: os.open(name, flags | more))


def _write(root: Path, path: str, content: str) -> str:
    data = content.encode("utf-8", "replace")
    write_inside(root, path, data)
    return f"Wrote {len(content):,} characters ({len(data):,} bytes) to {path}."


def write_inside(root: Path, path: str, data: bytes) -> None:
    """Write a file of the workspace, replacing it if it exists.

    Raises:
        ToolException: The path leads out of the workspace, or the system refuses.
    """
    target = resolve_inside(root, path)
    with _reasons(path):
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.parent.resolve() != target.parent:
            raise ToolException(f"{path}: its folder has become a link; nothing was written.")
        _replace(target, data)


def _replace(target: Path, data: bytes) -> None:
    """Put a file in place in one step: readers see the old one or the new one, never a part."""
    mode = _mode(target)
    draft = target.with_name(f".planloop-{secrets.token_hex(8)}.tmp")
    try:
        with draft.open("xb") as file:
            file.write(data)
        if mode is not None:
            draft.chmod(mode)
        draft.replace(target)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise


def _mode(target: Path) -> int | None:
    """Return the permissions of the file to be replaced, or raise an OSError if it must stay."""
    try:
        mode = target.lstat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(None, "this is a folder")
    if not stat.S_ISREG(mode):
        raise OSError(None, "this is not a regular file")
    if not os.access(target, os.W_OK):
        raise PermissionError(None, "this file is read-only")
    return stat.S_IMODE(mode)


def _list(root: Path, path: str) -> str:
    with _reasons(path), os.scandir(resolve_inside(root, path)) as entries:
        counted = _Counted(entries)
        names = nsmallest(_LISTED, map(_label, counted))
    if counted.count > len(names):
        names.append(f"[... {counted.count - len(names):,} more left out ...]")
    return "\n".join(names) or "(empty folder)"


class _Counted:
    """Count what passes, so that a huge folder is never held in memory."""

    def __init__(self, entries: Iterator[os.DirEntry[str]]) -> None:
        self.count = 0
        self._entries = entries

    def __iter__(self) -> Iterator[os.DirEntry[str]]:
        for entry in self._entries:
            self.count += 1
            yield entry


def _label(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return f"{entry.name} (link)"
    return f"{entry.name}/" if entry.is_dir() else entry.name


@contextmanager
def _reasons(path: str) -> Iterator[None]:
    """Tell a model why the system refused, without the machine's own paths."""
    try:
        yield
    except OSError as error:
        raise ToolException(f"{path}: {error.strerror or error}.") from error
