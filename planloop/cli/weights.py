"""`planloop models`: the local models that planloop knows, and fetching them."""

from .model import download_bar, local_fetch, local_weights
from .screen import Screen


def list_models() -> int:
    """List the local models, best first."""
    known = local_weights()
    screen, here = Screen(), {entry.name for entry in known.installed()}
    for entry in known.CATALOGUE:
        state = "installed" if entry.name in here else "not fetched"
        facts = f"{entry.name:19} {state:12} {entry.megabytes:>8}  {entry.licence:11}"
        screen.result(f"{facts} {entry.description}")
    screen.say("Fetch one with: planloop models fetch NAME")
    return 0


def fetch_model(name: str) -> int:
    """Fetch one."""
    screen, entry = Screen(), local_weights().find_weights(name)
    screen.say(f"Fetching {entry.name} ({entry.megabytes}, {entry.licence}).")
    with download_bar() as bar:
        path = local_fetch().fetch(name, progress=bar)
    screen.result(f"{entry.name} is in {path}; use it as --model local:{entry.name}")
    return 0
