"""Say what went wrong with a model call, and whether trying again can help."""

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed model call."""

    detail: str
    """One sentence for a person, with what to do."""
    fatal: bool
    """Trying the same model again cannot help."""
    overflow: bool = False
    """The request was longer than the model's window."""


def describe_failure(error: Exception) -> Failure:
    """Classify an exception of a model call. Control flow exceptions must not come here."""
    words = one_line(_text_of(error), 300)
    if isinstance(error, ModelSetupError):
        return Failure(words, fatal=True)
    if is_overflow(error):
        return Failure(f"The request does not fit the model's window: {words}", False, True)
    if isinstance(error, ModelAuthenticationError):
        return Failure(f"The model server refused the key: check OPENAI_API_KEY ({words}).", True)
    if isinstance(error, ModelNotFoundError):
        return Failure(f"The server does not know this model: check --model ({words}).", True)
    if isinstance(error, ModelTimeoutError | TimeoutError):
        return Failure(f"The model did not answer in time ({words}).", False)
    if isinstance(error, ModelConnectionError | ConnectionError):
        advice = "check that it runs, and OPENAI_BASE_URL"
        return Failure(f"The model server cannot be reached: {advice} ({words}).", True)
    if _is_refused(error):
        return Failure(f"The model server refused the request: {words}", True)
    if isinstance(error, UnreadableReply):
        return Failure(words, False)
    if isinstance(error, ModelRateLimitError):
        return Failure(f"The model server limits the rate: try again later ({words}).", False)
    return Failure(f"The model call failed: {type(error).__name__}: {words}", False)


def _is_refused(error: Exception) -> bool:
    """Whether the server said no in a way that it will say again."""
    if isinstance(error, ModelInvalidRequestError | ModelPermissionDeniedError):
        return True
    return getattr(error, "status_code", None) in (400, 403, 405, 413, 422, 501)


def is_overflow(error: Exception) -> bool:
    """Whether the server said that the request is too long."""
    if isinstance(error, ContextOverflowError):
        return True
    text = _text_of(error).lower()
    return isinstance(error, ModelError | ValueError) and any(
        sign in text
        for sign in ("context_length_exceeded", "maximum context", "exceed_context", "context size")
    )


def is_refused_request(error: Exception) -> bool:
    """Whether the server rejected the form of a request (HTTP 400 or 422), not its content."""
    if isinstance(error, NotImplementedError):
        return True
    return getattr(error, "status_code", None) in (400, 422, 501) and not is_overflow(error)


def _text_of(error: Exception) -> str:
    try:
        return str(error) or type(error).__name__
    except Exception:  # an error whose text cannot be made is described by its name
        return type(error).__name__
