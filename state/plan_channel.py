"""The plan in the state: readers get a `Plan`, checkpoints hold the plain patches it is made of.

An incremental channel, so that one step of a plan costs the same bytes whether the plan has five
steps or two hundred.
"""

import logging
from collections.abc import Sequence
from typing import Annotated, Any, Final

from langgraph.channels import DeltaChannel

from .patches import apply_patch
from .plan import Plan, as_plan

_SERDE_LOGGER: Final = "langgraph.checkpoint.serde.jsonplus"


def _is_about_others(record: logging.LogRecord) -> bool:
    return not (isinstance(record.args, tuple) and record.args[:2] == (Plan.__module__, "Plan"))


# A fork stores what `get()` hands out, a `Plan`, and LangGraph warns on reading that such types
# will come back as plain dicts one day. `PlanChannel.from_checkpoint` reads both forms.
logging.getLogger(_SERDE_LOGGER).addFilter(_is_about_others)


def fold_patches(plan: Any, patches: Sequence[Any]) -> Plan:
    """Fold patches into a plan; the base may be a plan, its plain form, or nothing."""
    folded = plan if isinstance(plan, Plan) else as_plan(plan)
    for patch in patches:
        folded = apply_patch(folded, patch)
    return folded


class PlanChannel(DeltaChannel[Plan]):
    """Stores plain patches, hands out `Plan`."""

    def __init__(self, reducer: Any = fold_patches, typ: Any = Plan, **options: Any) -> None:
        super().__init__(reducer, typ, **{"snapshot_frequency": 10_000, **options})

    def from_checkpoint(self, checkpoint: Any) -> "PlanChannel":
        """Start from a stored value: a plan, its plain form under strict msgpack, or nothing."""
        channel = super().from_checkpoint(checkpoint)
        channel.value = as_plan(channel.value)
        return channel


PLAN: Final = PlanChannel()
PlanState = Annotated[Plan, PLAN]
"""The type of a `plan` key: nodes write patches (`planloop.state.patches`), readers get `Plan`."""
