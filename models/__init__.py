"""The model boundary: loading models, asking them, reading what they send."""

from .ask import Answer, ask
from .effects import Blocking, Effect, Invoke, Pause, Steps, aperform, perform
from .events import emit
from .failures import Failure
from .load import DEFAULT_OPENAI_MODEL, default_model_name, load_model
from .reply import Reply, is_approval, looks_like_call, read_reply, text_of
from .source import ModelLike, ModelSource, as_source, model_roles
from .structured import Structured, read_structured, structured
from .tokens import IMAGE_TOKENS, count_message, count_text, count_tokens, cut_to_tokens
from .usage import usage_of

__all__ = [
    "DEFAULT_OPENAI_MODEL",
    "IMAGE_TOKENS",
    "Answer",
    "Blocking",
    "Effect",
    "Failure",
    "Invoke",
    "ModelLike",
    "ModelSource",
    "Pause",
    "Reply",
    "Steps",
    "Structured",
    "aperform",
    "as_source",
    "ask",
    "count_message",
    "count_text",
    "count_tokens",
    "cut_to_tokens",
    "default_model_name",
    "emit",
    "is_approval",
    "load_model",
    "looks_like_call",
    "model_roles",
    "perform",
    "read_reply",
    "read_structured",
    "structured",
    "text_of",
    "usage_of",
]
