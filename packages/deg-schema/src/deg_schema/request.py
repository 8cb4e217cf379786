"""Requests: the body of a fill, checked as a whole before any work is done."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from deg_schema.compile import compile_schema
from deg_schema.errors import Problem, RequestError, SchemaError
from deg_schema.json_text import load_json
from deg_schema.json_values import check_json, check_text, clip
from deg_schema.keywords import is_number
from deg_schema.plan import FillPlan
from deg_schema.pointer import escape_token

__all__ = ["FillRequest", "Options", "parse_options", "parse_request", "render_context"]

DEFAULT_MODEL = "deg-latest"

_OFFSET = re.compile(r"Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9]")


@dataclass(frozen=True, slots=True)
class Options:
    """How a request is filled; the defaults are the contract's.

    Args:
        max_items: The most items of an array that gives no `maxItems`.
        date_order: How `03/05/2026` reads; `None` takes only dates with one reading.
        default_offset: The offset of a time that is written without one.
        null_margin: How much likelier than nothing a span must be, in nats.
        decimal_separator: How `1.234` and `1,234` read.
    """

    max_new_tokens: int = 256
    max_items: int | None = None
    date_order: Literal["MDY", "DMY"] | None = None
    default_offset: str = "Z"
    temperature: float = 0.0
    seed: int | None = None
    array_decode: Literal["threshold", "count_peaks", "hybrid"] = "count_peaks"
    null_margin: float | None = None
    decimal_separator: Literal[".", ","] = "."


@dataclass(frozen=True, slots=True)
class FillRequest:
    """A request that is in order: the rendered context, and the schema with its plan."""

    context: str
    schema: Mapping[str, Any]
    plan: FillPlan
    options: Options = Options()
    model: str = DEFAULT_MODEL


def parse_request(body: bytes | str | Mapping[str, Any]) -> FillRequest:
    """Read a request.

    Raises:
        RequestError: It is not in order; the problems point into *body*.
    """
    document = _load(body) if isinstance(body, (bytes, str)) else body
    if not isinstance(document, Mapping):
        raise RequestError([Problem("", f"a request is an object, not {clip(document)}")])
    problems: list[Problem] = []
    _check_body(document, problems)
    context = _part(problems, "/context", lambda: render_context(document["context"]), document)
    plan = _part(problems, "/schema", lambda: compile_schema(document["schema"]), document)
    options = _part(problems, "/options", lambda: parse_options(document.get("options", {})))
    model = document.get("model", DEFAULT_MODEL)
    if not isinstance(model, str) or not model:
        problems.append(Problem("/model", f"'model' is the name of a model, not {clip(model)}"))
    if problems or context is None or plan is None or options is None:
        # a part that is no JSON is found by two checks
        raise RequestError(dict.fromkeys(problems))
    return FillRequest(context, document["schema"], plan, options, model)


def parse_options(options: Mapping[str, Any]) -> Options:
    """Read the options of a request.

    Raises:
        RequestError: An option is unknown or of a wrong value.
    """
    if not isinstance(options, Mapping):
        raise RequestError([Problem("", f"'options' is an object, not {clip(options)}")])
    problems = [
        Problem(f"/{escape_token(name)}", "the key is given twice; keep one")
        for name in getattr(options, "repeated", ())
    ]
    for name, value in options.items():
        if name not in _OPTION_CHECKS:
            known = ", ".join(_OPTION_CHECKS)
            message = f"the option {clip(name)} is unknown; the options are {known}"
            problems.append(Problem(f"/{escape_token(str(name))}", message))
        elif not _OPTION_CHECKS[name][0](value):
            expected = _OPTION_CHECKS[name][1]
            problems.append(Problem(f"/{name}", f"{name!r} must be {expected}, not {clip(value)}"))
    temperature = options.get("temperature", 0)
    if not problems and temperature > 0 and options.get("seed") is None:
        problems.append(Problem("/seed", "a 'temperature' above 0 needs a 'seed'; give an integer"))
    if problems:
        raise RequestError(problems)
    return Options(**options)


def render_context(context: str | Mapping[str, Any] | list[Any]) -> str:
    """Spell a context as the model reads it: a text as it stands, anything else as JSON.

    Raises:
        RequestError: The context is neither, or holds what no JSON text can say.
    """
    problems: list[Problem] = []
    if isinstance(context, str):
        if message := check_text(context):
            problems.append(Problem("", message))
    elif isinstance(context, (Mapping, list)):
        context = dict(context) if isinstance(context, Mapping) else context
        check_json(context, lambda loc, msg: problems.append(Problem(loc, msg)), max_text=None)
    else:
        message = f"a context is a string, an object or an array, not {clip(context)}"
        problems.append(Problem("", message))
    if problems:
        raise RequestError(problems)
    return context if isinstance(context, str) else json.dumps(context, ensure_ascii=False)


def _load(body: bytes | str) -> Any:
    try:
        text = body.decode() if isinstance(body, bytes) else body
        return load_json(text)
    except UnicodeDecodeError as error:
        message = f"the body is not UTF-8 at byte {error.start}"
    except json.JSONDecodeError as error:
        message = f"the body is no JSON: {error.msg} at line {error.lineno} column {error.colno}"
    except RecursionError:
        message = "the body nests too deep; flatten it"
    raise RequestError([Problem("", message)])


def _check_body(document: Mapping[str, Any], problems: list[Problem]) -> None:
    known = ("context", "schema", "model", "options")
    for repeated in getattr(document, "repeated", ()):
        problems.append(Problem(f"/{escape_token(repeated)}", "the key is given twice; keep one"))
    for name in document:
        if name not in known:
            place = f"/{escape_token(str(name))}".encode(errors="backslashreplace").decode()
            message = f"{clip(name)} is no part of a request; the parts are {', '.join(known)}"
            problems.append(Problem(place, message))
    for name in ("context", "schema"):
        if name not in document:
            problems.append(Problem(f"/{name}", f"{name!r} is missing; give one"))


def _part(
    problems: list[Problem],
    loc: str,
    read: Callable[[], Any],
    document: Mapping[str, Any] | None = None,
) -> Any:
    if document is not None and loc[1:] not in document:
        return None
    try:
        return read()
    except (RequestError, SchemaError) as error:
        problems += [Problem(loc + problem.loc, problem.msg) for problem in error.problems]
        return None


def _is_positive(value: object) -> bool:
    return type(value) is int and value >= 1


def _is_finite(value: Any) -> bool:
    return is_number(value) and abs(value) <= 1e300


_OPTION_CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "max_new_tokens": (_is_positive, "an integer of at least 1"),
    "max_items": (
        lambda value: value is None or _is_positive(value),
        "an integer of at least 1, or null",
    ),
    "date_order": (lambda value: value in (None, "MDY", "DMY"), '"MDY", "DMY" or null'),
    "default_offset": (
        lambda value: isinstance(value, str) and _OFFSET.fullmatch(value) is not None,
        '"Z" or an offset such as "+02:00"',
    ),
    "temperature": (lambda value: _is_finite(value) and value >= 0, "a number of at least 0"),
    "seed": (
        lambda value: value is None or (type(value) is int and 0 <= value < 2**64),
        "an integer from 0 to 2**64 - 1, or null",
    ),
    "array_decode": (
        lambda value: value in ("threshold", "count_peaks", "hybrid"),
        '"threshold", "count_peaks" or "hybrid"',
    ),
    "null_margin": (lambda value: value is None or _is_finite(value), "a finite number, or null"),
    "decimal_separator": (lambda value: value in (".", ","), '"." or ","'),
}
