"""Placeholder until the registry of checks is here."""

from collections.abc import Callable, Mapping
from typing import Any

Check = Callable[[Any], Any]


def checks_of(given: Mapping[str, Check] | None) -> Mapping[str, Check]:
    return given or {}
