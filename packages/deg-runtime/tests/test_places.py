"""A grammar looks through a document once, and what it found says the same to every question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
import torch
from hypothesis import given, settings, strategies as st

from deg_model import (
    MAX_SPAN_TOKENS,
    ArrayMode,
    ContextState,
    EncodedContext,
    Heads,
    SpanKeys,
    SpanScores,
    State,
)
from deg_runtime import Engine, places as places_module
from deg_runtime.decode import decode
from deg_runtime.places import Places
from deg_schema import (
    Extracted,
    FieldPlan,
    Missing,
    Options,
    Outcome,
    compile_schema,
    find_candidates,
    has_candidates,
    read_span,
    trim_span,
)

LEAVES: list[dict[str, Any]] = [
    {"type": "number"},
    {"type": "integer", "minimum": 1000},
    {"type": "number", "maximum": -1},
    {"type": "string", "format": "date"},
    {"type": "string", "format": "date-time"},
    {"type": "string", "format": "email"},
    {"type": "string"},
    {"type": "string", "pattern": "^[a-z]+$"},
]
WORDS = ["1,250.50", "7", "on 3 May 2026", "03/05/2026", "a@b.co", "2026-05-03T17:30:00Z", "Ann,"]

texts = st.lists(st.sampled_from([*WORDS, "2.5", "\n", "(no)", "9" * 140]), max_size=25)


def field_of(leaf: dict[str, Any], *, required: bool = False) -> FieldPlan:
    schema = {"type": "object", "properties": {"x": leaf}, "required": ["x"] if required else []}
    (field,) = compile_schema(schema).fields
    return field


def state_of(text: str, seed: int, scale: float) -> ContextState:
    """Return a document of tokens of three characters that random heads were trained on."""
    starts = tuple(range(0, len(text), 3))
    ends = tuple(min(start + 3, len(text)) for start in starts)
    encoded = EncodedContext((0,) * len(starts), 0, starts, ends)
    torch.manual_seed(seed)
    heads = Heads(8, 8).requires_grad_(False)
    # few different tokens, so that there are draws
    features_TK = scale * torch.randn(4, 8)[torch.randint(4, (len(starts),))]
    return ContextState(encoded, State(), SpanKeys(features_TK, heads.extract, heads.anchor))


def by_hand(
    field: FieldPlan, scores: SpanScores, text: str, state: ContextState, options: Options
) -> Outcome:
    """Look at all spans: what `decode` says without looking at most."""
    encoded, num_tokens = state.encoded, state.encoded.num_tokens
    joint = scores.log_start[:, None] + scores.log_end(range(num_tokens))
    if has_candidates(field):
        covers = [(encoded.cover(*span), span) for span in find_candidates(field, text)]
        ranked = sorted(
            (-joint[i, j - i].item() if j - i < joint.shape[1] else torch.inf, *span)
            for (i, j), span in covers
        )
    else:
        starts = sorted(scores.log_start.argsort(descending=True, stable=True)[:32].tolist())
        every = sorted(
            (-joint[i, width].item(), i, width)
            for i, width in product(starts, range(joint.shape[1]))
            if joint[i, width] > -torch.inf
        )
        spans = [(one, trim_span(text, *encoded.span(i, i + w))) for one, i, w in every[:32]]
        ranked = [(one, *span) for one, span in spans if span[0] < span[1]]
    least = scores.log_null + (options.null_margin or 0)
    least = -torch.inf if field.on_null == "forbid" else least
    refused: Outcome | None = None
    for negative, start, end in ranked:
        reading, sureness = read_span(field, text[start:end], options), _exp(-negative)
        if -negative < least:
            break
        if reading.reason is None:
            return Extracted(reading.value, (start, end), sureness, reading.assumed_offset)
        refused = refused or Missing(reading.reason, sureness, reading.detail)
    return refused or Missing("not_found", _exp(scores.log_null))


def _exp(logit: float) -> float:
    return torch.tensor(logit, dtype=torch.float64).exp().item()


@settings(max_examples=30, deadline=None, derandomize=True)
@given(texts, st.integers(0, 99), st.sampled_from([0.0, 0.3, 3.0, 30.0]), st.data())
def test_what_is_not_looked_at_would_change_nothing(
    words: list[str], seed: int, scale: float, draw: st.DataObject
) -> None:
    text = " ".join(words)
    state = state_of(text, seed, scale)
    places = Places(text, state.encoded)
    answers_RH = torch.randn(6, 8) * 3
    options = Options(null_margin=draw.draw(st.sampled_from([None, -9.0, 2.0])))
    for answer_H in answers_RH:
        field = field_of(draw.draw(st.sampled_from(LEAVES)), required=draw.draw(st.booleans()))
        scores = SpanScores(answer_H, state.span_keys, 1.0)
        found = decode(field, scores, text, state, options, places=places)
        assert found == decode(field, scores, text, state, options)
        expected = by_hand(field, scores, text, state, options)
        assert type(found) is type(expected)
        assert found == _about(expected)


def _about(outcome: Outcome) -> Any:
    """Return the outcome with a confidence that `exp` may have rounded another way."""
    assert isinstance(outcome, (Extracted, Missing))
    about: Any = pytest.approx(outcome.confidence, rel=1e-12, abs=0)
    if isinstance(outcome, Extracted):
        return Extracted(outcome.value, outcome.span, about, outcome.assumed_offset)
    return Missing(outcome.reason, about, outcome.detail)


def test_candidates_stand_with_the_token_they_start_in() -> None:
    text = "7 and 1,250.50 on 3"
    encoded = state_of(text, 0, 1.0).encoded
    found = Places(text, encoded).candidates(field_of({"type": "number"}))
    assert [text[one.start : one.end] for group in found.groups for one in group] == [
        "7",
        "1,250.50",
        "3",
    ]
    assert found.starts == tuple(found.starts_S.tolist()) == (0, 2, 6)
    assert [group[0].more_tokens for group in found.groups] == [0, 2, 0]
    assert found.row_of == {(0, 1): 0, (6, 14): 1, (18, 19): 2}


def test_a_span_is_read_once_and_a_start_without_hope_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []

    def reading(field: FieldPlan, text: str, options: Options) -> Any:
        read.append(text)
        return read_span(field, text, options)

    monkeypatch.setattr(places_module, "read_span", reading)
    places = Places("7 or 70", state_of("7 or 70", 0, 1.0).encoded)
    readings = places.readings(field_of({"type": "number", "minimum": 10}), Options())
    assert readings.hopeful_S.tolist() == [True, True]
    assert readings.read(0, 1).reason == "minimum"
    assert readings.read(0, 1).reason == "minimum"
    assert readings.read(5, 7).value == 70
    assert readings.hopeful_S.tolist() == [False, True]
    assert read == ["7", "70"]


def test_fields_that_read_alike_share_what_they_read() -> None:
    places = Places("7 or 70", state_of("7 or 70", 0, 1.0).encoded)
    number, least = field_of({"type": "number"}), field_of({"type": "number", "minimum": 10})
    assert places.candidates(number) is places.candidates(least)
    assert places.readings(number, Options()) is places.readings(
        field_of({"type": "number", "title": "Sum"}, required=True), Options()
    )
    assert places.readings(number, Options()) is not places.readings(least, Options())
    comma = Options(decimal_separator=",")
    assert places.readings(number, Options()) is not places.readings(number, comma)


def test_each_grammar_looks_through_each_document_once(
    make_engine: Callable[..., Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: Counter[tuple[str, str]] = Counter()

    def finding(field: FieldPlan, text: str) -> Any:
        looked[field.mode, text] += 1
        return find_candidates(field, text)

    monkeypatch.setattr(places_module, "find_candidates", finding)
    row = {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "integer"}}}
    rows = {"type": "array", "minItems": 4, "items": row}
    due = {"type": "string", "format": "date"}
    schema = {"type": "object", "properties": {"rows": rows, "due": due, "sum": {"type": "number"}}}
    engine = make_engine(arrays=ArrayMode("anchor"))
    text, other = "1 or 2 or 3 or 4 on 3 May 2026", "5 or 6 or 7 or 8"
    engine.fill_many([(text, schema), (other, schema), (text, schema)])
    kinds = ("extract.number", "extract.date")
    assert looked == Counter(product(kinds, (text, other)))


def test_a_long_table_looks_at_few_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(f"{row:06}\n\n" for row in range(1000))
    state = state_of(text, 0, 1.0)
    looked: list[int] = []

    class Sure:
        log_null = -20.0
        log_start = torch.linspace(-1000, 0, state.encoded.num_tokens)

        def log_end(self, starts: list[int]) -> torch.Tensor:
            looked.extend(starts)
            return torch.full((len(starts), MAX_SPAN_TOKENS), -1.0)

    scores: Any = Sure()
    found = decode(field_of({"type": "integer"}), scores, text, state, Options())
    assert isinstance(found, Extracted)
    assert found.value == 999
    assert len(looked) == 8
