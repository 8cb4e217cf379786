"""Records: a context, a schema, its true value, and where in the context each value stands."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deg_schema import Pointer

__all__ = ["Record", "RecordError", "check", "lookup", "read_records", "step", "write_records"]

Span = tuple[int, int]


class RecordError(ValueError):
    """A record contradicts itself, or a line does not hold one."""


@dataclass(frozen=True, slots=True)
class Record:
    """One example to learn from or to be measured on.

    `spans` holds, by JSON Pointer, every acceptable `[start, end)` of an extracted value in code
    points of `context`. A key that `value` lacks or maps to None is not in the document, except
    where null is an option that the schema lists. `probabilities` says, by the pointer of a decided
    field, how likely each of its outcomes is to be right. `options` are those of a request that
    say how values are read, such as `date_order`.
    """

    context: str
    schema: dict[str, Any]
    value: dict[str, Any]
    spans: dict[str, tuple[Span, ...]]
    source: str
    probabilities: dict[str, tuple[float, ...]] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """Write the record as one line of JSON."""
        row = {
            "context": self.context,
            "schema": self.schema,
            "value": self.value,
            "spans": self.spans,
            "source": self.source,
        }
        if self.probabilities:
            row["probabilities"] = self.probabilities
        if self.options:
            row["options"] = self.options
        return json.dumps(row, ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str) -> Record:
        """Read a record from its line of JSON."""
        try:
            row = json.loads(line)
            spans = {
                pointer: tuple((int(start), int(end)) for start, end in found)
                for pointer, found in row["spans"].items()
            }
            probabilities = {
                pointer: tuple(map(float, numbers))
                for pointer, numbers in row.get("probabilities", {}).items()
            }
            return cls(
                context=row["context"],
                schema=row["schema"],
                value=row["value"],
                spans=spans,
                source=row["source"],
                probabilities=probabilities,
                options=row.get("options", {}),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise RecordError(f"{line[:80]!r} is no record: {error!r}") from error


def read_records(path: Path) -> Iterator[Record]:
    """Read the records of a JSON Lines file, in order."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield Record.from_json(line)


def write_records(path: Path, records: Iterable[Record]) -> int:
    """Write the records as JSON Lines and return how many there were."""
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for record in records:
            file.write(record.to_json() + "\n")
            count += 1
    return count


def lookup(value: Mapping[str, Any], pointer: str) -> Any:
    """Return what the pointer leads to in the value, None where it leads nowhere."""
    found: Any = value
    for token in pointer.split("/")[1:]:
        if isinstance(found, list):
            found = found[int(token)] if token.isdigit() and int(token) < len(found) else None
        elif isinstance(found, dict):
            found = found.get(token.replace("~1", "/").replace("~0", "~"))
        else:
            return None
    return found


def step(name: str) -> str:
    """Return what a pointer has for the property *name*, such as `/a~1b` for `a/b`."""
    return str(Pointer((name,)))


def check(record: Record) -> None:
    """Refuse a record whose spans lie outside the context or say something else than its value.

    Raises:
        RecordError: with the pointer and the span at fault.
    """
    for pointer, spans in record.spans.items():
        value = lookup(record.value, pointer)
        if value is None or not spans:
            raise RecordError(f"{pointer}: {len(spans)} spans for the value {value!r}")
        for start, end in spans:
            if not 0 <= start < end <= len(record.context):
                raise RecordError(f"{pointer}: [{start}, {end}) is outside the context")
            text = record.context[start:end]
            if text != text.strip():
                raise RecordError(f"{pointer}: the span {text!r} has blanks at its edge")
            if isinstance(value, str) and _is_verbatim(record.schema, pointer) and text != value:
                raise RecordError(f"{pointer}: the span {text!r} is not the value {value!r}")


def _is_verbatim(schema: dict[str, Any], pointer: str) -> bool:
    leaf: Any = schema
    for token in pointer.split("/")[1:]:
        if "items" in leaf:
            leaf = leaf["items"]
        else:
            leaf = leaf["properties"][token.replace("~1", "/").replace("~0", "~")]
    branches = [leaf, *leaf.get("anyOf", ()), *leaf.get("oneOf", ())]
    return not any(branch.get("format") in ("date", "date-time") for branch in branches)
