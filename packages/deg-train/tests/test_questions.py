from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from deg_model import MAX_SPAN_TOKENS, Tokenizer
from deg_train.questions import Example, Question, example_of
from deg_train.records import Record

NAMES = ("Ann", "Bob", "Eve")


def ask(tokenizer: Tokenizer, leaf: dict[str, Any], value: Any, **kwargs: Any) -> Question:
    context = kwargs.get("context", "Ann met Bob")
    spans = {"/x": kwargs["spans"]} if "spans" in kwargs else {}
    schema = {"type": "object", "properties": {"x": leaf}}
    example = example_of(Record(context, schema, {"x": value}, spans, "made"), tokenizer)
    (question,) = example.questions
    return question


def test_the_outcome_of_a_choice_is_its_place_among_the_options(tokenizer: Tokenizer) -> None:
    assert ask(tokenizer, {"enum": ["a", "b", "c"]}, "c").outcome == 2
    assert ask(tokenizer, {"enum": ["a", None]}, None).outcome == 1


def test_true_is_not_taken_for_one(tokenizer: Tokenizer) -> None:
    assert ask(tokenizer, {"enum": [1, True, "a"]}, True).outcome == 1


def test_yes_is_the_first_outcome(tokenizer: Tokenizer) -> None:
    assert ask(tokenizer, {"type": "boolean"}, True).outcome == 0
    assert ask(tokenizer, {"type": "boolean"}, False).outcome == 1


def test_a_score_counts_levels_and_null_comes_last(tokenizer: Tokenizer) -> None:
    leaf = {"type": ["integer", "null"], "minimum": 3, "maximum": 5}
    assert ask(tokenizer, leaf, 4).outcome == 1
    assert ask(tokenizer, leaf, None).outcome == 3


def test_every_place_of_a_value_is_a_right_span(tokenizer: Tokenizer) -> None:
    text = "Bob met Bob"
    question = ask(tokenizer, {"type": "string"}, "Bob", context=text, spans=((8, 11), (0, 3)))
    assert len(question.spans) == 2
    assert question.spans[0] < question.spans[1]


def test_a_value_that_is_not_there_has_no_span(tokenizer: Tokenizer) -> None:
    assert ask(tokenizer, {"type": "string"}, None).spans == ()


def test_a_nested_field_finds_its_value(tokenizer: Tokenizer) -> None:
    leaf = {"type": "object", "properties": {"a/b": {"enum": ["u", "v"]}}}
    schema = {"type": "object", "properties": {"x": leaf}}
    record = Record("text", schema, {"x": {"a/b": "v"}}, {}, "made")
    assert example_of(record, tokenizer).questions[0].outcome == 1


def test_a_value_too_long_to_point_at_is_left_out(tokenizer: Tokenizer) -> None:
    text = "7! " * (MAX_SPAN_TOKENS + 2)
    schema = {"type": "object", "properties": {"x": {"type": "string"}}}
    spans = {"/x": ((0, len(text) - 1),)}
    record = Record(text, schema, {"x": text[:-1]}, spans, "made")
    assert example_of(record, tokenizer).questions == ()


def test_an_array_whose_items_stand_nowhere_is_left_out(tokenizer: Tokenizer) -> None:
    rows = {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "number"}}}}
    schema = {"type": "object", "properties": {"rows": rows, "y": {"type": "boolean"}}}
    record = Record("7", schema, {"rows": [{"n": 7}], "y": True}, {}, "made")
    example = example_of(record, tokenizer)
    assert [question.outcome for question in example.questions] == [0]
    assert example.num_skipped == 1


def test_the_tokens_of_an_example_are_those_of_its_context_and_forks(tokenizer: Tokenizer) -> None:
    schema = {"type": "object", "properties": {"x": {"type": "string"}, "y": {"type": "boolean"}}}
    example = example_of(Record("Ann", schema, {"y": True}, {}, "made"), tokenizer)
    forks = sum(len(question.fork.ids) for question in example.questions)
    assert example.num_tokens == len(example.context.ids) + forks


def test_an_array_asks_for_its_items_and_each_value_of_them(
    array_record: Record, array_example: Example
) -> None:
    count, anchor, *values = array_example.questions
    assert (count.fork.head, count.outcome, count.counts) == ("count", 3, (0, 64))
    starts = [array_example.context.starts[token] for token in anchor.starts]
    assert [array_record.context[start:].split()[0] for start in starts] == ["tea", "milk", "bread"]
    assert anchor.region == (0, array_example.context.num_tokens)
    assert [len(value.spans) for value in values] == [1, 1, 1, 1, 1, 0]
    # an item reaches to where the next one starts
    assert [value.fork.anchor for value in values[:3:2]] == [
        (anchor.starts[0], anchor.starts[1]),
        (anchor.starts[1], anchor.starts[2]),
    ]


def test_of_many_values_in_items_a_few_are_drawn(
    array_record: Record, tokenizer: Tokenizer
) -> None:
    rows = array_record.value["rows"] * 5
    schema = {"type": "object", "properties": {"x": {"type": "array", "items": {"enum": [1, 2]}}}}
    record = replace(array_record, schema=schema, value={"x": [1] * len(rows)}, spans={})
    assert len(example_of(record, tokenizer).questions) == 1 + 15
    assert len(example_of(record, tokenizer, Random(0)).questions) == 1 + 3


def test_an_array_is_skipped_whose_items_start_at_one_place(
    array_record: Record, tokenizer: Tokenizer
) -> None:
    spans = dict.fromkeys(array_record.spans, ((9, 12),))
    example = example_of(replace(array_record, spans=spans), tokenizer)
    assert (example.questions, example.num_skipped) == ((), 1)


def test_an_array_is_skipped_whose_schema_does_not_allow_its_items(tokenizer: Tokenizer) -> None:
    def skipped(num_items: int, **bounds: int) -> int:
        array = {"type": "array", "items": {"type": "boolean"}, **bounds}
        schema = {"type": "object", "properties": {"x": array}}
        record = Record("text", schema, {"x": [True] * num_items}, {}, "made")
        return example_of(record, tokenizer).num_skipped

    assert [skipped(number, minItems=1, maxItems=2) for number in range(4)] == [1, 0, 0, 1]
    # what is past the last count of the head is that count
    assert skipped(70) == 0


def test_a_window_may_show_fewer_items_than_may_be(tokenizer: Tokenizer) -> None:
    text = "".join(f"{name} {'- ' * 150}\n" for name in NAMES)
    array = {"type": "array", "items": {"type": "string"}, "minItems": 3}
    schema = {"type": "object", "properties": {"x": array}}
    spans = {f"/x/{n}": ((text.index(name), text.index(name) + 3),) for n, name in enumerate(NAMES)}
    record = Record(text, schema, {"x": list(NAMES)}, spans, "made")
    drawn = [example_of(record, tokenizer, Random(seed), max_tokens=300) for seed in range(6)]
    assert all(each.num_skipped == 0 for each in drawn)
    anchors = [q for each in drawn for q in each.questions if q.fork.head == "anchor"]
    assert len(anchors) == 6
    assert all(0 < len(question.starts) < 3 for question in anchors)


def test_a_nested_array_is_asked_about_in_the_region_of_its_item(
    nested_record: Record, tokenizer: Tokenizer
) -> None:
    example = example_of(nested_record, tokenizer)
    anchors = [question for question in example.questions if question.fork.head == "anchor"]
    (outer,) = (question for question in anchors if len(question.starts) == 3)
    inner = [question for question in anchors if question is not outer]
    end = example.context.num_tokens
    borders = [*outer.starts, end]
    assert [question.region for question in inner] == list(zip(borders, borders[1:], strict=False))
    assert [len(question.starts) for question in inner] == [2, 1, 0]
    counts = [question.outcome for question in example.questions if question.fork.head == "count"]
    assert counts == [3, 2, 1, 0]
    # a value is biased towards the innermost item that it is in
    regions = {question.fork.anchor for question in example.questions if question.fork.anchor}
    first, second = inner[0].starts
    assert {(first, second), (second, borders[1])} <= regions


def test_questions_about_whole_arrays_are_always_kept(
    nested_record: Record, tokenizer: Tokenizer
) -> None:
    def of_arrays(questions: tuple[Question, ...]) -> list[Question]:
        return [each for each in questions if each.fork.head in ("count", "anchor")]

    every = example_of(nested_record, tokenizer).questions
    for seed in range(5):
        drawn = example_of(nested_record, tokenizer, Random(seed)).questions
        assert of_arrays(drawn) == of_arrays(every)
        assert len(drawn) < len(every)
