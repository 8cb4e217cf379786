from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings, strategies as st

from deg_model import ContextState, ContextTooLong, DegModel
from deg_runtime import Engine, contexts as module
from deg_runtime.contexts import Contexts, ReadContext

TEXT = "The parcel 4471 has not arrived at 14 Rose Lane, and it was paid twice. " * 4


@pytest.fixture(scope="module")
def model(make_engine: Callable[..., Engine]) -> DegModel:
    return make_engine().model


def same(one: ContextState, other: ContextState) -> bool:
    keys = [
        (a.start_TD, a.end_TD, a.anchor_TD, a.features_TK[:])
        for a in (one.span_keys, other.span_keys)
    ]
    layers = [
        [tensor for layer in a.state.layers for tensor in (layer.keys_PGD, layer.values_PGD)]
        for a in (one, other)
    ]
    return (
        one.encoded == other.encoded
        and all(map(torch.equal, *keys))
        and all(map(torch.equal, *layers))
    )


def read(contexts: Contexts, text: str) -> ReadContext:
    (found,) = contexts.read_many([text])
    assert isinstance(found, ReadContext)
    return found


def num_passes(model: DegModel, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    widths: list[int] = []
    hidden = model.backbone.hidden

    def counted(ids_N: torch.Tensor, *args: object, **kwargs: object) -> list[torch.Tensor]:
        widths.append(len(ids_N))
        return hidden(ids_N, *args, **kwargs)

    monkeypatch.setattr(model.backbone, "hidden", counted)
    return widths


def test_a_context_that_was_read_is_not_read_again(
    model: DegModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    contexts, widths = Contexts(model), num_passes(model, monkeypatch)
    first, second = read(contexts, TEXT), read(contexts, TEXT)
    assert len(widths) == 1
    assert (first.cached_tokens, second.cached_tokens) == (0, len(first.state.encoded.ids))
    assert same(first.state, second.state)
    assert same(second.state, model.read(TEXT))


def test_the_longest_known_beginning_is_continued(
    model: DegModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    contexts = Contexts(model)
    contexts.read_many([TEXT[:150] + "!", TEXT, "no"])
    widths = num_passes(model, monkeypatch)
    found = read(contexts, TEXT + "Please call.")
    num = len(model.encode(TEXT).ids) // 64 * 64
    assert found.cached_tokens == num
    assert sum(widths) <= len(found.state.encoded.ids) - num + 15
    assert same(found.state, model.read(TEXT + "Please call."))


def test_a_short_common_beginning_is_read_again(model: DegModel) -> None:
    contexts = Contexts(model)
    read(contexts, "The parcel 4471")
    assert read(contexts, "The parcel 4472").cached_tokens == 0


def test_the_same_text_twice_in_a_call_is_read_once(
    model: DegModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    widths = num_passes(model, monkeypatch)
    one, other, again = Contexts(model).read_many(["a fox", "a dog", "a fox"])
    assert one is again
    assert one is not other
    assert len(widths) == 1


def test_the_least_used_goes_when_the_budget_is_spent(model: DegModel) -> None:
    size = model.read("fox w").num_bytes
    contexts = Contexts(model, 3 * size)
    for text in ("fox w", "fox x", "fox y", "fox w", "fox z"):
        read(contexts, text)
    assert (len(contexts), contexts.num_bytes) == (3, 3 * size)
    assert read(contexts, "fox w").cached_tokens > 0
    assert read(contexts, "fox x").cached_tokens == 0
    contexts.clear()
    assert (len(contexts), contexts.num_bytes) == (0, 0)


def test_what_exceeds_the_budget_is_read_and_not_kept(model: DegModel) -> None:
    contexts = Contexts(model, 0)
    assert same(read(contexts, TEXT).state, model.read(TEXT))
    assert (len(contexts), read(contexts, TEXT).cached_tokens) == (0, 0)


def test_a_context_that_does_not_fit_fails_alone_before_anything_is_read(
    model: DegModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    widths = num_passes(model, monkeypatch)
    free = model.reader.num_bytes(100) + model.reader.pass_bytes(100)
    monkeypatch.setattr(module, "free_bytes", lambda _: free)
    short, long = Contexts(model).read_many(["fox", TEXT * 9])
    assert isinstance(short, ReadContext)
    assert isinstance(long, ContextTooLong)
    assert sum(widths) < 100
    assert long.num_tokens == len(model.encode(TEXT * 9).ids)
    assert long.bytes_needed > long.bytes_free > 0
    assert f"the context has {long.num_tokens:,} tokens" in str(long)
    assert "split the document" in str(long)
    assert str(pickle.loads(pickle.dumps(long))) == str(long)


def test_kept_contexts_make_room_for_one_that_needs_it(
    model: DegModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    contexts = Contexts(model)
    contexts.read_many([TEXT, "fox"])
    num_tokens = len(model.encode("a dog").ids)
    needed = model.reader.num_bytes(num_tokens) + model.reader.pass_bytes(num_tokens)
    kept = contexts.num_bytes
    monkeypatch.setattr(module, "free_bytes", lambda _: needed - 1 + kept - contexts.num_bytes)
    assert isinstance(read(contexts, "a dog"), ReadContext)
    assert read(contexts, "fox").cached_tokens > 0
    assert len(contexts) == 2


def test_texts_are_cut_where_memory_would_run_out(
    model: DegModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    contexts = Contexts(model)
    texts = ["q" * 100, "q" * 100, "q" * 1000, "q", "q"]
    monkeypatch.setattr(module, "free_bytes", lambda _: 2 * model.reader.num_bytes(210))
    assert list(contexts.batches(texts)) == [slice(0, 2), slice(2, 3), slice(3, 5)]
    assert list(contexts.batches([])) == []


def test_progress_is_told(model: DegModel) -> None:
    contexts, told = Contexts(model), []
    for _ in range(2):
        contexts.read_many([TEXT], on_progress=lambda *numbers: told.append(numbers))
    num = len(model.encode(TEXT).ids)
    assert told == [(num, num)]


@settings(max_examples=25, deadline=None)
@given(
    calls=st.lists(
        st.lists(st.lists(st.sampled_from([TEXT[:90], "fox. ", "a"]), max_size=4), max_size=4),
        max_size=4,
    ),
    budget=st.sampled_from([0, 1 << 17, 1 << 30]),
)
def test_the_cache_changes_no_bit(
    model: DegModel, calls: list[list[list[str]]], budget: int
) -> None:
    contexts = Contexts(model, budget)
    for call in calls:
        texts = ["".join(parts) for parts in call]
        for text, found in zip(texts, contexts.read_many(texts), strict=True):
            assert isinstance(found, ReadContext)
            assert same(found.state, model.read(text))
        assert contexts.num_bytes <= budget
