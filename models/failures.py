"""Say what went wrong with a model call, and whether trying again can help."""

import email.utils
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.exceptions import (
    ContextOverflowError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelError,
    ModelInvalidRequestError,
    ModelNotFoundError,
    ModelPermissionDeniedError,
    ModelRateLimitError,
    ModelTimeoutError,
)

from planloop.state import ModelSetupError, one_line

from .compat import UnreadableReply

_MOST_SAID: Final = 4_000  # characters
_WINDOW: Final = re.compile(
    r"(?:maximum context length(?: is| of)?|context size|n_ctx\w*|context window(?: is| of)?)"
    r"\D{0,12}(\d{3,8})",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed model call."""

    detail: str
    """One sentence for a person, with what to do."""
    fatal: bool
    """Nothing that this run does can help; a new one with the same settings would fail, too."""
    overflow: bool = False
    """The request was longer than the model's window."""
    refused: bool = False
    """The server rejected the form of the request, not its content."""
    passing: bool = False
    """The same request may succeed a little later."""
    wait: float | None = None
    """Seconds after which the server wants to be asked again, if it says so."""
    window: int | None = None
    """Tokens that the server takes, if it says so when a request is too long."""


def describe_failure(error: Exception) -> Failure:
    """Classify an exception of a model call. Control flow exceptions must not come here."""
    words = one_line(text_of_error(error), 300)
    if isinstance(error, ModelSetupError):
        return Failure(words, fatal=True)
    if is_overflow(error):
        detail = f"The request does not fit the model's window: {words}"
        return Failure(detail, fatal=False, overflow=True, window=_told_window(error))
    if is_refused_request(error):
        return Failure(f"The model server refused the request: {words}", True, refused=True)
    if isinstance(error, ModelAuthenticationError):
        return Failure(f"The model server refused the key: check OPENAI_API_KEY ({words}).", True)
    if isinstance(error, ModelNotFoundError):
        return Failure(f"The server does not know this model: check --model ({words}).", True)
    if _is_refused(error):
        return Failure(f"The model server refused the request: {words}", True)
    if isinstance(error, UnreadableReply):
        return Failure(words, False)
    return _passing(error, words)


def _passing(error: Exception, words: str) -> Failure:
    """What may be over in a moment; anything that is not known to be so is not tried again."""
    wait = _asked_to_wait(error)
    if isinstance(error, ModelTimeoutError | TimeoutError):
        return Failure(f"The model did not answer in time ({words}).", False, passing=True)
    if isinstance(error, ModelConnectionError | ConnectionError) or _is_transport(error):
        advice = "check that it runs, and OPENAI_BASE_URL"
        detail = f"The model server cannot be reached: {advice} ({words})."
        return Failure(detail, True, passing=True)
    if isinstance(error, ModelRateLimitError):
        when = "later" if wait is None else f"in {wait:.0f} s"
        detail = f"The model server limits the rate: try again {when} ({words})."
        return Failure(detail, False, passing=True, wait=wait)
    passing = isinstance(error, ModelError) and error.is_retryable
    detail = f"The model call failed: {type(error).__name__}: {words}"
    return Failure(detail, False, passing=passing, wait=wait)


def _is_refused(error: Exception) -> bool:
    """Whether the server said no in a way that it will say again."""
    if isinstance(error, ModelInvalidRequestError | ModelPermissionDeniedError):
        return True
    return getattr(error, "status_code", None) in (403, 405, 413)


def is_overflow(error: Exception) -> bool:
    """Whether the server said that the request is too long."""
    if isinstance(error, ContextOverflowError):
        return True
    text = text_of_error(error).lower()
    return isinstance(error, ModelError | ValueError) and any(
        sign in text
        for sign in ("context_length_exceeded", "maximum context", "exceed_context", "context size")
    )


def _told_window(error: Exception) -> int | None:
    """The window that a server names, as in `maximum context length is 4096 tokens`."""
    told = _WINDOW.search(text_of_error(error))
    return int(told.group(1)) if told else None


def is_refused_request(error: Exception) -> bool:
    """Whether the server rejected the form of a request (HTTP 400 or 422), not its content."""
    if isinstance(error, NotImplementedError):
        return True
    return getattr(error, "status_code", None) in (400, 422, 501) and not is_overflow(error)


def _is_transport(error: Exception) -> bool:
    """Whether a connection broke under a stream, where the SDK lets httpx's error through."""
    return any(
        kind.__name__ == "TransportError" and kind.__module__.startswith("httpx")
        for kind in type(error).__mro__
    )


def _asked_to_wait(error: Exception) -> float | None:
    """Seconds by the header `Retry-After`: a number or a date."""
    headers: Any = getattr(getattr(error, "response", None), "headers", None)
    if not isinstance(headers, Mapping):
        return None
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return max(milliseconds / 1_000, 0.0)
    given = headers.get("retry-after")
    if (seconds := _number(given)) is not None:
        return max(seconds, 0.0)
    try:
        return max(email.utils.parsedate_to_datetime(str(given)).timestamp() - time.time(), 0.0)
    except (TypeError, ValueError):
        return None


def _number(text: Any) -> float | None:
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if value == value and value != float("inf") else None


def text_of_error(error: Exception) -> str:
    """What an exception says, or its name where it says nothing or cannot.

    No more than anybody needs: a server may send a page, and the text is searched for signs.
    """
    try:
        return str(error)[:_MOST_SAID] or type(error).__name__
    except Exception:  # an error whose text cannot be made is described by its name
        return type(error).__name__
