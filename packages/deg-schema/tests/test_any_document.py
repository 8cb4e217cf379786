"""Laws: whatever stands where a schema is expected gives a plan or problems, never a crash."""

import json
from typing import Any

from hypothesis import given, strategies as st

from deg_schema.checks import check_source
from deg_schema.compile import compile_schema
from deg_schema.errors import Problem, RequestError, SchemaError
from deg_schema.keywords import KNOWN, UNSUPPORTED
from deg_schema.pointer import Pointer
from deg_schema.request import parse_request

TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"]
REFERENCES = ["#", "#/$defs/a", "#/properties/a", "#a", "#/%", "other"]
PATTERNS = ["^a+$", "(a|aa)+$", "(", "[", "\\", "a{9}{9}", "date"]
WORDS = st.sampled_from(TYPES + REFERENCES + PATTERNS)
NAMES = st.sampled_from(sorted(KNOWN | UNSUPPORTED.keys() | {"a", "nullable", "x-other"}))
NUMBERS = st.integers() | st.floats() | st.sampled_from([0, 1, 2, 11])
ANY_TEXT = st.text(st.characters(codec=None), max_size=5)
SCALARS = st.none() | st.booleans() | NUMBERS | WORDS | ANY_TEXT
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(NAMES, inner, max_size=5)
        | st.dictionaries(ANY_TEXT, inner, max_size=2)
    ),
    max_leaves=25,
)
PYTHON = st.recursive(
    SCALARS
    | st.binary(max_size=3)
    | st.sampled_from([5000]).map(lambda digits: 10**digits)
    | st.just(object())
    | st.sets(st.integers(), max_size=2),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(
            NAMES | st.integers() | st.none() | st.binary(max_size=2), inner, max_size=4
        )
    ),
    max_leaves=15,
)


def _check(problems: tuple[Problem, ...]) -> None:
    assert problems
    for problem in problems:
        Pointer.parse(problem.loc)
        # whoever prints or sends a problem must be able to
        str(problem).encode()


def _compile(schema: object) -> None:
    try:
        compile_schema(schema)
    except SchemaError as error:
        _check(error.problems)


@given(JSON, JSON)
def test_any_json_as_a_schema_gives_a_plan_or_problems(leaf: Any, definition: Any) -> None:
    _compile(leaf)
    _compile({"type": "object", "properties": {"a": leaf}, "$defs": {"a": definition}})


@given(PYTHON)
def test_any_python_object_as_a_schema_gives_a_plan_or_problems(value: Any) -> None:
    _compile(value)
    _compile({"type": "object", "properties": {"a": value}})


@given(JSON, st.data())
def test_any_text_as_a_schema_gives_a_plan_or_findings(value: Any, data: st.DataObject) -> None:
    text = json.dumps(value)
    cut = data.draw(st.integers(0, len(text)))
    for written in (text, text[:cut], text[:cut] + text[cut + 1 :]):
        report = check_source("", written.encode(errors="surrogatepass"))
        assert report.plan is not None or report.findings
        try:
            parse_request(f'{{"context": "", "schema": {written}}}')
        except RequestError as error:
            _check(error.problems)
