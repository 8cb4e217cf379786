from __future__ import annotations

import tokenizers
from hypothesis import given, settings, strategies as st

from deg_model import CHATS, Tokenizer, encode_context

spans = st.data()
# bytes that the tiny tokenizer splits a character into, and characters that it joins
texts = st.text() | st.text("aé東京€🙂 \n\u0301\x00", max_size=30)


@given(text=texts)
def test_tokens_stand_in_order_and_reach_from_end_to_end(tokenizer: Tokenizer, text: str) -> None:
    encoded = encode_context(text, tokenizer)
    assert list(encoded.starts) == sorted(encoded.starts)
    assert list(encoded.ends) == sorted(encoded.ends)
    assert all(start < end for start, end in zip(encoded.starts, encoded.ends, strict=True))
    if text:
        assert encoded.span(0, encoded.num_tokens - 1) == (0, len(text))


@given(text=texts.filter(bool), data=spans)
def test_the_cover_of_a_span_contains_it(
    tokenizer: Tokenizer, text: str, data: st.DataObject
) -> None:
    encoded = encode_context(text, tokenizer)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    first, last = encoded.cover(start, end)
    assert 0 <= first <= last < encoded.num_tokens
    covered_start, covered_end = encoded.span(first, last)
    assert covered_start <= start < end <= covered_end


@given(text=texts.filter(bool), data=spans)
def test_a_cover_holds_every_token_that_touches_the_span_and_no_other(
    tokenizer: Tokenizer, text: str, data: st.DataObject
) -> None:
    encoded = encode_context(text, tokenizer)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    first, last = encoded.cover(start, end)
    touching = [
        number
        for number, (s, e) in enumerate(zip(encoded.starts, encoded.ends, strict=True))
        if s < end and e > start
    ]
    assert touching == list(range(first, last + 1))


@given(text=texts)
@settings(max_examples=25)
def test_the_context_stands_between_prefix_and_suffix(tokenizer: Tokenizer, text: str) -> None:
    encoded = encode_context(text, tokenizer)
    own = encoded.ids[encoded.first : encoded.first + encoded.num_tokens]
    assert tokenizer.decode(list(own)) == text
    assert encoded.ids[: encoded.first] == tokenizer.encode("<|im_start|>user\n", special=True)
    assert encoded.ids[encoded.first + len(own) :] == tokenizer.encode("\n")


def test_the_trunk_opens_as_the_family_does(inner_tokenizer: tokenizers.Tokenizer) -> None:
    plain, started = (
        encode_context("fox", Tokenizer(inner_tokenizer, CHATS[family]))
        for family in ("qwen3.5", "lfm2")
    )
    start = inner_tokenizer.token_to_id("<|startoftext|>")
    assert (start, *plain.ids) == started.ids
    assert started.first == plain.first + 1


def test_a_character_of_several_tokens_is_covered_by_all_of_them(tokenizer: Tokenizer) -> None:
    encoded = encode_context("🙂a", tokenizer)
    assert encoded.num_tokens == 5
    assert encoded.cover(0, 1) == (0, 3)
    assert encoded.span(1, 2) == (0, 1)
