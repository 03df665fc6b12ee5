"""Run a command without a shell, bounded in time and output; nothing it started outlives it."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from .results import cut_bytes

_SECRET: Final = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE)
_GRACE: Final = 0.5  # seconds between asking a process to end and killing it
_TICK: Final = 0.05  # seconds between two looks at `stop`

# Started in the child's place on Linux: asks the kernel to kill it when we die, then becomes the
# command. A `preexec_fn` would do the same, but can deadlock in a process with threads.
_LAUNCH: Final = """\
import os, sys
try:
    import ctypes
    ctypes.CDLL(None).prctl(1, 9)
except (ImportError, OSError, AttributeError):
    pass
if os.getppid() != int(sys.argv[1]):
    os._exit(1)
try:
    os.execvp(sys.argv[2], sys.argv[2:])
except OSError as error:
    print(f"{sys.argv[2]}: {error.strerror}", flush=True)
    os._exit(127)
"""


@dataclass(frozen=True, kw_only=True)
class ProcessResult:
    """How a command ended."""

    exit_code: int | None
    """Negative for the signal that ended it, 127 if it could not start, `None` if we killed it."""
    output: str
    """What it wrote to both outputs, as text; the middle is cut from a long one."""
    timed_out: bool
    """Killed by us: it ran too long, or was to stop."""
    truncated: bool
    """Some of the output is left out."""


def run_process(
    argv: Sequence[str],
    *,
    cwd: Path,
    timeout: float,
    max_output: int,
    env: Mapping[str, str] | None = None,
    stdin: bytes | None = None,
    stop: threading.Event | None = None,
) -> ProcessResult:
    """Run a command to its end, in a process group of its own; works from any thread.

    Args:
        argv: The program and its arguments; no shell reads them.
        cwd: The folder to run in.
        timeout: Seconds after which the whole group is killed.
        max_output: Characters of output to keep.
        env: Variables to set beside those of ours that do not look like secrets.
        stdin: What the command may read; nothing if left out.
        stop: Set by another thread, it ends the command early.

    Raises:
        OSError: The program cannot be started.
    """
    process, output = _start(argv, cwd, env or {}, stdin, max_output)
    try:
        in_time = _wait(process, timeout, stop)
        if in_time:
            output.finish()
        else:
            _signal(process, hard=False)
            _wait(process, _GRACE)
    finally:
        _signal(process, hard=True)
        _wait(process, _GRACE)
        output.finish()
    text, truncated = output.text()
    code = process.returncode if in_time else None
    return ProcessResult(exit_code=code, output=text, timed_out=not in_time, truncated=truncated)


def _start(
    argv: Sequence[str], cwd: Path, env: Mapping[str, str], stdin: bytes | None, limit: int
) -> tuple[subprocess.Popen[bytes], "_Output"]:
    with _input(stdin) as source:
        process = subprocess.Popen(
            _launched(argv),
            cwd=cwd,
            env=_environment(env),
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    assert process.stdout is not None
    return process, _Output(process.stdout, limit)


class _Output:
    """Reads a pipe in a thread and keeps only its two ends."""

    def __init__(self, pipe: IO[bytes], limit: int) -> None:
        self._pipe, self._limit = pipe, limit
        self._room = 2 * limit  # bytes kept of each end: 4 a character, half of them
        self._head, self._tail, self._total = bytearray(), bytearray(), 0
        self._thread = threading.Thread(target=self._read, name="planloop-output", daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Wait for the end of the output, a moment only: a stray process may hold the pipe."""
        self._thread.join(_GRACE)

    def text(self) -> tuple[str, bool]:
        """Return the text, and whether some was left out."""
        head, tail, total = bytes(self._head), bytes(self._tail[-self._room :]), self._total
        text = cut_bytes(head, tail, total, self._limit)
        if total > len(head) + len(tail):
            return text, True
        return text, text != cut_bytes(head, tail, total, total)

    def _read(self) -> None:
        with self._pipe:
            while chunk := os.read(self._pipe.fileno(), 65_536):
                self._add(chunk)

    def _add(self, chunk: bytes) -> None:
        free = self._room - len(self._head)
        self._head += chunk[:free]
        self._tail += chunk[free:]
        if len(self._tail) > 2 * self._room:
            del self._tail[: -self._room]
        self._total += len(chunk)


def _wait(
    process: subprocess.Popen[bytes], timeout: float, stop: threading.Event | None = None
) -> bool:
    """Wait for the end; `False` when the time is up or `stop` is set."""
    deadline = time.monotonic() + timeout
    while (left := deadline - time.monotonic()) > 0:
        if stop and stop.is_set():
            return False
        with suppress(subprocess.TimeoutExpired):
            process.wait(min(left, _TICK) if stop else left)
            return True
    return process.poll() is not None


def _signal(process: subprocess.Popen[bytes], *, hard: bool) -> None:
    """Ask everything in the command's group to end, or kill it, also when the command is gone."""
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform != "win32":
            os.killpg(process.pid, signal.SIGKILL if hard else signal.SIGTERM)
        elif hard:
            process.kill()
        else:
            process.terminate()


def _launched(argv: Sequence[str]) -> list[str]:
    if sys.platform != "linux" or not sys.executable:
        return list(argv)
    return [sys.executable, "-I", "-S", "-c", _LAUNCH, str(os.getpid()), *argv]


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    ours = {name: value for name, value in os.environ.items() if not _SECRET.search(name)}
    return {**ours, "PYTHONUTF8": "1", **more}


@contextmanager
def _input(data: bytes | None) -> Iterator[int | IO[bytes]]:
    """A file and not a pipe: a command that does not read it cannot hold us up."""
    if data is None:
        yield subprocess.DEVNULL
        return
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        yield file
