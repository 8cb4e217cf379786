from __future__ import annotations

import pytest
import torch

from deg_model import Tokenizer
from deg_train.batches import collate, pack
from deg_train.generate import DocumentSource
from deg_train.questions import Example, example_of


@pytest.fixture(scope="module")
def many(tokenizer: Tokenizer) -> list[Example]:
    return [example_of(record, tokenizer) for record in DocumentSource().records(25, seed=3)]


def test_packing_keeps_every_question_once(many: list[Example]) -> None:
    packed = [row.question for batch in pack(many, 2000) for row in batch.rows]
    given = [question for example in many for question in example.questions]
    assert sorted(map(id, packed)) == sorted(map(id, given))


def test_a_batch_stays_within_its_tokens_unless_one_example_is_larger(many: list[Example]) -> None:
    for batch in pack(many, 2000):
        assert batch.num_real_tokens <= 2000 or len(batch.context_lengths_B) == 1


def test_little_of_a_batch_is_padding(many: list[Example]) -> None:
    batches = pack(many, 4000)
    padded = sum(len(batch.ids_N) for batch in batches)
    assert padded < 1.3 * sum(batch.num_real_tokens for batch in batches)


def test_each_row_ends_at_its_own_answer_and_options(examples: list[Example]) -> None:
    batch = collate(examples)
    for row in batch.rows:
        fork = row.question.fork
        assert batch.ids_N[row.answer] == fork.ids[-1]
        options = [int(batch.ids_N[place]) for place in row.options]
        assert options == [fork.ids[place] for place in fork.options]


def test_a_fork_goes_on_where_its_context_ends(examples: list[Example]) -> None:
    batch = collate(examples)
    for row in batch.rows:
        length = int(batch.context_lengths_B[row.context])
        assert batch.positions_N[row.answer] == length + len(row.question.fork.ids) - 1


def test_the_rows_of_a_bucket_are_as_wide_as_it(examples: list[Example]) -> None:
    batch = collate(examples)
    contexts = len(examples) * batch.width
    forks = sum(len(bucket.context_R) * bucket.width for bucket in batch.buckets)
    assert len(batch.ids_N) == contexts + forks
    assert all(bool((each.lengths_R <= each.width).all()) for each in batch.buckets)


def test_nothing_packs_to_nothing() -> None:
    assert pack([], 100) == []


def test_positions_of_a_context_count_from_zero(examples: list[Example]) -> None:
    batch = collate(examples)
    assert torch.equal(batch.positions_N[: batch.width], torch.arange(batch.width))
