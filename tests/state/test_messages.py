"""The message log: appending, replacing, removing, the same however writes are batched."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES, add_messages

from planloop.state import MessageLog, append_messages


def texts(log: MessageLog) -> list[str]:
    return [str(m.text) for m in log]


WRITES = st.lists(
    st.one_of(
        st.text(max_size=3),
        st.builds(lambda t: ("user", t), st.text(max_size=3)),
        st.builds(lambda t, i: AIMessage(t, id=i), st.text(max_size=3), st.sampled_from("abc")),
        st.builds(lambda i: RemoveMessage(id=i), st.sampled_from(["a", "b", REMOVE_ALL_MESSAGES])),
        st.lists(st.builds(HumanMessage, st.text(max_size=3)), max_size=3),
    ),
    max_size=8,
)


@given(WRITES, st.integers(0, 8))
@settings(deadline=None, derandomize=True, max_examples=150)
def test_batches_do_not_matter(writes: list[Any], cut: int) -> None:
    once = append_messages([], writes)
    twice = append_messages(append_messages([], writes[:cut]), writes[cut:])
    assert once == twice
    assert [m.id for m in once] == [m.id for m in twice]
    assert len({m.id for m in once}) == len(once)


def test_a_known_id_replaces_and_an_unknown_removal_does_nothing() -> None:
    log = append_messages([], [[HumanMessage("a", id="1"), HumanMessage("b", id="2")]])
    assert texts(append_messages(log, [HumanMessage("A", id="1")])) == ["A", "b"]
    assert texts(append_messages(log, [RemoveMessage(id="nope")])) == ["a", "b"]
    assert texts(append_messages(log, [RemoveMessage(id="1")])) == ["b"]
    assert texts(log) == ["a", "b"]


def test_versions_that_part_ways_do_not_mislead_each_other() -> None:
    base = append_messages([], ["a"])
    left = append_messages(base, [HumanMessage("left", id="x"), HumanMessage("more", id="y")])
    right = append_messages(base, [HumanMessage("other"), HumanMessage("right", id="x")])
    assert texts(append_messages(right, [HumanMessage("X", id="x")])) == ["a", "other", "X"]
    assert texts(append_messages(left, [HumanMessage("X", id="x")])) == ["a", "X", "more"]


def test_the_meaning_is_that_of_add_messages() -> None:
    start = [HumanMessage("a", id="1"), AIMessage("b", id="2")]
    for write in ([AIMessage("B", id="2")], [HumanMessage("c", id="3")], [RemoveMessage(id="1")]):
        ours = append_messages(append_messages([], [start]), [write])
        theirs = add_messages(list(start), list(write))  # type: ignore[arg-type]
        assert list(ours) == theirs


def test_ids_are_the_same_at_every_replay() -> None:
    writes = ["hi", ("user", "hi"), {"role": "user", "content": "ho"}]
    assert [m.id for m in append_messages([], writes)] == [
        m.id for m in append_messages([], writes)
    ]
