"""Start the command line: `planloop` and `python -m planloop.cli`."""

import signal
import sys
from importlib.util import find_spec
from types import FrameType

NEEDED = ("typer", "rich", "platformdirs")


def main() -> None:
    """Run the command line, or say which extra it needs."""
    if any(find_spec(name) is None for name in NEEDED):
        print(
            "The command line needs the extra 'cli': pip install 'planloop[cli]'.", file=sys.stderr
        )
        sys.exit(2)
    signal.signal(signal.SIGTERM, as_interrupt)
    try:
        from .app import app

        app()
    except KeyboardInterrupt:
        sys.exit(130)
    finally:  # the engine of a local model is being closed: a second Ctrl-C comes too late
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def as_interrupt(_: int, frame: FrameType | None) -> None:
    """Let SIGTERM do what Ctrl-C does at this moment."""
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler):
        raise KeyboardInterrupt
    handler(signal.SIGINT, frame)


if __name__ == "__main__":
    main()
