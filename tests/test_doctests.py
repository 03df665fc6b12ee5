"""The examples in docstrings are true."""

import doctest
import pkgutil
from importlib import import_module

import pytest

import planloop

PACKAGES = ("state", "models", "tools", "nodes", "graphs")


def modules() -> list[str]:
    found = ["planloop.testing", "planloop.runs", "planloop.savers"]
    for name in PACKAGES:
        package = import_module(f"planloop.{name}")
        found += [m.name for m in pkgutil.iter_modules(package.__path__, f"planloop.{name}.")]
    return [name for name in found if not name.endswith("studio")]


@pytest.mark.parametrize("name", modules())
def test_docstrings(name: str) -> None:
    module = import_module(name)
    assert doctest.testmod(module).failed == 0


def test_there_are_some() -> None:
    finder = doctest.DocTestFinder()
    examples = [
        example
        for name in modules()
        for test in finder.find(import_module(name))
        for example in test.examples
    ]
    assert len(examples) > 10
    assert planloop.__version__
