from typing import Any

import pytest

from deg_schema.adapt import Note
from deg_schema.adaptation import Adaptation, copy_json

_TEXT = {"type": "string"}


def _object(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def test_notes_of_a_definition_outlive_what_refers_to_it() -> None:
    adaptation = Adaptation({"$defs": {"d": _TEXT}}, 2020)
    adaptation.note("/properties/a", "one")
    with adaptation.definition("/$defs/d"):
        adaptation.note("/$defs/d", "two")
    adaptation.forget(0)
    assert adaptation.notes == {}
    assert list(adaptation.settled) == [Note("/$defs/d", "two")]


@pytest.mark.parametrize(
    ("schema", "is_endless"),
    [
        ({"$ref": "#/$defs/node"}, True),
        ({"$ref": "#/$defs/leaf"}, False),
        (_object("next", next={"$ref": "#/$defs/node"}), True),
        (_object(next={"$ref": "#/$defs/node"}), False),
        ({"type": "array", "items": {"$ref": "#/$defs/node"}}, False),
        ({"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/node"}}, True),
        ({"anyOf": [{"$ref": "#/$defs/node"}, _TEXT]}, False),
        ({"anyOf": [{"$ref": "#/$defs/node"}, {"$ref": "#/$defs/node"}]}, True),
        ({"allOf": [{"$ref": "#/$defs/node"}, _TEXT]}, True),
        ({"$ref": "#/$defs/child"}, True),
        ({"$ref": "https://example.com"}, False),
    ],
)
def test_what_needs_a_schema_around_it_is_endless(schema: dict[str, Any], is_endless: bool) -> None:
    definitions = {
        "node": _object(),
        "leaf": _TEXT,
        "child": _object("parent", parent={"$ref": "#/$defs/node"}),
    }
    adaptation = Adaptation({"$defs": definitions}, 2020, is_recursive=True)
    adaptation.define("/$defs/leaf", definitions["leaf"])
    adaptation.define("/$defs/child", definitions["child"])
    with adaptation.definition("/$defs/node"):
        assert adaptation.is_endless(schema, "/$defs/node/properties/next") == is_endless


def test_a_chain_of_definitions_is_followed_as_far_as_it_compiles() -> None:
    definitions = {f"d{i}": _object("a", a={"$ref": f"#/$defs/d{i + 1}"}) for i in range(2000)}
    adaptation = Adaptation({"$defs": definitions}, 2020, is_recursive=True)
    for name, definition in definitions.items():
        adaptation.define(f"/$defs/{name}", definition)
    assert not adaptation.is_endless({"$ref": "#/$defs/d0"}, "/properties/a")


def test_copies_share_nothing() -> None:
    given = {"a": [{"b": 1}], "c": None}
    copied = copy_json(given)
    assert copied == given
    copied["a"][0]["b"] = 2
    assert given["a"] == [{"b": 1}]
