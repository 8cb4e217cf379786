from typing import Any

import pytest

from deg_schema import adapt, obstacles
from deg_schema.adaptation import Adaptation
from deg_schema.all_of import merge_all
from deg_schema.merging import Conflict

_DEFINITIONS = {
    "base": {"type": "integer", "minimum": 1},
    "more": {"allOf": [{"$ref": "#/$defs/base"}, {"maximum": 9}]},
    "self": {"allOf": [{"$ref": "#/$defs/self"}]},
}


def _merged(schema: dict[str, Any]) -> dict[str, Any]:
    document = {"properties": {"a": schema}, "$defs": _DEFINITIONS}
    return merge_all(Adaptation(document, 2020), schema, "/properties/a")[0]


@pytest.mark.parametrize(
    ("schema", "merged"),
    [
        ({"allOf": [{"minimum": 1}, {"maximum": 2}]}, {"minimum": 1, "maximum": 2}),
        ({"allOf": [{"allOf": [{"minimum": 1}]}, True]}, {"minimum": 1}),
        ({"allOf": [{"x-vendor": 1, "minimum": 1}]}, {"minimum": 1}),
        ({"$ref": "#/$defs/base", "maximum": 3}, {"type": "integer", "minimum": 1, "maximum": 3}),
        (
            {"allOf": [{"$ref": "#/$defs/more"}, {"$ref": "#/$defs/base"}], "title": "T"},
            {"type": "integer", "minimum": 1, "maximum": 9, "title": "T"},
        ),
        ({"allOf": [{"$ref": "#/$defs/base"}]}, {"$ref": "#/$defs/base"}),
    ],
)
def test_branches_become_one_schema(schema: dict[str, Any], merged: dict[str, Any]) -> None:
    assert _merged(schema) == merged


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [False]},
        {"allOf": {}},
        {"allOf": [{"$ref": "#/$defs/none"}, {"minimum": 1}]},
        {"allOf": [{"$ref": "#/$defs/self"}, {"minimum": 1}]},
        {"allOf": [{"$ref": "#/properties/a"}, {"minimum": 1}]},
        {"allOf": [{"type": "string"}, {"$ref": "#/$defs/base"}]},
    ],
)
def test_what_is_no_one_schema_is_a_conflict(schema: dict[str, Any]) -> None:
    with pytest.raises(Conflict):
        _merged(schema)


def test_a_conflict_leaves_no_note_of_what_was_not_done() -> None:
    leaf = {"allOf": [{"type": "string"}, {"type": "integer", "x-vendor": 1}]}
    schema = {"type": "object", "properties": {"a": leaf}}
    assert adapt(schema) == (schema, ())
    assert [note.loc for note in obstacles(schema)] == ["/properties/a"]
