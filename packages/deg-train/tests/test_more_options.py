from __future__ import annotations

from random import Random

from hypothesis import given, settings, strategies as st

from deg_schema import compile_schema
from deg_train.generate.more_options import with_more_options
from deg_train.generate.rescaling import rescaled
from deg_train.records import Record

OPTIONS = ["lost_parcel", "late_parcel", "praise"]
SCALE = {
    "type": "integer",
    "minimum": 0,
    "maximum": 2,
    "x-levels": {"0": "calm", "1": "annoyed", "2": "furious"},
}


def record_of(leaf: dict[str, object], value: object) -> Record:
    return Record("text", {"type": "object", "properties": {"x": leaf}}, {"x": value}, {}, "made")


@given(st.integers(0, 10**6), st.integers(10, 255))
@settings(deadline=None)
def test_options_are_added_to_those_that_are_there(seed: int, most: int) -> None:
    made = with_more_options(record_of({"enum": OPTIONS}, "praise"), Random(seed), most=most)
    (field,) = compile_schema(made.schema).fields
    assert set(OPTIONS) < set(field.options)
    assert 4 <= len(field.options) <= most
    assert made.value == {"x": "praise"}


def test_there_may_be_as_many_as_a_schema_allows() -> None:
    record = record_of({"enum": OPTIONS}, "praise")
    sizes = [
        len(with_more_options(record, Random(seed)).schema["properties"]["x"]["enum"])
        for seed in range(200)
    ]
    assert max(sizes) > 200
    assert min(sizes) < 12


def test_described_options_stay() -> None:
    branches = [{"const": option, "description": "about it"} for option in OPTIONS]
    record = record_of({"oneOf": branches}, "praise")
    assert with_more_options(record, Random(1)) == record


@given(st.integers(0, 10**6), st.integers(0, 2))
@settings(deadline=None)
def test_a_level_keeps_its_words_on_another_scale(seed: int, level: int) -> None:
    made = rescaled(record_of(SCALE, level), Random(seed))
    leaf = made.schema["properties"]["x"]
    assert leaf["maximum"] - leaf["minimum"] == 2
    assert leaf["x-levels"][str(made.value["x"])] == SCALE["x-levels"][str(level)]
    compile_schema(made.schema)


def test_a_scale_without_words_keeps_its_direction() -> None:
    bare = {key: value for key, value in SCALE.items() if key != "x-levels"}
    for seed in range(20):
        made = rescaled(record_of(bare, 2), Random(seed))
        assert made.value["x"] == made.schema["properties"]["x"]["maximum"]
