"""Sections of long documents: a text with a heading, as facts of a domain, a list, or prose."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from deg_train.generate.drafts import Draft, Piece, render
from deg_train.generate.library import Domain
from deg_train.generate.list_drafts import Listing
from deg_train.generate.list_page import Page
from deg_train.generate.list_printing import print_listing
from deg_train.generate.names import styled_label
from deg_train.generate.prose import Topic, draw_prose
from deg_train.generate.template import Template

__all__ = ["HEADINGS", "HELD_OUT_HEADINGS", "Section", "draw_domain", "draw_topic", "print_list"]

HEADINGS = (
    "{number}. {title}\n\n",
    "{number} {title}\n",
    "Section {number}: {title}\n\n",
    "## {title}\n\n",
    "{title}\n\n",
    "=== {title} ===\n",
    "Part {number} - {title}\n\n",
    "[{number}] {title}\n",
    "{title}\n------\n",
)
"""What may stand above the sections of a document of training."""

HELD_OUT_HEADINGS = ("Item {number}. {title}\n\n", "** {title} **\n\n", "§ {number} {title}\n")
"""What only an evaluation puts above a section."""

# what a token of each spells on the average, by the tokenizer of the default base
_LETTERS_OF_FACTS, _LETTERS_OF_LISTS, _LETTERS_OF_PROSE = 2.9, 2.4, 4.7


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a long document.

    Attributes:
        title: What its heading says.
        draft: Its text, with the facts that it tells.
        num_tokens: How long it is, roughly.
        listing: The list that it prints, if it does.
        page: Where each value of that list stands, from the start of the section.
    """

    title: str
    draft: Draft
    num_tokens: int
    listing: Listing | None = None
    page: Page | None = None

    def headed(self, heading: str, number: int) -> Draft:
        """Return the text under its heading; a fact may say in words where it stands."""
        title = heading.format(number=number, title=self.title)
        places = [f"in the section {self.title!r}", f"under {self.title!r}"]
        places += [f"in section {number}"] if "{number}" in heading else []
        facts = [
            replace(fact, row=places[place % len(places)])
            for place, fact in enumerate(self.draft.facts)
        ]
        return replace(self.draft, pieces=[Piece(title), *self.draft.pieces], facts=facts)


def draw_domain(domain: Domain, templates: Sequence[Template], rng: Random) -> Section:
    """Draw a section that is a document of a domain."""
    draft = render(rng.choice(templates), domain, rng)
    letters = sum(len(piece.text) for piece in draft.pieces)
    title = styled_label(domain.name, rng.choice(("words", "words", "title", "caps")))
    return Section(title, draft, int(letters / _LETTERS_OF_FACTS))


def draw_topic(topic: Topic, num_tokens: int, rng: Random) -> Section:
    """Draw a section of about *num_tokens* that answers nothing."""
    draft = Draft()
    draft.say(draw_prose(int(num_tokens * _LETTERS_OF_PROSE), rng, (topic,)))
    title = rng.choice(_PROSE_TITLES).format(topic.name)
    letters = len(draft.pieces[0].text)
    return Section(title, draft, int(letters / _LETTERS_OF_PROSE))


def print_list(listing: Listing, rng: Random) -> Section:
    """Print a list as a section; one without items may have no text."""
    page, draft = Page(), Draft()
    print_listing(page, listing, rng)
    page.text = page.text.rstrip()
    draft.say(page.text)
    title = re.sub(r"\W+$", "", rng.choice(listing.sort.array.values))
    return Section(title, draft, int(len(page.text) / _LETTERS_OF_LISTS), listing, page)


_PROSE_TITLES = ("On {}", "Remarks on {}", "Background: {}", "Excursus: {}", "A note on {}")
