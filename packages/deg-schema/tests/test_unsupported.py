from __future__ import annotations

from deg_schema.compile import compile_schema
from deg_schema.errors import Problem
from deg_schema.unsupported import unsupported

WRITTEN = {"type": "string", "x-generate": True}


def test_every_text_to_be_written_is_a_problem_at_its_place() -> None:
    nested = {"type": "object", "properties": {"a/b": WRITTEN, "c": {"type": "string"}}}
    plan = compile_schema({"type": "object", "properties": {"reply": WRITTEN, "d": nested}})
    message = "this version writes no text ('x-generate'); leave the field out"
    assert unsupported(plan) == (
        Problem("/properties/reply", message),
        Problem("/properties/d/properties/a~1b", message),
    )


def test_a_plan_without_texts_to_write_has_no_problem() -> None:
    leaves = {"a": {"type": "string", "x-generate": False}, "b": {"type": "boolean"}}
    assert unsupported(compile_schema({"type": "object", "properties": leaves})) == ()


def test_every_array_is_a_problem_at_its_place_and_its_leaves_are_none() -> None:
    times = {"type": "array", "items": WRITTEN}
    row = {"type": "object", "properties": {"*": {"type": "string"}, "times": times}}
    leaves = {"rows": {"type": "array", "items": row}, "reply": WRITTEN}
    problems = unsupported(compile_schema({"type": "object", "properties": leaves}))
    assert [problem.loc for problem in problems] == [
        "/properties/rows",
        "/properties/rows/items/properties/times",
        "/properties/reply",
    ]
    assert problems[0].msg == (
        "this version fills no arrays; ask for each value as a property of its own"
    )
