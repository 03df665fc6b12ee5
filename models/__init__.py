"""The model boundary: loading models, asking them, reading what they send."""

from .effects import Blocking, Effect, Invoke, Steps, aperform, perform
from .failures import Failure, describe_failure
from .load import DEFAULT_OPENAI_MODEL, default_model_name, load_model
from .reply import Reply, is_approval, legal_name, looks_like_call, read_reply, text_of
from .source import ModelLike, ModelSource, as_source, model_roles
from .structured import Structured, structured
from .usage import count_tokens, usage_of

__all__ = [
    "DEFAULT_OPENAI_MODEL",
    "Blocking",
    "Effect",
    "Failure",
    "Invoke",
    "ModelLike",
    "ModelSource",
    "Reply",
    "Steps",
    "Structured",
    "aperform",
    "as_source",
    "count_tokens",
    "default_model_name",
    "describe_failure",
    "is_approval",
    "legal_name",
    "load_model",
    "looks_like_call",
    "model_roles",
    "perform",
    "read_reply",
    "structured",
    "text_of",
    "usage_of",
]
