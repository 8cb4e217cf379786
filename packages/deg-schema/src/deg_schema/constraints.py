"""Constraints: read from a schema, checked for sense, and applied to a value."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from deg_schema.compilation import Compilation, Node
from deg_schema.formats import is_format
from deg_schema.json_values import clip
from deg_schema.keywords import FORMATS, is_count, is_number
from deg_schema.limits import MAX_SCORE_LEVELS
from deg_schema.patterns import SLOW_COST, SlowPattern, parse_pattern, search_pattern
from deg_schema.plan import Constraints, JsonScalar, Number

__all__ = [
    "admitted_levels",
    "is_multiple",
    "is_score",
    "number_constraints",
    "read_count",
    "string_constraints",
    "string_format",
    "violated_keyword",
]

_Exact: TypeAlias = int | Fraction

_NONE = Constraints()
_STRING_KEYWORDS = ("minLength", "maxLength", "pattern")
_NUMBER_KEYWORDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")


def read_count(compilation: Compilation, node: Node, keyword: str) -> int | None:
    """Read a keyword that counts, such as `minLength`; `None` where it is not there."""
    value = node.schema.get(keyword)
    if is_count(value) and (compilation.draft > 4 or type(value) is int):
        return int(value)  # type: ignore[arg-type]
    if keyword in node.schema:
        compilation.report(
            f"{node.loc}/{keyword}",
            f"'{keyword}' must be an integer of at least 0, not {clip(value)}",
        )
    return None


def string_constraints(compilation: Compilation, node: Node) -> Constraints:
    """Read the lengths and the pattern of a string."""
    schema = node.schema
    if schema.keys().isdisjoint(_STRING_KEYWORDS):
        return _NONE
    shortest = read_count(compilation, node, "minLength")
    longest = read_count(compilation, node, "maxLength")
    pattern = schema.get("pattern")
    if "pattern" in schema and not isinstance(pattern, str):
        compilation.report(f"{node.loc}/pattern", "'pattern' must be a string")
        pattern = None
    if longest == 0:
        compilation.report(
            f"{node.loc}/maxLength", "'maxLength' 0 leaves only the empty text; raise it"
        )
    elif shortest is not None and longest is not None and shortest > longest:
        compilation.report(
            node.loc, f"no string has 'minLength' {shortest} and 'maxLength' {longest}; change one"
        )
    elif pattern is not None and _is_pattern(compilation, node, pattern, shortest or 0, longest):
        return Constraints(min_length=shortest, max_length=longest, pattern=pattern)
    # what cannot be searched is not tried on any option
    return Constraints(min_length=shortest, max_length=longest)


def string_format(compilation: Compilation, node: Node) -> str | None:
    """Read the format of a string."""
    name = node.schema.get("format")
    if "format" not in node.schema or name in FORMATS:
        return name
    known = ", ".join(map(repr, FORMATS))
    compilation.report(
        f"{node.loc}/format",
        f"'format' {clip(name)} is not checked here; use one of {known}, or 'pattern'",
    )
    return None


def number_constraints(compilation: Compilation, node: Node) -> Constraints:
    """Read the bounds of a number."""
    schema = node.schema
    if schema.keys().isdisjoint(_NUMBER_KEYWORDS):
        return _NONE
    lower = _bound(compilation, node, "minimum", "exclusiveMinimum")
    upper = _bound(compilation, node, "maximum", "exclusiveMaximum")
    step = _number(compilation, node, "multipleOf")
    if step is not None and step <= 0:
        compilation.report(f"{node.loc}/multipleOf", "'multipleOf' must be greater than 0")
        step = None
    constraints = Constraints(
        minimum=lower[0],
        exclusive_minimum=lower[1],
        maximum=upper[0],
        exclusive_maximum=upper[1],
        multiple_of=step,
    )
    if schema.get("type") != "integer" and _admits_no_number(constraints):
        compilation.report(node.loc, f"no number meets {_spelled(constraints)}; widen the bounds")
    return constraints


def admitted_levels(constraints: Constraints) -> range | None:
    """Return the integers within the bounds, or `None` where a bound is missing."""
    lows = [math.ceil(_exact(constraints.minimum))] if constraints.minimum is not None else []
    highs = [math.floor(_exact(constraints.maximum))] if constraints.maximum is not None else []
    if constraints.exclusive_minimum is not None:
        lows.append(math.floor(_exact(constraints.exclusive_minimum)) + 1)
    if constraints.exclusive_maximum is not None:
        highs.append(math.ceil(_exact(constraints.exclusive_maximum)) - 1)
    if not lows or not highs:
        return None
    # an integer multiple of p/q in lowest terms is a multiple of p
    step = _exact(constraints.multiple_of).numerator if constraints.multiple_of is not None else 1
    first = -(-max(lows) // step) * step
    return range(first, min(highs) + 1, step)


def is_score(levels: range | None) -> bool:
    """Say whether bounds leave few enough integers to decide between them."""
    # the length of a wide range does not fit into len()
    return levels is not None and not levels[MAX_SCORE_LEVELS : MAX_SCORE_LEVELS + 1]


def violated_keyword(constraints: Constraints, format: str | None, value: JsonScalar) -> str | None:
    """Name the keyword that *value* violates; a value of another type violates none."""
    if isinstance(value, str):
        return _violated_by_text(constraints, format, value)
    if value is None or isinstance(value, bool):
        return None
    exact = _exact(value)
    checks: tuple[tuple[str, Number | None, Callable[[_Exact], bool]], ...] = (
        ("minimum", constraints.minimum, lambda bound: exact < bound),
        ("maximum", constraints.maximum, lambda bound: exact > bound),
        ("exclusiveMinimum", constraints.exclusive_minimum, lambda bound: exact <= bound),
        ("exclusiveMaximum", constraints.exclusive_maximum, lambda bound: exact >= bound),
        ("multipleOf", constraints.multiple_of, lambda bound: exact % bound != 0),
    )
    for keyword, bound, is_violated in checks:
        if bound is not None and is_violated(_exact(bound)):
            return keyword
    return None


def is_multiple(value: Number, step: Number) -> bool:
    """Say whether *value* is a multiple of *step*, both read as they are written."""
    return _exact(value) % _exact(step) == 0


def _violated_by_text(constraints: Constraints, format: str | None, text: str) -> str | None:
    if constraints.min_length is not None and len(text) < constraints.min_length:
        return "minLength"
    if constraints.max_length is not None and len(text) > constraints.max_length:
        return "maxLength"
    if constraints.pattern is not None and not search_pattern(constraints.pattern, text):
        return "pattern"
    if format is not None and not is_format(format, text):
        return "format"
    return None


def _is_pattern(
    compilation: Compilation, node: Node, text: str, shortest: int, longest: int | None
) -> bool:
    place = f"{node.loc}/pattern"
    try:
        pattern = parse_pattern(text)
    except SlowPattern as error:
        compilation.report(place, f"'pattern' {clip(text)} is slow: {error}")
        compilation.spend(place, text, SLOW_COST)
        return False
    except ValueError as error:
        compilation.report(place, f"'pattern' {clip(text)} is invalid: {error}; correct it")
        return False
    compilation.spend(place, text, pattern.cost)
    if longest is not None and pattern.min_length > longest:
        keyword = f"'maxLength' {longest}"
    elif pattern.max_length < shortest:
        keyword = f"'minLength' {shortest}"
    else:
        return True
    compilation.report(
        node.loc, f"no string meets 'pattern' {clip(text)} and {keyword} together; change one"
    )
    return False


def _number(compilation: Compilation, node: Node, keyword: str) -> Number | None:
    value: Any = node.schema.get(keyword)
    if is_number(value):
        # 1.0 and 1 are one JSON number, and give one fingerprint
        return int(value) if value == int(value) else value
    if keyword in node.schema:
        compilation.report(
            f"{node.loc}/{keyword}", f"'{keyword}' must be a number, not {clip(value)}"
        )
    return None


def _bound(
    compilation: Compilation, node: Node, keyword: str, exclusive: str
) -> tuple[Number | None, Number | None]:
    bound = _number(compilation, node, keyword)
    if compilation.draft > 4:
        return bound, _number(compilation, node, exclusive)
    is_exclusive = node.schema.get(exclusive, False)
    if not isinstance(is_exclusive, bool):
        message = f"'{exclusive}' must be true or false in draft 4, not {clip(is_exclusive)}"
        compilation.report(f"{node.loc}/{exclusive}", message)
    elif exclusive in node.schema and keyword not in node.schema:
        message = f"'{exclusive}' needs '{keyword}' beside it in draft 4"
        compilation.report(f"{node.loc}/{exclusive}", message)
    elif is_exclusive:
        return None, bound
    return bound, None


def _admits_no_number(constraints: Constraints) -> bool:
    low, low_is_open = _tightest(constraints.minimum, constraints.exclusive_minimum, max)
    high, high_is_open = _tightest(constraints.maximum, constraints.exclusive_maximum, min)
    if low is None or high is None:
        return False
    if constraints.multiple_of is not None:
        step = _exact(constraints.multiple_of)
        multiple = math.ceil(Fraction(low) / step) * step
        low, low_is_open = (multiple + step if low_is_open and multiple == low else multiple), False
    return low > high or (low == high and (low_is_open or high_is_open))


def _tightest(
    closed: Number | None, opened: Number | None, pick: Any
) -> tuple[_Exact | None, bool]:
    if opened is None:
        return (None if closed is None else _exact(closed)), False
    if closed is None:
        return _exact(opened), True
    bound = pick(_exact(closed), _exact(opened))
    return bound, bound == _exact(opened)


def _spelled(constraints: Constraints) -> str:
    values = (
        constraints.minimum,
        constraints.maximum,
        constraints.exclusive_minimum,
        constraints.exclusive_maximum,
        constraints.multiple_of,
    )
    pairs = zip(_NUMBER_KEYWORDS, values, strict=True)
    return " and ".join(f"'{keyword}' {value}" for keyword, value in pairs if value is not None)


def _exact(value: Number) -> _Exact:
    # 0.1 means a tenth, not the nearest binary fraction
    return value if isinstance(value, int) else Fraction(Decimal(repr(value)))
