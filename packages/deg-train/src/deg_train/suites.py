"""What a checkpoint is measured on: suites of records that training never sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from random import Random

from deg_train.generate import DocumentSource, ListSource, LongSource, Split
from deg_train.generate.option_order import twins
from deg_train.generate.prose import HELD_OUT_TOPICS, draw_prose
from deg_train.generate.surroundings import surrounded
from deg_train.generate.unseen import UnseenDecisions, choice, scale, yes_no
from deg_train.records import Record
from deg_train.sources import Banking77, Clinc150, NluPlusPlus, Restaurant8k

__all__ = ["OWN", "SUITES", "Suite"]

_SEED = 20260

# some 2,000 tokens of English
_FAR_CHARACTERS = 9300


@dataclass(frozen=True, slots=True)
class Suite:
    """A set of records by name.

    Attributes:
        name: What reports call it.
        about: What is new to the model in it.
        num_records: How many records it has at scale 1.
        read: Lists that many of its records, given the folder of the public data sets.
        needs_sets: Whether it is read from that folder.
    """

    name: str
    about: str
    num_records: int
    read: Callable[[Path, int], list[Record]]
    needs_sets: bool = True


def _generated(split: Split, about: str) -> Suite:
    def read(_: Path, count: int) -> list[Record]:
        return DocumentSource(split).records(count, _SEED)

    return Suite(split, about, 200, read, needs_sets=False)


def _lists(_: Path, count: int) -> list[Record]:
    return ListSource("lists").records(count, _SEED)


def _lists_far(_: Path, count: int) -> list[Record]:
    rng = Random(_SEED)
    return [
        surrounded(record, draw_prose(_FAR_CHARACTERS, rng, HELD_OUT_TOPICS) + "\n\n")
        for record in ListSource("lists").records(count, _SEED)
    ]


def _long(_: Path, count: int) -> list[Record]:
    return LongSource("long").records(count, _SEED)


def _questions(_: Path, count: int) -> list[Record]:
    return UnseenDecisions("yes-no", yes_no).records(count, _SEED)


def _negation(_: Path, count: int) -> list[Record]:
    return UnseenDecisions("yes-no", partial(yes_no, negation=True)).records(count, _SEED)


def _scales(_: Path, count: int) -> list[Record]:
    sources = [UnseenDecisions("score", partial(scale, labelled=each)) for each in (True, False)]
    return list(_in_turn(*(source.records(count // 2 + 1, _SEED) for source in sources)))[:count]


def _flips(_: Path, count: int) -> list[Record]:
    rng = Random(_SEED)
    records = UnseenDecisions("choice", choice).records(count // 2 + 1, _SEED)
    return list(chain.from_iterable(twins(record, rng) for record in records))[:count]


def _flips_clinc150(sets: Path, count: int) -> list[Record]:
    rng = Random(_SEED)
    records = Clinc150(sets / "clinc150", "test").records(count // 2 + 1, _SEED)
    return list(chain.from_iterable(twins(record, rng) for record in records))[:count]


def _in_turn(*lists: list[Record]) -> Iterator[Record]:
    return chain.from_iterable(zip(*lists, strict=True))


def _restaurant8k(sets: Path, count: int) -> list[Record]:
    return Restaurant8k(sets / "restaurant8k", "test").records(count, _SEED)


def _banking77(sets: Path, count: int) -> list[Record]:
    return Banking77(sets / "banking77", "test").records(count, _SEED)


def _nlupp(sets: Path, count: int) -> list[Record]:
    return NluPlusPlus(sets / "nlupp", "test").records(count, _SEED)


def _clinc150(sets: Path, count: int) -> list[Record]:
    return Clinc150(sets / "clinc150", "test").records(count, _SEED)


def _clinc150_all(sets: Path, count: int) -> list[Record]:
    return Clinc150(sets / "clinc150", "test").records(count, _SEED, num_options=None)


_ALL = (
    _generated("templates", "generated documents of unseen templates"),
    _generated("names", "generated documents, unseen field names and descriptions"),
    _generated("both", "generated documents, unseen templates, names and descriptions"),
    _generated("kinds", "generated documents asked for unseen kinds of value"),
    _generated("nonsense", "generated forms with made-up labels"),
    Suite("lists", "generated lists, unseen layouts", 200, _lists, needs_sets=False),
    Suite("lists-far", "the same behind 2,000 tokens of prose", 100, _lists_far, needs_sets=False),
    Suite("long", "reports of 4,000 to 16,000 tokens, unseen", 16, _long, needs_sets=False),
    Suite("questions", "yes-no, unseen domains and questions", 600, _questions, needs_sets=False),
    Suite("negation", "the same, turned round", 600, _negation, needs_sets=False),
    Suite("scales", "scales of unseen domains", 400, _scales, needs_sets=False),
    Suite("flips", "choices of unseen domains, asked in two orders", 600, _flips, needs_sets=False),
    Suite("restaurant8k", "Restaurant8k test, five slots a turn", 1200, _restaurant8k),
    Suite("banking77", "BANKING77 test, all 77 options", 500, _banking77),
    Suite("nlupp", "NLU++ held-out folds, every intent and slot", 160, _nlupp),
    Suite("clinc150", "CLINC150 test, 10 options of intents never trained on", 400, _clinc150),
    Suite("flips-clinc150", "CLINC150 test, the same in two orders", 600, _flips_clinc150),
    Suite("clinc150-all", "CLINC150 test, all 150 options", 250, _clinc150_all),
)

OWN = Suite("own", "labelled documents of your own", 0, lambda _, __: [], needs_sets=False)
"""The name of records that come from elsewhere."""

SUITES = {suite.name: suite for suite in _ALL}
"""Every suite by its name, in the order of reports."""
