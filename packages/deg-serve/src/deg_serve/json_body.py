"""The JSON of a request, read so that no later step can stumble over what is in it."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from deg_schema import Pointer, RequestError, render_context
from deg_serve.faults import Fault, Path, shown

__all__ = ["dump", "load_object"]


class _Repeated(Exception):
    pass


def load_object(body: bytes) -> dict[str, Any]:
    """Read the object that a body holds.

    Raises:
        Fault: It is no JSON object, or holds a key twice, half of a surrogate pair, a number
            that JSON has not, or too much.
    """
    document = _load(body)
    if not isinstance(document, dict):
        message = f"the body must be an object, not {shown(document)}"
        raise Fault((), message, "type", found=document)
    try:
        # not for the text: what it refuses is what JSON cannot say
        render_context(document)
    except RequestError as error:
        problem = error.problems[0]
        raise Fault(_path(document, problem.loc), problem.msg) from None
    return document


def dump(value: object) -> str:
    """Spell a JSON value as the model reads it: as the contract serialises a context."""
    return json.dumps(value, ensure_ascii=False)


def _load(body: bytes) -> Any:
    try:
        return json.loads(body.decode(), object_pairs_hook=_object)
    except UnicodeDecodeError as error:
        message = f"the body is not UTF-8 at byte {error.start}"
    except json.JSONDecodeError as error:
        message = f"the body is no JSON: {error.msg} at line {error.lineno} column {error.colno}"
    except RecursionError:
        message = "the body nests too deep; flatten it"
    except _Repeated as error:
        message = f"the key {shown(error.args[0])} is given twice; keep one"
    except ValueError:
        message = "the body holds a number that is too long to read"
    raise Fault((), message, "json")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise _Repeated(max(counts, key=lambda key: counts[key]))
    return members


def _path(document: Any, loc: str) -> Path:
    """Return the keys and indices that *loc*, a pointer, has passed through in *document*."""
    path: list[str | int] = []
    for token in Pointer.parse(loc).tokens:
        step = int(token) if isinstance(document, list) else token
        path.append(step)
        try:
            document = document[step]
        except (KeyError, IndexError):
            # a key that cannot be printed is spelt otherwise in the pointer
            break
    return tuple(path)
