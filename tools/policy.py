"""Which calls may run at once, which wait for a person, which never run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from planloop.state import ToolSetupError

from .traits import Effect, ToolTraits

Decision = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, kw_only=True)
class ToolPolicy:
    """Rules over a tool's name and effect; what no rule covers is asked.

    Raises:
        ToolSetupError: A decision or an effect that does not exist.
    """

    effects: Mapping[Effect, Decision] = field(default_factory=dict)
    """What holds for every tool of an effect."""
    tools: Mapping[str, Decision] = field(default_factory=dict)
    """What holds for a tool by its name; it wins over `effects`."""

    def __post_init__(self) -> None:
        for effect in self.effects:
            if effect not in get_args(Effect):
                raise ToolSetupError(
                    f"{effect!r} is no effect: use one of {', '.join(get_args(Effect))}."
                )
        for name, decision in [*self.effects.items(), *self.tools.items()]:
            if decision not in get_args(Decision):
                raise ToolSetupError(f"{name} is 'allow', 'ask' or 'deny', not {decision!r}.")

    def decide(self, name: str, args: Mapping[str, Any], traits: ToolTraits) -> Decision:
        """Decide on one call.

        Args:
            name: The registered name of the tool.
            args: The arguments of the call; no rule looks at them yet.
            traits: What the tool declares.
        """
        return self.tools.get(name) or self.effects.get(traits.effect, "ask")

    @classmethod
    def trusted(cls) -> "ToolPolicy":
        """Allow everything."""
        return cls(effects=dict.fromkeys(get_args(Effect), "allow"))

    @classmethod
    def workspace(cls) -> "ToolPolicy":
        """Allow reading and writing files; ask before anything else."""
        return cls(effects={"read": "allow", "write": "allow"})

    @classmethod
    def read_only(cls) -> "ToolPolicy":
        """Allow reading; deny the rest."""
        return cls(effects={**dict.fromkeys(get_args(Effect), "deny"), "read": "allow"})
