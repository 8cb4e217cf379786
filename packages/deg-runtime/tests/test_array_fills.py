"""Arrays from the heads' word to the response: none is cut in silence, and every limit is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from deg_model import MAX_COUNT, MAX_SPAN_TOKENS, ArrayMode, ContextState, Fork
from deg_runtime import Engine, FillError, rounds as rounds_module

# T context tokens, S starts, W span lengths

# a line has more tokens than a peak hides
ROWS = range(10_000, 11_500)
TABLE = "".join(f"{row} ok\n" for row in ROWS)
SHORT = "".join(f"{row} ok\n" for row in ROWS[:80])

Said = Callable[..., Engine]


class Pointing:
    """Span scores that are sure of the span's first token, and of no length."""

    def __init__(self, num_tokens: int, start: int) -> None:
        self.width = min(MAX_SPAN_TOKENS, num_tokens)
        self.log_null = -20.0
        self.log_start = torch.full((num_tokens,), -30.0)
        self.log_start[start] = 0.0

    def log_end(self, starts: Sequence[int]) -> Tensor:
        return torch.full((len(starts), self.width), -1.0)


def marking(context: ContextState, text: str, places: Sequence[int] | None) -> Tensor:
    """Mark the tokens of some code points, or of where each line starts; later ones are likelier"""
    if places is None:
        places = [0, *(i + 1 for i, letter in enumerate(text[:-1]) if letter == "\n")]
    logits_T = torch.full((context.encoded.num_tokens,), -5.0)
    for number, place in enumerate(places):
        first, _ = context.encoded.cover(place, place + 1)
        logits_T[first] = 1 + number / 1000
    return logits_T


@pytest.fixture(scope="module")
def engine(make_engine: Callable[..., Engine]) -> Engine:
    return make_engine(arrays=ArrayMode("anchor"), max_positions=1 << 14, cache_bytes=1 << 30)


@pytest.fixture
def said(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Said:
    """Let the heads say what is asked for, and point at where an item starts."""

    def let(text: str, *, count: int = 0, places: Sequence[int] | None = None) -> Engine:
        def answer(forks: Sequence[Fork], contexts: Sequence[ContextState]) -> list[Any]:
            return [one(*pair) for pair in zip(forks, contexts, strict=True)]

        def one(fork: Fork, context: ContextState) -> Any:
            if fork.head == "count":
                return -(torch.arange(MAX_COUNT + 1.0) - count).abs()
            if fork.head == "anchor":
                return marking(context, text, places)
            if fork.head == "noul":
                return torch.tensor([0.75, 0.25])
            return Pointing(context.encoded.num_tokens, fork.anchor[0] if fork.anchor else 0)

        monkeypatch.setattr(engine.model, "answer", answer)
        return engine

    return let


def rows_of(items: dict[str, Any], **limits: int) -> dict[str, Any]:
    array = {"type": "array", "items": items} | limits
    return {"type": "object", "properties": {"rows": array}}


NUMBERS: dict[str, Any] = {"type": "integer"}


@pytest.mark.parametrize(
    ("mode", "count"), [("threshold", 0), ("count_peaks", MAX_COUNT), ("hybrid", 3)]
)
def test_a_table_of_1500_rows_has_1500_items(said: Said, mode: str, count: int) -> None:
    engine = said(TABLE, count=count)
    response = engine.fill(TABLE, rows_of(NUMBERS), options={"array_decode": mode})
    assert response["value"]["rows"] == list(ROWS)
    assert response["meta"]["/rows"] == {"mode": "array", "items": len(ROWS)}


def test_the_count_is_what_the_head_says_however_much_is_marked(said: Said) -> None:
    response = said(SHORT, count=40).fill(SHORT, rows_of(NUMBERS))
    assert response["meta"]["/rows"] == {"mode": "array", "items": 40}


def test_what_the_head_cannot_count_is_told(said: Said) -> None:
    marks = said(SHORT, count=MAX_COUNT, places=[0]).fill(SHORT, rows_of(NUMBERS))
    assert marks["meta"]["/rows"] == {"mode": "array", "items": 64, "limit": "count_head"}
    yes = said(SHORT, count=40).fill(SHORT, rows_of({"type": "boolean"}))
    assert yes["meta"]["/rows"] == {"mode": "array", "items": 32, "limit": "count_head"}


@pytest.mark.parametrize(
    ("limits", "options", "num_items", "limit"),
    [
        ({"maxItems": 20}, {}, 20, "maxItems"),
        ({}, {"max_items": 20}, 20, "max_items"),
        ({"maxItems": 30}, {"max_items": 20}, 30, "maxItems"),
        ({"maxItems": 80}, {}, 80, None),
        ({"maxItems": 99}, {}, 80, None),
    ],
)
@pytest.mark.parametrize("mode", ["threshold", "count_peaks"])
def test_a_limit_that_is_hit_is_told_and_the_likeliest_are_kept(
    said: Said, mode: str, limits: Any, options: Any, num_items: int, limit: str | None
) -> None:
    engine = said(SHORT, count=MAX_COUNT)
    response = engine.fill(
        SHORT, rows_of(NUMBERS, **limits), options=options | {"array_decode": mode}
    )
    assert response["value"]["rows"] == list(ROWS[80 - num_items : 80])
    assert response["meta"]["/rows"].get("limit") == limit


def test_items_without_a_required_value_are_dropped_and_told(said: Said) -> None:
    mail = {"type": "object", "properties": {"to": {"type": "string", "format": "email"}}}
    response = said(SHORT).fill(
        SHORT, rows_of(mail | {"required": ["to"]}), options={"array_decode": "threshold"}
    )
    assert response["value"] == {"rows": []}
    assert response["meta"] == {"/rows": {"mode": "array", "items": 0, "dropped": 80}}
    kept = said(SHORT).fill(SHORT, rows_of(mail), options={"array_decode": "threshold"})
    assert kept["value"]["rows"] == [{}] * 80
    assert "dropped" not in kept["meta"]["/rows"]


def test_an_item_too_short_for_what_it_holds_is_dropped_and_the_others_move_up(said: Said) -> None:
    text = "1 2 3 4 5 6 7 8 9"
    parts = {"type": "array", "minItems": 2, "items": NUMBERS}
    schema = rows_of({"type": "object", "properties": {"parts": parts}, "required": ["parts"]})
    # two tokens side by side are the region of the second
    engine = said(text, places=[0, 8, 10])
    response = engine.fill(text, schema, options={"array_decode": "threshold"})
    assert response["meta"]["/rows"] == {"mode": "array", "items": 2, "dropped": 1}
    assert [row["parts"][0] for row in response["value"]["rows"]] == [1, 6]
    assert "/rows/2/parts" not in response["meta"]


def test_too_few_items_are_filled_up_to_the_least(said: Said) -> None:
    engine = said(SHORT, places=[0])
    response = engine.fill(
        SHORT, rows_of(NUMBERS, minItems=3), options={"array_decode": "threshold"}
    )
    assert response["meta"]["/rows"] == {"mode": "array", "items": 3}


def test_a_document_without_room_for_the_least_is_an_error(said: Said) -> None:
    schema = rows_of(NUMBERS, minItems=3)
    with pytest.raises(FillError, match="minItems 3: only 1 items") as refused:
        said("7").fill("7", schema, options={"array_decode": "threshold"})
    assert refused.value.pointer == "/rows"


def test_more_questions_than_may_be_asked_fail_alone(
    said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds_module, "MAX_QUESTIONS", 50)
    engine = said(SHORT)
    requests = [(SHORT, rows_of(NUMBERS)), (SHORT, rows_of(NUMBERS, maxItems=9))]
    failed, filled = engine.fill_many(requests, options={"array_decode": "threshold"})
    assert isinstance(failed, FillError)
    assert "more than 50 questions: give a smaller 'maxItems'" in str(failed)
    assert isinstance(filled, dict)
    assert filled["meta"]["/rows"]["items"] == 9
