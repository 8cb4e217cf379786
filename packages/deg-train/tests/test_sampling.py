from __future__ import annotations

from dataclasses import replace
from random import Random

from hypothesis import given, settings, strategies as st

from deg_model import Fork, Tokenizer, encode_context
from deg_schema import FieldPlan
from deg_train.generate import DocumentSource, ListSource
from deg_train.questions import Question, example_of
from deg_train.records import Record, check, lookup
from deg_train.sampling import cap_decided, cap_tokens, cropped, drawn_option_order

RECORDS = [*ListSource("train").records(20, 3), *DocumentSource("train").records(20, 3)]


def question(head: str, size: int, pointer: str = "/x") -> Question:
    return Question(Fork(ids=(0,) * size, options=(), head=head), pointer)


HEADS = st.sampled_from(["choice", "noul", "extract", "count", "anchor"])
QUESTIONS = st.lists(
    st.builds(question, HEADS, st.integers(1, 30), st.sampled_from(["/a", "/b/*/c"])), max_size=20
)


@given(QUESTIONS, st.integers(1, 5), st.integers(0, 9))
def test_at_most_so_many_of_each_decided_field_are_kept(
    questions: list[Question], most: int, seed: int
) -> None:
    kept = cap_decided(questions, most, Random(seed))
    for pointer in ("/a", "/b/*/c"):
        before, after = (
            sum(q.pointer == pointer and q.fork.head in ("choice", "noul") for q in some)
            for some in (questions, kept)
        )
        assert after == min(before, most)
    others = [q for q in questions if q.fork.head not in ("choice", "noul")]
    assert [q for q in kept if q.fork.head not in ("choice", "noul")] == others


@given(QUESTIONS, st.integers(0, 200), st.integers(0, 9))
def test_what_is_kept_fits_save_whole_arrays_and_one_other(
    questions: list[Question], room: int, seed: int
) -> None:
    kept = cap_tokens(questions, room, Random(seed))
    whole = [q for q in questions if q.fork.head in ("count", "anchor")]
    assert [q for q in kept if q.fork.head in ("count", "anchor")] == whole
    others = [q for q in kept if q.fork.head not in ("count", "anchor")]
    assert bool(others) == (len(whole) < len(questions))
    total = sum(len(q.fork.ids) for q in kept)
    assert total <= room or len(others) <= 1
    if sum(len(q.fork.ids) for q in questions) <= room:
        assert kept == questions


@settings(max_examples=60, deadline=None)
@given(record=st.sampled_from(RECORDS), num_tokens=st.integers(8, 60), seed=st.integers(0, 9))
def test_a_window_keeps_true_places_alone(
    tokenizer: Tokenizer, record: Record, num_tokens: int, seed: int
) -> None:
    context = encode_context(record.context, tokenizer)
    if context.num_tokens <= num_tokens:
        return
    window = cropped(record, context, num_tokens, Random(seed))
    assert window.context in record.context
    check(window)
    for pointer in window.spans:
        assert lookup(window.value, pointer) is not None
    again = cropped(record, context, num_tokens, Random(seed))
    assert again == window


def test_windows_differ_and_show_a_place(tokenizer: Tokenizer) -> None:
    # a place in an item that starts before the window would be lost with its item
    record = next(
        record
        for record in DocumentSource("train").records(200, seed=1)
        if len(record.spans) > 4 and len(record.context) > 400
    )
    context = encode_context(record.context, tokenizer)
    windows = [cropped(record, context, 60, Random(seed)) for seed in range(20)]
    assert len({window.context for window in windows}) > 5
    assert all(window.spans for window in windows)


def test_a_window_trains_nothing_as_absent_decided_or_counted(tokenizer: Tokenizer) -> None:
    for number, record in enumerate(RECORDS):
        long = replace(record, context=record.context + "\nnothing more to say" * 60)
        example = example_of(long, tokenizer, Random(number), max_tokens=120)
        # cut out of the middle of words, a window may have more tokens than in the whole
        assert len(example.context.ids) < 120
        for each in example.questions:
            assert each.fork.head in ("extract", "anchor")
            assert each.spans or each.starts


def test_options_are_drawn_in_another_order_half_of_the_time() -> None:
    options = tuple(f"option {number}" for number in range(8))
    field = FieldPlan(("kind",), "decide.choice", "string", options=options)
    rng = Random(4)
    orders = [drawn_option_order(field, rng) for _ in range(400)]
    assert {tuple(sorted(order)) for order in orders} == {tuple(range(8))}
    assert 160 < sum(order == field.asked_order for order in orders) < 240
    # wherever an option can stand, it does
    assert {order[0] for order in orders} == set(range(8))


def test_training_draws_the_order_and_keeps_the_right_option(tokenizer: Tokenizer) -> None:
    options = ["late", "lost", "broken", "wrong"]
    schema = {"type": "object", "properties": {"kind": {"enum": options}}}
    record = Record("It came late.", schema, {"kind": "broken"}, {}, "made")
    texts = set()
    for seed in range(20):
        (question,) = example_of(record, tokenizer, Random(seed)).questions
        fork = question.fork
        right = fork.options[question.outcome]
        assert tokenizer.decode(list(fork.ids[: right + 1])).endswith("\n- broken")
        texts.add(fork.ids)
    assert len(texts) > 3
    (asked,) = example_of(record, tokenizer).questions
    assert "\n- broken\n- late\n- lost\n- wrong\n" in tokenizer.decode(list(asked.fork.ids))
