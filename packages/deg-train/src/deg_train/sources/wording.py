"""How a question is put: names, descriptions, option texts and documents in many phrasings."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

__all__ = [
    "Option",
    "Wording",
    "load_abouts",
    "load_wordings",
    "restyle",
    "spoken",
    "wrap",
    "write_options",
]


@dataclass(frozen=True, slots=True)
class Wording:
    """The names and the descriptions under which one thing may be asked."""

    names: tuple[str, ...]
    abouts: tuple[str, ...] = ()

    def draw(self, rng: random.Random, *, bare: float = 0.15) -> tuple[str, str | None]:
        """Draw a property name and a description, which is left out with probability `bare`."""
        name = restyle(rng.choice(self.names), rng)
        if not self.abouts or rng.random() < bare:
            return name, None
        return name, rng.choice(self.abouts)


@dataclass(frozen=True, slots=True)
class Option:
    """One outcome of a choice: the label of the data set and what it means."""

    label: str
    about: str | None = None


def load_wordings(source: str) -> dict[str, Wording]:
    """Load the names and descriptions written for a data set's fields.

    A line reads `artist: artist, singer | Who sings? | Name of the performer`.
    """
    wordings = {}
    for key, line in load_abouts(source).items():
        names, *abouts = (part.strip() for part in line.split("|"))
        wordings[key] = Wording(tuple(name.strip() for name in names.split(",")), tuple(abouts))
    return wordings


def load_abouts(source: str) -> dict[str, str]:
    """Load the line written about each of a data set's labels."""
    table = resources.files("deg_train.sources") / "wordings" / f"{source}.txt"
    lines = table.read_text(encoding="utf-8").splitlines()
    pairs = (line.partition(": ") for line in lines if line.strip())
    return {key.strip(): about.strip() for key, _, about in pairs}


def spoken(label: str) -> str:
    """Spell a label as words: `AddToPlaylist` and `add_to_playlist` as `add to playlist`."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", label)
    return re.sub(r"[\W_]+", " ", apart).strip().lower()


def restyle(name: str, rng: random.Random) -> str:
    """Write a snake-case name in one of the styles that schemas use."""
    words = name.split("_")
    style = rng.random()
    if style < 0.58:
        return name
    if style < 0.74:
        return words[0] + "".join(word.capitalize() for word in words[1:])
    if style < 0.80:
        return "".join(word.capitalize() for word in words)
    if style < 0.87:
        return "-".join(words)
    if style < 0.93:
        return " ".join(words)
    if style < 0.97:
        return " ".join(words).capitalize()
    return name.upper()


def write_options(options: Sequence[Option], rng: random.Random) -> list[tuple[str, str | None]]:
    """Write every option in one style, as (value, description); no two values are the same."""
    # a long list of sentences would cost more to read than it teaches
    described = len(options) <= _MOST_DESCRIBED and all(option.about for option in options)
    style = rng.random()
    if described and style < 0.22:
        write = rng.choice(_LABEL_STYLES)
        return [(write(option.label), option.about) for option in options]
    if described and style < 0.30:
        start = rng.choice(("A", "1", "a", "R1"))
        return [(_code(start, place), option.about) for place, option in enumerate(options)]
    if described and style < 0.45:
        values = [option.about or option.label for option in options]
        if len(set(values)) == len(values):
            return [(value, None) for value in values]
    write = rng.choice(_LABEL_STYLES)
    return [(write(option.label), None) for option in options]


def wrap(text: str, rng: random.Random, *, plain: float = 0.6) -> tuple[str, int]:
    """Put a text into a small document; give the document and where the text starts in it."""
    if rng.random() < plain:
        return text, 0
    before, after = rng.choice(_FRAMES)
    return before + text + after, len(before)


def _snake(label: str) -> str:
    return spoken(label).replace(" ", "_")


def _kebab(label: str) -> str:
    return spoken(label).replace(" ", "-")


def _sentence(label: str) -> str:
    return spoken(label).capitalize()


def _title(label: str) -> str:
    return spoken(label).title()


def _upper(label: str) -> str:
    return _snake(label).upper()


def _camel(label: str) -> str:
    first, *others = spoken(label).split()
    return first + "".join(word.capitalize() for word in others)


def _code(start: str, place: int) -> str:
    if start in ("A", "a"):
        letter = chr(ord(start) + place % 26)
        return letter if place < 26 else f"{letter}{place // 26}"
    return start[:-1] + str(int(start[-1]) + place)


_MOST_DESCRIBED = 16

# spoken words are what most schemas hold, so they come up more often
_LABEL_STYLES = (spoken, spoken, spoken, _snake, _snake, _sentence, _sentence) + (
    _title,
    _kebab,
    _upper,
    _camel,
)

_FRAMES = (
    ("User: ", ""),
    ("Customer: ", ""),
    ("customer> ", ""),
    ("Message: ", ""),
    ("Query: ", ""),
    ("Transcript:\n", ""),
    ("Caller said: ", ""),
    ('"', '"'),
    ("> ", "\n"),
    ("Subject: question\n\n", "\n"),
    ("Hi,\n\n", "\n\nThanks"),
    ("[user] ", "\n[bot] One moment, please."),
    ("Bot: How can I help you?\nUser: ", ""),
    ("Agent: Hello, what can I do for you today?\nCaller: ", ""),
    ("Assistant: Hi!\nUser: ", "\nAssistant:"),
    ("Voice command\n-------------\n", "\n"),
    ("Channel: chat\nLanguage: en\nText: ", ""),
    ("New request received\n\n", "\n\nSent from my phone"),
    ("ASR output (confidence high): ", ""),
    ("Ticket\nStatus: open\nBody: ", "\n"),
)
