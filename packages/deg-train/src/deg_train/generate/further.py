"""Further domains, of which no suite is made: all of them trains.

Those under `further` are copied from like the others. Those under `decided` are only judged, by
yes-no, scales and choices: a label takes a wording of its own in a template, so that few of the
other documents have many.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from random import Random
from typing import Literal

from deg_train.generate.composition import dress
from deg_train.generate.documents import DocumentSource
from deg_train.generate.drafts import Draft, render
from deg_train.generate.fields import Field
from deg_train.generate.library import ROOT, Domain, Library, default_library, load_library
from deg_train.generate.names import (
    HELD_OUT_ABOUTS,
    reserved_names,
    spellings,
    words_of,
)
from deg_train.generate.phrasing import Naming
from deg_train.generate.unseen import unseen_library

__all__ = ["FurtherSource", "further_library"]

Folder = Literal["further", "decided"]


@cache
def further_library(folder: Folder) -> Library:
    """Return the domains under *folder*, without the names and questions that suites ask."""
    names, abouts = _kept_names(), _kept_abouts()

    def trained(spec: Field) -> Field:
        return replace(
            spec,
            names=tuple(name for name in spec.names if words_of(name) not in names),
            abouts=tuple(about for about in spec.abouts if _plain(about) not in abouts),
        )

    return Library(
        {
            name: Domain(
                name, {key: trained(each) for key, each in domain.fields.items()}, domain.templates
            )
            for name, domain in load_library(ROOT / folder).domains.items()
        }
    )


class FurtherSource(DocumentSource):
    """An endless source of records about the documents of one of the folders."""

    def __init__(self, folder: Folder) -> None:
        library = further_library(folder)
        super().__init__("train", library=library)
        self._folder = folder
        self._naming = Naming(reserved=_kept_names(), whole=True)
        domains = library.domains.values()
        self._templates = [(domain, each) for domain in domains for each in domain.templates]

    def _draft(self, rng: Random) -> Draft:
        if self._folder == "further":
            return super()._draft(rng)
        domain, template = rng.choice(self._templates)
        draft = render(template, domain, rng)
        dress(draft, rng)
        return draft


@cache
def _kept_names() -> frozenset[tuple[str, ...]]:
    unseen = [spellings(spec.names) for spec in _fields(unseen_library())]
    return reserved_names(default_library()).union(*unseen)


def _kept_abouts() -> frozenset[str]:
    held_out = [spec.abouts[-HELD_OUT_ABOUTS:] for spec in _fields(default_library())]
    held_out += [spec.abouts for spec in _fields(unseen_library())]
    return frozenset(_plain(about) for abouts in held_out for about in abouts)


def _fields(library: Library) -> list[Field]:
    return [spec for domain in library.domains.values() for spec in domain.fields.values()]


def _plain(about: str) -> str:
    return re.sub(r"\W+", " ", about).strip().lower()
