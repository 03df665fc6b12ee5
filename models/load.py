"""Turn `"provider:name"` into a chat model."""

import importlib.util
import json
import os
import urllib.request
from collections.abc import Mapping
from typing import Any, Final

from langchain_core.language_models import BaseChatModel
from langchain_core.rate_limiters import BaseRateLimiter

from planloop.state import MissingExtra, ModelSetupError

DEFAULT_OPENAI_MODEL: Final = "gpt-5-mini"
"""What "openai:" means without a name, OPENAI_MODEL and OPENAI_BASE_URL."""
REQUEST_SECONDS: Final = 120.0
"""Longest wait for one reply of an OpenAI-compatible server."""
MAX_RETRIES: Final = 2
LOOKUP_SECONDS: Final = 5.0
"""Longest wait for a server's list of models."""


def load_model(
    name: str | None = None,
    *,
    temperature: float | None = None,
    rate_limiter: BaseRateLimiter | None = None,
) -> BaseChatModel:
    """Make the chat model that a name means. Sends no request for a complete name.

    * `"openai:NAME"`: OpenAI, or any compatible server at OPENAI_BASE_URL (vLLM, Ollama,
      llama.cpp, DeepSeek); the key comes from OPENAI_API_KEY. Without NAME: OPENAI_MODEL, else
      the first model that the server lists, else `DEFAULT_OPENAI_MODEL`.
    * `"local:"`, `"local:qwen2.5-coder-0.5b"`, `"local:/path/to.gguf"`: a small model in this
      process. The engine starts at the first request.

    Args:
        name: None means `default_model_name()`.
        temperature: None leaves it to the provider.
        rate_limiter: Asked before every request, such as LangChain's `InMemoryRateLimiter`.

    Raises:
        MissingExtra: The provider needs a package that is not installed.
        ModelSetupError: Unknown provider, no key, no answer or no weights.
    """
    model = _loaded((default_model_name() if name is None else name).strip(), temperature)
    model.rate_limiter = rate_limiter
    return model


def _loaded(full: str, temperature: float | None) -> BaseChatModel:
    provider, colon, rest = full.partition(":")
    if colon and provider == "openai":
        return _load_openai(rest.strip(), temperature)
    if colon and provider == "local":
        return _load_local(rest.strip(), temperature)
    raise ModelSetupError(
        f"'{full}' names no model: write 'provider:name' with the provider openai or local, "
        "as in 'openai:gpt-5-mini' or 'local:smollm2-135m'."
    )


def default_model_name(env: Mapping[str, str] = os.environ) -> str:
    """The model to use when none is named.

    PLANLOOP_MODEL; else "openai:" where OPENAI_API_KEY or OPENAI_BASE_URL is set (with the name in
    OPENAI_MODEL, if any); else "local:" where its engine is installed.

    Raises:
        ModelSetupError: None of these; the message names the ways.
    """
    if name := env.get("PLANLOOP_MODEL"):
        return name
    if env.get("OPENAI_API_KEY") or env.get("OPENAI_BASE_URL"):
        return f"openai:{env.get('OPENAI_MODEL', '')}"
    if _has_engine():
        return "local:"
    raise ModelSetupError(
        "There is no model to use: set OPENAI_API_KEY or OPENAI_BASE_URL, or install "
        "'planloop[local]' for a small offline one, or name one in PLANLOOP_MODEL."
    )


def _load_openai(name: str, temperature: float | None) -> BaseChatModel:
    base_url = os.environ.get("OPENAI_BASE_URL", "").strip()
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    if base_url and not base_url.startswith(("http://", "https://")):
        raise ModelSetupError(f"OPENAI_BASE_URL is '{base_url}': it must begin with http(s)://.")
    if not base_url and not key:
        raise ModelSetupError(
            "The provider openai needs a key in OPENAI_API_KEY, or the address of a compatible "
            "server in OPENAI_BASE_URL."
        )
    key = key or "none"  # servers of one's own ask for no key, but the client does
    name = name or os.environ.get("OPENAI_MODEL", "").strip()
    if not name:
        name = _first_model(base_url, key) if base_url else DEFAULT_OPENAI_MODEL
    # Imported here: it takes longer than all the rest of planloop.
    from langchain_openai import ChatOpenAI
    from openai import DefaultAsyncHttpxClient
    from pydantic import SecretStr

    return ChatOpenAI(
        model=name,
        base_url=base_url or None,
        api_key=SecretStr(key),
        temperature=temperature,
        timeout=REQUEST_SECONDS,
        max_retries=MAX_RETRIES,
        stream_usage=True,
        # A kept connection belongs to one event loop: a second asyncio.run would fail on it.
        http_async_client=DefaultAsyncHttpxClient(headers={"Connection": "close"}),
    )


def _first_model(base_url: str, key: str) -> str:
    """The first model that a compatible server lists."""
    request = urllib.request.Request(
        f"{base_url.rstrip('/')}/models", headers={"Authorization": f"Bearer {key}"}
    )
    try:
        with urllib.request.urlopen(request, timeout=LOOKUP_SECONDS) as response:
            listed: Any = json.load(response)
        name = listed["data"][0]["id"]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ModelSetupError(
            f"The server at {base_url} does not list its models: name one as 'openai:NAME', or "
            f"check OPENAI_BASE_URL and that the server runs ({error})."
        ) from error
    return str(name)


def _load_local(name: str, temperature: float | None) -> BaseChatModel:
    if not _has_engine():
        raise MissingExtra("local", "The model provider 'local:'")
    from .local_weights import resolve_weights

    weights = resolve_weights(name)
    from .local_chat import LocalChat

    return LocalChat.from_weights(weights, temperature=temperature)


def _has_engine() -> bool:
    return importlib.util.find_spec("xllamacpp") is not None
