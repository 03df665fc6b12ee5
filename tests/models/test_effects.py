"""One body, two drivers."""

import asyncio
from collections.abc import Generator
from typing import Any

import pytest

from planloop.models import Steps, aperform, perform


class Get:
    def __init__(self, value: Any) -> None:
        self.value = value

    def run(self) -> Any:
        if isinstance(self.value, Exception):
            raise self.value
        return f"sync {self.value}"

    async def arun(self) -> Any:
        await asyncio.sleep(0)
        if isinstance(self.value, Exception):
            raise self.value
        return f"async {self.value}"


def work() -> Steps[list[str]]:
    first = yield Get(1)
    second = "not reached"
    try:
        yield Get(KeyError("gone"))
    except KeyError as error:
        second = f"caught {error}"
    return [first, second]


async def test_both_drivers_hand_in_results_and_exceptions() -> None:
    assert perform(work()) == ["sync 1", "caught 'gone'"]
    assert await aperform(work()) == ["async 1", "caught 'gone'"]


async def test_what_the_work_does_not_catch_leaves_it() -> None:
    def failing() -> Steps[None]:
        yield Get(ValueError("no"))

    with pytest.raises(ValueError, match="no"):
        perform(failing())
    with pytest.raises(ValueError, match="no"):
        await aperform(failing())


async def test_a_cancelled_work_is_closed() -> None:
    closed: list[bool] = []

    class Never:
        def run(self) -> Any: ...

        async def arun(self) -> Any:
            await asyncio.Event().wait()

    def waits() -> Generator[Any, Any, None]:
        try:
            yield Never()
        finally:
            closed.append(True)

    task = asyncio.create_task(aperform(waits()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert closed == [True]
