"""Everything that deg_schema raises, and the root of what all of deg raises.

DegError
└── DegSchemaError
    ├── SchemaError      the schema is outside the contract; carries every problem
    ├── RequestError     a request, its options or its context cannot be read; carries every problem
    ├── PlanError        a text spells no plan; carries every problem
    ├── FillError        outcomes cannot be assembled into a valid value
    └── InvalidPointer   a JSON Pointer is not spelled as RFC 6901 asks
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = [
    "DegError",
    "DegSchemaError",
    "FillError",
    "InvalidPointer",
    "PlanError",
    "Problem",
    "RequestError",
    "SchemaError",
]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, and where: `loc` is an RFC 6901 pointer into the document."""

    loc: str
    msg: str

    def __str__(self) -> str:
        return f"{self.loc or '(root)'}: {self.msg}"


class DegError(Exception):
    """The base of every error that a caller of deg can cause."""


class DegSchemaError(DegError):
    """The base of every error of this package."""


class _ProblemsError(DegSchemaError, ValueError):
    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


class SchemaError(_ProblemsError):
    """The schema is outside the contract; `problems` lists everything that is wrong with it."""


class RequestError(_ProblemsError):
    """The request cannot be read; `problems` lists everything that is wrong with it."""


class PlanError(_ProblemsError):
    """The text spells no plan; `problems` lists what is wrong with it."""


class FillError(DegSchemaError):
    """The outcome at `pointer` cannot become a valid value."""

    def __init__(self, message: str, pointer: str = "") -> None:
        super().__init__(message, pointer)
        self.message = message
        self.pointer = pointer

    def __str__(self) -> str:
        return f"{self.pointer or '(root)'}: {self.message}"


class InvalidPointer(DegSchemaError, ValueError):
    """A JSON Pointer is not spelled as RFC 6901 asks."""
