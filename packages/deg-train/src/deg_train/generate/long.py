"""Long documents: reports of many sections, with facts and lists spread through unrelated text."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any, Literal, get_args

from deg_train.generate.asking import ask
from deg_train.generate.composition import join
from deg_train.generate.documents import is_held_out
from deg_train.generate.drafts import Draft, Fact
from deg_train.generate.fields import Field
from deg_train.generate.kinds import HELD_OUT_KINDS
from deg_train.generate.library import Domain, default_library
from deg_train.generate.list_asking import Sheet
from deg_train.generate.list_drafts import Drawer, Listing, draw_sorts, words_in
from deg_train.generate.list_layouts import layouts
from deg_train.generate.list_library import ListSort
from deg_train.generate.list_page import Page
from deg_train.generate.long_sections import (
    HEADINGS,
    HELD_OUT_HEADINGS,
    Section,
    draw_domain,
    draw_topic,
    print_list,
)
from deg_train.generate.names import content_words, reserved_names
from deg_train.generate.phrasing import Naming
from deg_train.generate.prose import HELD_OUT_TOPICS, TOPICS
from deg_train.generate.setting import draw_setting
from deg_train.records import Record

__all__ = ["LongSource", "LongSplit"]

LongSplit = Literal["train", "val", "long"]

# tokens of the default base, drawn log-uniformly; sections end a little past what was drawn
_LEAST, _MOST = 4300, 14500
_MOST_LISTS, _MOST_ENTRIES = 5, 60
_MOST_ASKED_DOMAINS, _MOST_ASKED_LISTS = 8, 3
_NAMED_PLACES = 0.3


class LongSource:
    """An endless source of records of 4,000 to 16,000 tokens.

    `train` draws what training may see, `val` the same by other seeds, and `long` documents whose
    templates, layouts, sentences, headings and topics are kept from training.
    """

    def __init__(self, split: LongSplit = "train") -> None:
        if split not in get_args(LongSplit):
            raise ValueError(f"{split!r} is no split: one of {', '.join(get_args(LongSplit))}")
        self.split = split
        self._held_out = split == "long"
        library = default_library()
        self._naming = Naming(reserved=None if self._held_out else reserved_names(library))
        self._layouts = layouts(held_out=self._held_out)
        self._topics = HELD_OUT_TOPICS if self._held_out else TOPICS
        self._headings = HELD_OUT_HEADINGS if self._held_out else HEADINGS
        usable = {
            name: [each for each in domain.templates if is_held_out(each) == self._held_out]
            for name, domain in library.domains.items()
        }
        self.templates = {name: templates for name, templates in usable.items() if templates}
        self._domains = [library.domains[name] for name in self.templates]

    def records(self, count: int, seed: int) -> list[Record]:
        """Return the records of a seed, always the same."""
        rng = Random(f"long/{self.split}/{seed}")
        return [self.sample(rng) for _ in range(count)]

    def stream(self, seed: int) -> Iterator[Record]:
        """Yield records without end, always the same for a seed."""
        rng = Random(f"long/{self.split}/{seed}")
        while True:
            yield self.sample(rng)

    def sample(self, rng: Random) -> Record:
        """Draw a record."""
        while True:
            num_tokens = math.exp(rng.uniform(math.log(_LEAST), math.log(_MOST)))
            drawer = Drawer(self._layouts, draw_setting(rng), rng, held_out=self._held_out)
            sorts = draw_sorts(rng, rng.randint(1, _MOST_LISTS))
            listings = [drawer.draw(sort, _num_entries(rng)) for sort in sorts]
            sections = [print_list(listing, rng) for listing in listings]
            sections += self._facts(rng.uniform(0.25, 0.5) * num_tokens, sorts, rng)
            sections += self._prose(num_tokens - sum(each.num_tokens for each in sections), rng)
            rng.shuffle(sections)
            document = _Document(sections, rng.choice(self._headings), rng)
            facts = ask(
                document.draft, self._naming, self._asked(document, sorts, rng), self._any(rng), rng
            )
            if facts is not None:
                return self._with_lists(facts, document, rng)

    def _facts(
        self, num_tokens: float, sorts: Sequence[ListSort], rng: Random
    ) -> Iterator[Section]:
        """Yield documents of different domains, none with a word that a list is asked by."""
        size = 0
        taken = frozenset().union(*(content_words(sort.array.names) for sort in sorts))
        for domain in rng.sample(self._domains, len(self._domains)):
            section = draw_domain(domain, self.templates[domain.name], rng)
            text = " ".join(piece.text for piece in section.draft.pieces).lower()
            if taken.isdisjoint(re.findall(r"[a-z]+", text)):
                yield section
                size += section.num_tokens
            if size >= num_tokens:
                return

    def _prose(self, num_tokens: float, rng: Random) -> Iterator[Section]:
        while num_tokens > 0:
            most = min(num_tokens, rng.randint(100, 900))
            section = draw_topic(rng.choice(self._topics), int(most), rng)
            yield section
            num_tokens -= section.num_tokens

    def _any(self, rng: Random) -> Domain:
        return rng.choice(self._domains)

    def _asked(self, document: _Document, sorts: Sequence[ListSort], rng: Random) -> _IsAsked:
        """Choose whose fields are asked for: those of some sections, and of none that are told."""
        told = document.draft.domains
        asked = rng.sample(told, min(len(told), rng.randint(3, _MOST_ASKED_DOMAINS)))
        untold = [domain for domain in self._domains if domain not in told]
        fields = frozenset(spec for each in (*asked, *untold) for spec in each.fields.values())
        return _IsAsked(fields, frozenset().union(*map(words_in, sorts)))

    def _with_lists(self, facts: Record, document: _Document, rng: Random) -> Record:
        """Ask for some of the lists too."""
        lists = document.lists
        for listing, page, offset in rng.sample(lists, min(len(lists), _MOST_ASKED_LISTS)):
            sheet = Sheet(page, self._naming, rng, crowded=True)
            sheet.ask_list(listing)
            facts = _merged(facts, sheet.finish(), offset)
        return replace(facts, source="long")


class _IsAsked:
    """Says whether a field may be asked for: a list that has something alike would answer it."""

    def __init__(self, fields: frozenset[Field], taken: frozenset[str]) -> None:
        self._fields, self._taken = fields, taken

    def __call__(self, spec: Field) -> bool:
        return (
            spec in self._fields
            and spec.kind not in HELD_OUT_KINDS
            and content_words(spec.names).isdisjoint(self._taken)
        )


class _Document:
    """The sections one after another.

    Attributes:
        draft: The whole text with all facts; one that could be taken for another says in which
            section it stands, and so do some of the others.
        lists: Each list with its page, and where in the text the page begins.
    """

    def __init__(self, sections: Sequence[Section], heading: str, rng: Random) -> None:
        self.draft = Draft()
        self.lists: list[tuple[Listing, Page, int]] = []
        told = [section for section in sections if section.num_tokens]
        if rng.random() < 0.4:
            lines = [f"{number} {each.title}\n" for number, each in enumerate(told, 1)]
            self.draft.say(f"{rng.choice(_CONTENTS)}\n\n{''.join(lines)}\n")
        for number, section in enumerate(told, 1):
            self.draft = join(self.draft, section.headed(heading, number), rng)
            if section.listing is not None and section.page is not None:
                end = sum(len(piece.text) for piece in self.draft.pieces)
                self.lists.append((section.listing, section.page, end - len(section.page.text)))
        self.lists += [
            (each.listing, each.page, 0)
            for each in sections
            if not each.num_tokens and each.listing is not None and each.page is not None
        ]
        words = Counter(
            word for fact in self.draft.facts for word in content_words(fact.field.names)
        )
        self.draft.facts = [_placed(fact, words, rng) for fact in self.draft.facts]


def _placed(fact: Fact, words: Counter[str], rng: Random) -> Fact:
    is_alone = all(words[word] == 1 for word in content_words(fact.field.names))
    return replace(fact, row=None) if is_alone and rng.random() >= _NAMED_PLACES else fact


def _num_entries(rng: Random) -> int | None:
    """Return how many items a list has, None for as many as those of short documents."""
    return rng.randint(15, _MOST_ENTRIES) if rng.random() < 0.25 else None


def _merged(record: Record, other: Record, offset: int) -> Record:
    """Ask what *other* asks too, whose document begins at *offset*; equal names are asked once."""
    ours, theirs = record.schema["properties"], other.schema["properties"]
    if not ours.keys().isdisjoint(theirs):
        return record
    schema: dict[str, Any] = {**record.schema, "properties": {**ours, **theirs}}
    required = [*record.schema.get("required", ()), *other.schema.get("required", ())]
    schema |= {"required": required} if required else {}
    moved = {
        pointer: tuple((start + offset, end + offset) for start, end in places)
        for pointer, places in other.spans.items()
    }
    return replace(
        record,
        schema=schema,
        value={**record.value, **other.value},
        spans={**record.spans, **moved},
    )


_CONTENTS = ("Contents", "CONTENTS", "Table of contents", "In this document", "Overview")
