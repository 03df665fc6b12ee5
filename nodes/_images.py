"""Images that tools returned: the latest are shown to a model that sees, older ones are named.

Servers take images in a user's message only, so they follow the results that they belong to; the
log keeps no bytes, only the names of files.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage

from planloop.models import Blocking, ModelSource, Steps
from planloop.state import is_image
from planloop.tools import kept_path, load_image

from ._decide import Thinker
from ._history import has_images, images_of
from ._view import View

MOST_SHOWN: Final = 4
"""Images in one request; each costs about as much as a page of text."""


def sees(source: ModelSource) -> bool:
    """Whether the model takes images, as far as is known."""
    profile = getattr(source.get(), "profile", None) if source.is_loaded else None
    told = profile.get("image_inputs") if isinstance(profile, dict) else None
    return told is not False and "images" not in source.cannot


def request_of(view: View, made_of: Thinker) -> Steps[list[AnyMessage]]:
    """The request of a view, with its images as this model takes them."""
    if not view.pictured:
        return view.messages
    messages, source, workspace = view.messages, made_of.source, made_of.registry.workspace
    named = [block for message in messages if has_images(message) for block in images_of(message)]
    shown = named[-MOST_SHOWN:] if sees(source) else []
    loaded: dict[int, dict[str, Any]] = {}
    if shown:
        loaded = yield Blocking(_load, (shown, workspace))
    request: list[AnyMessage] = []
    waiting: list[dict[str, Any]] = []
    for message in messages:
        if waiting and not isinstance(message, ToolMessage):
            request.append(_picture(waiting))
            waiting = []
        if not has_images(message):
            request.append(message)
            continue
        request.append(_as_text(message))
        waiting += [loaded[id(block)] for block in images_of(message) if id(block) in loaded]
    return [*request, _picture(waiting)] if waiting else request


def _load(blocks: Sequence[dict[str, Any]], workspace: Path | None) -> dict[int, dict[str, Any]]:
    """The blocks that can be shown, by the identity of what they stand for."""
    found = {id(b): load_image(b, workspace) if kept_path(b) else b for b in blocks}
    return {key: block for key, block in found.items() if block is not None}


def _picture(blocks: Sequence[dict[str, Any]]) -> HumanMessage:
    note = "(The images of the results above.)"
    return HumanMessage([{"type": "text", "text": note}, *blocks])


def _as_text(message: AnyMessage) -> AnyMessage:
    parts = [
        f"[image {kept_path(block) or ''}]".replace(" ]", "]")
        if is_image(block)
        else str(block.get("text", "") if isinstance(block, dict) else block)
        for block in message.content
    ]
    return message.model_copy(update={"content": "\n".join(filter(None, parts))})
