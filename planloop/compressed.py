"""Saved state in less space: LangGraph's encrypting serializer, with compression for a cipher."""

import zlib
from typing import Final

from langgraph.checkpoint.serde.base import CipherProtocol, SerializerProtocol
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

_LEAST: Final = 150  # bytes; below it compressing saves nothing
_LARGE: Final = 16_384  # bytes
_PLAIN: Final = "plain"
_DEFLATE: Final = "deflate"


class _Compression(CipherProtocol):
    """Packs what is long enough; the name that is stored tells what was done."""

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        if len(plaintext) < _LEAST:
            return _PLAIN, plaintext
        # With zlib's usual 256 KB of buffers a checkpoint of 2 KB takes ten times as long.
        window, memory = (-12, 6) if len(plaintext) < _LARGE else (-15, 9)
        packer = zlib.compressobj(1, zlib.DEFLATED, window, memory)
        return _DEFLATE, packer.compress(plaintext) + packer.flush()

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        return zlib.decompress(ciphertext, -15) if ciphername == _DEFLATE else ciphertext


def compressed(serde: SerializerProtocol) -> SerializerProtocol:
    """A serializer that writes compressed values, and reads these and plain ones."""
    return EncryptedSerializer(_Compression(), serde)
