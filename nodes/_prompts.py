"""Prompts are files: one a node, in `prompts/`, with `$name` where a value goes."""

from functools import cache
from importlib.resources import files
from string import Template


@cache
def _template(name: str) -> Template:
    return Template((files("planloop.nodes") / "prompts" / f"{name}.md").read_text("utf-8").strip())


def prompt(name: str, **values: str) -> str:
    """The prompt with its values put in; braces and dollar signs in a value stay as they are."""
    return _template(name).substitute(values)
