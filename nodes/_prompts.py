"""Prompts are files: one a node, in `prompts/`, with `$name` where a value goes."""

from importlib.resources import files
from string import Template
from typing import Final

# Read at import: nodes run on event loops, and reading a file there would block.
_TEMPLATES: Final = {
    file.name.removesuffix(".md"): Template(file.read_text("utf-8").strip())
    for file in (files("planloop.nodes") / "prompts").iterdir()
    if file.name.endswith(".md")
}


def prompt(name: str, **values: str) -> str:
    """The prompt with its values put in; braces and dollar signs in a value stay as they are."""
    return _TEMPLATES[name].substitute(values)
