"""The one home of the text that stands around what is written: KNOWN VALUES, then one's header."""

from __future__ import annotations

import json
from collections.abc import Sequence

from deg_model.encoding import encode_context
from deg_model.tokenizer import Tokenizer
from deg_schema import FieldPlan, JsonScalar

__all__ = ["text_header", "text_trunk"]


def text_trunk(
    context: str, known: Sequence[tuple[str, JsonScalar]], tokenizer: Tokenizer
) -> tuple[int, ...]:
    """Return the tokens that all texts of a request continue: the context, then what is *known*.

    Args:
        context: The document.
        known: Pointers with the values that were decided or copied, in the order of the schema.
        tokenizer: The writer's.
    """
    ids = encode_context(context, tokenizer).ids
    if not known:
        return ids
    lines = [f"{pointer} = {json.dumps(value, ensure_ascii=False)}\n" for pointer, value in known]
    return (*ids, *tokenizer.encode("".join(["\nKNOWN VALUES:\n", *lines])))


def text_header(field: FieldPlan, pointer: str, tokenizer: Tokenizer) -> tuple[int, ...]:
    """Return the tokens that ask for the text of *field* at *pointer*, up to where it begins."""
    lines = [f"\nWrite the text of {pointer}, and nothing else."]
    if field.title:
        lines.append(f"TITLE {field.title}")
    if field.description:
        lines.append(f"DESCRIPTION {field.description}")
    if limits := _limits(field):
        lines.append(f"LIMITS {limits}")
    answer = tokenizer.encode(tokenizer.chat.answer_prefix, special=True)
    return (*tokenizer.encode("\n".join(lines)), *answer)


def _limits(field: FieldPlan) -> str:
    limits = field.constraints
    parts = []
    if limits.min_length:
        parts.append(f"at least {limits.min_length} characters")
    if limits.max_length is not None:
        parts.append(f"at most {limits.max_length} characters")
    if limits.pattern is not None:
        parts.append(f"matching the pattern {limits.pattern}")
    return ", ".join(parts)
