import pytest

from deg_schema.compile import compile_schema
from deg_schema.errors import SchemaError
from deg_schema.keywords import UNSUPPORTED, annotation_fault, is_count

NOT_SUPPORTED = (
    "allOf not if then else const dependentSchemas dependentRequired dependencies "
    "patternProperties propertyNames unevaluatedProperties minProperties maxProperties "
    "unevaluatedItems prefixItems additionalItems contains minContains maxContains $dynamicRef "
    "$dynamicAnchor $recursiveRef $recursiveAnchor contentEncoding contentMediaType contentSchema"
).split()


def test_what_is_not_supported_is_what_the_contract_lists() -> None:
    assert set(UNSUPPORTED) == set(NOT_SUPPORTED)


@pytest.mark.parametrize("type", ["string", "integer", "object", "array", None])
@pytest.mark.parametrize("keyword", NOT_SUPPORTED)
def test_a_keyword_that_is_not_supported_is_named_with_a_way_out(
    keyword: str, type: str | None
) -> None:
    leaf = {"items": {"type": "string"}, "type": type} if type == "array" else {"type": type}
    schema = {key: value for key, value in leaf.items() if value} | {keyword: {}}
    with pytest.raises(SchemaError) as raised:
        compile_schema({"type": "object", "properties": {"a": schema}})
    [problem] = raised.value.problems
    assert problem.loc == f"/properties/a/{keyword}"
    assert problem.msg == f"'{keyword}' is not supported; {UNSUPPORTED[keyword]}"


@pytest.mark.parametrize(
    ("keyword", "value"),
    [
        ("title", 5),
        ("description", None),
        ("examples", {}),
        ("$comment", []),
        ("$schema", 7),
        ("$id", {}),
        ("$anchor", "1a"),
        ("$anchor", "a\n"),
        ("$defs", []),
        ("definitions", True),
        ("readOnly", 0),
        ("writeOnly", "true"),
        ("deprecated", None),
    ],
)
def test_an_annotation_has_its_shape(keyword: str, value: object) -> None:
    assert annotation_fault(keyword, value)
    assert annotation_fault("default", value) is None


@pytest.mark.parametrize("value", [0, 1, 2.0, 10**30])
def test_a_count_is_an_integer_however_it_is_written(value: object) -> None:
    assert is_count(value)


@pytest.mark.parametrize("value", [-1, 1.5, True, "1", None, [], float("nan")])
def test_nothing_else_is_a_count(value: object) -> None:
    assert not is_count(value)
