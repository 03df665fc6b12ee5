from typing import Any, get_args

import pytest

from planloop.state import ToolSetupError
from planloop.tools import Decision, Effect, ToolPolicy, ToolTraits

EFFECTS = get_args(Effect)


def decisions(policy: ToolPolicy) -> list[Decision]:
    return [policy.decide("tool", {}, ToolTraits(effect=effect)) for effect in EFFECTS]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (ToolPolicy(), ["ask"] * 5),
        (ToolPolicy.trusted(), ["allow"] * 5),
        (ToolPolicy.workspace(), ["allow", "allow", "ask", "ask", "ask"]),
        (ToolPolicy.read_only(), ["allow", "deny", "deny", "deny", "deny"]),
        (ToolPolicy(effects={"network": "deny"}), ["ask", "ask", "ask", "deny", "ask"]),
    ],
)
def test_profiles(policy: ToolPolicy, expected: list[Decision]) -> None:
    assert EFFECTS == ("read", "write", "execute", "network", "irreversible")
    assert decisions(policy) == expected


def test_the_name_of_a_tool_wins() -> None:
    policy = ToolPolicy(effects={"execute": "deny"}, tools={"python": "allow"})
    traits = ToolTraits(effect="execute")
    assert policy.decide("python", {}, traits) == "allow"
    assert policy.decide("shell", {}, traits) == "deny"


@pytest.mark.parametrize(
    "wrong",
    [{"effects": {"read": "alow"}}, {"effects": {"wirte": "deny"}}, {"tools": {"python": "yes"}}],
)
def test_a_misspelt_rule_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ToolSetupError):
        ToolPolicy(**wrong)
