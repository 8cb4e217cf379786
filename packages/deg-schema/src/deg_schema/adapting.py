"""Files adapted: the new schema, and the changes at their places in the old text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from deg_schema.adapt import adapt
from deg_schema.checks import Document, Finding
from deg_schema.compile import compile_schema
from deg_schema.errors import Problem, SchemaError

__all__ = ["AdaptedFile", "adapt_document", "schema_text"]


@dataclass(frozen=True, slots=True)
class AdaptedFile:
    """What became of one file: a schema that compiles, or the problems that stay.

    Args:
        notes: The changes, each where the old text has what is changed, or nearest to it.
    """

    schema: dict[str, Any] | None = None
    notes: tuple[Finding, ...] = ()
    findings: tuple[Finding, ...] = ()


def adapt_document(document: Document) -> AdaptedFile:
    """Adapt the schema of a file, and check what comes out."""
    try:
        schema, changes = adapt(document.value)
    except SchemaError as error:
        return AdaptedFile(findings=document.locate(error.problems))
    notes = document.locate(Problem(change.loc, change.msg) for change in changes)
    try:
        compile_schema(schema)
    except SchemaError as error:
        return AdaptedFile(notes=notes, findings=document.locate(error.problems))
    return AdaptedFile(schema, notes)


def schema_text(schema: dict[str, Any]) -> str:
    """Write *schema* as people do, its keys in order and its letters as they are."""
    return json.dumps(schema, indent=2, ensure_ascii=False)
