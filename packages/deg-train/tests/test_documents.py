from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from deg_schema import compile_schema
from deg_train.generate import DocumentSource, Library, Split, is_held_out, load_library
from deg_train.generate.documents import HELD_OUT_NAMES
from deg_train.generate.names import seen_names, trained_names, unseen_names, words_of
from deg_train.generate.phrasing import Naming
from deg_train.records import Record, check, lookup

SPLITS: tuple[Split, ...] = (
    "train",
    "val",
    "templates",
    "names",
    "both",
    "kinds",
    "nonsense",
)
SOURCES = {split: DocumentSource(split) for split in SPLITS}
splits = st.sampled_from(SPLITS)
seeds = st.integers(0, 10**9)


def leaves(schema: dict[str, Any], at: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for name, leaf in schema["properties"].items():
        pointer = f"{at}/{name.replace('~', '~0').replace('/', '~1')}"
        if leaf.get("type") == "object":
            yield from leaves(leaf, pointer)
        else:
            yield pointer, leaf


@given(splits, seeds)
@settings(max_examples=200, deadline=None)
def test_a_record_agrees_with_itself_and_its_schema_compiles(split: Split, seed: int) -> None:
    record = SOURCES[split].sample(Random(seed))
    check(record)
    plan = compile_schema(record.schema)
    assert {field.pointer for field in plan.fields} >= set(record.spans)
    for field in plan.fields:
        value = lookup(record.value, field.pointer)
        if field.mode.startswith("decide"):
            assert field.pointer not in record.spans
            assert value is not None or field.nullable
        else:
            assert (value is not None) == (field.pointer in record.spans)
            assert value is not None or field.on_null != "forbid"


@given(splits, seeds)
@settings(max_examples=40, deadline=None)
def test_a_seed_gives_the_same_record(split: Split, seed: int) -> None:
    first = SOURCES[split].sample(Random(seed))
    assert SOURCES[split].sample(Random(seed)) == first


def test_records_are_those_of_the_stream() -> None:
    stream = SOURCES["val"].stream(5)
    assert SOURCES["val"].records(3, 5) == [next(stream) for _ in range(3)]
    assert SOURCES["val"].records(1, 5) != SOURCES["val"].records(1, 6)


def test_an_unknown_split_is_refused() -> None:
    with pytest.raises(ValueError, match="'test' is no split"):
        DocumentSource("test")  # type: ignore[arg-type]


def test_templates_held_out_are_about_one_in_eight() -> None:
    templates = [
        template for domain in load_library().domains.values() for template in domain.templates
    ]
    share = sum(map(is_held_out, templates)) / len(templates)
    assert 0.06 < share < 0.25


def test_no_held_out_name_is_a_seen_one() -> None:
    library = load_library()
    trained = trained_names(library)
    naming = Naming(unseen=True, trained=trained)
    for domain in library.domains.values():
        for spec in domain.fields.values():
            assert not set(seen_names(spec)) & set(spec.names[-HELD_OUT_NAMES:])
            assert all(words_of(name) not in trained for name in unseen_names(spec, trained))
            assert naming.abouts(spec)[0] not in Naming().abouts(spec)


def test_the_names_split_asks_by_names_that_training_never_shows() -> None:
    trained = {"".join(words) for words in trained_names(load_library())}
    for record in SOURCES["names"].records(150, 1):
        for pointer, _ in leaves(record.schema):
            name = "".join(words_of(pointer.rsplit("/", 1)[1]))
            assert name not in trained


FIELDS = """\
wheel : license_plate
  names: plate, tag, registration, reg no, mark
  about: The plate. | Which car? | Plate as printed
day : date
  names: day, date, when, on, at
  about: The day. | Which day? | Day as printed
host : person
  names: host, owner, keeper, landlord, boss
  about: The host. | Which host? | Host as printed
"""


def make_library(root: Path) -> Library:
    for folder in ("templates", "fields"):
        (root / folder).mkdir()
    ids = [f"car.{number}" for number in range(40)]
    text = "".join(f"=== {name}\n{name} {{wheel}} {{day}} {{host}}\n" for name in ids)
    (root / "templates" / "car.txt").write_text(text)
    (root / "fields" / "car.txt").write_text(FIELDS)
    return load_library(root)


def test_training_asks_no_held_out_kind_and_shows_no_held_out_template(tmp_path: Path) -> None:
    library = make_library(tmp_path)
    held_out = {t.id for t in library.domains["car"].templates if is_held_out(t)}
    assert held_out
    for record in DocumentSource("train", library=library).records(200, 1):
        asked = {words_of(pointer.rsplit("/", 1)[1]) for pointer, _ in leaves(record.schema)}
        assert not asked & {("plate",), ("tag",), ("registration",)}
        assert not held_out & set(record.context.split())


def test_the_kinds_split_asks_for_held_out_kinds_only(tmp_path: Path) -> None:
    source = DocumentSource("kinds", library=make_library(tmp_path))
    for record in source.records(50, 1):
        asked = {words_of(pointer.rsplit("/", 1)[1])[0] for pointer, _ in leaves(record.schema)}
        assert asked <= {"plate", "tag", "registration"} | {"has", "mentions", "includes", "states"}


def test_training_says_often_enough_that_something_is_absent() -> None:
    records = SOURCES["train"].records(300, 2)
    assert 0.1 < share_absent(records) < 0.45


def share_absent(records: list[Record]) -> float:
    asked = [
        (record, field.pointer)
        for record in records
        for field in compile_schema(record.schema).fields
        if field.mode.startswith("extract")
    ]
    return sum(pointer not in record.spans for record, pointer in asked) / len(asked)
