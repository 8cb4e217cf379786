from __future__ import annotations

from random import Random

from jsonschema import Draft202012Validator

from deg_model import Tokenizer, encode_context
from deg_schema import compile_schema
from deg_train.generate import ListSource
from deg_train.generate.list_layouts import Cell, Grid, Page, held_out_layouts, layouts
from deg_train.generate.list_library import list_sorts
from deg_train.gold_anchors import gold_anchors, regions_of
from deg_train.questions import example_of
from deg_train.records import check


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
