from typing import Any

import pytest

from deg_schema.compile import compile_schema
from deg_schema.errors import SchemaError
from deg_schema.plan import ArrayPlan, FieldPlan, FillPlan

TEXT = {"type": "string"}


def _compile(leaf: object, **more: Any) -> FillPlan:
    return compile_schema({"type": "object", "properties": {"a": leaf}, **more})


def _array(items: object, **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


def _object(**properties: object) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _refused(leaf: object, **more: Any) -> list[tuple[str, str]]:
    with pytest.raises(SchemaError) as raised:
        _compile(leaf, **more)
    return [(problem.loc, problem.msg) for problem in raised.value.problems]


def test_an_array_of_scalars_has_one_leaf() -> None:
    plan = _compile(_array(TEXT, minItems=1, maxItems=3, uniqueItems=True, title="T"))
    assert plan.arrays == (
        ArrayPlan(("a",), 1, 3, unique_items=True, title="T", start=0, stop=1, anchored=True),
    )
    assert plan.fields == (
        FieldPlan(
            ("a", "*"),
            "extract.span",
            "string",
            required=True,
            on_null="forbid",
            item_steps=(1,),
        ),
    )
    assert plan.objects == ()


def test_arrays_and_objects_nest_in_schema_order() -> None:
    times = _array(_object(at={"type": "string", "format": "date"}))
    plan = _compile(_array(_object(name=TEXT, times=times, flags=_array({"type": "boolean"}))))
    assert [field.path for field in plan.fields] == [
        ("a", "*", "name"),
        ("a", "*", "times", "*", "at"),
        ("a", "*", "flags", "*"),
    ]
    assert [field.item_steps for field in plan.fields] == [(1,), (1, 3), (1, 3)]
    assert [
        (array.path, array.item_steps, array.start, array.stop, array.anchored)
        for array in plan.arrays
    ] == [
        (("a",), (), 0, 3, True),
        (("a", "*", "times"), (1,), 1, 2, True),
        (("a", "*", "flags"), (1,), 2, 3, False),
    ]
    assert [(nested.path, nested.required, nested.item_steps) for nested in plan.objects] == [
        (("a", "*"), True, (1,)),
        (("a", "*", "times", "*"), True, (1, 3)),
    ]


def test_an_array_of_arrays() -> None:
    plan = _compile(_array(_array({"type": "integer"}, maxItems=2)))
    assert plan.fields[0].path == ("a", "*", "*")
    assert [array.max_items for array in plan.arrays] == [None, 2]
    assert plan.arrays[1].required


@pytest.mark.parametrize(
    ("items", "anchored"),
    [
        (TEXT, True),
        ({"type": "number"}, True),
        ({"type": "boolean"}, False),
        ({"enum": ["a", "b"]}, False),
        ({"type": "string", "x-generate": True}, False),
        ({"type": "object"}, False),
        (_object(flag={"type": "boolean"}, rows=_array(_object(n={"type": "number"}))), True),
    ],
)
def test_an_array_is_anchored_where_a_leaf_of_it_is_copied(items: object, anchored: bool) -> None:
    assert _compile(_array(items)).arrays[0].anchored is anchored


@pytest.mark.parametrize(
    ("items", "on_null"),
    [(TEXT, "forbid"), ({"type": ["string", "null"]}, "null"), (_object(b=TEXT), "omit")],
)
def test_an_item_is_always_there(items: object, on_null: str) -> None:
    assert _compile(_array(items)).fields[0].on_null == on_null


def test_a_property_named_star_is_no_item() -> None:
    item, named = _compile(_array(TEXT)), _compile(_object(**{"*": TEXT}))
    assert item.fields[0].path == named.fields[0].path
    assert (item.fields[0].item_steps, named.fields[0].item_steps) == ((1,), ())
    assert item.fields[0].fingerprint != named.fields[0].fingerprint
    both = _compile(_array(_object(**{"*": TEXT}))).fields[0]
    assert both.pointer_at([7]) == "/a/7/*"


def test_a_reference_and_its_texts_describe_the_array() -> None:
    definitions = {"Rows": _array({"$ref": "#/$defs/Row"}, description="all"), "Row": TEXT}
    plan = _compile({"$ref": "#/$defs/Rows", "title": "here"}, **{"$defs": definitions})
    assert (plan.arrays[0].title, plan.arrays[0].description) == ("here", "all")
    assert plan.fields[0].mode == "extract.span"


@pytest.mark.parametrize(
    ("items", "more", "max_tokens"),
    [
        (TEXT, {}, None),
        (TEXT, {"x-max-tokens": 9}, 9),
        ({"type": "string", "x-generate": False}, {"x-max-tokens": 9}, 9),
        ({"type": "string", "x-max-tokens": 5}, {"x-max-tokens": 9}, 5),
        ({"$ref": "#/$defs/Text"}, {"x-max-tokens": 9}, 9),
        ({"type": "string", "maxLength": 80, "pattern": "^[A-Z]"}, {}, None),
    ],
)
def test_a_written_array_writes_each_item(
    items: object, more: dict[str, Any], max_tokens: int | None
) -> None:
    leaf = _array(items, **{"x-generate": True}, **more)
    (field,) = _compile(leaf, **{"$defs": {"Text": TEXT}}).fields
    assert (field.mode, field.max_tokens) == ("generate", max_tokens)


def test_x_generate_on_an_array_reaches_no_deeper() -> None:
    inner = _array(TEXT, **{"x-generate": True, "x-max-tokens": 4})
    plan = _compile(_array(_object(texts=inner, name=TEXT)))
    assert [(field.mode, field.max_tokens) for field in plan.fields] == [
        ("generate", 4),
        ("extract.span", None),
    ]
    assert _compile(_array(TEXT, **{"x-generate": False})).fields[0].mode == "extract.span"


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ({"type": "integer"}, "not integer"),
        ({"type": "boolean"}, "not boolean"),
        ({"type": "object"}, "not object"),
        (_array(TEXT), "not array"),
        ({"enum": ["a", "b"]}, "not an enum"),
        ({"type": "string", "enum": ["a", "b"]}, "remove the 'enum'"),
        ({"type": "string", "format": "date"}, "remove the 'format'"),
        ({"type": ["string", "null"]}, "null never occurs"),
        ({"anyOf": [{"const": "a"}, {"const": "b"}]}, "not a union"),
    ],
)
def test_x_generate_on_an_array_needs_plain_strings(items: object, words: str) -> None:
    ((loc, message),) = _refused(_array(items, **{"x-generate": True}))
    assert loc == "/properties/a/x-generate"
    assert words in message


@pytest.mark.parametrize(
    ("leaf", "loc", "words"),
    [
        ({"type": "array"}, "", "has no 'items'"),
        (_array(True), "/items", "says nothing"),
        (_array(5), "/items", "a schema is an object"),
        (_array([TEXT, TEXT]), "/items", "for each position"),
        (_array({}), "/items", "no 'type'"),
        (_array({"type": "strng"}), "/items/type", "is unknown"),
        (_array(_object(b={"not": {}})), "/items/properties/b/not", "not supported"),
        (_array({"$ref": "#"}), "/items/$ref", "is recursive"),
        (_array(TEXT, minItems=-1), "/minItems", "at least 0"),
        (_array(TEXT, minItems="1"), "/minItems", "at least 0"),
        (_array(TEXT, minItems=10_001), "/minItems", "more than 10000"),
        (_array(TEXT, maxItems=1.5), "/maxItems", "at least 0"),
        (_array(TEXT, maxItems=True), "/maxItems", "at least 0"),
        (_array(TEXT, minItems=3, maxItems=2), "", "no array has"),
        (_array(TEXT, uniqueItems=1), "/uniqueItems", "true or false"),
        (_array({"type": "boolean"}, uniqueItems=True, minItems=3), "", "the 2 possible ones"),
        (_array(TEXT, **{"x-generate": "yes"}), "/x-generate", "true or false"),
        (_array(TEXT, **{"x-max-tokens": 5}), "/x-max-tokens", "needs 'x-generate'"),
        (
            _array(TEXT, **{"x-generate": True, "x-max-tokens": 0}),
            "/x-max-tokens",
            "at least 1",
        ),
        (_array(TEXT, **{"x-levels": {}}), "/x-levels", "only for an integer"),
        (_array(TEXT, contains=TEXT), "/contains", "not supported"),
        (_array(TEXT, minContains=1), "/minContains", "use 'minItems'"),
        (_array(TEXT, maxContains=1), "/maxContains", "use 'maxItems'"),
        (_array(TEXT, unevaluatedItems=False), "/unevaluatedItems", "not supported"),
        (_array(TEXT, additionalItems=False), "/additionalItems", "not supported"),
        (_array(TEXT, prefixItems=[TEXT]), "/prefixItems", "an object with a property"),
        ({"type": "array", "prefixItems": [TEXT]}, "/prefixItems", "an object with a property"),
        (_array(TEXT, maxLength=5), "/maxLength", "does not apply to type 'array'"),
        (_array(TEXT, enum=[[], ["a"]]), "/enum", "does not apply to type 'array'"),
        ({**_array(TEXT), "type": ["array", "null"]}, "/type", "nullable array"),
        ({"anyOf": [_array(TEXT), {"type": "null"}]}, "/anyOf/0/type", "nullable array"),
        ({"type": "string", "items": TEXT}, "/items", "does not apply to type 'string'"),
    ],
)
def test_what_the_contract_does_not_take_is_refused(leaf: object, loc: str, words: str) -> None:
    ((found_loc, message),) = _refused(leaf)
    assert found_loc == f"/properties/a{loc}"
    assert words in message


def test_every_problem_of_an_array_comes_at_once() -> None:
    items = _object(b={"type": "strng"}, c=_array({"type": "number", "maxLength": 2}, minItems=-1))
    leaf = _array(items, uniqueItems="no", maxItems=-1, contains={}, **{"x-generate": True})
    assert [loc for loc, _ in _refused(leaf)] == [
        f"/properties/a{loc}"
        for loc in (
            "/contains",
            "/maxItems",
            "/uniqueItems",
            "/x-generate",
            "/items/properties/b/type",
            "/items/properties/c/minItems",
            "/items/properties/c/items/maxLength",
        )
    ]


def test_the_root_is_no_array() -> None:
    with pytest.raises(SchemaError) as raised:
        compile_schema(_array(TEXT))
    assert 'must have "type": "object"' in raised.value.problems[0].msg


def test_counts_follow_the_draft() -> None:
    assert _compile(_array(TEXT, minItems=2.0)).arrays[0].min_items == 2
    draft = {"$schema": "http://json-schema.org/draft-04/schema#"}
    assert [loc for loc, _ in _refused(_array(TEXT, minItems=2.0), **draft)] == [
        "/properties/a/minItems"
    ]
    (problem,) = _refused(_array(False), **draft)
    assert problem == ("/properties/a/items", "a schema is an object, not false")


def test_arrays_nest_as_deep_as_objects() -> None:
    leaf: dict[str, Any] = TEXT
    for _ in range(40):
        leaf = _array(leaf)
    assert len(_compile(leaf).arrays) == 40
    for _ in range(20):
        leaf = _array(leaf)
    ((_, message),) = _refused(leaf)
    assert "deeper than 48 levels" in message
