from __future__ import annotations

import json
from typing import Any

from deg_schema.adapt import adapt
from deg_schema.adapting import AdaptedFile, adapt_document, schema_text
from deg_schema.checks import Document
from deg_schema.positions import Position


def _adapt(schema: Any) -> AdaptedFile:
    return adapt_document(Document("a.json", json.dumps(schema, indent=1), schema))


def test_each_change_stands_where_the_old_text_has_it() -> None:
    schema = {"type": "object", "kind": 1, "properties": {"a": {"type": "string", "kind": 2}}}
    adapted = _adapt(schema)
    expected, notes = adapt(schema)
    assert adapted.schema == expected
    assert [note.position for note in adapted.notes] == [Position(3, 2), Position(7, 4)]
    assert [str(note.problem) for note in adapted.notes] == [str(note) for note in notes]


def test_what_cannot_be_adapted_keeps_its_problems() -> None:
    adapted = _adapt({"type": "object", "kind": 1, "properties": {"a": {"type": "text"}}})
    assert adapted.schema is None
    assert [note.problem.loc for note in adapted.notes] == ["/kind"]
    (finding,) = adapted.findings
    assert (finding.problem.loc, finding.position) == ("/properties/a/type", Position(6, 4))


def test_what_is_no_schema_has_problems_and_no_notes() -> None:
    adapted = _adapt([1])
    assert (adapted.schema, adapted.notes, len(adapted.findings)) == (None, (), 1)


def test_a_schema_is_written_in_its_own_order_and_letters() -> None:
    text = schema_text({"b": "é", "a": [1.5]})
    assert text == '{\n  "b": "é",\n  "a": [\n    1.5\n  ]\n}'
