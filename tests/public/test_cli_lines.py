"""Single events as a person reads them."""

from planloop.cli.lines import line_of
from planloop.cli.progress import Progress
from planloop.state import Plan


def test_a_wait_for_the_model_is_told_with_its_reason() -> None:
    event = {"type": "retry", "seconds": 2.0, "why": "The model server limits the rate."}
    progress = Progress(plan=Plan(), tokens=0, started=0.0)
    told = line_of(event, progress)
    assert told.strip() == "asking the model again in 2 s: The model server limits the rate."
    progress.take(event)
    assert progress.doing == told.strip()
