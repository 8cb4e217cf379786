"""Bare values: documents without labels, whose values show by their form what they are."""

from __future__ import annotations

from random import Random

from deg_train.generate.documents import DocumentSource
from deg_train.generate.drafts import Draft, Fact, draw_text
from deg_train.generate.fields import Field
from deg_train.generate.kinds import DECIDE_KINDS
from deg_train.generate.library import default_library
from deg_train.generate.setting import draw_setting

__all__ = ["SELF_EVIDENT", "BareSource"]

SELF_EVIDENT = frozenset(
    "person company street_address city country phone email url date time money percent iban "
    "weight temperature version uuid ip_address file_path job_title color animal".split()
)
"""Kinds of value that no other of them looks like."""

_BETWEEN = ("\n", "\n", "\n\n", " | ", ", ", "; ", " / ", "\t", "  ", " - ", "\n- ", "\n* ")


class BareSource(DocumentSource):
    """An endless source of records about documents that are values alone, one of a kind."""

    def __init__(self) -> None:
        super().__init__("train")
        self._specs = [
            spec
            for domain in default_library().domains.values()
            for spec in domain.fields.values()
            if spec.kind in SELF_EVIDENT
        ]

    def _draft(self, rng: Random) -> Draft:
        chosen: dict[str, Field] = {}
        for spec in rng.sample(self._specs, 40):
            chosen.setdefault(spec.kind, spec)
        kinds = rng.sample(sorted(chosen), min(len(chosen), rng.randint(4, 9)))
        # every domain is taken: nothing of another one may be asked as absent, where no name tells
        draft = Draft(domains=list(default_library().domains.values()))
        setting, between = draw_setting(rng), rng.choice(_BETWEEN)
        for number, kind in enumerate(kinds):
            spec = chosen[kind]
            draft.say(between if number else "")
            draft.print(Fact(spec, draw_text(spec, rng, setting)))
        draft.absent = [spec for spec in self._specs if spec.kind not in {*kinds, *DECIDE_KINDS}]
        return draft
