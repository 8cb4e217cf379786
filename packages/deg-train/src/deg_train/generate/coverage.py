"""Coverage: what the generator makes, counted, and how often training then asks for what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from deg_schema import FieldPlan, compile_schema
from deg_train.generate.bare import SELF_EVIDENT
from deg_train.generate.documents import is_held_out
from deg_train.generate.foreign import LANGUAGES
from deg_train.generate.further import further_library
from deg_train.generate.hiding import Documents
from deg_train.generate.kinds import DATE_KINDS, HELD_OUT_KINDS, KINDS, NUMBER_KINDS
from deg_train.generate.library import Domain, Library, default_library
from deg_train.generate.list_layouts import held_out_layouts, layouts
from deg_train.generate.list_library import list_sorts
from deg_train.generate.long_sections import HEADINGS, HELD_OUT_HEADINGS
from deg_train.generate.names import HELD_OUT_ABOUTS, HELD_OUT_NAMES
from deg_train.generate.prose import HELD_OUT_TOPICS, TOPICS
from deg_train.generate.unseen import unseen_library
from deg_train.generate.wider import (
    CHANGES,
    DECIDED_SHARES,
    DOCUMENT_SHARES,
    INTENT_SHARES,
    LIST_SHARES,
    QUESTION_SHARES,
)
from deg_train.records import Record, lookup

__all__ = ["Row", "asked", "changes", "material", "page"]


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table: what, and its numbers as text."""

    what: str
    cells: tuple[str, ...]


def material() -> list[Row]:
    """Count what documents and questions are made from: for training, and kept from it."""
    partly = _domains(default_library())
    wholly = [*_domains(further_library("further")), *_domains(further_library("decided"))]
    domains, unseen = partly + wholly, _domains(unseen_library())
    num_templates = sum(len(domain.templates) for domain in domains)
    num_held_out = sum(is_held_out(each) for domain in partly for each in domain.templates)
    fields = [spec for domain in partly for spec in domain.fields.values()]
    others = [spec for domain in wholly for spec in domain.fields.values()]
    names = _parts([spec.names for spec in fields], HELD_OUT_NAMES)
    abouts = _parts([spec.abouts for spec in fields], HELD_OUT_ABOUTS)
    sorts, num_held_layouts = list_sorts(), len(held_out_layouts())
    held_frames = [frame.held_out for sort in sorts for frame in sort.frames]
    rows = [
        ("domains", len(domains), len(unseen)),
        (
            "templates",
            num_templates - num_held_out,
            num_held_out + sum(len(domain.templates) for domain in unseen),
        ),
        ("kinds of value", len(KINDS - HELD_OUT_KINDS), len(HELD_OUT_KINDS)),
        ("kinds read as numbers", len(NUMBER_KINDS), 0),
        ("kinds read as dates", len(DATE_KINDS), 0),
        ("kinds told by their form alone", len(SELF_EVIDENT), 0),
        ("copied fields", _num_of(domains, "copied"), 0),
        *(
            (f"{kind} questions", _num_of(domains, kind), _num_of(unseen, kind))
            for kind in ("choice", "yes-no", "score")
        ),
        ("names of fields", names[0] + sum(len(spec.names) for spec in others), names[1]),
        ("descriptions of fields", abouts[0] + sum(len(spec.abouts) for spec in others), abouts[1]),
        ("sorts of lists", len(sorts), 0),
        ("layouts of lists", len(layouts(held_out=False)), num_held_layouts),
        ("sentences that tell an item", held_frames.count(False), held_frames.count(True)),
        ("topics of unrelated text", len(TOPICS), len(HELD_OUT_TOPICS)),
        ("headings in long documents", len(HEADINGS), len(HELD_OUT_HEADINGS)),
        ("languages of forms beside English", len(LANGUAGES), 0),
    ]
    return [Row(what, (f"{trained:,}", f"{held:,}")) for what, trained, held in rows]


def changes() -> list[Row]:
    """List what is done to records, and to which share of those of each sort."""
    shares = (DOCUMENT_SHARES, LIST_SHARES, QUESTION_SHARES, DECIDED_SHARES, INTENT_SHARES)
    return [
        Row(name, tuple(f"{each[name]:.1%}" if name in each else "" for each in shares))
        for name in CHANGES
    ]


def asked(source: Documents, count: int, seed: int = 0) -> list[Row]:
    """Draw *count* records and count their questions by type, and what is special in each."""
    rng = Random(seed)
    questions = [each for _ in range(count) for each in _questions(source.sample(rng))]
    total = Counter(mode for mode, _ in questions)
    rows = [Row(mode, (f"{total[mode]:,}", "")) for mode in sorted(total)]
    for name, is_such in _SPECIAL.items():
        such = Counter(mode for mode, found in questions if found is not None and is_such(*found))
        for mode in sorted(such):
            rows.append(
                Row(f"{mode}: {name}", (f"{such[mode]:,}", f"{such[mode] / total[mode]:.1%}"))
            )
    return sorted(rows, key=lambda row: row.what)


def page(source: Documents, count: int) -> str:
    """Write the whole page, with the questions of *count* records of *source*."""
    made = _table(("made from", "trained", "held out"), material())
    changed = _table(("change", "documents", "lists", "questions", "judged", "intents"), changes())
    asks = _table(
        (f"asked in {count:,} records", "questions", "share of its type"), asked(source, count)
    )
    return _PAGE.format(made=made, changed=changed, asks=asks)


_PAGE = """\
# What is generated

`python -m deg_train.generate coverage` counts and prints this page.

Held out are templates, layouts, wordings and whole domains that only an evaluation reads.

{made}

Domains of which some templates, names and descriptions are held out are copied from and judged; of
the others, which train whole, some are only judged. Three of the layouts are put together from
parts, anew for each list. A record may get one change of how its document looks, a generated one
also one of its questions; "judged" are documents that are only judged, "intents" the queries of
public sets:

{changed}

Lists whose items hold lists are drawn with the others, and again apart. Beside templates, forms and
lists there are bare values, forms in other languages, short statements that are said, denied and
turned round, documents that contradict or correct themselves, and reports of 4,000 to 16,000 tokens
in many sections, with facts and lists spread through unrelated text, of which training mostly reads
windows. The default recipe, without public sets, asks this of all:

{asks}
"""


def _table(heads: Sequence[str], rows: Sequence[Row]) -> str:
    lines = [f"| {' | '.join(heads)} |", f"|---|{'--:|' * (len(heads) - 1)}"]
    lines += [f"| {row.what} | {' | '.join(row.cells)} |" for row in rows]
    return "\n".join(lines)


def _domains(library: Library) -> list[Domain]:
    return list(library.domains.values())


def _num_of(domains: list[Domain], kind: str) -> int:
    kinds = [spec.kind for domain in domains for spec in domain.fields.values()]
    if kind == "copied":
        return sum(each not in ("choice", "yes-no", "score") for each in kinds)
    return kinds.count(kind)


def _parts(words: list[tuple[str, ...]], num_held_out: int) -> tuple[int, int]:
    held = sum(num_held_out for each in words if len(each) > num_held_out)
    return sum(map(len, words)) - held, held


def _questions(record: Record) -> Iterator[tuple[str, tuple[FieldPlan, object] | None]]:
    """Yield the mode of each question, and outside of arrays its field and its value."""
    plan = compile_schema(record.schema)
    for array in plan.arrays:
        yield ("array" if not array.item_steps else "array in an item"), None
    for field in plan.fields:
        if field.item_steps:
            yield f"{field.mode} in an item", None
        else:
            yield field.mode, (field, lookup(record.value, field.pointer))


_SPECIAL: dict[str, Callable[[FieldPlan, object], bool]] = {
    "absent": lambda field, value: value is None,
    "no description": lambda field, _: not field.description,
    "criteria": lambda field, _: "Yes means:" in (field.description or ""),
    "2 to 5 options": lambda field, _: 2 <= len(field.options) <= 5,
    "6 to 20 options": lambda field, _: 6 <= len(field.options) <= 20,
    "21 to 255 options": lambda field, _: len(field.options) > 20,
    "options described": lambda field, _: any(field.option_descriptions or ()),
    "levels with words": lambda field, _: any(field.level_labels or ()),
}
