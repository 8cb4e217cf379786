"""Forms: documents without a template, laid out from fields alone."""

from __future__ import annotations

from random import Random

from deg_train.generate.drafts import Draft, Fact, draw_text
from deg_train.generate.fields import Field
from deg_train.generate.kinds import DECIDE_KINDS, HELD_OUT_KINDS, KINDS
from deg_train.generate.library import Domain
from deg_train.generate.names import seen_names, styled_label
from deg_train.generate.setting import draw_setting
from deg_train.generate.values import make_value
from deg_train.generate.vocabulary import WORDS

__all__ = ["make_form", "make_nonsense", "make_table"]

# how a form separates a label from its value: before the label, between the two, after the value
_LAYOUTS = (
    ("", ": ", "\n"),
    ("", ": ", "\n"),
    ("", ":\n  ", "\n"),
    ("- ", ": ", "\n"),
    ("* ", " - ", "\n"),
    ("", " = ", "\n"),
    ("", "\t", "\n"),
    ("| ", " | ", " |\n"),
    ("", " ..... ", "\n"),
    ("<b>", "</b> ", "<br>\n"),
    ("**", "**: ", "\n"),
    ("[x] ", ": ", "\n"),
    ("", ": ", "; "),
    ("", " -> ", "\n"),
    ("(", ") ", "\n"),
    ('"', '": "', '",\n'),
    ("", ": ", "\n\n"),
    ("The ", " is ", ". "),
    ("", " ", "\n"),
)


def make_form(domain: Domain, rng: Random) -> Draft:
    """Lay out some fields of a domain as labels and values, in any order."""
    fields = _extractable(domain)
    chosen = rng.sample(fields, min(len(fields), rng.randint(4, 10)))
    draft, setting = Draft(domains=[domain]), draw_setting(rng)
    if rng.random() < 0.5:
        draft.say(domain.name.replace("_", " ").title() + "\n\n")
    style = rng.choice(("words", "words", "title", "caps", "snake", "as is"))
    rows = [
        (
            styled_label(rng.choice(seen_names(spec)), style),
            Fact(spec, draw_text(spec, rng, setting)),
        )
        for spec in chosen
    ]
    _lay_out(draft, rows, rng)
    taken = {spec.key for spec in chosen}
    draft.absent.extend(spec for spec in fields if spec.key not in taken)
    return draft


def make_nonsense(rng: Random) -> Draft:
    """Lay out values under made-up labels, so that nothing but the labels tells them apart."""
    words = list(dict.fromkeys(_made_up(rng) for _ in range(rng.randint(6, 14))))
    num_absent = rng.randint(1, 3)
    absent, words = words[:num_absent], words[num_absent:]
    kinds = sorted(KINDS - HELD_OUT_KINDS - {"text"})
    repeated = rng.choice(kinds)
    style = rng.choice(("words", "title", "caps", "as is", "as is"))
    rows = []
    for word in words:
        kind = repeated if rng.random() < 0.35 else rng.choice(kinds)
        spec = Field(word, kind, (word,), ())
        fact = Fact(spec, make_value(kind, rng), name=word)
        rows.append((styled_label(word, style), fact))
    draft = Draft(names=tuple(absent))
    _lay_out(draft, rows, rng)
    return draft


def make_table(domain: Domain, rng: Random) -> Draft:
    """Lay out several rows of a domain's fields; each question names its row."""
    fields = [spec for spec in _extractable(domain) if spec.kind != "headline"]
    columns = rng.sample(fields, min(len(fields), rng.randint(2, 5)))
    num_rows = rng.randint(2, 5)
    separator, edge = rng.choice(((" | ", "| "), ("\t", ""), (", ", ""), ("; ", ""), ("  ", "")))
    draft, setting = Draft(domains=[domain]), draw_setting(rng)
    style = rng.choice(("words", "title", "caps", "snake"))
    heads = [styled_label(rng.choice(seen_names(spec)), style) for spec in columns]
    draft.say(edge + separator.join(heads) + ("\n---\n" if rng.random() < 0.2 else "\n"))
    seen: set[str] = set()
    for number in range(num_rows):
        first = draw_text(columns[0], rng, setting)
        if first in seen:
            continue
        seen.add(first)
        row = _row_words(number, num_rows, heads[0], first, rng)
        draft.say(edge)
        draft.print(Fact(columns[0], first, row=_row_words(number, num_rows, "", "", rng)))
        for spec in columns[1:]:
            draft.say(separator)
            draft.print(Fact(spec, draw_text(spec, rng, setting), row=row))
        draft.say("\n" if number < num_rows - 1 else "")
    taken = {spec.key for spec in columns}
    draft.absent.extend(spec for spec in fields if spec.key not in taken)
    return draft


def _row_words(number: int, num_rows: int, head: str, first: str, rng: Random) -> str:
    ordinals = ("first", "second", "third", "fourth", "fifth")
    if first and rng.random() < 0.75:
        return rng.choice(
            (f"in the row of {first}", f"for {first}", f"where {head} is {first}", f"of {first}")
        )
    return rng.choice((f"in row {number + 1}", f"in the {ordinals[number]} row"))


def _extractable(domain: Domain) -> list[Field]:
    return [spec for spec in domain.fields.values() if spec.kind not in DECIDE_KINDS]


def _lay_out(draft: Draft, rows: list[tuple[str, Fact]], rng: Random) -> None:
    before, between, after = rng.choice(_LAYOUTS)
    width = max(len(label) for label, _ in rows) + 2 if rng.random() < 0.15 else 0
    for number, (label, fact) in enumerate(rows, 1):
        draft.say(f"{before}{label}".ljust(width) + between)
        draft.print(fact)
        draft.say(after if number < len(rows) else after.rstrip())


_STEMS = [
    "field",
    "item",
    "code",
    "key",
    "value",
    "slot",
    "entry",
    "x",
    "q",
    "zone",
    "part",
    "line",
]
_ONSETS = [
    "b",
    "br",
    "c",
    "ch",
    "d",
    "dr",
    "f",
    "fl",
    "g",
    "gl",
    "h",
    "j",
    "k",
    "kr",
    "l",
    "m",
    "n",
    "p",
    "pl",
    "qu",
    "r",
    "s",
    "sk",
    "st",
    "t",
    "tr",
    "v",
    "w",
    "z",
    "sh",
    "th",
]
_VOWELS = ["a", "e", "i", "o", "u", "ai", "ea", "oo", "ou", "y"]
_CODAS = [
    "",
    "",
    "b",
    "ck",
    "d",
    "g",
    "l",
    "m",
    "n",
    "nd",
    "ng",
    "nt",
    "p",
    "r",
    "rk",
    "s",
    "sh",
    "st",
    "t",
    "x",
    "z",
]


def _made_up(rng: Random) -> str:
    roll = rng.random()
    if roll < 0.1:
        return f"{rng.choice(_STEMS)}_{rng.randint(1, 30)}"
    if roll < 0.2:
        return rng.choice(WORDS["noun"]).lower()
    words: list[str] = []
    for _ in range(1 if roll < 0.75 else 2):
        count = 1 if words else rng.randint(1, 2)
        parts = (
            rng.choice(_ONSETS) + rng.choice(_VOWELS) + rng.choice(_CODAS) for _ in range(count)
        )
        words.append("".join(parts))
    return "_".join(words)
