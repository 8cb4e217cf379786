from __future__ import annotations

import pytest

from deg_model import Tokenizer, fork_of
from deg_schema import Constraints, FieldPlan

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
        "KIND choose one option\nOPTIONS:\n- billing: charges and refunds\n- delivery\n- 3\n"
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
    assert tokenizer.decode(list(fork.ids[fork.options[-1] + 1 :])) == "\nANSWER:"


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
