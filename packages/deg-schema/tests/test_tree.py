from typing import Any

from deg_schema.compile import compile_schema
from deg_schema.tree import Branch, split_plan, tree_of

TEXT = {"type": "string"}


def _names(branch: Branch) -> Any:
    return {child.name: _names(child) for child in branch.children}


def test_a_tree_nests_as_the_values_do_and_in_schema_order() -> None:
    row = {"type": "object", "properties": {"*": TEXT, "e": {"type": "object"}, "a": TEXT}}
    properties = {
        "none": {"type": "array", "items": {"type": "object"}},
        "o": {"type": "object", "properties": {"rows": {"type": "array", "items": row}}},
        "t": TEXT,
        "last": {"type": "object"},
    }
    tree = _names(tree_of(compile_schema({"type": "object", "properties": properties})))
    rows = {"*": {"*": {}, "e": {}, "a": {}}}
    assert tree == {"none": {"*": {}}, "o": {"rows": rows}, "t": {}, "last": {}}
    assert list(tree) == ["none", "o", "t", "last"]
    assert list(tree["o"]["rows"]["*"]) == ["*", "e", "a"]


def test_a_split_plan_is_the_plan_of_each_property_alone() -> None:
    row = {
        "type": "object",
        "properties": {"n": {"type": "number"}, "t": {"type": "array", "items": TEXT}},
    }
    properties = {
        "a": TEXT,
        "none": {"type": "object", "properties": {}},
        "rows": {"type": "array", "items": row},
        "o": {
            "type": "object",
            "properties": {"inner": {"type": "object", "properties": {"x": TEXT}}},
        },
    }
    plan = compile_schema({"type": "object", "properties": properties})
    alone = [
        compile_schema({"type": "object", "properties": {name: properties[name]}})
        for name in properties
    ]
    assert sorted(map(repr, split_plan(plan))) == sorted(map(repr, alone))


def test_a_plan_of_nothing_is_split_in_nothing() -> None:
    assert split_plan(compile_schema({"type": "object"})) == []
