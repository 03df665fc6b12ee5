# Modules that planloop.models does not export: type checkers know the folders' stubs only.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false
"""Structured output of the local model: every method by one bounded schema, over a stub server."""

import json
from pathlib import Path
from typing import Annotated, Any

import pytest
from langchain_core.exceptions import OutputParserException
from langchain_core.tools import tool
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from planloop.models.local_chat import LocalChat
from planloop.models.local_decision import ARGUMENT_CHARS, TEXT_CHARS
from planloop.models.local_schema import LONGEST, MAX_ITEMS

Stub = Any  # the scripted server of conftest.py, which cannot be imported from here


class Step(BaseModel):
    name: str
    outputs: list[str] = []


class Draft(BaseModel):
    title: str = Field(max_length=40)
    steps: list[Step]
    pattern: str | None = Field(default=None, pattern="^a+$")
    extra: dict[str, str] = {}
    anything: Any = None


@tool
def list_files(folder: Annotated[str, Field(max_length=40)]) -> str:
    """List the files of a folder."""
    return folder


@pytest.mark.parametrize("method", ["json_schema", "json_mode", "function_calling"])
async def test_structured_output_works_by_every_method(stub: Stub, method: str) -> None:
    draft = {"title": "T", "steps": [{"name": "a"}]}
    call = {"tool": "Draft", "args": draft}
    stub.will_say(*[call if method == "function_calling" else draft] * 2)
    model = stub.model.with_structured_output(Draft, method=method)
    expected = Draft(title="T", steps=[Step(name="a")])
    assert model.invoke("plan") == await model.ainvoke("plan") == expected
    assert "response_format" not in stub.bodies[0]
    assert unbounded(stub.schema()) == []


def test_structured_output_streams_and_takes_typed_dicts(stub: Stub) -> None:
    class Verdict(TypedDict):
        """A verdict."""

        word: str

    stub.will_say('{ "word": "yes" }')
    assert list(stub.model.with_structured_output(Verdict).stream("judge"))[-1] == {"word": "yes"}


def test_json_without_a_schema_is_still_parsed(stub: Stub) -> None:
    stub.will_say({"free": 1})
    assert stub.model.with_structured_output(method="json_mode").invoke("x") == {"free": 1}
    assert stub.bodies[0]["response_format"] == {"type": "json_object"}


def test_cut_json_is_mended_where_what_came_is_enough(stub: Stub) -> None:
    stub.will_say('{"title": "T", "steps": [{"name": "a"}, {"name": "b', finish="length")
    draft = stub.model.with_structured_output(Draft).invoke("plan")
    assert [step.name for step in draft.steps] == ["a", "b"]


def test_cut_json_that_lacks_something_is_an_error_with_the_text(stub: Stub) -> None:
    stub.will_say(*['{"title": "T", "ste'] * 2, finish="length")
    with pytest.raises(OutputParserException, match="steps"):
        stub.model.with_structured_output(Draft).invoke("plan")
    result = stub.model.with_structured_output(Draft, include_raw=True).invoke("plan")
    assert result["raw"].text == '{"title": "T", "ste'
    assert result["parsed"] is None
    assert isinstance(result["parsing_error"], OutputParserException)


def test_a_class_bound_as_response_format_is_bounded_too(stub: Stub) -> None:
    stub.will_say({"title": "T", "steps": []})
    stub.model.bind(response_format=Draft).invoke("plan")
    assert unbounded(stub.schema()) == []


def test_bounds_follow_the_schema_up_to_what_fits(stub: Stub) -> None:
    @tool
    def save(
        short: str,
        own: str = Field(max_length=2000),
        huge: str = Field(max_length=10**6),
        items: list[list[str]] = Field(max_length=50),  # noqa: B008
    ) -> str:
        """Save."""
        return f"{short}{own}{huge}{items}"

    stub.will_say({"answer": "ok"})
    stub.model.bind_tools([save]).invoke("go")
    args = stub.schema()["anyOf"][0]["properties"]["args"]["properties"]
    assert args["short"]["maxLength"] == ARGUMENT_CHARS
    assert args["own"]["maxLength"] == 2000
    assert args["huge"]["maxLength"] == LONGEST
    assert args["items"]["maxItems"] == MAX_ITEMS
    assert args["items"]["items"]["maxItems"] == MAX_ITEMS // 2


def test_a_schema_that_refers_to_itself_comes_to_an_end(stub: Stub) -> None:
    class Tree(BaseModel):
        name: str
        children: list["Tree"] = []

    stub.will_say({"name": "root"})
    stub.model.with_structured_output(Tree).invoke("grow")
    assert "$ref" not in json.dumps(stub.schema())
    assert unbounded(stub.schema()) == []


def test_names_that_are_also_keywords_stay_parameters(stub: Stub) -> None:
    stub.will_say({"title": "T", "steps": []})
    stub.model.with_structured_output(Draft).invoke("plan")
    properties = stub.schema()["properties"]
    assert {"type": "string", "maxLength": TEXT_CHARS} in properties["pattern"]["anyOf"]


def unbounded(schema: Any, path: str = "") -> list[str]:
    """Every place of a schema where a string or a list may go on for ever."""
    if isinstance(schema, list):
        return [found for part in schema for found in unbounded(part, path)]
    if not isinstance(schema, dict):
        return []
    found = [path] if "$ref" in schema else []
    if schema.get("type") == "string" and not {"maxLength", "enum", "const"} & schema.keys():
        found.append(path)
    if schema.get("type") == "array" and "maxItems" not in schema:
        found.append(path)
    named = {**schema.get("properties", {}), "*": schema.get("additionalProperties")}
    for name, part in named.items():
        found += unbounded(part, f"{path}/{name}")
    for key in ("anyOf", "oneOf", "allOf", "items"):
        found += unbounded(schema.get(key), f"{path}/{key}")
    return found


async def test_the_real_engine_decides_and_fills_in_a_schema() -> None:
    pytest.importorskip("xllamacpp", reason="the extra 'local' is not installed")
    from planloop.models.local_server import shared_server
    from planloop.models.local_weights import find_weights

    weights: Path = find_weights("smollm2-135m").path
    if not weights.is_file():
        pytest.skip("smollm2-135m is not fetched: planloop models fetch smollm2-135m")
    model = LocalChat.from_weights(weights, temperature=0.0)
    try:
        bound = model.bind_tools([list_files], tool_choice="required")
        assert (await bound.ainvoke("Which files are there?")).tool_calls[0]["name"] == "list_files"
        step = model.with_structured_output(Step).invoke("Name a step of a walk. Reply in JSON.")
        assert isinstance(step, Step)
    finally:
        shared_server(weights).close()
