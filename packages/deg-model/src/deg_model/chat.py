"""How each family holds a conversation: the fixed text around a context, and around an answer."""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = ["CHATS", "Chat"]


@dataclass(frozen=True, slots=True)
class Chat:
    """The fixed text of a conversation, in the words of the family's own chat template.

    Attributes:
        trunk_prefix: What stands before the context: where a user's turn begins.
        trunk_suffix: What stands after it, before the question of a fork.
        special_tokens: The texts in the prefix that the tokenizer knows as one token each.
        answer_prefix: What ends the user's turn and opens the answer that is to be written.
        answer_end: The token that ends the answer.
    """

    trunk_prefix: str
    trunk_suffix: str
    special_tokens: tuple[str, ...]
    answer_prefix: str = "<|im_end|>\n<|im_start|>assistant\n"
    answer_end: str = "<|im_end|>"


_CHATML = Chat("<|im_start|>user\n", "\n", ("<|im_start|>",))

CHATS = {
    "llama": _CHATML,
    # thinking is over before it began
    "qwen3.5": replace(_CHATML, answer_prefix=f"{_CHATML.answer_prefix}<think>\n\n</think>\n\n"),
    # this one is trained to see where a text starts
    "lfm2": Chat("<|startoftext|><|im_start|>user\n", "\n", ("<|startoftext|>", "<|im_start|>")),
}
"""The chat of each family."""
