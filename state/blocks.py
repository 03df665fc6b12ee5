"""Which blocks of a message's content are images."""

from typing import Any, Final, TypeGuard

IMAGE_BLOCKS: Final = frozenset({"image", "image_url", "input_image"})
"""Their types: LangChain's and Anthropic's, and OpenAI's two."""


def is_image(block: Any) -> TypeGuard[dict[str, Any]]:
    """Whether a block of content is an image."""
    return isinstance(block, dict) and block.get("type") in IMAGE_BLOCKS
