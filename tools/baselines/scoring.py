"""How many fields of an answer are right, place by place, and whether it is valid."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from jsonschema import Draft202012Validator

from baselines.cases import Case
from deg_schema import compile_schema

__all__ = ["Score", "score"]

Place: TypeAlias = tuple[str | int, ...]

_STEPS = re.compile(r'"(?:[^"\\]|\\.)*(?:"|$)|[{}\[\],]', re.DOTALL)
_CLOSING = {"{": "}", "[": "]"}


@dataclass(frozen=True, slots=True)
class Score:
    """What an answer is worth; of a cut-off one the finished fields count.

    Attributes:
        valid: It is one JSON value that the whole schema accepts, formats too.
        num_fields: The leaves of the schema, one for each item of a true array, and its length.
        num_right: Those with the true value; absent and null are the same.
        num_stated: The leaves whose value the document states.
        num_stated_right: Those of them that are right.
    """

    valid: bool
    num_fields: int
    num_right: int
    num_stated: int
    num_stated_right: int


def score(case: Case, text: str) -> Score:
    """Compare the JSON *text* with the true value of *case*."""
    try:
        value, is_whole = json.loads(text), True
    except ValueError:
        value, is_whole = _finished_part(text), False
    checker = Draft202012Validator.FORMAT_CHECKER
    validator = Draft202012Validator(case.schema, format_checker=checker)
    # where nothing was written, absent is no answer
    right = [_same(gold, found) and bool(text) for gold, found in _pairs(case, value)]
    stated = [gold is not None for gold, _ in _pairs(case, value)]
    return Score(
        valid=is_whole and validator.is_valid(value),
        num_fields=len(right),
        num_right=sum(right),
        num_stated=sum(stated),
        num_stated_right=sum(map(min, right, stated)),
    )


def _finished_part(text: str) -> Any:
    # up to the last comma outside of strings, with what is open there closed
    closing, finished = "", "{}"
    for step in _STEPS.finditer(text):
        if step[0] in _CLOSING:
            closing = _CLOSING[step[0]] + closing
        elif step[0] == ",":
            finished = text[: step.start()] + closing
        elif step[0] in "}]":
            closing = closing[1:]
    return json.loads(finished)


def _pairs(case: Case, value: Any) -> Iterator[tuple[Any, Any]]:
    plan = compile_schema(case.schema)
    for field in plan.fields:
        for place in _places(field.path, field.item_steps, case.gold):
            yield _at(case.gold, place), _at(value, place)
    for array in plan.arrays:
        for place in _places(array.path, array.item_steps, case.gold):
            yield _length(_at(case.gold, place)), _length(_at(value, place))


def _places(path: Sequence[str], item_steps: Collection[int], gold: Any) -> list[Place]:
    places: list[Place] = [()]
    for number, name in enumerate(path):
        if number in item_steps:
            places = [(*to, i) for to in places for i in range(_length(_at(gold, to)) or 0)]
        else:
            places = [(*to, name) for to in places]
    return places


def _at(value: Any, place: Place) -> Any:
    for step in place:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and step < len(value) else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value


def _length(value: Any) -> int | None:
    return len(value) if isinstance(value, list) else None


def _same(gold: Any, found: Any) -> bool:
    if isinstance(gold, bool) or isinstance(found, bool):
        return gold is found
    if isinstance(gold, str) and isinstance(found, str):
        return _moment(gold) == _moment(found)
    return bool(gold == found)


def _moment(text: str) -> object:
    # one moment has many spellings; any other text counts up to its blanks
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        return " ".join(text.split())
    return moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)
