"""Run llama.cpp's OpenAI-compatible server inside this process, on loopback, for one GGUF file."""

import atexit
import importlib
import os
import secrets
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any, Final

from planloop.state import MissingExtra, ModelSetupError

CONTEXT_TOKENS: Final = 8192
"""Tokens of prompt and reply together. Longer requests get a 400 from the server."""
START_SECONDS: Final = 120.0
"""Longest wait until a loaded model answers."""

_servers: dict[Path, "LocalServer"] = {}
_servers_lock = threading.Lock()


class LocalServer:
    """One engine, started on demand and stopped by `close`. Safe to use from several threads.

    Do not fork a process in which an engine runs: its threads do not cross over. Spawned
    subprocesses are fine.
    """

    def __init__(self, gguf: Path) -> None:
        """Name the weights; nothing is read yet."""
        self.gguf = gguf
        self._engine: Any = None
        self._address = ("", "")
        self._owner = 0
        self._lock = threading.Lock()

    def start(self) -> tuple[str, str]:
        """Load the weights unless they are loaded. Takes 1 to 6 s for models up to 1.5B.

        Returns:
            The base URL (ending in /v1) and the key that the server asks for.

        Raises:
            MissingExtra: `xllamacpp` is not installed.
            ModelSetupError: The engine or the weights cannot be loaded.
        """
        with self._lock:
            if self._engine is None:
                check_gguf(self.gguf)
                key = secrets.token_hex(16)  # keeps other users of this machine out
                engine = _start_engine(self.gguf, key)
                _wait_until_healthy(engine.listening_address)
                self._address = (f"{engine.listening_address}/v1", key)
                self._engine, self._owner = engine, os.getpid()
            return self._address

    def close(self) -> None:
        """Stop the engine and free its memory. A later `start` loads the weights again."""
        with self._lock:
            if self._owner == os.getpid():  # a forked child must not stop threads it does not have
                self._engine = None


def shared_server(gguf: Path) -> LocalServer:
    """The process's one server for these weights, not yet started; stopped at exit."""
    path = gguf.resolve()
    with _servers_lock:
        if path not in _servers:
            _servers[path] = LocalServer(path)
            atexit.register(_servers[path].close)
        return _servers[path]


def check_gguf(path: Path) -> Path:
    """Give the path back if a GGUF file is there: the engine itself only says that it failed.

    Raises:
        ModelSetupError: No file, an unreadable one, or one of another kind.
    """
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ModelSetupError(f"The weights {path} cannot be read: {reason}.") from error
    if magic != b"GGUF":
        raise ModelSetupError(f"The weights {path} are no GGUF file: give one in GGUF format.")
    return path


def _start_engine(gguf: Path, key: str) -> Any:
    engine = _import_engine()
    params = engine.CommonParams()
    params.model.path, params.model_alias = str(gguf), {gguf.stem}
    params.hostnames, params.port = ["127.0.0.1"], 0  # 0: any free port
    params.api_keys = [key]
    params.n_ctx, params.n_parallel = CONTEXT_TOKENS, 1
    params.ui = params.endpoint_slots = False
    params.verbosity = -1
    params.cache_ram_mib = 0  # the default keeps up to 8 GiB of old prompts
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = _threads()
    try:
        return engine.Server(params)
    except RuntimeError as error:
        raise ModelSetupError(
            f"The engine cannot load {gguf}: the file is damaged or of a kind it does not know; "
            "fetch it again or choose another."
        ) from error


def _import_engine() -> Any:
    # OpenMP's spinning barriers make generation 10 to 30 times slower on busy cores; libgomp reads
    # these once, when it is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.environ.setdefault("GOMP_SPINCOUNT", "0")
    try:
        return importlib.import_module("xllamacpp")
    except ModuleNotFoundError as error:
        raise MissingExtra("local", "The model provider 'local:'") from error
    except ImportError as error:
        if "libgomp" in str(error):
            raise ModelSetupError(
                "The local engine needs the system library libgomp.so.1: install it "
                "(Debian and Ubuntu: apt install libgomp1)."
            ) from error
        raise ModelSetupError(f"The local engine cannot be loaded: {error}.") from error


def _threads() -> int:
    """Half of many cores, since most machines count each twice, but both of two."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 2
    return min(cores, max(2, cores // 2))


def _wait_until_healthy(address: str) -> None:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        try:
            with direct.open(f"{address}/health", timeout=2):
                return
        except OSError:
            time.sleep(0.05)
    raise ModelSetupError(f"The local engine did not answer within {START_SECONDS:.0f} seconds.")
