"""Give every string and list of a JSON schema an upper bound, so that a looping model must end."""

from typing import Any, Final

from langchain_core.utils.json_schema import dereference_refs

LONGEST: Final = 3000
"""Most characters of any one string, even where a schema allows more: what MAX_TOKENS can hold."""
MAX_ITEMS: Final = 4
"""Most items of a list; a list inside a list holds half as many, and so on down to one."""

_SHAPES = ("type", "properties", "items", "anyOf", "oneOf", "allOf", "enum", "const")
_BOUNDED_FORMATS = ("date", "time", "date-time", "uuid")


def bounded(schema: dict[str, Any], text: int) -> dict[str, Any]:
    """Copy a JSON schema with a bound on each string and list that has none.

    A smaller `maxLength` or `maxItems` of the schema itself wins; so does a larger `maxLength`,
    up to `LONGEST`. References are written out; a schema that refers to itself ends in a scalar.

    Args:
        schema: An object schema, `$defs` included.
        text: Most characters of a string that says nothing of its length.

    >>> bounded({"type": "object", "properties": {"a": {"type": "string"}}}, 9)["properties"]
    {'a': {'type': 'string', 'maxLength': 9}}
    """
    plain = dereference_refs(schema)
    plain = {key: value for key, value in plain.items() if key not in ("$defs", "definitions")}
    return _bound(plain, text, MAX_ITEMS)


def _bound(schema: Any, text: int, items: int) -> dict[str, Any]:
    if not isinstance(schema, dict) or not any(key in schema for key in _SHAPES):
        return _anything(text)
    # The engine lets a pattern take the place of maxLength, and skips patterns it cannot read.
    out = {key: value for key, value in schema.items() if key != "pattern"}
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        if key in out:
            out[key] = [_bound(part, text, items) for part in out[key]]
    kinds = out.get("type", ())
    if "string" in kinds and "enum" not in out and "const" not in out:
        _bound_string(out, text)
    if "array" in kinds or "items" in out:
        most = min(out.get("maxItems", items), items)
        out["maxItems"] = max(most, out.get("minItems", 0))
        if "prefixItems" not in out:
            out["items"] = _bound(out.get("items"), text, max(1, items // 2))
    if "object" in kinds or "properties" in out:
        _bound_object(out, text, items)
    return out


def _bound_string(out: dict[str, Any], text: int) -> None:
    if out.get("format") not in _BOUNDED_FORMATS:
        out.pop("format", None)
        out["maxLength"] = max(min(out.get("maxLength", text), LONGEST), out.get("minLength", 0))


def _bound_object(out: dict[str, Any], text: int, items: int) -> None:
    if properties := out.get("properties"):
        out["properties"] = {k: _bound(v, text, items) for k, v in properties.items()}
        out["additionalProperties"] = False
    elif out.get("additionalProperties") is not False:
        out["additionalProperties"] = _bound(out.get("additionalProperties"), text, items)


def _anything(text: int) -> dict[str, Any]:
    """A scalar: the most that can be bounded where a schema allows any value."""
    kinds: list[dict[str, Any]] = [{"type": kind} for kind in ("number", "boolean", "null")]
    return {"anyOf": [{"type": "string", "maxLength": text}, *kinds]}
