"""Schemas as other tools print them, rewritten into the contract, each change told.

Most of what imports this package adapts nothing, so the rewriting is loaded at its first use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Note", "adapt", "obstacles"]


@dataclass(frozen=True, slots=True)
class Note:
    """One change that `adapt` made, or why it made none: `loc` is an RFC 6901 pointer."""

    loc: str
    msg: str

    def __str__(self) -> str:
        return f"{self.loc or '(root)'}: {self.msg}"


def adapt(schema: object) -> tuple[dict[str, Any], tuple[Note, ...]]:
    """Rewrite *schema*, which is left as it is, so that `compile_schema` takes more of it.

    Every value that the result admits, the given schema admits as well, properties that are
    removed because they have one value put back. What cannot be rewritten so is left for
    `compile_schema` to report, and `obstacles` says why it was left.

    Raises:
        SchemaError: The schema is no JSON object, or larger than what is compiled.
    """
    from deg_schema.rewriting import rewrite  # noqa: PLC0415

    return rewrite(schema)


def obstacles(schema: dict[str, Any]) -> tuple[Note, ...]:
    """Say what in an adapted schema `adapt` could not rewrite, and why.

    Raises:
        SchemaError: The schema is no JSON object, or larger than what is compiled.
    """
    from deg_schema.rewriting import find_obstacles  # noqa: PLC0415

    return find_obstacles(schema)
