"""What the tests of several packages share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import tokenizers


@pytest.fixture(scope="session")
def make_bpe() -> Callable[..., tokenizers.Tokenizer]:
    """Return the maker of a byte-level tokenizer whose longest tokens begin frequent words.

    The same texts give the same tokens in every run, which `BpeTrainer` does not promise: it breaks
    ties in the order of a hash table.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers  # noqa: PLC0415

    def make(texts: Sequence[str], *, size: int, special: Sequence[str]) -> Tokenizer:
        split = pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=False)
        words = Counter(word for text in texts for word, _ in split.pre_tokenize_str(text))
        alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
        tokens = {token: number for number, token in enumerate([*special, *alphabet])}
        merges = []
        for word in sorted(words, key=lambda word: (-words[word], word)):
            for end in range(2, len(word) + 1):
                if word[:end] not in tokens and len(tokens) < size:
                    tokens[word[:end]] = len(tokens)
                    merges.append((word[: end - 1], word[end - 1]))
        inner = Tokenizer(models.BPE(vocab=tokens, merges=merges))
        inner.add_special_tokens(list(special))
        inner.pre_tokenizer = split
        inner.decoder = decoders.ByteLevel()
        return inner

    return make
