"""What a model's name means, and what a wrong one says."""

import asyncio
import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from helpers import Limiter

from planloop.errors import MissingExtra, ModelSetupError
from planloop.models import DEFAULT_OPENAI_MODEL, default_model_name, load_model

Serve = Callable[[type[BaseHTTPRequestHandler]], str]


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "PLANLOOP_MODEL")
    for name in names:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PLANLOOP_DATA_DIR", str(tmp_path / "data"))


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "planloop.models.load.importlib.util.find_spec",
        lambda name: None if name == "xllamacpp" else find(name),
    )


def compatible_server(models: object) -> type[BaseHTTPRequestHandler]:
    """A server that lists models and says which key and model a chat request named."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # keeps connections, as real servers do

        def do_GET(self) -> None:
            self.reply(models if self.path == "/v1/models" else {})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            text = f"{body['model']} {self.headers['Authorization']}"
            message = {"role": "assistant", "content": text}
            self.reply({"choices": [{"message": message, "finish_reason": "stop"}]})

        def reply(self, value: object) -> None:
            data = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Keep quiet."""

    return Handler


@pytest.mark.parametrize("name", ["gpt-5-mini", "", "anthropic:claude", ":x", "http://host/v1"])
def test_a_name_that_is_no_model_says_the_form_and_the_providers(name: str) -> None:
    with pytest.raises(ModelSetupError, match=r"'provider:name'.*openai or local"):
        load_model(name)


def test_openai_without_key_or_address_says_what_to_set() -> None:
    with pytest.raises(ModelSetupError, match=r"OPENAI_API_KEY.*OPENAI_BASE_URL"):
        load_model("openai:gpt-5-mini")


def test_openai_without_a_name_is_the_documented_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    model: Any = load_model("openai:")
    assert model.model_name == DEFAULT_OPENAI_MODEL


def test_a_compatible_server_needs_no_key(monkeypatch: pytest.MonkeyPatch, serve: Serve) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", serve(compatible_server({})) + "/v1")
    assert load_model("openai:mine:7b").invoke("hi").text == "mine:7b Bearer none"


def test_one_model_serves_event_loops_that_come_and_go(
    monkeypatch: pytest.MonkeyPatch, serve: Serve
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", serve(compatible_server({})) + "/v1")
    model = load_model("openai:m")
    assert asyncio.run(model.ainvoke("hi")).text == asyncio.run(model.ainvoke("hi")).text


def test_without_a_name_the_first_model_of_the_server_is_taken(
    monkeypatch: pytest.MonkeyPatch, serve: Serve
) -> None:
    models = {"data": [{"id": "first"}, {"id": "second"}]}
    monkeypatch.setenv("OPENAI_BASE_URL", serve(compatible_server(models)) + "/v1/")
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert load_model().invoke("hi").text == "first Bearer secret"


@pytest.mark.parametrize("models", [{"data": []}, [], {"error": "no"}, {"data": None}])
def test_a_server_that_lists_no_models_asks_for_a_name(
    monkeypatch: pytest.MonkeyPatch, serve: Serve, models: object
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", serve(compatible_server(models)) + "/v1")
    with pytest.raises(ModelSetupError, match="'openai:NAME'"):
        load_model("openai:")


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/v1", "file:///etc", "localhost:8000"])
def test_an_address_that_leads_nowhere_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    with pytest.raises(ModelSetupError, match="OPENAI_BASE_URL"):
        load_model("openai:")


@pytest.mark.parametrize(
    ("env", "name"),
    [
        ({"PLANLOOP_MODEL": "local:x", "OPENAI_API_KEY": "k"}, "local:x"),
        ({"OPENAI_API_KEY": "k"}, "openai:"),
        ({"OPENAI_BASE_URL": "http://here/v1", "OPENAI_MODEL": "m"}, "openai:m"),
        ({"OPENAI_API_KEY": "", "PLANLOOP_MODEL": "", "OPENAI_BASE_URL": "u"}, "openai:"),
    ],
)
def test_the_environment_names_the_model(env: dict[str, str], name: str) -> None:
    assert default_model_name(env) == name


def test_with_nothing_set_the_installed_engine_is_used() -> None:
    pytest.importorskip("xllamacpp", reason="the extra 'local' is not installed")
    assert default_model_name({}) == "local:"


@pytest.mark.usefixtures("no_engine")
def test_with_nothing_at_all_the_ways_are_named() -> None:
    with pytest.raises(ModelSetupError, match=r"OPENAI_API_KEY.*planloop\[local\].*PLANLOOP_MODEL"):
        default_model_name({})


@pytest.mark.usefixtures("no_engine")
def test_local_without_the_engine_names_the_extra() -> None:
    with pytest.raises(MissingExtra, match=r"pip install 'planloop\[local\]'"):
        load_model("local:")


def test_importing_the_loader_does_not_import_the_openai_client() -> None:
    code = "import sys, planloop.models.load; sys.exit('langchain_openai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class TestLocal:
    @pytest.fixture(autouse=True)
    def engine(self) -> None:
        pytest.importorskip("xllamacpp", reason="the extra 'local' is not installed")

    def test_without_weights_it_says_how_to_fetch_some(self) -> None:
        with pytest.raises(ModelSetupError, match="planloop models fetch smollm2-135m"):
            load_model("local:")

    def test_weights_not_fetched_yet_say_how_to_fetch_them(self) -> None:
        with pytest.raises(ModelSetupError, match=r"fetch qwen2\.5-coder-0\.5b"):
            load_model("local:qwen2.5-coder-0.5b")

    def test_an_unknown_name_lists_the_known_ones(self) -> None:
        with pytest.raises(ModelSetupError, match="smollm2-135m"):
            load_model("local:gpt")

    def test_a_file_that_is_not_there_is_named(self) -> None:
        with pytest.raises(ModelSetupError, match=r"/no/such\.gguf.*No such file"):
            load_model("local:/no/such.gguf")

    def test_a_file_of_another_kind_is_refused(self, tmp_path: Path) -> None:
        file = tmp_path / "notes.gguf"
        file.write_text("hello")
        with pytest.raises(ModelSetupError, match="no GGUF file"):
            load_model(f"local:{file}")

    def test_the_engine_starts_at_the_first_request_and_explains_broken_weights(
        self, tmp_path: Path
    ) -> None:
        file = tmp_path / "broken.gguf"
        file.write_bytes(b"GGUF, but cut short")
        model = load_model(f"local:{file}", temperature=0.5)
        with pytest.raises(ModelSetupError, match="fetch it again"):
            model.invoke("hi")


def test_a_rate_limiter_holds_every_request(monkeypatch: pytest.MonkeyPatch, serve: Serve) -> None:
    limiter = Limiter()
    monkeypatch.setenv("OPENAI_BASE_URL", serve(compatible_server({})) + "/v1")
    load_model("openai:m", rate_limiter=limiter).invoke("hi")
    assert limiter.taken == 1
