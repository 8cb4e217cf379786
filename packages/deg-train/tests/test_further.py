from __future__ import annotations

import re
from random import Random
from typing import Literal

import pytest

from deg_schema import compile_schema
from deg_train.generate import FurtherSource
from deg_train.generate.fields import Field
from deg_train.generate.further import further_library
from deg_train.generate.kinds import DECIDE_KINDS
from deg_train.generate.library import Library, default_library
from deg_train.generate.names import reserved_names, spellings
from deg_train.generate.unseen import unseen_library
from deg_train.records import check

FOLDERS: tuple[Literal["further", "decided"], ...] = ("further", "decided")


def fields_of(library: Library) -> list[Field]:
    return [spec for domain in library.domains.values() for spec in domain.fields.values()]


def abouts_of(library: Library) -> set[str]:
    return {plain(about) for spec in fields_of(library) for about in spec.abouts}


def names_of(library: Library) -> frozenset[tuple[str, ...]]:
    return frozenset().union(*(spellings(spec.names) for spec in fields_of(library)))


def plain(about: str) -> str:
    return re.sub(r"\W+", " ", about).strip().lower()


@pytest.mark.parametrize("folder", FOLDERS)
def test_records_hold(folder: Literal["further", "decided"]) -> None:
    source, rng = FurtherSource(folder), Random(0)
    modes: set[str] = set()
    for _ in range(200):
        record = source.sample(rng)
        check(record)
        modes |= {field.mode for field in compile_schema(record.schema).fields}
    decided = {"decide.choice", "decide.noul", "decide.score"}
    if folder == "decided":
        assert modes == decided
    else:
        assert modes >= {"extract.span", "extract.number", "extract.date", "decide.noul"}


def test_decided_domains_have_many_labels() -> None:
    domains = further_library("decided").domains.values()
    assert len(domains) > 70
    for domain in domains:
        assert {spec.kind for spec in domain.fields.values()} == DECIDE_KINDS
        assert len(domain.templates) >= 4


@pytest.mark.parametrize("folder", FOLDERS)
def test_nothing_of_them_is_what_suites_ask(folder: Literal["further", "decided"]) -> None:
    library = further_library(folder)
    held_out = {plain(spec.abouts[-1]) for spec in fields_of(default_library())}
    assert abouts_of(library).isdisjoint(held_out | abouts_of(unseen_library()))
    assert library.domains.keys().isdisjoint(unseen_library().domains)
    kept = reserved_names(default_library()) | names_of(unseen_library())
    assert names_of(library).isdisjoint(kept)
    assert all(spec.names and spec.abouts for spec in fields_of(library))
