from __future__ import annotations

import csv
import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from deg_train.records import Record, check
from deg_train.sources import (
    Banking77,
    Clinc150,
    MissingFile,
    Mixture,
    NluEvaluation,
    NluPlusPlus,
    Restaurant8k,
    Sampler,
    Snips,
    UnreadableFile,
)
from deg_train.sources.clinc150 import is_held_out_intent

SNIPS_INTENTS = (
    "AddToPlaylist",
    "BookRestaurant",
    "GetWeather",
    "PlayMusic",
    "RateBook",
    "SearchCreativeWork",
    "SearchScreeningEvent",
)


def write_banking77(folder: Path) -> None:
    rows = [
        ("My PIN is blocked, \N{CAT FACE}", "pin_blocked"),
        ("Unblock my PIN", "pin_blocked"),
        ("Change the PIN", "change_pin"),
        ("Where is my refund?", "Refund_not_showing_up"),
        ("It came back", "reverted_card_payment?"),
        ("What is the rate?", "exchange_rate"),
        ("How old must I be?", "age_limit"),
    ]
    for split in ("train", "test"):
        with (folder / f"{split}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("text", "category"), *rows])


def write_clinc150(folder: Path) -> None:
    rows = [[f"\N{CAT FACE} query {number}", f"label_{number % 60}"] for number in range(120)]
    outside = [["who sang that?", "oos"]]
    published = dict.fromkeys(("train", "test"), rows)
    published |= {f"oos_{split}": outside for split in ("train", "test")}
    (folder / "data_full.json").write_text(json.dumps(published))


def write_snips(folder: Path) -> None:
    data = [
        {"text": "play \N{CAT FACE} "},
        {"text": " Hello ", "entity": "track"},
        {"text": " from "},
        {"text": "1999", "entity": "year"},
    ]
    twice = [{"text": "Abba", "entity": "artist"}, {"text": "Cher", "entity": "artist"}]
    for intent in SNIPS_INTENTS:
        examples = [{"data": data}, {"data": twice}] if intent == "PlayMusic" else [{"data": data}]
        for name in (f"train_{intent}_full.json", f"validate_{intent}.json"):
            (folder / name).write_text(json.dumps({intent: examples}), encoding="utf-8")


def write_nlu_evaluation(folder: Path) -> None:
    examples: list[dict[str, Any]] = []
    for number in range(200):
        text = f"\N{CAT FACE} wake me at {number} today"
        start = text.index("today")
        date = {"start": start, "end": start + 5, "value": "today", "entity": "date"}
        intent = ("alarm_set", "alarm_query", "news_query", "play_music", "qa_maths")[number % 5]
        examples.append({"text": text, "intent": intent, "entities": [date]})
    published = {"rasa_nlu_data": {"common_examples": examples}}
    (folder / "train_fold1.json").write_text(json.dumps(published))


def write_nlupp(folder: Path) -> None:
    intents = {
        "affirm": {"description": "is the intent to affirm something?", "domain": ["general"]},
        "limits": {
            "description": "is the intent asking about some sort of limit?",
            "domain": ["general"],
        },
        "pin": {
            "description": "is the intent to ask something about the pin number?",
            "domain": ["banking"],
        },
        "gym": {
            "description": "is the intent to ask something related to gym?",
            "domain": ["hotels"],
        },
    }
    slots = {
        "date": {"description": "Which date?", "domain": ["general"]},
        "rooms": {"description": "How many rooms?", "domain": ["hotels"]},
    }
    (folder / "ontology.json").write_text(json.dumps({"intents": intents, "slots": slots}))
    for domain in ("banking", "hotels"):
        (folder / domain).mkdir(exist_ok=True)
        for fold in range(20):
            text = f"yes \N{CAT FACE}, on Monday, fold {fold}"
            date = {"text": "Monday", "span": [text.index("Monday"), text.index("Monday") + 6]}
            rows = [{"text": text, "intents": ["affirm"], "slots": {"date": date}}, {"text": "so"}]
            (folder / domain / f"fold{fold}.json").write_text(json.dumps(rows))


def write_restaurant8k(folder: Path) -> None:
    turns = [
        {
            "userInput": {"text": "13"},
            "context": {"requestedSlots": ["time", "time"]},
            "labels": [{"slot": "time", "valueSpan": {"endIndex": 2}}],
        },
        {
            "userInput": {"text": "\N{CAT FACE} for 4 , Ann"},
            "labels": [
                {"slot": "people", "valueSpan": {"startIndex": 6, "endIndex": 8}},
                {"slot": "first_name", "valueSpan": {"startIndex": 10, "endIndex": 13}},
            ],
        },
        {"userInput": {"text": "Thanks"}},
    ]
    for name in ("train_0.json", "test.json"):
        (folder / name).write_text(json.dumps(turns))


def clinc150_trained(folder: Path) -> Clinc150:
    return Clinc150(folder, "train")


TRAINING = [
    (Banking77, write_banking77),
    (Snips, write_snips),
    (NluEvaluation, write_nlu_evaluation),
    (NluPlusPlus, write_nlupp),
    (Restaurant8k, write_restaurant8k),
    (clinc150_trained, write_clinc150),
]
ALL = [*TRAINING[:-1], (Clinc150, write_clinc150)]


def options_of(leaf: dict[str, Any]) -> list[object]:
    branches = leaf.get("oneOf", leaf.get("anyOf", ()))
    options: list[object] = leaf.get("enum", [branch["const"] for branch in branches])
    return options


def assert_answers_itself(record: Record) -> None:
    check(record)
    assert record.schema["properties"]
    for name, leaf in record.schema["properties"].items():
        options = options_of(leaf)
        if options:
            assert record.value[name] in options
            assert len(set(options)) == len(options) >= 2
        elif leaf["type"] == "boolean":
            assert isinstance(record.value[name], bool)
        elif record.value.get(name) is not None:
            start, end = record.spans[f"/{name}"][0]
            assert record.context[start:end] == str(record.value[name])
        else:
            assert name not in record.schema.get("required", ()) or "null" in leaf["type"]


@pytest.mark.parametrize(("source", "write"), TRAINING)
def test_samples_answer_their_own_schema(source: Any, write: Any, tmp_path: Path) -> None:
    write(tmp_path)
    rng = random.Random(3)
    loaded = source(tmp_path)
    for _ in range(400):
        assert_answers_itself(loaded.sample(rng))


@pytest.mark.parametrize(("source", "write"), TRAINING)
def test_the_same_seed_draws_the_same_samples(source: Any, write: Any, tmp_path: Path) -> None:
    write(tmp_path)
    draws = [
        [loaded.sample(rng) for _ in range(30)]
        for loaded, rng in [(source(tmp_path), random.Random(5)) for _ in range(2)]
    ]
    assert draws[0] == draws[1]


@pytest.mark.parametrize(("source", "write"), ALL)
def test_evaluation_lists_the_same_records_for_a_seed(
    source: Any, write: Any, tmp_path: Path
) -> None:
    write(tmp_path)
    records = source(tmp_path, "test").records(seed=7)
    for record in records:
        assert_answers_itself(record)
    assert source(tmp_path, "test").records(2, seed=7) == records[:2]


@pytest.mark.parametrize(("source", "write"), ALL)
def test_a_missing_file_is_named(source: Any, write: Any, tmp_path: Path) -> None:
    with pytest.raises(MissingFile, match="is missing: download the data set"):
        source(tmp_path)


def test_a_file_that_is_not_json_is_named(tmp_path: Path) -> None:
    (tmp_path / "data_full.json").write_text("{")
    with pytest.raises(UnreadableFile, match=r"data_full\.json is not JSON"):
        Clinc150(tmp_path)


@pytest.mark.parametrize(
    ("source", "name", "content"),
    [
        (Clinc150, "data_full.json", "[]"),
        (Banking77, "train.csv", "query,label\nhello,greeting\n"),
        (NluEvaluation, "train_fold1.json", "{}"),
        (Restaurant8k, "train_0.json", '[{"text": "hello"}]'),
    ],
)
def test_a_file_of_another_shape_is_told(
    source: Any, name: str, content: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(UnreadableFile, match="as it was published"):
        source(tmp_path)


def test_banking77_evaluation_asks_for_every_intent(tmp_path: Path) -> None:
    write_banking77(tmp_path)
    (record,) = Banking77(tmp_path, "test").records(1)
    options = record.schema["properties"]["intent"]["enum"]
    assert len(options) == 6
    assert "refund not showing up" in options
    assert "reverted card payment" in options


def test_banking77_training_varies_names_and_option_texts(tmp_path: Path) -> None:
    write_banking77(tmp_path)
    rng, source = random.Random(0), Banking77(tmp_path)
    asked = [
        (name, options_of(leaf))
        for _ in range(300)
        for name, leaf in source.sample(rng).schema["properties"].items()
        if options_of(leaf)
    ]
    assert len({name for name, _ in asked}) > 30
    written = {option for _, options in asked for option in options}
    assert {"change_pin", "change pin", "Change pin", "CHANGE_PIN", None} <= written


def test_clinc150_measures_ten_held_out_intents_or_all(tmp_path: Path) -> None:
    write_clinc150(tmp_path)
    source = Clinc150(tmp_path)
    for record in source.records():
        options = record.schema["properties"]["intent"]["enum"]
        assert len(options) == 10
        assert all(is_held_out_intent(option.replace(" ", "_")) for option in options)
    (record,) = source.records(1, num_options=None)
    assert len(record.schema["properties"]["intent"]["enum"]) == 60


def test_clinc150_trains_no_held_out_intent(tmp_path: Path) -> None:
    write_clinc150(tmp_path)
    source, rng = Clinc150(tmp_path, "train"), random.Random(0)
    held_out = {f"label_{number}" for number in range(60)}
    held_out = {label for label in held_out if is_held_out_intent(label)}
    queries = {f"query {number}" for number in range(120) if f"label_{number % 60}" in held_out}
    assert 3 < len(held_out) < 30
    answers = Counter[object]()
    for _ in range(400):
        record = source.sample(rng)
        words = re.findall(r"[a-z]+ \d+", json.dumps(record.schema).lower().replace("_", " "))
        assert held_out.isdisjoint(each.replace(" ", "_") for each in words)
        assert queries.isdisjoint(re.findall(r"query \d+", record.context))
        answers.update(value for value in record.value.values() if value is None)
    # what is out of scope has no answer, or a fallback
    assert answers[None] > 5


def test_snips_asks_for_no_slot_that_has_two_answers(tmp_path: Path) -> None:
    write_snips(tmp_path)
    records = Snips(tmp_path, "test").records()
    assert any(record.context == "AbbaCher" for record in records)
    for record in records:
        asked = "artist" in record.schema["properties"]
        assert asked == (record.context != "AbbaCher" and record.value["intent"] == "play music")


def test_snips_reads_a_stray_byte_of_an_older_encoding(tmp_path: Path) -> None:
    write_snips(tmp_path)
    train = tmp_path / "train_RateBook_full.json"
    train.write_bytes(b'{"RateBook": [{"data": [{"text": "\xedo", "entity": "object_name"}]}]}')
    contexts = [record.context for record in Snips(tmp_path).records()]
    assert "\N{LATIN SMALL LETTER I WITH ACUTE}o" in contexts


def test_nlu_evaluation_keeps_its_splits_apart(tmp_path: Path) -> None:
    write_nlu_evaluation(tmp_path)
    train, test = (
        {record.context for record in NluEvaluation(tmp_path, split).records()}
        for split in ("train", "test")
    )
    assert len(train | test) == 200
    assert test
    assert not train & test


def test_nlupp_holds_the_last_two_folds_out(tmp_path: Path) -> None:
    write_nlupp(tmp_path)
    train = {record.context[-2:] for record in NluPlusPlus(tmp_path).records()}
    test = {record.context[-2:] for record in NluPlusPlus(tmp_path, "test").records()}
    assert test - {"so"} == {"18", "19"}
    assert not train & {"18", "19"}


def test_nlupp_evaluation_asks_every_intent_of_the_domain(tmp_path: Path) -> None:
    write_nlupp(tmp_path)
    asked = Counter(
        tuple(record.schema["properties"]) for record in NluPlusPlus(tmp_path, "test").records()
    )
    assert asked == {
        ("affirm", "limits", "pin", "date"): 4,
        ("affirm", "limits", "gym", "date", "rooms"): 4,
    }


def test_restaurant8k_says_which_slot_was_asked_for(tmp_path: Path) -> None:
    write_restaurant8k(tmp_path)
    records = {record.context: record for record in Restaurant8k(tmp_path, "test").records()}
    record = records["Asked: time\nUser: 13"]
    assert record.spans == {"/time": ((18, 20),)}
    assert [name for name, value in record.value.items() if value is not None] == ["time"]


def test_restaurant8k_spans_have_no_blanks_at_their_edges(tmp_path: Path) -> None:
    write_restaurant8k(tmp_path)
    records = Restaurant8k(tmp_path, "test").records()
    assert [record.value["people"] for record in records if record.value["people"]] == ["4"]


class Constant:
    def __init__(self, name: str):
        self.record = Record("", {"type": "object", "properties": {}}, {}, {}, name)

    def sample(self, rng: random.Random) -> Record:
        return self.record


def test_a_mixture_draws_as_often_as_the_weights_say() -> None:
    rng = random.Random(0)
    sources: list[tuple[Sampler, float]] = [(Constant("often"), 3), (Constant("seldom"), 1)]
    mixture = Mixture(sources)
    drawn = Counter(mixture.sample(rng).source for _ in range(2000))
    assert drawn["often"] / 2000 == pytest.approx(0.75, abs=0.04)


@pytest.mark.parametrize("weights", [[], [1.0, 0.0], [-1.0]])
def test_a_mixture_needs_sources_with_weights(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="weight above 0"):
        Mixture([(Constant("any"), weight) for weight in weights])
