"""What is too long or too heavy for the history is kept as a file, and the history names it."""

import base64
import binascii
import logging
import re
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from langchain_core.tools import ToolException

from planloop.state import legal_name

from .files import write_inside
from .workspace import current_workspace, resolve_inside

logger = logging.getLogger("planloop.tools")

FOLDER: Final = "tool_results"
"""Folder of the workspace for what was kept."""
SCHEME: Final = "workspace:"
"""Begins the `url` of an image block that names a file of the workspace."""
MAX_KEPT: Final = 32_000_000
"""Bytes of the largest file that is kept."""

_ENDINGS: Final = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
}
_HEADS: Final = {
    b"\x89PNG": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
}
_DATA_URL: Final = re.compile(r"data:image/[\w.+-]+;base64,", re.IGNORECASE)


def keep(data: bytes, name: str, ending: str, default: Path | None) -> str | None:
    """Write a file into the workspace of the run this is called in.

    The name is made of the content, so that a call which runs again writes the same file.

    Args:
        default: The workspace where the run's context names none.

    Returns:
        Its path inside the workspace; `None` if there is no workspace or it cannot be written.
    """
    if len(data) > MAX_KEPT:
        return None
    digest = blake2b(data, digest_size=6).hexdigest()
    path = f"{FOLDER}/{legal_name(name)[:40]}-{digest}.{ending}"
    try:
        write_inside(current_workspace(default), path, data)
    except ToolException as error:
        logger.info("A result of %s was not kept: %s", name, error)
        return None
    return path


def kept_image(block: Mapping[str, Any], name: str, default: Path | None) -> dict[str, Any]:
    """An image block that names a file instead of holding the bytes, or a text that says why not.

    Only PNG, JPEG, GIF and WebP, which all servers know: one image that cannot be read makes them
    refuse a whole request. An address on the web stays one.
    """
    found = _image_of(block)
    if found is None:
        # Made anew of the one address that was looked at: a tool may not name files of the
        # workspace to be sent away.
        address = str(_address(block))
        if address.startswith("https://"):
            return {"type": "image", "url": address}
        return _text("[an image that cannot be read]")
    data, kind = found
    path = keep(data, name, _ENDINGS[kind], default)
    if path is None:
        return _text(f"[{kind}, {len(data):,} bytes, not kept: the run has no workspace for it]")
    return {"type": "image", "url": SCHEME + path, "mime_type": kind}


def kept_path(block: Any) -> str | None:
    """The file that a block of `kept_image` names."""
    url = block.get("url") if isinstance(block, dict) and block.get("type") == "image" else None
    return url.removeprefix(SCHEME) if isinstance(url, str) and url.startswith(SCHEME) else None


def load_image(block: Mapping[str, Any], default: Path | None) -> dict[str, Any] | None:
    """The block with its bytes, as models take it; `None` if the file is gone or too large."""
    path = kept_path(block)
    if path is None or not path.startswith(f"{FOLDER}/"):
        return None
    try:
        root = current_workspace(default)
        file = resolve_inside(root, path)
        if file.parent != (root / FOLDER).resolve() or not file.is_file():
            return None
        if file.stat().st_size > MAX_KEPT:
            return None
        data = file.read_bytes()
    except (OSError, ToolException):
        return None
    encoded = base64.b64encode(data).decode("ascii")
    kind = _kind_of(data) or block.get("mime_type")
    if kind not in _ENDINGS:
        return None
    return {"type": "image", "base64": encoded, "mime_type": kind}


def _image_of(block: Mapping[str, Any]) -> tuple[bytes, str] | None:
    """The bytes of an image and their kind, in any of the forms that tools and servers use."""
    source: Any = block.get("source")
    source = source if isinstance(source, Mapping) else block
    address = _address(block)
    encoded: Any = source.get("base64") or source.get("data")
    if isinstance(address, str) and (head := _DATA_URL.match(address)):
        encoded = address[head.end() :]
    if not isinstance(encoded, str):
        return None
    try:
        data = base64.b64decode(encoded, validate=False)
    except (binascii.Error, ValueError):
        return None
    declared = source.get("mime_type") or source.get("media_type") or block.get("mimeType")
    kind = _kind_of(data) or (declared if declared in _ENDINGS else None)
    return (data, kind) if data and kind else None


def _kind_of(data: bytes) -> str | None:
    """What image the bytes are, by how they begin."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for head, kind in _HEADS.items() if data.startswith(head)), None)


def _address(block: Mapping[str, Any]) -> Any:
    given: Any = block.get("image_url")
    return given.get("url") if isinstance(given, Mapping) else given or block.get("url")


def _text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}
