"""Generated records: a document, questions about what it says and what it does not, and the truth.

Held out from training and kept for evaluation:

- `HELD_OUT_KINDS`: kinds of value that training prints but never asks for;
- the last `HELD_OUT_NAMES` names and the last `HELD_OUT_ABOUTS` descriptions of every field;
- the templates of which `is_held_out` holds, one in `TEMPLATE_FOLDS`.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Literal, get_args
from zlib import crc32

from deg_train.generate.asking import ask
from deg_train.generate.composition import dress, join
from deg_train.generate.drafts import Draft, render
from deg_train.generate.fields import Field
from deg_train.generate.forms import make_form, make_nonsense, make_table
from deg_train.generate.kinds import HELD_OUT_KINDS
from deg_train.generate.library import Domain, Library, default_library
from deg_train.generate.names import HELD_OUT_ABOUTS, HELD_OUT_NAMES, reserved_names, trained_names
from deg_train.generate.phrasing import Naming
from deg_train.generate.template import Template, walk
from deg_train.records import Record

__all__ = [
    "HELD_OUT_ABOUTS",
    "HELD_OUT_KINDS",
    "HELD_OUT_NAMES",
    "TEMPLATE_FOLDS",
    "DocumentSource",
    "Split",
    "is_held_out",
]

Split = Literal["train", "val", "templates", "names", "both", "kinds", "nonsense"]

TEMPLATE_FOLDS = 8

# how often 0, 1, 2, 3 or 5 further documents follow the first
_NUM_JOINED = (88, 7, 3, 1, 1)


def is_held_out(template: Template) -> bool:
    """Say whether the template is kept from training."""
    return crc32(template.id.encode()) % TEMPLATE_FOLDS == 0


class DocumentSource:
    """An endless source of generated records.

    `train` draws what training may see; `val` is the same by other seeds. The evaluation splits:
    `templates` has unseen templates, `names` unseen names and descriptions, `both` both, `kinds`
    asks only for held-out kinds, and `nonsense` has forms with made-up labels.
    """

    def __init__(self, split: Split = "train", *, library: Library | None = None) -> None:
        if split not in get_args(Split):
            raise ValueError(f"{split!r} is no split: one of {', '.join(get_args(Split))}")
        self.split = split
        self._library = library or default_library()
        unseen = split in ("names", "both")
        trained = trained_names(self._library) if unseen else frozenset()
        reserved = reserved_names(self._library) if split in ("train", "val") else None
        self._naming = Naming(unseen, trained, reserved)
        self._templates = [
            (domain, template)
            for domain in self._library.domains.values()
            for template in domain.templates
            if self._is_usable(template, domain)
        ]
        self._domains = list(self._library.domains.values())

    def records(self, count: int, seed: int) -> list[Record]:
        """Return the records of a seed, always the same."""
        rng = Random(f"{self.split}/{seed}")
        return [self.sample(rng) for _ in range(count)]

    def stream(self, seed: int) -> Iterator[Record]:
        """Yield records without end, always the same for a seed."""
        rng = Random(f"{self.split}/{seed}")
        while True:
            yield self.sample(rng)

    def sample(self, rng: Random) -> Record:
        """Draw a record."""
        while True:
            record = ask(self._draft(rng), self._naming, self._is_asked, self._stranger(rng), rng)
            if record is not None:
                return record

    def _is_asked(self, spec: Field) -> bool:
        return (spec.kind in HELD_OUT_KINDS) == (self.split == "kinds")

    def _is_usable(self, template: Template, domain: Domain) -> bool:
        if self.split == "kinds":
            return any(
                domain.fields[node.name].kind in HELD_OUT_KINDS
                for line in template.lines
                for node in walk(line.nodes)
                if not hasattr(node, "key") and not node.decoy
            )
        return is_held_out(template) == (self.split in ("templates", "both"))

    def _draft(self, rng: Random) -> Draft:
        roll = 1.0 if self.split not in ("train", "val") else rng.random()
        if self.split == "nonsense" or roll < 0.07:
            draft = make_nonsense(rng)
        elif roll < 0.21:
            draft = make_form(rng.choice(self._domains), rng)
        elif roll < 0.28:
            draft = make_table(rng.choice(self._domains), rng)
        else:
            draft = self._render(rng)
            for _ in range(rng.choices((0, 1, 2, 3, 5), _NUM_JOINED)[0]):
                draft = join(draft, self._render(rng), rng)
        dress(draft, rng)
        return draft

    def _render(self, rng: Random) -> Draft:
        domain, template = rng.choice(self._templates)
        return render(template, domain, rng)

    def _stranger(self, rng: Random) -> Domain:
        return rng.choice(self._domains)
