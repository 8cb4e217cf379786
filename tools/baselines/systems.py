"""What a compared system has to do, and how each is loaded by its name."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Protocol

from baselines.cases import Case

__all__ = ["MAX_NEW_TOKENS", "SYSTEMS", "Answer", "System", "load_system"]

MAX_NEW_TOKENS = 512
"""What a baseline may write for one document; no true value here needs half of it."""

_MODULES = {
    "transformers": "baselines.with_transformers",
    "llamacpp": "baselines.with_llamacpp",
    "deg": "baselines.with_deg",
}
SYSTEMS = tuple(_MODULES)
"""The names that `--systems` takes, in the order of the table."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a system made of a case.

    Attributes:
        text: The JSON text; of a cut-off one, what had been written.
        dropped: Keywords of the schema that the grammar had to do without.
    """

    text: str
    prompt_tokens: int
    generated_tokens: int
    cut_off: bool = False
    dropped: tuple[str, ...] = ()


class System(Protocol):
    """What is compared: `prepare` costs nothing, `fill` is timed."""

    def prepare(self, case: Case) -> None:
        """Do what is done once for a schema, such as finding out which keywords are refused."""

    def fill(self, case: Case) -> Answer:
        """Answer from the text and the schema, with nothing kept from earlier cases."""


def load_system(name: str) -> System:
    """Return the system *name*, its weights loaded, to run on one thread."""
    system: System = importlib.import_module(_MODULES[name]).load()
    return system
