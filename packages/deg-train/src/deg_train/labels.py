"""Documents that a person labelled, as JSON Lines: each line checked before it trains anything."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from deg_schema import (
    ArrayPlan,
    FieldPlan,
    FillPlan,
    ObjectPlan,
    Options,
    RequestError,
    SchemaError,
    compile_schema,
    parse_options,
    render_context,
    value_problems,
)
from deg_train.gold_outcomes import outcome_of
from deg_train.locating import locate, reads_as
from deg_train.records import Record, RecordError, lookup, step

__all__ = ["Fault", "Labelled", "Split", "label_lines", "read_labels"]

Split = Literal["train", "val", "test"]
Span = tuple[int, int]

_KEYS = ("context", "schema", "value", "spans", "probabilities", "options", "split", "source")
_OPTIONS = ("date_order", "decimal_separator", "default_offset")
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")


@dataclass(frozen=True, slots=True)
class Labelled:
    """A line that is in order.

    Attributes:
        line: Its number, from 1.
        record: What it says, with the place of every value that has one.
        split: What it is for.
        missing: Pointers of values that stand nowhere in the context, and so teach nothing.
    """

    line: int
    record: Record
    split: Split
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """A line that cannot be used, and everything that is wrong with it."""

    line: int
    problems: tuple[str, ...]

    def __str__(self) -> str:
        return f"line {self.line}: {'; '.join(self.problems)}"


def read_labels(path: Path) -> Iterator[Labelled | Fault]:
    """Read the lines of *path* in order; a blank one is passed over.

    A line is an object with `context` (a text, or JSON), `schema` and `value`. It may have `spans`,
    the places of copied values by JSON Pointer as lists of `[start, end)` in code points of the
    context; `probabilities`, those of a decided field's outcomes by its pointer; `options`, which
    say how values are read as in a request; `split`, one of `train`, `val` and `test`, the first
    where it is missing; and `source`.
    """
    with path.open("rb") as lines:
        yield from label_lines(lines)


def label_lines(lines: Iterable[bytes], first: int = 1) -> Iterator[Labelled | Fault]:
    """Read *lines* as `read_labels` does, the *first* of which has that number."""
    for number, line in enumerate(lines, first):
        if line.strip():
            yield _read(number, line)


def _read(number: int, line: bytes) -> Labelled | Fault:
    try:
        row = json.loads(line.rstrip(b"\r\n"))
    except json.JSONDecodeError as error:
        return Fault(number, (f"no JSON: {error.msg} at column {error.pos + 1}",))
    # not in UTF-8, too deep, or a number of too many digits
    except (ValueError, RecursionError) as error:
        return Fault(number, (f"no JSON: {error}",))
    problems = _shape_problems(row)
    if problems:
        return Fault(number, tuple(problems))
    try:
        plan, context = compile_schema(row["schema"]), render_context(row["context"])
        spans = _spans(row.get("spans", {}))
        probabilities = _probabilities(row.get("probabilities", {}), plan)
        options = _options(row.get("options", {}))
    except SchemaError as error:
        return Fault(number, tuple(f"schema{p.loc}: {p.msg}" for p in error.problems))
    except RequestError as error:
        return Fault(number, tuple(f"context{p.loc}: {p.msg}" for p in error.problems))
    except RecordError as error:
        return Fault(number, (str(error),))
    value = row["value"]
    problems = [
        f"value{problem.loc}: {problem.msg}" for problem in value_problems(value, row["schema"])
    ]
    problems += [
        f"value{pointer}: the schema asks for no such property; mend its name or remove it"
        for pointer in _unasked(plan, value)
    ]
    problems += _span_problems(plan, context, value, spans, options)
    problems += _probability_problems(plan, value, probabilities)
    if problems:
        return Fault(number, tuple(problems))
    located = locate(plan, context, value, spans, options)
    record = Record(
        context=context,
        schema=row["schema"],
        value=value,
        spans=located.spans,
        source=row.get("source", "own"),
        probabilities=probabilities,
        options=row.get("options", {}),
    )
    return Labelled(number, record, row.get("split", "train"), located.missing)


def _shape_problems(row: Any) -> list[str]:
    if not isinstance(row, dict):
        return ["a line is an object with 'context', 'schema' and 'value'"]
    problems = [f"{name!r} is missing" for name in _KEYS[:3] if name not in row]
    problems += [f"{name!r} is none of {', '.join(_KEYS)}" for name in row if name not in _KEYS]
    if not isinstance(row.get("value", {}), dict):
        problems.append("'value' is an object")
    if row.get("split", "train") not in get_args(Split):
        problems.append(f"'split' is one of {', '.join(get_args(Split))}, not {row['split']!r}")
    if not isinstance(row.get("source", ""), str):
        problems.append("'source' is a text")
    return problems


def _spans(given: Any) -> dict[str, tuple[Span, ...]]:
    try:
        return {
            str(pointer): tuple((_index(start), _index(end)) for start, end in places)
            for pointer, places in given.items()
        }
    except (AttributeError, TypeError, ValueError) as error:
        raise RecordError(
            "'spans' maps each pointer to a list of [start, end) pairs of whole numbers"
        ) from error


def _index(number: Any) -> int:
    if type(number) is not int:
        raise TypeError(number)
    return number


def _probabilities(given: Any, plan: FillPlan) -> dict[str, tuple[float, ...]]:
    if not isinstance(given, dict):
        raise RecordError("'probabilities' maps pointers of decided fields to lists of numbers")
    found = {}
    for pointer, numbers in given.items():
        field = _field_at(plan, pointer)
        if field is None or not field.num_outcomes:
            raise RecordError(f"probabilities{pointer}: there is no decided field")
        fits = (
            isinstance(numbers, list)
            and len(numbers) == field.num_outcomes
            and all(isinstance(p, (int, float)) and p >= 0 for p in numbers)
        )
        if not fits or abs(sum(numbers) - 1) > 0.01:
            raise RecordError(
                f"probabilities{pointer}: {field.num_outcomes} numbers of at least 0 that add up "
                "to 1 are needed, in the order of the outcomes"
            )
        found[pointer] = tuple(float(p) / sum(numbers) for p in numbers)
    return found


def _options(given: Any) -> Options:
    unread = [name for name in given if name not in _OPTIONS] if isinstance(given, dict) else []
    if unread:
        raise RecordError(f"options/{unread[0]}: it is none of {', '.join(_OPTIONS)}")
    try:
        return parse_options(given)
    except RequestError as error:
        raise RecordError(f"options{error.problems[0]}") from error


def _span_problems(
    plan: FillPlan,
    context: str,
    value: Mapping[str, Any],
    spans: Mapping[str, tuple[Span, ...]],
    options: Options,
) -> Iterator[str]:
    for pointer, places in spans.items():
        field = _field_at(plan, pointer)
        if field is None or not field.mode.startswith("extract"):
            yield f"spans{pointer}: there is no copied field"
            continue
        expected = lookup(value, pointer)
        if expected is None or not places:
            yield f"spans{pointer}: {len(places)} places for the value {expected!r}"
            continue
        for start, end in places:
            if not 0 <= start < end <= len(context):
                yield f"spans{pointer}: [{start}, {end}) is outside the context"
            elif not reads_as(field, context[start:end], expected, options):
                said = context[start:end][:60]
                yield f"spans{pointer}: {said!r} does not read as the value {expected!r}"


def _probability_problems(
    plan: FillPlan, value: Mapping[str, Any], probabilities: Mapping[str, tuple[float, ...]]
) -> Iterator[str]:
    for pointer, numbers in probabilities.items():
        field, said = _field_at(plan, pointer), lookup(value, pointer)
        outcome = None if field is None or said is None else outcome_of(field, said)
        if outcome is not None and numbers[outcome] < max(numbers):
            yield f"probabilities{pointer}: another outcome is likelier than the value {said!r}"


def _unasked(plan: FillPlan, value: Mapping[str, Any]) -> Iterator[str]:
    """Yield the pointers of what the schema does not ask for: a name that was misspelled.

    What it was meant for would be trained as absent.
    """
    parts: tuple[FieldPlan | ObjectPlan | ArrayPlan, ...] = (
        *plan.fields,
        *plan.objects,
        *plan.arrays,
    )
    asked = {
        (part.path[:length], tuple(number for number in part.item_steps if number < length))
        for part in parts
        for length in range(1, len(part.path) + 1)
    }

    def walk(inner: Any, path: tuple[str, ...], steps: tuple[int, ...], at: str) -> Iterator[str]:
        if isinstance(inner, dict):
            for name, each in inner.items():
                own, here = (*path, name), f"{at}{step(name)}"
                if (own, steps) in asked:
                    yield from walk(each, own, steps, here)
                else:
                    yield here
        elif isinstance(inner, list):
            for number, each in enumerate(inner):
                yield from walk(each, (*path, "*"), (*steps, len(path)), f"{at}/{number}")

    return walk(value, (), (), "")


def _field_at(plan: FillPlan, pointer: str) -> FieldPlan | None:
    tokens = pointer.split("/")[1:]
    for field in plan.fields:
        if len(field.path) == len(tokens):
            indices = [tokens[step] for step in field.item_steps]
            if field.pointer_at(indices) == pointer and all(map(_INDEX.fullmatch, indices)):
                return field
    return None
