"""NLU evaluation data: commands to a home assistant with one of 64 intents, and their entities."""

from __future__ import annotations

import random
import zlib
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from deg_train.records import Record
from deg_train.sources.confusable import Confusables
from deg_train.sources.draft import Draft, Span, fixed_string, one_text
from deg_train.sources.files import as_published, read_json
from deg_train.sources.wording import (
    Option,
    Wording,
    load_abouts,
    load_wordings,
    spoken,
    wrap,
)

__all__ = ["NluEvaluation"]


@dataclass(frozen=True, slots=True)
class _Command:
    text: str
    intent: str
    entities: dict[str, tuple[Span, ...]]

    @property
    def scenario(self) -> str:
        return self.intent.partition("_")[0]


class NluEvaluation:
    """Commands to a home assistant; one text in twenty is set aside as the test split."""

    name = "nlu-evaluation"

    def __init__(self, folder: Path, split: Literal["train", "test"] = "train"):
        published = read_json(folder, "train_fold1.json")
        with as_published(folder):
            examples = published["rasa_nlu_data"]["common_examples"]
            commands = [_command(example) for example in examples]
        # what may be asked is the same in both splits
        texts: defaultdict[str, list[str]] = defaultdict(list)
        entities: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for command in commands:
            texts[command.intent].append(command.text)
            entities[command.intent].update(list(command.entities))
        self._confusables = Confusables(texts)
        self._entities = {intent: dict(counts) for intent, counts in entities.items()}
        self._scenarios = sorted({command.scenario for command in commands})
        self._commands = [each for each in commands if _is_test(each) == (split == "test")]

    def sample(self, rng: random.Random) -> Record:
        """Draw a command and questions about its intent, its scenario and its entities."""
        command = rng.choice(self._commands)
        document, shift = wrap(command.text, rng)
        draft = Draft(self.name, document, rng)
        ask = rng.random()
        if ask < 0.55:
            self._ask_intent(draft, command.intent, rng)
        if 0.45 < ask < 0.60:
            self._ask_scenario(draft, command.scenario, rng)
        if 0.55 < ask < 0.80:
            self._ask_yes_no(draft, command.intent, rng)
        drawn = self._draw_entities(command, rng)
        if not drawn and ask >= 0.80:
            self._ask_intent(draft, command.intent, rng)
        for entity in drawn:
            spans = [(s + shift, e + shift) for s, e in command.entities.get(entity, ())]
            draft.extract(_ENTITIES[entity], spans)
        return draft.record()

    def records(self, limit: int | None = None, seed: int = 0) -> list[Record]:
        """List commands in a seeded order, asked for the intent and each entity it may have."""
        commands = list(self._commands)
        random.Random(seed).shuffle(commands)
        return [self._fixed(command) for command in commands[:limit]]

    def _draw_entities(self, command: _Command, rng: random.Random) -> list[str]:
        present = [
            each for each in command.entities if each in _ENTITIES and _is_single(command, each)
        ]
        counts = self._entities[command.intent]
        absent = [
            entity
            for entity in _ENTITIES
            if entity not in command.entities
            and not any({entity, other} <= group for group in _ALIKE for other in present)
        ]
        # entities that this intent rarely has may be there without an annotation
        likely = [entity for entity in absent if counts.get(entity, 0) >= 5]
        never = [entity for entity in absent if entity not in counts]
        drawn = rng.sample(present, min(len(present), rng.choice((1, 2, 3, 4))))
        if drawn or rng.random() < 0.5:
            drawn += rng.sample(likely, min(len(likely), rng.choice((0, 1, 1, 2))))
            drawn += rng.sample(never, min(len(never), rng.choice((0, 0, 1, 2))))
        return drawn

    def _ask_intent(self, draft: Draft, intent: str, rng: random.Random) -> None:
        count = rng.choice((4, 5, 6, 8, 10, 10, 12, 16, 24, len(self._confusables.labels)))
        labels = self._confusables.draw(rng, intent, count - 1, share=rng.choice((0.0, 0.5)))
        answer: str | None = intent
        if rng.random() < 0.04:
            near = frozenset(self._confusables.nearest[intent])
            far = self._confusables.draw(rng, intent, min(count, 24), share=0.0, without=near)
            answer, labels = (None, far) if far else (intent, labels)
        chosen = labels if answer is None else [*labels, answer]
        draft.choose(_INTENT, [Option(each, _ABOUTS.get(each)) for each in chosen], answer)

    def _ask_scenario(self, draft: Draft, scenario: str, rng: random.Random) -> None:
        others = [each for each in self._scenarios if each != scenario]
        labels = [scenario, *rng.sample(others, min(len(others), rng.randint(2, 17)))]
        draft.choose(_SCENARIO, [Option(each) for each in labels], scenario)

    def _ask_yes_no(self, draft: Draft, intent: str, rng: random.Random) -> None:
        for _ in range(rng.randint(1, 2)):
            holds = rng.random() < 0.5
            asked = intent
            if not holds:
                asked = self._confusables.draw(rng, intent, 1, share=float(rng.random() < 0.4))[0]
            name = rng.choice((asked, f"is_{asked}", "holds", "flag", "answer", "check"))
            about = _ABOUTS.get(asked, f"the intent is {spoken(asked)}")
            question = rng.choice(_YES_NO).format(about=about, words=spoken(asked))
            draft.decide(Wording((name,), (question,)), holds)

    def _fixed(self, command: _Command) -> Record:
        counts = self._entities[command.intent]
        asked = [
            entity
            for entity in _ENTITIES
            if counts.get(entity, 0) >= 5 and _is_single(command, entity)
        ]
        intents = sorted(map(spoken, self._confusables.labels))
        properties: dict[str, Any] = {
            "intent": {"enum": intents, "description": "What does the user want?"}
        }
        properties |= {entity: fixed_string(_ENTITIES[entity].abouts[0]) for entity in asked}
        value: dict[str, str | None] = {"intent": spoken(command.intent)}
        spans = {}
        for entity in asked:
            found = command.entities.get(entity)
            value[entity] = command.text[slice(*found[0])] if found else None
            if found:
                spans[f"/{entity}"] = found
        schema = {"type": "object", "properties": properties, "required": list(properties)}
        return Record(command.text, schema, value, spans, self.name)


def _command(example: dict[str, Any]) -> _Command:
    entities: defaultdict[str, list[Span]] = defaultdict(list)
    text = example["text"]
    for entity in example["entities"]:
        start, end = entity["start"], entity["end"]
        if text[start:end].strip() == text[start:end] != "":
            entities[entity["entity"]].append((start, end))
    return _Command(text, example["intent"], {key: tuple(s) for key, s in entities.items()})


def _is_single(command: _Command, entity: str) -> bool:
    # two different texts for one entity leave open which of them to answer with
    spans = command.entities.get(entity, ())
    return not spans or one_text(command.text, spans)


def _is_test(command: _Command) -> bool:
    return zlib.crc32(command.text.encode()) % 20 == 0


_INTENT = Wording(
    ("intent", "intent", "command", "action", "task", "skill", "request", "function", "goal"),
    (
        "What does the user want?",
        "What does the user want the assistant to do?",
        "The intent of the utterance",
        "Which skill should answer?",
        "Purpose of the command",
        "Choose the command that was given.",
        "Kind of request made to the assistant",
        "Label that fits what was said",
    ),
)

_SCENARIO = Wording(
    ("scenario", "domain", "topic", "area", "category", "field", "module"),
    (
        "Which area is the command about?",
        "The domain of the request",
        "Topic of the utterance",
        "Part of the assistant that is concerned",
        "Subject area",
    ),
)

_YES_NO = (
    "Is it true that {about}?",
    "True if {about}.",
    "Whether {about}",
    "Does it hold that {about}?",
    "Is this the intent: {words}?",
    "{about}: yes or no?",
)

# entities that name nearly the same thing: one is not asked as absent where another is present
_ALIKE = (
    {"date", "time", "timeofday", "general_frequency"},
    {"place_name", "business_name", "business_type", "house_place", "time_zone"},
    {"person", "artist_name", "relation", "audiobook_author", "business_name"},
    {"media_type", "device_type", "app_name", "business_name", "email_folder"},
    {"food_type", "meal_type", "ingredient", "drink_type", "coffee_type", "business_type"},
    {"song_name", "playlist_name", "music_genre", "music_descriptor", "artist_name"},
    {"audiobook_name", "podcast_name", "podcast_descriptor", "radio_name", "movie_name"},
    {"event_name", "list_name", "movie_name", "movie_type", "alarm_type", "meal_type"},
    {"transport_agency", "transport_type", "transport_name", "transport_descriptor"},
    {"transport_agency", "business_name", "app_name"},
    {"personal_info", "email_address"},
    {"news_topic", "event_name", "business_name", "person", "place_name", "definition_word"},
    {"player_setting", "change_amount", "podcast_descriptor"},
)

_ABOUTS = load_abouts("nlu_evaluation_intents")
_ENTITIES = load_wordings("nlu_evaluation")
