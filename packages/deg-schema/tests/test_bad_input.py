import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deg_schema.checks import check_source
from deg_schema.compile import compile_schema
from deg_schema.errors import Problem, RequestError, SchemaError
from deg_schema.request import parse_request

# the goal is one second: the machine that runs the tests may be slow
SECONDS, MEGABYTES = 3, 200
STATUS = Path("/proc/self/status")


def _nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def _leaf(leaf: object) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": leaf}}


def _properties(number: int, leaf: Callable[[int], object]) -> dict[str, Any]:
    return {"type": "object", "properties": {f"p{i}": leaf(i) for i in range(number)}}


def _chain(number: int) -> dict[str, Any]:
    definitions: dict[str, Any] = {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(number)}
    union = {"anyOf": [{"$ref": "#/$defs/d0"}, {"type": "null"}]}
    return _properties(100, lambda i: union) | {"$defs": definitions}


def _union_used_often() -> dict[str, Any]:
    union = {"anyOf": [{"const": number} for number in range(200)]}
    return _properties(9000, lambda i: {"$ref": "#/$defs/u"}) | {"$defs": {"u": union}}


# what a schema is, and where the first problem stands; made only where it is used
SCHEMAS: dict[str, tuple[Callable[[], Any], str]] = {
    "depth": (lambda: _nested(5000), "/properties/a" * 128),
    "options": (lambda: _leaf({"enum": list(range(200_000))}), "/properties/a/enum"),
    "more options": (lambda: _leaf({"enum": list(range(900_000))}), "/properties/a/enum"),
    "repeated options": (
        lambda: _properties(3000, lambda i: {"enum": ["a"] * 255}),
        "/properties/p0/enum/1",
    ),
    "constants": (
        lambda: _leaf({"anyOf": [{"const": i} for i in range(200_000)]}),
        "/properties/a/anyOf",
    ),
    "constants by reference": (_union_used_often, "/$defs/u/anyOf"),
    "a chain of references": (lambda: _chain(50_000), ""),
    "properties": (lambda: _properties(50_000, lambda i: {"type": "string"}), ""),
    "wrong properties": (lambda: _properties(50_000, lambda i: {"type": 5}), "/properties/p0/type"),
    "unknown keywords": (
        lambda: {"type": "object"} | dict.fromkeys(map(str, range(200_000))),
        "/0",
    ),
    "names": (
        lambda: {"type": "object", "required": [f"p{i}" for i in range(200_000)]},
        "/required/0",
    ),
    "description": (lambda: {"type": "object", "description": "x" * 10_000_000}, "/description"),
    "wide description": (lambda: _leaf({"title": "é" * 10_000_000}), "/properties/a/title"),
    "a name": (lambda: {"type": "object", "properties": {"k" * 10_000_000: {}}}, "/properties"),
    "open brackets": (
        lambda: _leaf({"type": "string", "pattern": "(" * 10_000}),
        "/properties/a/pattern",
    ),
    "repetitions of repetitions": (
        lambda: _leaf({"type": "string", "pattern": "(?:(?:(?=a)){65535}){65535}"}),
        "/properties/a/pattern",
    ),
    "backtracking": (
        lambda: _leaf({"type": "string", "pattern": "^(a|aa)+$"}),
        "/properties/a/pattern",
    ),
    "backtracking beside options": (
        lambda: _leaf({"type": "string", "pattern": "^(a|aa)+$", "enum": ["a" * 90, "b" * 90]}),
        "/properties/a/pattern",
    ),
    "backtracking everywhere": (
        lambda: _properties(9000, lambda i: {"type": "string", "pattern": f"^(a|aa)+{i}$"}),
        "/properties/p0/pattern",
    ),
    "large patterns": (
        lambda: _properties(9000, lambda i: {"type": "string", "pattern": f"[a-z]{{900}}{i}"}),
        "/properties/p55/pattern",
    ),
    "nan": (lambda: _leaf({"type": "number", "maximum": float("nan")}), "/properties/a/maximum"),
    "nan everywhere": (lambda: _leaf({"enum": [float("nan")] * 900_000}), "/properties/a/enum/0"),
    "infinity": (lambda: _leaf({"default": float("inf")}), "/properties/a/default"),
    "a huge integer": (lambda: _leaf({"enum": [10**5000, 1]}), "/properties/a/enum/0"),
    "a surrogate": (lambda: _leaf({"enum": ["\ud800", "b"]}), "/properties/a/enum/0"),
    "a surrogate in a name": (
        lambda: {"type": "object", "properties": {"\udfff": {}}},
        "/properties",
    ),
    "names that are no text": (lambda: {"type": "object", "properties": {1: {}}}, "/properties"),
    "a set": (lambda: _leaf({"enum": {"a", "b"}}), "/properties/a/enum"),
}

# where a problem stands in the text of a file, whose pointer may name nothing there
TEXTS: dict[str, tuple[Callable[[], str], str]] = {
    "depth": (lambda: '{"properties":{"a":' * 5000 + "{}" + "}}" * 5000, ""),
    "brackets": (lambda: "[" * 1_000_000, ""),
    "options": (lambda: json.dumps(_leaf({"enum": list(range(900_000))})), "/properties/a/enum"),
    "keys": (
        lambda: '{"properties":{' + ",".join(f'"k{i // 2}":1' for i in range(100_000)) + "}}",
        "/properties/k0",
    ),
    "nan": (
        lambda: '{"type":"object","properties":{"a":{"minimum":NaN}}}',
        "/properties/a/minimum",
    ),
    "infinity": (lambda: '{"type":"object","title":-Infinity}', "/title"),
    "digits": (
        lambda: '{"type":"object","properties":{"a":{"minimum":' + "9" * 1_000_000 + "}}}",
        "/properties/a/minimum",
    ),
    "exponent": (lambda: '{"type":"object","title":1e999999}', "/title"),
    "surrogate": (lambda: '{"type":"object","description":"\\ud800"}', "/description"),
}


def problems_of_schema(name: str) -> tuple[Problem, ...]:
    schema = SCHEMAS[name][0]()
    with pytest.raises(SchemaError) as raised:
        compile_schema(schema)
    return raised.value.problems


def problems_of_text(name: str) -> tuple[Problem, ...]:
    return tuple(found.problem for found in check_source("", TEXTS[name][0]().encode()).findings)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_bad_schema_is_a_problem_in_its_place_within_a_second(name: str) -> None:
    start = time.process_time()
    first = problems_of_schema(name)[0]
    assert time.process_time() - start < SECONDS
    assert first.loc == SCHEMAS[name][1]


@pytest.mark.parametrize("name", TEXTS)
def test_a_bad_file_is_a_finding_in_its_place_within_a_second(name: str) -> None:
    start = time.process_time()
    first = problems_of_text(name)[0]
    assert time.process_time() - start < SECONDS
    assert first.loc == TEXTS[name][1]


@pytest.mark.parametrize("name", TEXTS)
def test_a_request_with_a_bad_schema_is_a_problem(name: str) -> None:
    with pytest.raises(RequestError) as raised:
        parse_request('{"context": "", "schema": ' + TEXTS[name][0]() + "}")
    loc = TEXTS[name][1]
    assert raised.value.problems[0].loc == (f"/schema{loc}" if loc else "")


@pytest.mark.skipif(not STATUS.exists(), reason="only Linux tells the peak of one program")
def test_no_bad_input_takes_much_memory() -> None:
    # the peak of a process never falls, so one of its own tells of all inputs together
    command = [sys.executable, str(Path(__file__))]
    peak = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert int(peak) < 1024 * MEGABYTES


def test_at_most_ten_thousand_problems_are_told() -> None:
    problems = problems_of_schema("unknown keywords")
    assert len(problems) == 10_001
    assert "correct them first" in problems[-1].msg


if __name__ == "__main__":
    for each in SCHEMAS:
        problems_of_schema(each)
    for each in TEXTS:
        problems_of_text(each)
    # in kB; `ru_maxrss` would count what the parent held when it started this
    sys.stdout.write(STATUS.read_text().partition("VmHWM:")[2].split()[0])
