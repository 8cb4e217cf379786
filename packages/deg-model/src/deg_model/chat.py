"""How each family opens a conversation: the fixed text around the context of a trunk."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CHATS", "Chat"]


@dataclass(frozen=True, slots=True)
class Chat:
    """The fixed text of a trunk, in the words of the family's own chat template.

    Attributes:
        trunk_prefix: What stands before the context: where a user's turn begins.
        trunk_suffix: What stands after it, before the question of a fork.
        special_tokens: The texts in the prefix that the tokenizer knows as one token each.
    """

    trunk_prefix: str
    trunk_suffix: str
    special_tokens: tuple[str, ...]


_CHATML = Chat("<|im_start|>user\n", "\n", ("<|im_start|>",))

CHATS = {
    "llama": _CHATML,
    "qwen3.5": _CHATML,
    # this one is trained to see where a text starts
    "lfm2": Chat("<|startoftext|><|im_start|>user\n", "\n", ("<|startoftext|>", "<|im_start|>")),
}
"""The chat of each family."""
