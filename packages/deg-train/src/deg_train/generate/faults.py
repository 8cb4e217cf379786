"""Faults in the data files of the generator: each has its file and line."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Fault", "LibraryError"]


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong in a templates or fields file."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


class LibraryError(ValueError):
    """The data files do not make a library; `faults` lists every reason."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__("\n".join(str(fault) for fault in faults))
        self.faults = tuple(faults)
