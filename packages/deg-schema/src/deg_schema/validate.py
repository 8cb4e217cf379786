"""The last check: a value against its own schema, formats included."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from deg_schema.compile import draft_of
from deg_schema.constraints import is_multiple
from deg_schema.errors import FillError, Problem
from deg_schema.formats import is_format
from deg_schema.keywords import FORMATS, is_number
from deg_schema.patterns import search_pattern
from deg_schema.pointer import Pointer

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

__all__ = ["check_value", "value_problems"]


def check_value(value: Any, schema: Mapping[str, Any]) -> None:
    """Check *value* against *schema*.

    Raises:
        FillError: It is not valid; the error names the first place that is not.
    """
    for pointer, error in _errors(value, schema):
        raise FillError(f"the value violates {error.validator!r}: {error.message}", pointer)


def value_problems(value: Any, schema: Mapping[str, Any]) -> list[Problem]:
    """Return everything that makes *value* invalid against *schema*, which compiles."""
    return [Problem(pointer, error.message) for pointer, error in _errors(value, schema)]


def _errors(value: Any, schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield each error of *value* with its pointer."""
    for error in _validator(json.dumps(schema)).iter_errors(value):
        yield str(Pointer(tuple(map(str, error.absolute_path)))), error


@lru_cache(maxsize=128)
def _validator(text: str) -> Validator:
    # importing jsonschema takes longer than compiling a thousand schemas
    from jsonschema import (  # noqa: PLC0415
        Draft4Validator,
        Draft6Validator,
        Draft7Validator,
        Draft201909Validator,
        Draft202012Validator,
        validators,
    )

    schema = json.loads(text)
    drafts: dict[int, Any] = {
        4: Draft4Validator,
        6: Draft6Validator,
        7: Draft7Validator,
        2019: Draft201909Validator,
        2020: Draft202012Validator,
    }
    base = drafts[draft_of(schema) or 2020]
    keywords = {"pattern": _pattern, "multipleOf": _multiple_of, "format": _format}
    extend: Any = validators.extend
    validator: Validator = extend(base, keywords)(schema)
    return validator


def _pattern(_validator: Any, pattern: str, instance: object, _schema: Any) -> Iterator[Any]:
    if isinstance(instance, str) and not search_pattern(pattern, instance):
        yield _error(f"{instance!r} does not match {pattern!r}")


def _multiple_of(_validator: Any, step: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    # by the digits as written: 0.3 is a multiple of 0.1
    if is_number(instance) and not is_multiple(instance, step):
        yield _error(f"{instance!r} is not a multiple of {step!r}")


def _format(_validator: Any, format: str, instance: object, _schema: Any) -> Iterator[Any]:
    if isinstance(instance, str) and format in FORMATS and not is_format(format, instance):
        yield _error(f"{instance!r} is not a {format!r}")


def _error(message: str) -> Any:
    from jsonschema.exceptions import ValidationError  # noqa: PLC0415 - as above

    return ValidationError(message)
