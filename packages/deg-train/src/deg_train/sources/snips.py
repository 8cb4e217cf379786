"""Snips: spoken commands with one of seven intents and 39 kinds of slots."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from deg_train.records import Record
from deg_train.sources.draft import Draft, Span, fixed_string, one_text
from deg_train.sources.files import as_published, read_json
from deg_train.sources.wording import Option, Wording, load_wordings, spoken, wrap

__all__ = ["Snips"]


@dataclass(frozen=True, slots=True)
class _Command:
    text: str
    intent: str
    slots: dict[str, tuple[Span, ...]]


class Snips:
    """Commands to a voice assistant: what is wanted, and the parts that say which."""

    name = "snips"

    def __init__(self, folder: Path, split: Literal["train", "test"] = "train"):
        pattern = "train_{}_full.json" if split == "train" else "validate_{}.json"
        published = {each: read_json(folder, pattern.format(each)) for each in _INTENTS}
        with as_published(folder):
            self._commands = [
                _command(intent, example["data"])
                for intent, examples in published.items()
                for example in examples[intent]
            ]
        seen: defaultdict[str, set[str]] = defaultdict(set)
        for command in self._commands:
            seen[command.intent].update(command.slots)
        self._slots = {intent: tuple(sorted(slots)) for intent, slots in seen.items()}
        self._all_slots = tuple(sorted({slot for slots in seen.values() for slot in slots}))

    def sample(self, rng: random.Random) -> Record:
        """Draw a command and questions about its intent, its slots and slots it lacks."""
        command = rng.choice(self._commands)
        document, shift = wrap(command.text, rng)
        draft = Draft(self.name, document, rng)
        ask = rng.random()
        slots = self._draw_slots(command, rng)
        if ask < 0.35 or not slots:
            _ask_choice(draft, command.intent, rng)
        if 0.25 < ask < 0.45:
            _ask_yes_no(draft, command.intent, rng)
        for slot in slots:
            spans = [(start + shift, end + shift) for start, end in command.slots.get(slot, ())]
            draft.extract(_SLOTS[slot], spans, integer=0.4 * (slot in _WHOLE_NUMBERS))
        return draft.record()

    def records(self, limit: int | None = None, seed: int = 0) -> list[Record]:
        """List commands in a seeded order, asked for the intent and each slot it may have."""
        commands = list(self._commands)
        random.Random(seed).shuffle(commands)
        return [self._fixed(command) for command in commands[:limit]]

    def _draw_slots(self, command: _Command, rng: random.Random) -> list[str]:
        present = [slot for slot in command.slots if _is_single(command, slot)]
        drawn = rng.sample(present, min(len(present), rng.choice((1, 2, 3, 3, 4, 6))))
        own = [slot for slot in self._slots[command.intent] if slot not in command.slots]
        foreign = [
            slot
            for slot in self._all_slots
            if slot not in self._slots[command.intent]
            and not any({slot, other} <= group for group in _ALIKE for other in present)
        ]
        drawn += rng.sample(own, min(len(own), rng.choice((0, 1, 1, 2, 2, 3))))
        return drawn + rng.sample(foreign, min(len(foreign), rng.choice((0, 0, 1, 1, 2))))

    def _fixed(self, command: _Command) -> Record:
        intents = [spoken(intent) for intent in _INTENTS]
        asked = [slot for slot in self._slots[command.intent] if _is_single(command, slot)]
        properties: dict[str, object] = {
            "intent": {"enum": intents, "description": "What does the user want?"}
        }
        properties |= {slot: fixed_string(_SLOTS[slot].abouts[0]) for slot in asked}
        value: dict[str, str | None] = {"intent": spoken(command.intent)}
        for slot in asked:
            spans = command.slots.get(slot)
            value[slot] = command.text[slice(*spans[0])] if spans else None
        found = {f"/{slot}": command.slots[slot] for slot in asked if slot in command.slots}
        schema = {"type": "object", "properties": properties, "required": list(properties)}
        return Record(command.text, schema, value, found, self.name)


def _is_single(command: _Command, slot: str) -> bool:
    # two different texts for one slot leave open which of them to answer with
    spans = command.slots.get(slot, ())
    return not spans or one_text(command.text, spans)


def _command(intent: str, chunks: list[dict[str, str]]) -> _Command:
    text, slots = "", defaultdict[str, list[Span]](list)
    for chunk in chunks:
        part = chunk["text"]
        if "entity" in chunk and part.strip():
            start = len(text) + len(part) - len(part.lstrip())
            slots[chunk["entity"]].append((start, start + len(part.strip())))
        text += part
    return _Command(text, intent, {slot: tuple(spans) for slot, spans in slots.items()})


def _ask_choice(draft: Draft, intent: str, rng: random.Random) -> None:
    others = [each for each in _INTENTS if each != intent]
    labels = rng.sample(others, rng.choice((2, 3, 4, 6, 6, 6)))
    answer = None if rng.random() < 0.05 else intent
    if answer is not None:
        labels.append(answer)
    draft.choose(_INTENT, [Option(label, _INTENTS[label]) for label in labels], answer)


def _ask_yes_no(draft: Draft, intent: str, rng: random.Random) -> None:
    holds = rng.random() < 0.5
    asked = intent if holds else rng.choice([each for each in _INTENTS if each != intent])
    key = spoken(asked).replace(" ", "_")
    name = rng.choice((key, f"is_{key}", f"wants_{key}", "flag", "answer", "check"))
    question = rng.choice(_YES_NO).format(about=_INTENTS[asked])
    draft.decide(Wording((name,), (question,)), holds)


_INTENTS = {
    "AddToPlaylist": "add music to a playlist",
    "BookRestaurant": "book a table at a restaurant",
    "GetWeather": "know the weather",
    "PlayMusic": "listen to music",
    "RateBook": "rate a book",
    "SearchCreativeWork": "find a book, film, song or other work",
    "SearchScreeningEvent": "find out when and where a film is shown",
}

_YES_NO = (
    "Does the user want to {about}?",
    "Is this a request to {about}?",
    "True if the command is to {about}.",
    "The speaker would like to {about}",
    "Whether the user asks to {about}",
    "Is the user trying to {about}?",
)

_INTENT = Wording(
    ("intent", "intent", "command", "action", "task", "request", "skill", "what_to_do", "goal"),
    (
        "What does the user want?",
        "What does the speaker want to do?",
        "The intent of the command",
        "Which skill should handle this?",
        "The action asked of the assistant",
        "Kind of request",
        "Pick the task that the command asks for.",
        "Classify the utterance.",
    ),
)

_WHOLE_NUMBERS = frozenset({"party_size_number", "rating_value", "best_rating", "year"})

# slots that name nearly the same thing: one is not asked as absent where another is present
_ALIKE = (
    {"object_name", "track", "album", "movie_name", "entity_name", "playlist"},
    {"city", "state", "country", "poi", "geographic_poi", "current_location", "location_name"},
    {"restaurant_name", "location_name", "poi"},
    {"object_location_type", "restaurant_type", "location_name"},
    {"music_item", "object_type", "movie_type", "object_part_of_series_type"},
    {"year", "timeRange"},
    {"sort", "object_select", "spatial_relation"},
    {"genre", "cuisine", "movie_type", "music_item"},
    {"served_dish", "cuisine"},
    {"party_size_number", "party_size_description"},
    {"condition_description", "condition_temperature"},
    {"rating_value", "best_rating"},
)

_SLOTS = load_wordings("snips")
