import pytest

from deg_schema.compile import compile_schema
from deg_schema.plan import ArrayPlan, FieldPlan, FillPlan

PROPERTIES = {
    "name": {"type": "string"},
    "topic": {"enum": ["a", "b"]},
    "reply": {"type": "string", "x-generate": True},
    "title": {"type": "string", "x-generate": True},
}


def _plan(*names: str) -> FillPlan:
    properties = {name: PROPERTIES[name] for name in names}
    return compile_schema({"type": "object", "properties": properties})


def test_a_field_knows_its_pointer() -> None:
    assert FieldPlan(("a/b", "c"), "extract.span", "string").pointer == "/a~1b/c"


def test_reordering_parallel_fields_keeps_the_fingerprint() -> None:
    assert _plan("name", "topic").fingerprint == _plan("topic", "name").fingerprint
    assert _plan("name", "reply").fingerprint == _plan("reply", "name").fingerprint


def test_reordering_generated_fields_changes_the_fingerprint() -> None:
    assert _plan("reply", "title").fingerprint != _plan("title", "reply").fingerprint


def test_a_field_has_the_same_fingerprint_whatever_stands_beside_it() -> None:
    alone, together = _plan("name").fields[0], _plan("topic", "reply", "name").fields[2]
    assert alone.fingerprint == together.fingerprint


def test_adding_a_field_changes_the_fingerprint_of_the_plan() -> None:
    assert _plan("name").fingerprint != _plan("name", "topic").fingerprint


@pytest.mark.parametrize(
    "other",
    [
        {"type": "string", "description": "the name"},
        {"type": "string", "maxLength": 5},
        {"type": ["string", "null"]},
        {"type": "string", "format": "email"},
    ],
)
def test_what_a_leaf_asks_is_in_its_fingerprint(other: dict[str, object]) -> None:
    plans = [
        compile_schema({"type": "object", "properties": {"name": leaf}})
        for leaf in ({"type": "string"}, other)
    ]
    assert plans[0].fields[0].fingerprint != plans[1].fields[0].fingerprint


def test_true_and_one_give_different_fingerprints() -> None:
    plans = [
        compile_schema({"type": "object", "properties": {"a": {"enum": options}}})
        for options in ([True, "x"], [1, "x"])
    ]
    assert plans[0].fingerprint != plans[1].fingerprint


def test_the_spelling_of_a_bound_does_not_matter() -> None:
    plans = [
        compile_schema({"type": "object", "properties": {"a": {"type": "number", "minimum": low}}})
        for low in (1, 1.0)
    ]
    assert plans[0].fingerprint == plans[1].fingerprint


def test_fingerprints_stay_the_same_between_versions() -> None:
    assert _plan("name", "topic", "reply").fingerprint == (
        "700ea7d0c8648d725ea5126135d4b07c91df17a93f0b02c5a5aa4c3dcc2c1ef2"
    )


@pytest.mark.parametrize(
    ("leaf", "count"),
    [
        ({"type": "boolean"}, 2),
        ({"type": ["boolean", "null"]}, 3),
        ({"enum": ["a", "b", "c"]}, 3),
        ({"type": "integer", "minimum": 1, "maximum": 5}, 5),
        ({"type": ["integer", "null"], "minimum": 1, "maximum": 5}, 6),
        ({"type": "string"}, 0),
    ],
)
def test_num_outcomes(leaf: dict[str, object], count: int) -> None:
    plan = compile_schema({"type": "object", "properties": {"a": leaf}})
    assert plan.fields[0].num_outcomes == count


def test_a_pointer_takes_an_index_for_each_item() -> None:
    path, steps = ("a/b", "*", "*", "*"), (1, 3)
    field = FieldPlan(path, "extract.span", "string", item_steps=steps)
    assert field.pointer == "/a~1b/*/*/*"
    assert field.pointer_at((0, 12)) == "/a~1b/0/*/12"
    assert ArrayPlan(path, item_steps=steps).pointer_at([3, 4]) == "/a~1b/3/*/4"
    with pytest.raises(ValueError, match="shorter"):
        field.pointer_at([1])


@pytest.mark.parametrize(
    ("array", "max_items", "limit"),
    [
        (ArrayPlan(("a",), anchored=True), None, None),
        (ArrayPlan(("a",), anchored=True), 3, 3),
        (ArrayPlan(("a",), anchored=False), None, 32),
        (ArrayPlan(("a",), anchored=False), 50, 50),
        (ArrayPlan(("a",), max_items=5), 3, 5),
        (ArrayPlan(("a",), max_items=0), None, 0),
        (ArrayPlan(("a",), min_items=4), 3, 4),
        (ArrayPlan(("a",), min_items=40), None, 40),
    ],
)
def test_the_limit_of_an_array(array: ArrayPlan, max_items: int | None, limit: int | None) -> None:
    assert array.limit(max_items) == limit
