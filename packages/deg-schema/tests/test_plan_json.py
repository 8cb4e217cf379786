import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from deg_schema.compile import compile_schema
from deg_schema.errors import DegSchemaError, PlanError
from deg_schema.plan import FillPlan
from deg_schema.plan_json import plan_from_json, plan_to_json

GOLDEN = json.loads((Path(__file__).parent / "golden" / "plans.json").read_text(encoding="utf-8"))

ROW = {
    "type": "object",
    "properties": {
        "n": {"type": "number", "minimum": 0.5},
        "k": {"enum": ["a", 1, None]},
        "s": {"type": ["integer", "null"], "minimum": 1, "maximum": 3},
        "d": {"type": "string", "format": "date"},
    },
    "required": ["n"],
}
SCHEMA = {
    "type": "object",
    "properties": {
        "rows": {"type": "array", "items": ROW, "minItems": 1},
        "texts": {"type": "array", "items": {"type": "string"}, "x-generate": True},
    },
}
PLAN = compile_schema(SCHEMA)


def _problems(document: object) -> list[tuple[str, str]]:
    with pytest.raises(PlanError) as raised:
        plan_from_json(document if isinstance(document, str) else json.dumps(document))
    return [(problem.loc, problem.msg) for problem in raised.value.problems]


def _changed(loc: str, value: object) -> dict[str, Any]:
    document: Any = json.loads(plan_to_json(PLAN))
    name, index, *way, last = loc.removeprefix("/").split("/")
    part = document[name][int(index)]
    for token in way:
        part = part[token]
    part[last] = value
    return document


def test_the_empty_plan() -> None:
    text = '{"arrays":[],"fields":[],"objects":[],"version":1}'
    assert plan_to_json(FillPlan()) == text
    assert plan_from_json(text) == FillPlan()


def test_defaults_are_not_written_and_may_be_given() -> None:
    plan = compile_schema({"type": "object", "properties": {"a": {"type": "string"}}})
    text = plan_to_json(plan)
    assert text == (
        '{"arrays":[],"fields":[{"mode":"extract.span","path":["a"],"type":"string"}],'
        '"objects":[],"version":1}'
    )
    document = json.loads(text)
    document["fields"][0] |= {"title": None, "constraints": {"pattern": None}, "levels": []}
    assert plan_from_json(json.dumps(document, indent=3)) == plan


def test_a_bound_may_have_been_spelled_anew() -> None:
    leaf = {"type": "number", "maximum": 10**22, "multipleOf": 0.5}
    plan = compile_schema({"type": "object", "properties": {"a": leaf}})
    text = plan_to_json(plan).replace(str(10**22), "1e22")
    assert plan_from_json(text).fingerprint == plan.fingerprint


def test_the_text_is_ascii_whatever_the_schema_says() -> None:
    leaf = {"enum": ["é", "\u2028", "😀"], "description": "ß"}
    plan = compile_schema({"type": "object", "properties": {"ü": leaf}})
    assert plan_to_json(plan).isascii()
    assert plan_from_json(plan_to_json(plan)) == plan


@pytest.mark.parametrize(
    ("text", "loc", "words"),
    [
        ("", "", "no JSON"),
        ("[" * 100_000, "", "nests"),
        ("[]", "", "a plan is an object"),
        ("null", "", "a plan is an object"),
        ('{"version": 1, "version": 1}', "/version", "twice"),
        ('{"arrays": [], "fields": [], "objects": []}', "", "here is none"),
        ('{"arrays": [], "fields": [], "objects": [], "version": 2}', "/version", "is 2"),
        ('{"arrays": [], "fields": [], "objects": [], "version": true}', "/version", "is true"),
        ('{"arrays": [], "fields": [], "version": 1}', "", "no list 'objects'"),
        ('{"arrays": [], "fields": {}, "objects": [], "version": 1}', "", "no list 'fields'"),
        ('{"arrays": [], "fields": [], "objects": [], "x": 0, "version": 1}', "", "'x' is no part"),
        ('{"arrays": [], "fields": [NaN], "objects": [], "version": 1}', "/fields/0", "no JSON"),
        ('{"arrays": [], "fields": [5], "objects": [], "version": 1}', "/fields/0", "an object"),
    ],
)
def test_what_is_no_plan_is_refused(text: str, loc: str, words: str) -> None:
    ((found_loc, message),) = _problems(text)
    assert found_loc == loc
    assert words in message


@pytest.mark.parametrize(
    ("loc", "value", "found", "words"),
    [
        ("/fields/0/path", "rows", None, "a list of strings"),
        ("/fields/0/mode", "extract", None, "one of decide.choice"),
        ("/fields/0/type", ["number"], None, "one of string"),
        ("/fields/0/required", 1, None, "true or false"),
        ("/fields/0/title", 5, None, "a string or null"),
        ("/fields/0/max_tokens", 0, None, "at least 1"),
        ("/fields/0/item_steps", [1.0], None, "integers"),
        ("/fields/0/colour", 1, "/fields/0", "'colour' is no member"),
        ("/fields/0/constraints", None, None, "an object"),
        ("/fields/0/constraints/minimum", "0", None, "a number"),
        ("/fields/0/constraints/min_length", -1, None, "at least 0"),
        ("/fields/1/options", ["a", []], None, "a list of scalars"),
        ("/fields/2/levels", [1, 2.0], None, "a list of integers"),
        ("/arrays/0/min_items", None, None, "at least 0"),
        ("/arrays/0/anchored", "yes", None, "true or false"),
    ],
)
def test_a_member_of_a_wrong_shape_is_a_problem_at_its_place(
    loc: str, value: object, found: str | None, words: str
) -> None:
    ((found_loc, message),) = _problems(_changed(loc, value))
    assert found_loc == (found or loc)
    assert words in message


@pytest.mark.parametrize(
    ("loc", "value", "words"),
    [
        ("/fields/0/type", "string", "has no type 'string'"),
        ("/fields/0/on_null", "omit", "contradicts 'required'"),
        ("/fields/0/options", [1], "has no options"),
        ("/fields/0/levels", [1, 2], "has no levels"),
        ("/fields/0/null_outcome", True, "'null_outcome'"),
        ("/fields/0/format", "date", "does not have the format"),
        ("/fields/0/max_tokens", 5, "'max_tokens'"),
        ("/fields/0/item_steps", [], "'item_steps'"),
        ("/fields/0/path", ["rows", "*", "k"], "two parts"),
        ("/fields/0/path", ["other", "n"], "no object and no array"),
        ("/fields/0/path", [], "a path has"),
        ("/fields/0/path", ["rows"] * 60, "a path has"),
        ("/fields/0/constraints/pattern", "(", "pattern is invalid"),
        ("/fields/1/options", ["a", "a", None], "stands twice"),
        ("/fields/1/options", ["a"], "2 to 255 options"),
        ("/fields/1/option_descriptions", [], "one description"),
        ("/fields/1/nullable", False, "contradicts the options"),
        ("/fields/1/format", "email", "has no format"),
        ("/fields/2/levels", [3, 2, 1], "do not ascend"),
        ("/fields/2/levels", [1], "2 to 11 levels"),
        ("/fields/2/level_labels", ["a"], "one label"),
        ("/fields/2/null_outcome", False, "'null_outcome'"),
        ("/fields/3/format", None, "does not have the format"),
        ("/fields/4/nullable", True, "is never null"),
        ("/fields/4/required", False, "is required"),
        ("/objects/0/start", 1, "from 'start' to 'stop'"),
        ("/objects/0/stop", 10**18, "from 'start' to 'stop'"),
        ("/objects/0/required", False, "is required"),
        ("/arrays/0/max_items", 0, "more than 'max_items'"),
        ("/arrays/0/min_items", 10**6, "more than 10000"),
        ("/arrays/0/anchored", False, "'anchored'"),
        ("/arrays/1/anchored", True, "'anchored'"),
        ("/fields/4/path", ["texts", "x"], "the array has no item"),
    ],
)
def test_what_no_schema_compiles_to_is_refused(loc: str, value: object, words: str) -> None:
    assert any(words in message for _, message in _problems(_changed(loc, value)))


def test_a_member_that_is_missing_is_named() -> None:
    document = json.loads(plan_to_json(PLAN))
    del document["objects"][0]["stop"], document["fields"][1]["mode"]
    assert _problems(document) == [
        ("/fields/1", "the member 'mode' is missing"),
        ("/objects/0", "the member 'stop' is missing"),
    ]


def test_every_problem_comes_at_once() -> None:
    document = _changed("/fields/0/mode", 5)
    document["fields"][1]["path"] = 7
    document["arrays"][0]["start"] = -1
    assert [loc for loc, _ in _problems(document)] == [
        "/fields/0/mode",
        "/fields/1/path",
        "/arrays/0/start",
    ]


@settings(deadline=None)
@given(st.text() | st.binary().map(lambda source: source.decode("latin-1")))
def test_no_text_raises_anything_else(text: str) -> None:
    with suppress(DegSchemaError):
        plan_from_json(text)


LOCS = [
    f"/{name}/{index}/{member}"
    for name, parts in json.loads(plan_to_json(PLAN)).items()
    if name != "version"
    for index, part in enumerate(parts)
    for member in part
]
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | st.floats() | st.sampled_from(["*", "rows"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.just("minimum"), inner),
    max_leaves=5,
)


@settings(deadline=None)
@given(st.sampled_from(LOCS), JUNK)
def test_a_changed_plan_is_refused_or_coherent(loc: str, value: object) -> None:
    with suppress(PlanError):
        plan = plan_from_json(json.dumps(_changed(loc, value)))
        assert plan_from_json(plan_to_json(plan)) == plan


@pytest.mark.parametrize("case", GOLDEN, ids=[case["name"] for case in GOLDEN])
def test_plans_stay_the_same_between_versions(case: dict[str, Any]) -> None:
    plan = compile_schema(case["schema"])
    assert plan.fingerprint == case["fingerprint"]
    assert {field.pointer: field.fingerprint for field in plan.fields} == case["fields"]
    assert {array.pointer: array.fingerprint for array in plan.arrays} == case["arrays"]
    assert plan_to_json(plan) == case["json"]
    assert plan_from_json(case["json"]) == plan


@pytest.mark.parametrize("seed", ["0", "4711"])
def test_plans_are_the_same_in_every_process(seed: str) -> None:
    program = (
        "import json, sys; from deg_schema import compile_schema, plan_to_json\n"
        "for schema in json.load(sys.stdin):\n"
        "    plan = compile_schema(schema)\n"
        "    print(plan.fingerprint, plan_to_json(plan))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps([case["schema"] for case in GOLDEN]),
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [f"{case['fingerprint']} {case['json']}" for case in GOLDEN]
