"""What all databases have in common: they are opened, closed, and say what is wrong with them."""

from typing import Self

BUSY_SECONDS = 10.0
"""How long a write waits for another process that holds the file."""


class Opened:
    """A saver that can be closed, and says so when it is used afterwards."""

    def close(self) -> None:
        """Give the connection back; later use raises `StoreError`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


def explained(error: Exception) -> str:
    """What is wrong with a file, and what to do."""
    text = str(error)
    if "closed" in text:
        return "was closed: use the saver inside its `with` block, or open it again."
    if "locked" in text or "busy" in text:
        return "is locked by another process: wait for it to end, or give another file."
    if "not a database" in text or "malformed" in text:
        return f"is damaged or no database of runs ({text}): move it away or give another file."
    if "unable to open" in text or isinstance(error, OSError):
        return f"cannot be opened ({text}): check that the folder exists and can be written."
    if "readonly" in text:
        return "cannot be written: check the rights of the file and its folder."
    return f"cannot be used ({text})."
