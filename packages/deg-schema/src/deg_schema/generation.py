"""Texts to be written: what `x-generate` and `x-max-tokens` may stand on."""

from __future__ import annotations

from deg_schema.compilation import Compilation, Node
from deg_schema.json_values import clip

__all__ = ["check_generated", "generate_loc_of", "max_tokens_of", "refuse_generated"]


def generate_loc_of(compilation: Compilation, node: Node) -> str | None:
    """Return where it is said that *node* is written: here, on the array around it, or nowhere."""
    flag = node.schema.get("x-generate", False)
    place = f"{node.loc}/x-generate"
    if not isinstance(flag, bool):
        compilation.report(place, f"'x-generate' must be true or false, not {clip(flag)}")
    return place if flag is True else node.generate_loc


def max_tokens_of(compilation: Compilation, node: Node, *, is_generated: bool) -> int | None:
    """Read the most tokens of a text: its own limit, else that of the array around it."""
    value = node.schema.get("x-max-tokens")
    if "x-max-tokens" not in node.schema:
        return node.max_tokens
    place = f"{node.loc}/x-max-tokens"
    if not is_generated:
        compilation.report(place, "'x-max-tokens' needs 'x-generate': true beside it; remove it")
    elif type(value) is not int or value < 1:
        compilation.report(
            place, f"'x-max-tokens' must be an integer of at least 1, not {clip(value)}"
        )
    return value


def check_generated(compilation: Compilation, node: Node, generate_loc: str) -> None:
    """Report what keeps a string from being written."""
    if "format" in node.schema:
        compilation.report(
            generate_loc, "'x-generate' is only for a plain string; remove the 'format'"
        )
    if node.nullable:
        compilation.report(
            generate_loc,
            '\'x-generate\' always gives a text, so null never occurs; write "type": "string"',
        )


def refuse_generated(compilation: Compilation, node: Node, kind: str) -> None:
    """Report an array that asks for its items to be written though they are no strings."""
    if node.generate_loc is not None:
        compilation.report(
            node.generate_loc,
            f"'x-generate' on an array is only for items of plain 'type' 'string', not {kind}",
        )
