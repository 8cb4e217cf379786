from __future__ import annotations

import random

import pytest

from deg_model import Tokenizer
from deg_train.batches import Batch
from deg_train.fit_options import FitOptions
from deg_train.own import OwnRecords
from deg_train.recipe import default_mixture, drawer
from deg_train.records import Record


def tokens(batches: list[Batch]) -> list[list[int]]:
    return [batch.ids_N.tolist() for batch in batches]


def test_a_draw_follows_from_seed_and_step_alone(tokenizer: Tokenizer) -> None:
    options = FitOptions(tokens_per_step=1500, seed=5)
    first = drawer(default_mixture(None), tokenizer, options)
    second = drawer(default_mixture(None), tokenizer, options)
    later = tokens(list(first(7)))
    assert tokens(list(second(3))) != later
    assert tokens(list(second(7))) == later


def test_another_seed_draws_something_else(tokenizer: Tokenizer) -> None:
    draws = [
        drawer(default_mixture(None), tokenizer, FitOptions(tokens_per_step=1500, seed=seed))(0)
        for seed in (0, 1)
    ]
    assert tokens(list(draws[0])) != tokens(list(draws[1]))


def test_a_run_draws_lists_and_what_they_are_asked(tokenizer: Tokenizer) -> None:
    options = FitOptions(tokens_per_step=1500, form_steps=2)
    draw = drawer(default_mixture(None), tokenizer, options)

    def heads(step: int) -> set[str]:
        return {row.question.fork.head for batch in draw(step) for row in batch.rows}

    assert {"count", "anchor", "extract"} <= set().union(*(heads(step) for step in range(2, 8)))
    # first come forms alone
    assert not {"count", "anchor"} & (heads(0) | heads(1))


def test_a_source_may_say_what_a_step_draws_from(tokenizer: Tokenizer) -> None:
    class Stepwise:
        def at(self, step: int) -> OwnRecords:
            schema = {"type": "object", "properties": {"x": {"type": "boolean"}}}
            return OwnRecords([Record(f"step {step}", schema, {"x": True}, {}, "made")])

    draw = drawer(Stepwise(), tokenizer, FitOptions(tokens_per_step=50, form_steps=1))
    spelled = [tokenizer.decode(draw(step)[0].ids_N.tolist()) for step in range(3)]
    assert ["step 0" in spelled[0], "step 1" in spelled[1], "step 2" in spelled[2]] == [0, 1, 1]


def test_texts_are_drawn_where_they_are_trained(tokenizer: Tokenizer) -> None:
    schema = {"type": "object", "properties": {"x": {"type": "string", "x-generate": True}}}
    source = OwnRecords([Record("Ann", schema, {"x": "Ann is here"}, {}, "made")])
    options = FitOptions(tokens_per_step=50, form_steps=0)
    (batch, *_) = drawer(source, tokenizer, options, texts=True)(0)
    assert {row.question.fork.head for row in batch.rows} == {"lm"}
    # without them there is nothing to ask, and that is said
    with pytest.raises(ValueError, match="none of 1000 records drawn for step 0 has a question"):
        drawer(source, tokenizer, options)(0)


def test_a_text_longer_than_its_room_is_trained(tokenizer: Tokenizer) -> None:
    schema = {"type": "object", "properties": {"x": {"type": "string", "x-generate": True}}}
    source = OwnRecords([Record("Ann " * 40, schema, {"x": "Ann is here. " * 40}, {}, "made")])
    options = FitOptions(tokens_per_step=50, form_steps=0, tokens_per_example=400)
    (batch, *_) = drawer(source, tokenizer, options, texts=True)(0)
    assert batch.num_real_tokens > options.tokens_per_example


def test_a_step_has_its_tokens_and_no_endless_example(tokenizer: Tokenizer) -> None:
    class Source:
        def sample(self, rng: random.Random) -> Record:
            text = "word " * rng.choice((10, 5000))
            schema = {"type": "object", "properties": {"x": {"type": "boolean"}}}
            return Record(text, schema, {"x": True}, {}, "made")

    batches = drawer(Source(), tokenizer, FitOptions(tokens_per_step=400))(0)
    # no example before the last one reaches 400 tokens, and the short one has some 200
    assert 400 <= sum(batch.num_real_tokens for batch in batches) < 800
