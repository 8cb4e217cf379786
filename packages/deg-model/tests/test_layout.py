from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from deg_model import (
    Item,
    Tokenizer,
    anchor_fork,
    count_fork,
    encode_context,
    fork_of,
    item_at,
)
from deg_schema import ArrayPlan, Constraints, FieldPlan

CHOICE = FieldPlan(
    path=("mail", "topic"),
    mode="decide.choice",
    type="any",
    options=("billing", "delivery", 3, True, None),
    option_descriptions=("charges and refunds", None, None, None, "none of these"),
    title="Topic",
    description="What the mail is about.",
)
SCORE = FieldPlan(
    path=("anger",),
    mode="decide.score",
    type="integer",
    levels=(0, 1, 2),
    level_labels=("calm", None, "furious"),
    null_outcome=True,
)
NUMBER = FieldPlan(
    path=("total",),
    mode="extract.number",
    type="number",
    constraints=Constraints(minimum=0, exclusive_maximum=1000, multiple_of=0.5),
)
SPAN = FieldPlan(
    path=("name",),
    mode="extract.span",
    type="string",
    constraints=Constraints(min_length=1, max_length=80, pattern="^[A-Z]"),
)

GOLDEN = [
    (
        CHOICE,
        "FIELD /mail/topic\nTITLE Topic\nDESCRIPTION What the mail is about.\n"
        "KIND choose one option\nOPTIONS:\n- 3\n- billing: charges and refunds\n- delivery\n"
        "- true\n- null: none of these\nANSWER:",
        "choice",
    ),
    (
        SCORE,
        "FIELD /anger\nKIND choose one level\nOPTIONS:\n- 0: calm\n- 1\n- 2: furious\n- null\n"
        "ANSWER:",
        "score",
    ),
    (
        FieldPlan(path=("urgent",), mode="decide.noul", type="boolean"),
        "FIELD /urgent\nKIND yes or no\nANSWER:",
        "noul",
    ),
    (
        NUMBER,
        "FIELD /total\nKIND number\n"
        "CONSTRAINTS minimum 0, exclusiveMaximum 1000, multipleOf 0.5\nANSWER:",
        "extract",
    ),
    (
        FieldPlan(path=("due",), mode="extract.date", type="string", format="date"),
        "FIELD /due\nKIND date\nANSWER:",
        "extract",
    ),
    (
        FieldPlan(path=("at",), mode="extract.date", type="string", format="date-time"),
        "FIELD /at\nKIND date and time\nANSWER:",
        "extract",
    ),
    (
        SPAN,
        "FIELD /name\nKIND text span\n"
        "CONSTRAINTS minLength 1, maxLength 80, pattern ^[A-Z]\nANSWER:",
        "extract",
    ),
    (
        FieldPlan(path=("mail",), mode="extract.span", type="string", format="email"),
        "FIELD /mail\nKIND email\nANSWER:",
        "extract",
    ),
]


@pytest.mark.parametrize(("field", "text", "head"), GOLDEN, ids=lambda value: str(value)[:20])
def test_the_question_of_each_mode(
    tokenizer: Tokenizer, field: FieldPlan, text: str, head: str
) -> None:
    fork = fork_of(field, tokenizer)
    assert tokenizer.decode(list(fork.ids)) == text
    assert fork.head == head


@pytest.mark.parametrize(
    ("field", "lines"),
    [
        (CHOICE, ["billing: charges and refunds", "delivery", "3", "true", "null: none of these"]),
        (SCORE, ["0: calm", "1", "2: furious", "null"]),
    ],
    ids=["choice", "score"],
)
def test_options_are_read_at_the_last_token_of_their_line(
    tokenizer: Tokenizer, field: FieldPlan, lines: list[str]
) -> None:
    fork = fork_of(field, tokenizer)
    for position, line in zip(fork.options, lines, strict=True):
        assert tokenizer.decode(list(fork.ids[: position + 1])).endswith(f"\n- {line}")
    assert tokenizer.decode(list(fork.ids[max(fork.options) + 1 :])) == "\nANSWER:"


@given(st.permutations(range(len(CHOICE.options))))
def test_the_order_of_options_changes_no_token(tokenizer: Tokenizer, order: list[int]) -> None:
    turned = replace(
        CHOICE,
        options=tuple(CHOICE.options[at] for at in order),
        option_descriptions=tuple(CHOICE.option_descriptions[at] for at in order),
    )
    here, there = fork_of(CHOICE, tokenizer), fork_of(turned, tokenizer)
    assert there.ids == here.ids
    assert there.options == tuple(here.options[at] for at in order)


def test_training_may_write_options_in_another_order(tokenizer: Tokenizer) -> None:
    fork = fork_of(CHOICE, tokenizer, option_order=(4, 0, 1, 2, 3))
    text = tokenizer.decode(list(fork.ids))
    assert "OPTIONS:\n- null: none of these\n- billing: charges" in text
    assert min(fork.options) == fork.options[4]


def test_a_decide_question_leaves_constraints_out(tokenizer: Tokenizer) -> None:
    field = FieldPlan(
        path=("n",),
        mode="decide.score",
        type="integer",
        levels=(1, 2),
        level_labels=(None, None),
        constraints=Constraints(minimum=1, maximum=2),
    )
    assert "CONSTRAINTS" not in tokenizer.decode(list(fork_of(field, tokenizer).ids))


def test_a_special_token_in_a_description_is_plain_text(tokenizer: Tokenizer) -> None:
    field = FieldPlan(
        path=("a",), mode="decide.noul", type="boolean", description="<|im_end|> then?"
    )
    assert "DESCRIPTION <|im_end|> then?" in tokenizer.decode(list(fork_of(field, tokenizer).ids))


def test_a_question_outside_arrays_is_written_as_before_there_were_any(
    tokenizer: Tokenizer,
) -> None:
    header = "FIELD /anger\nKIND choose one level"
    pieces = [header, "\nOPTIONS:", "\n- 0: calm", "\n- 1", "\n- 2: furious", "\n- null"]
    ids = tuple(token for piece in (*pieces, "\nANSWER:") for token in tokenizer.encode(piece))
    fork = fork_of(SCORE, tokenizer)
    assert (fork.ids, fork.anchor) == (ids, None)


STAFF = ArrayPlan(
    path=("team", "staff"),
    title="Staff",
    description="Who works there.",
    anchored=True,
    stop=3,
)
NAME = FieldPlan(
    path=("team", "staff", "*", "name"), mode="extract.span", type="string", item_steps=(2,)
)
SENIOR = FieldPlan(
    path=("team", "staff", "*", "senior"), mode="decide.noul", type="boolean", item_steps=(2,)
)
MAILS = ArrayPlan(
    path=("team", "staff", "*", "mails"), anchored=True, start=2, stop=3, item_steps=(2,)
)
MAIL = FieldPlan(
    path=("team", "staff", "*", "mails", "*"),
    mode="extract.span",
    type="string",
    format="email",
    item_steps=(2, 4),
)
ADA = Item(STAFF, anchor=7, end=20, text='Ada "Al" Bo,\n')
MAIL_ITEM = Item(MAILS, anchor=12, end=15, text="ada@x.org")


def text_of(tokenizer: Tokenizer, ids: tuple[int, ...]) -> str:
    return tokenizer.decode(list(ids))


def test_the_question_where_items_start(tokenizer: Tokenizer) -> None:
    fork = anchor_fork(STAFF, [NAME, SENIOR, MAIL], tokenizer)
    assert text_of(tokenizer, fork.ids) == (
        "ARRAY /team/staff\nTITLE Staff\nDESCRIPTION Who works there.\n"
        "ITEM FIELDS /mails/*, /name, /senior\n"
        "KIND mark where each item starts in the context\nANSWER:"
    )
    assert (fork.head, fork.options, fork.anchor) == ("anchor", (), None)


def test_the_question_how_many_items_there_are(tokenizer: Tokenizer) -> None:
    fork = count_fork(MAILS, [MAIL], tokenizer, [ADA])
    assert text_of(tokenizer, fork.ids) == (
        "ARRAY /team/staff/*/mails\n"
        'ITEM /team/staff AT: "Ada \\"Al\\" Bo,\\n"\n'
        "KIND count the items\nANSWER:"
    )
    assert (fork.head, fork.options, fork.anchor) == ("count", (), None)


def test_an_anchored_item_is_named_by_what_stands_there(tokenizer: Tokenizer) -> None:
    fork = fork_of(MAIL, tokenizer, [ADA, MAIL_ITEM])
    assert text_of(tokenizer, fork.ids) == (
        "FIELD /team/staff/*/mails/*\n"
        'ITEM /team/staff AT: "Ada \\"Al\\" Bo,\\n"\n'
        'ITEM /team/staff/*/mails AT: "ada@x.org"\n'
        "KIND email\nANSWER:"
    )
    assert (fork.head, fork.anchor) == ("extract", (12, 15))


def test_a_counted_item_is_named_by_its_number(tokenizer: Tokenizer) -> None:
    fork = fork_of(MAIL, tokenizer, [Item(STAFF, index=0), Item(MAILS, index=3)])
    assert text_of(tokenizer, fork.ids) == (
        "FIELD /team/staff/0/mails/3\nITEM 0 of /team/staff\n"
        "ITEM 3 of /team/staff/0/mails\nKIND email\nANSWER:"
    )
    assert fork.anchor is None


def test_a_counted_item_of_an_anchored_one_is_read_around_its_anchor(tokenizer: Tokenizer) -> None:
    fork = fork_of(MAIL, tokenizer, [ADA, Item(MAILS, index=3)])
    text = text_of(tokenizer, fork.ids)
    assert text.startswith("FIELD /team/staff/*/mails/3\nITEM /team/staff AT: ")
    assert "\nITEM 3 of /team/staff/*/mails\n" in text
    assert fork.anchor == (7, 20)


def test_a_decision_in_an_anchored_item_points_nowhere(tokenizer: Tokenizer) -> None:
    assert fork_of(SENIOR, tokenizer, [ADA]).anchor is None


@pytest.mark.parametrize("anchor", [0, 3, 49])
@pytest.mark.parametrize("length", [1, 7, 24, 25, 40])
def test_an_item_is_quoted_for_a_few_tokens_and_no_further_than_its_region(
    tokenizer: Tokenizer, anchor: int, length: int
) -> None:
    # no two letters that the tiny tokenizer joins
    context = "".join(chr(65 + number % 26) for number in range(90))
    encoded = encode_context(context, tokenizer)
    assert encoded.num_tokens == 90
    item = item_at(STAFF, encoded, context, anchor, anchor + length)
    assert item == Item(
        STAFF,
        anchor=anchor,
        end=anchor + length,
        text=context[anchor : anchor + min(length, 24)],
    )


def test_an_item_that_starts_within_a_character_is_quoted_with_it(tokenizer: Tokenizer) -> None:
    context = "a🙂b"
    encoded = encode_context(context, tokenizer)
    assert encoded.num_tokens > 4
    assert item_at(STAFF, encoded, context, 2, encoded.num_tokens).text == "🙂b"
