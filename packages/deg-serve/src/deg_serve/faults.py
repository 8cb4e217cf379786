"""What is wrong with a request to the decision APIs, and where, before an API says it its way."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal, TypeAlias

__all__ = [
    "NOTHING",
    "Fault",
    "Kind",
    "Path",
    "check_members",
    "list_at",
    "mapping_at",
    "member",
    "shown",
    "text_at",
    "text_or_null",
]

Path: TypeAlias = tuple[str | int, ...]
Kind: TypeAlias = Literal["missing", "type", "value", "unknown", "too_many", "too_few", "json"]

NOTHING = object()
"""What a fault has found where nothing stands, or nothing that could be shown."""
_SHOWN = 80


class Fault(Exception):
    """One thing that is wrong with a request.

    Attributes:
        path: The keys and indices that lead to it.
        message: What is wrong, and what would be right.
        kind: The sort of fault.
        found: What stands there, or `NOTHING`.
    """

    def __init__(
        self, path: Path, message: str, kind: Kind = "value", *, found: object = NOTHING
    ) -> None:
        super().__init__(path, message)
        self.path = path
        self.message = message
        self.kind = kind
        self.found = found

    def within(self, path: Path) -> Fault:
        """Return the fault as it is seen from outside of what lies at *path*."""
        return Fault(path + self.path, self.message, self.kind, found=self.found)


def member(mapping: Mapping[str, Any], name: str, path: Path = ()) -> Any:
    """Return a member that has to be there.

    Raises:
        Fault: It is not.
    """
    value = mapping.get(name, NOTHING)
    if value is NOTHING:
        raise Fault((*path, name), f"{name!r} is missing", "missing", found=mapping)
    return value


def text_at(
    mapping: Mapping[str, Any], name: str, path: Path = (), *, among: Collection[str] = ()
) -> str:
    """Return a text that has to be there, and to be one of *among* where there are some.

    Raises:
        Fault: It is something else.
    """
    value = member(mapping, name, path)
    if not isinstance(value, str):
        message = f"{name!r} must be a string, not {shown(value)}"
        raise Fault((*path, name), message, "type", found=value)
    if among and value not in among:
        message = f"{name!r} must be one of {', '.join(among)}, not {shown(value)}"
        raise Fault((*path, name), message, found=value)
    return value


def text_or_null(
    mapping: Mapping[str, Any], name: str, path: Path = (), *, among: Collection[str] = ()
) -> str | None:
    """Return a text that may be null or missing."""
    return None if mapping.get(name) is None else text_at(mapping, name, path, among=among)


def mapping_at(value: object, path: Path, what: str) -> Mapping[str, Any]:
    """Return *value* where it is an object.

    Raises:
        Fault: It is something else.
    """
    if not isinstance(value, Mapping):
        raise Fault(path, f"{what} must be an object, not {shown(value)}", "type", found=value)
    return value


def list_at(value: object, path: Path, what: str, *, least: int = 0, most: int) -> list[Any]:
    """Return *value* where it is an array of *least* to *most* elements.

    Raises:
        Fault: It is something else.
    """
    if not isinstance(value, list):
        raise Fault(path, f"{what} must be an array, not {shown(value)}", "type", found=value)
    if len(value) < least:
        message = f"{what} must have at least {least} elements, and there are {len(value)}"
        raise Fault(path, message, "too_few")
    if len(value) > most:
        message = f"{what} must have at most {most} elements, and there are {len(value)}"
        raise Fault(path, message, "too_many")
    return value


def check_members(mapping: Mapping[str, Any], known: Collection[str], path: Path = ()) -> None:
    """Check that nothing stands in *mapping* but what is *known*.

    Raises:
        Fault: Something else does.
    """
    for name in mapping:
        if name not in known:
            message = f"{shown(name)} is unknown; what is known is {', '.join(known)}"
            raise Fault((*path, name), message, "unknown")


def shown(value: object) -> str:
    """Spell what stands in a request for a message, shortened where it is long."""
    if isinstance(value, (Mapping, list)):
        return "an object" if isinstance(value, Mapping) else "an array"
    if value is None or isinstance(value, bool):
        return {True: "true", False: "false", None: "null"}[value]
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
