from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, strategies as st
from jsonschema import Draft202012Validator

from deg_model import Tokenizer, encode_context
from deg_schema import compile_schema
from deg_train.generate import HELD_OUT_KINDS, ListSource, list_asking, list_leaves
from deg_train.generate.fields import Field
from deg_train.generate.library import default_library
from deg_train.generate.list_drafts import are_apart, draw_sorts
from deg_train.generate.list_layouts import held_out_layouts, layouts
from deg_train.generate.list_library import list_sorts
from deg_train.generate.list_page import Cell, Grid, Page
from deg_train.generate.names import seen_names, trained_names, unseen_names, words_of
from deg_train.generate.phrasing import phrase
from deg_train.gold_anchors import gold_anchors, regions_of
from deg_train.questions import example_of
from deg_train.records import check, lookup


def test_every_record_is_consistent_and_valid() -> None:
    for split in ("train", "lists"):
        for record in ListSource(split).records(150, seed=4):
            check(record)
            plan = compile_schema(record.schema)
            assert plan.arrays
            Draft202012Validator(record.schema).validate(record.value)


def test_a_seed_says_which_records_come() -> None:
    assert ListSource("val").records(5, seed=1) == ListSource("val").records(5, seed=1)
    assert ListSource("val").records(5, seed=1) != ListSource("val").records(5, seed=2)


def test_lists_that_hold_lists_are_drawn_where_asked() -> None:
    records = ListSource("val", nested=True).records(40, seed=1)
    plans = [compile_schema(record.schema) for record in records]
    holding = sum(any(array.item_steps for array in plan.arrays) for plan in plans)
    # but for a list without items, and one that is not asked for
    assert holding > 30
    for record in records:
        check(record)


def test_layouts_are_trained_or_held_out() -> None:
    held, trained = layouts(held_out=True), layouts(held_out=False)
    assert {each.name for each in held} == held_out_layouts()
    assert len(held) >= 6
    assert not {each.name for each in trained} & held_out_layouts()
    # what lays out any list must be on both sides
    assert any(each.labelled for each in held)
    assert any(each.labelled for each in trained)


def test_a_layout_prints_each_cell_once_where_it_says() -> None:
    rows = tuple(
        tuple(Cell(f"{word}{number}", (number, word)) for word in ("ab", "cd", "ef"))
        for number in range(3)
    )
    grid = Grid(("One", "Two", "Three"), rows)
    for layout in (*layouts(held_out=True), *layouts(held_out=False)):
        page = Page()
        layout.lay_out(page, grid, Random(0))
        assert {key: page.text[slice(*span)] for key, span in page.spans.items()} == {
            cell.key: cell.text for row in rows for cell in row
        }, layout.name


def test_most_arrays_can_be_taught(tokenizer: Tokenizer) -> None:
    examples = [example_of(record, tokenizer) for record in ListSource().records(80, seed=2)]
    assert sum(example.num_skipped for example in examples) <= 3
    heads = {question.fork.head for example in examples for question in example.questions}
    assert heads == {"count", "anchor", "extract", "choice", "score", "noul"}


def test_every_sort_of_list_has_names_and_columns() -> None:
    names = [sort.name for sort in list_sorts()]
    assert len(names) == len(set(names)) >= 20
    assert all(len(sort.columns) >= 3 for sort in list_sorts())


def test_a_span_that_two_items_share_locates_neither(tokenizer: Tokenizer) -> None:
    context = encode_context("name: tea price 3, milk price 4", tokenizer)
    shared = ((0, 4),)
    spans = {"/x/0/a": shared, "/x/1/a": shared, "/x/0/b": ((6, 9),), "/x/1/b": ((19, 23),)}
    starts = gold_anchors(spans, "/x", 2, context, (0, context.num_tokens))
    assert starts == (context.cover(6, 9)[0], context.cover(19, 23)[0])
    assert gold_anchors(spans, "/x", 3, context, (0, context.num_tokens)) is None
    assert gold_anchors(spans, "/x", 2, context, (0, starts[1])) is None


def test_an_item_reaches_to_the_next_one() -> None:
    assert regions_of((7, 3), 20) == [(7, 20), (3, 7)]
    assert regions_of((), 20) == []


def test_items_come_in_the_order_of_the_document() -> None:
    num_arrays = 0
    for record in ListSource("val").records(150, seed=3):
        for array in compile_schema(record.schema).arrays:
            if array.item_steps or not array.anchored:
                continue
            pointer = array.pointer_at(())
            places = [
                [
                    found[0][0]
                    for at, found in record.spans.items()
                    if at == f"{pointer}/{number}" or at.startswith(f"{pointer}/{number}/")
                ]
                for number in range(len(lookup(record.value, pointer) or []))
            ]
            # of an item may be asked only what it lacks: such an array trains nothing
            if all(places):
                num_arrays += 1
                starts = list(map(min, places))
                assert starts == sorted(set(starts)), record.context
    assert num_arrays > 120


def test_a_missing_value_is_null_or_left_out_of_its_item_alone() -> None:
    gaps = [
        (row, name)
        for record in ListSource().records(200, seed=6)
        for rows in record.value.values()
        if isinstance(rows, list) and rows and isinstance(rows[0], dict)
        for row in rows
        for name in {key for each in rows for key in each}
        if row.get(name) is None
    ]
    assert any(name in row for row, name in gaps)
    assert any(name not in row for row, name in gaps)


def test_training_asks_for_no_held_out_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: set[str] = set()

    def spy(spec: Field, *others: Any) -> Any:
        asked.add(spec.kind)
        return phrase(spec, *others)

    monkeypatch.setattr(list_asking, "phrase", spy)
    monkeypatch.setattr(list_leaves, "phrase", spy)
    ListSource().records(400, seed=8)
    assert len(asked) > 30
    assert not asked & HELD_OUT_KINDS


def test_no_list_goes_by_a_name_that_documents_hold_out() -> None:
    library = default_library()
    trained = trained_names(library)
    kept = {
        words_of(name)
        for domain in library.domains.values()
        for spec in domain.fields.values()
        for name in unseen_names(spec, trained)
    }
    for sort in list_sorts():
        for spec in (sort.array, *sort.columns):
            assert kept.isdisjoint(map(words_of, seen_names(spec))), (sort.name, spec.key)


def test_sentences_are_trained_or_held_out() -> None:
    frames = [frame for sort in list_sorts() for frame in sort.frames]
    assert sum(frame.held_out for frame in frames) > 20
    trained = [frame.nodes for frame in frames if not frame.held_out]
    assert len(trained) > 300
    assert not any(frame.nodes in trained for frame in frames if frame.held_out)


def test_lists_of_one_document_cannot_be_taken_for_each_other() -> None:
    for seed in range(50):
        one, two, three = draw_sorts(Random(seed), 3)
        assert are_apart(one, two)
        assert are_apart(three, one)
        assert not are_apart(two, two)


@given(st.lists(st.sampled_from(["a\n", "bc", "\n", " "])), st.sampled_from(["> ", "", "  "]))
def test_a_page_knows_its_cells_under_any_prefix(texts: list[str], prefix: str) -> None:
    page = Page()
    for number, text in enumerate(texts):
        page.say(text)
        page.print(Cell(f"cell {number}", number))
    page.start_lines(prefix)
    assert all(page.text[slice(*page.spans[key])] == f"cell {key}" for key in range(len(texts)))
    assert all(line.startswith(prefix) for line in page.text.split("\n"))
