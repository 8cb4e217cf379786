"""JSON texts: read so that nothing in them is lost or converted before it was checked."""

from __future__ import annotations

import json
import math
from typing import Any

from deg_schema.json_values import RepeatedKeys

__all__ = ["load_json"]

_MAX_DIGITS = 1200


def load_json(text: str) -> Any:
    """Read *text*; whatever `check_json` can name afterwards passes here.

    Raises:
        json.JSONDecodeError: It is no JSON.
        RecursionError: It nests deeper than Python can read.
    """
    return json.loads(text, object_pairs_hook=_object, parse_int=_integer)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    return members if len(members) == len(pairs) else RepeatedKeys(pairs)


def _integer(digits: str) -> int | float:
    # what is too long to convert is refused at its place, as every infinite number is
    return int(digits) if len(digits) <= _MAX_DIGITS else math.inf
