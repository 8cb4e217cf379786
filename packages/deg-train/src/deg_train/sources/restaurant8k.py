"""Restaurant8k: turns of a table booking with five slots, most of them absent from a turn."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from deg_schema import trim_span
from deg_train.records import Record
from deg_train.sources.draft import Draft, Span, fixed_string
from deg_train.sources.files import as_published, read_json
from deg_train.sources.wording import Wording, load_wordings, spoken, wrap

__all__ = ["Restaurant8k"]


@dataclass(frozen=True, slots=True)
class _Turn:
    text: str
    requested: tuple[str, ...]
    slots: dict[str, Span]


class Restaurant8k:
    """What guests say, with the slots that were asked for just before where that is known."""

    name = "restaurant8k"

    def __init__(self, folder: Path, split: Literal["train", "test"] = "train"):
        published = read_json(folder, "train_0.json" if split == "train" else "test.json")
        with as_published(folder):
            self._turns = [_turn(example) for example in published]

    def sample(self, rng: random.Random) -> Record:
        """Draw a turn and ask for all five slots, or for some where it has few."""
        turn = rng.choice(self._turns)
        document, shift = _write(turn, rng)
        draft = Draft(self.name, document, rng)
        fixed = rng.random() < 0.3
        slots = list(_SLOTS)
        if rng.random() < (0.1 if turn.slots else 0.6):
            slots = rng.sample(slots, rng.randint(2, 4))
        for slot in slots:
            span = turn.slots.get(slot)
            spans = [] if span is None else [(span[0] + shift, span[1] + shift)]
            about = _SLOTS[slot].abouts[0]
            wording = Wording((slot,), (about,)) if fixed else _SLOTS[slot]
            integer = 0.2 if slot == "people" and not fixed else 0.0
            draft.extract(wording, spans, integer=integer, bare=0.0 if fixed else 0.2)
        return draft.record()

    def records(self, limit: int | None = None, seed: int = 0) -> list[Record]:
        """List turns in a seeded order, each asked for all five slots."""
        turns = list(self._turns)
        random.Random(seed).shuffle(turns)
        return [_fixed(turn) for turn in turns[:limit]]


def _turn(example: dict[str, Any]) -> _Turn:
    text = example["userInput"]["text"]
    slots = {}
    for label in example.get("labels", ()):
        # an index of zero is left out of the published file
        start = label["valueSpan"].get("startIndex", 0)
        end = label["valueSpan"].get("endIndex", len(text))
        part = text[start:end]
        start += len(part) - len(part.lstrip())
        if part.strip():
            # some labels take in the full stop of their sentence
            slots[label["slot"]] = trim_span(text, start, start + len(part.strip()))
    requested = dict.fromkeys(example.get("context", {}).get("requestedSlots", ()))
    return _Turn(text, tuple(requested), slots)


def _asked(turn: _Turn) -> str:
    if not turn.requested:
        return ""
    return f"Asked: {', '.join(map(spoken, turn.requested))}\nUser: "


def _write(turn: _Turn, rng: random.Random) -> tuple[str, int]:
    style = rng.random()
    if style < 0.5:
        before = _asked(turn)
    elif not turn.requested:
        return wrap(turn.text, rng, plain=0.3)
    else:
        names = " and ".join(map(spoken, turn.requested))
        if len(turn.requested) == 1 and style < 0.85:
            question = rng.choice(_QUESTIONS[turn.requested[0]])
        else:
            question = rng.choice(_REQUESTS).format(names=names)
        asker, guest = rng.choice(_SPEAKERS)
        before = f"{asker}: {question}\n{guest}: "
    return before + turn.text, len(before)


def _fixed(turn: _Turn) -> Record:
    before = _asked(turn)
    document = before + turn.text
    properties = {slot: fixed_string(wording.abouts[0]) for slot, wording in _SLOTS.items()}
    value: dict[str, str | None] = dict.fromkeys(_SLOTS)
    spans: dict[str, tuple[Span, ...]] = {}
    for slot, (start, end) in turn.slots.items():
        span = (start + len(before), end + len(before))
        value[slot] = document[slice(*span)]
        spans[f"/{slot}"] = (span,)
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return Record(document, schema, value, spans, Restaurant8k.name)


_SPEAKERS = (
    ("Assistant", "User"),
    ("Bot", "Guest"),
    ("Restaurant", "Caller"),
    ("Agent", "Customer"),
    ("A", "B"),
    ("System", "User"),
)

_REQUESTS = (
    "Please tell me the {names}.",
    "I still need the {names}.",
    "Could you give me the {names}?",
    "What {names} shall I put down?",
    "[asks for {names}]",
)

_QUESTIONS = {
    "people": ("For how many people?", "How many guests will there be?", "What size of party?"),
    "date": ("For which day?", "On what date would you like to come?", "Which date?"),
    "time": ("At what time?", "What time would you like?", "When shall we expect you that day?"),
    "first_name": ("What is your first name?", "Your given name, please?"),
    "last_name": ("And your last name?", "What is your surname, please?"),
}

_SLOTS = load_wordings("restaurant8k")
