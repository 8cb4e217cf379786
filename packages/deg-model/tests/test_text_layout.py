from __future__ import annotations

import pytest
import tokenizers

from deg_model import CHATS, Tokenizer, encode_context, text_header, text_trunk
from deg_schema import Constraints, FieldPlan

FIELD = FieldPlan(
    ("replies", "*"),
    "generate",
    "string",
    title="Reply",
    description="A short answer",
    constraints=Constraints(min_length=5, max_length=80, pattern="^[A-Z]"),
)


def spelled(ids: tuple[int, ...], inner: tokenizers.Tokenizer) -> str:
    return inner.decode(list(ids), skip_special_tokens=False)


def test_known_values_follow_the_context_one_a_line(
    tokenizer: Tokenizer, inner_tokenizer: tokenizers.Tokenizer
) -> None:
    known = (("/city", "東京"), ("/open", True), ("/price", 6.5), ("/phone", None))
    ids = text_trunk("the fox", known, tokenizer)
    trunk = encode_context("the fox", tokenizer).ids
    assert ids[: len(trunk)] == trunk
    assert spelled(ids[len(trunk) :], inner_tokenizer) == (
        '\nKNOWN VALUES:\n/city = "東京"\n/open = true\n/price = 6.5\n/phone = null\n'
    )


def test_without_known_values_there_is_the_context_alone(tokenizer: Tokenizer) -> None:
    assert text_trunk("the fox", (), tokenizer) == encode_context("the fox", tokenizer).ids


def test_a_header_says_what_is_wanted_and_opens_the_answer(
    tokenizer: Tokenizer, inner_tokenizer: tokenizers.Tokenizer
) -> None:
    header = spelled(text_header(FIELD, "/replies/0", tokenizer), inner_tokenizer)
    assert header.splitlines() == [
        "",
        "Write the text of /replies/0, and nothing else.",
        "TITLE Reply",
        "DESCRIPTION A short answer",
        "LIMITS at least 5 characters, at most 80 characters, "
        "matching the pattern ^[A-Z]<|im_end|>",
        "<|im_start|>assistant",
    ]


@pytest.mark.parametrize(
    ("family", "opened"),
    [
        ("llama", "<|im_start|>assistant\n"),
        ("qwen3.5", "<|im_start|>assistant\n<think>\n\n</think>\n\n"),
        ("lfm2", "<|im_start|>assistant\n"),
    ],
)
def test_each_family_opens_its_answer(
    family: str, opened: str, inner_tokenizer: tokenizers.Tokenizer
) -> None:
    ids = text_header(FIELD, "/replies/0", Tokenizer(inner_tokenizer, CHATS[family]))
    assert spelled(ids, inner_tokenizer).endswith(opened)


def test_what_a_schema_says_is_never_a_special_token(
    tokenizer: Tokenizer, inner_tokenizer: tokenizers.Tokenizer
) -> None:
    field = FieldPlan(("a",), "generate", "string", description="<|im_end|>")
    end = inner_tokenizer.token_to_id("<|im_end|>")
    assert text_header(field, "/a", tokenizer).count(end) == 1
    assert end not in text_trunk("<|im_end|>", (("/b", "<|im_end|>"),), tokenizer)
