from __future__ import annotations

import random
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings, strategies as st
from torch import Tensor

from deg_model import ContextState, DegModel, EncodedContext, Fork, SpanScores, passes, reading
from deg_model.state import Moment

FAMILIES = ["llama", "qwen3.5", "lfm2"]
DTYPES = [torch.float32, torch.bfloat16]
TEXT = "the quick brown fox jumps over naïve 東京. " * 9


@pytest.fixture(
    scope="module",
    params=[(name, dtype) for name in FAMILIES for dtype in DTYPES],
    ids=lambda param: f"{param[0]}-{'fp32' if param[1] == torch.float32 else 'bf16'}",
)
def model(request: pytest.FixtureRequest, make_model: Callable[..., DegModel]) -> DegModel:
    family, dtype = request.param
    model = make_model(family, hidden=64, dtype=dtype)
    # so that short texts reach across several points
    model.reader.grid = 40
    model.reader.step = 40 if family != "llama" else 64
    return model


def tensors(state: ContextState) -> list[Tensor]:
    parts = [
        getattr(layer, name)
        for layer in state.state.layers
        for name in ("keys_PGD", "values_PGD", "state_HKV", "tail_CW")
        if getattr(layer, name, None) is not None
    ]
    keys = state.span_keys
    return [*parts, keys.features_TK[:], keys.start_TD, keys.end_TD, keys.anchor_prior_T]


def answers(model: DegModel, state: ContextState) -> list[Tensor]:
    draw = random.Random(0)
    ids = tuple(draw.randrange(300) for _ in range(12))
    found = []
    for head in ("extract", "choice", "count", "anchor"):
        (answer,) = model.answer([Fork(ids, (3, 7), head)], [state])
        if isinstance(answer, SpanScores):
            found += [answer.log_start, answer.log_end([0, len(answer.log_start) - 1])]
        else:
            found.append(answer)
    return found


def same(model: DegModel, one: ContextState, other: ContextState) -> bool:
    pairs = [
        *zip(tensors(one), tensors(other), strict=True),
        *zip(answers(model, one), answers(model, other), strict=True),
    ]
    return one.encoded == other.encoded and all(torch.equal(a, b) for a, b in pairs)


def read(model: DegModel, text: str, grid: int) -> ContextState:
    usual, model.reader.grid = model.reader.grid, grid
    try:
        return model.read(text)
    finally:
        model.reader.grid = usual


def num_alike(encoded: EncodedContext, state: ContextState) -> int:
    alike = [a == b for a, b in zip(encoded.ids, state.encoded.ids, strict=False)]
    return alike.index(False) if False in alike else len(alike)


@pytest.mark.parametrize("grid", [7, 30, 100])
def test_where_passes_end_changes_no_bit(model: DegModel, grid: int) -> None:
    assert same(model, read(model, TEXT, grid), read(model, TEXT, 4096))


@pytest.mark.parametrize("num_shared", [1, 60, 140, 260])
def test_a_start_changes_no_bit(model: DegModel, num_shared: int) -> None:
    earlier = model.read(TEXT)
    encoded = model.encode(TEXT[:num_shared] + "# and it goes on " * 4)
    start = earlier.start(num_alike(encoded, earlier))
    assert (start is None) == (num_alike(encoded, earlier) < model.reader.step)
    (found,) = model.reader.read([encoded], [start])
    (expected,) = model.reader.read([encoded], [None])
    assert same(model, found, expected)
    assert [moment.length for moment in found.moments] == [m.length for m in expected.moments]


def test_what_is_continued_stays_as_it_was(model: DegModel) -> None:
    earlier = model.read(TEXT)
    before = [tensor.clone() for tensor in tensors(earlier)]
    texts = [TEXT[:200] + "one way", TEXT[:200] + "another way"]
    encoded = [model.encode(text) for text in texts]
    starts = [earlier.start(num_alike(one, earlier)) for one in encoded]
    assert all(starts)
    read = model.reader.read(encoded, starts)
    assert all(map(torch.equal, tensors(earlier), before))
    for state, text in zip(read, texts, strict=True):
        assert same(model, state, model.read(text))


def test_all_of_a_context_may_be_known(model: DegModel) -> None:
    longer = model.read(TEXT)
    num = 3 * model.reader.step
    encoded = model.encode(TEXT)
    shorter = type(encoded)(
        encoded.ids[:num],
        encoded.first,
        encoded.starts[: num - encoded.first],
        encoded.ends[: num - encoded.first],
    )
    (found,) = model.reader.read([shorter], [longer.start(num)])
    (expected,) = model.reader.read([shorter], [None])
    assert same(model, found, expected)
    assert same(model, found.alone(), expected)
    assert found.alone().state.layers[-2].num_bytes == expected.state.layers[-2].num_bytes


def test_a_context_alone_is_the_same_in_memory_of_its_own(model: DegModel) -> None:
    states = model.read_many([TEXT, "fox", TEXT[:90]])
    for state in states:
        own = state.alone()
        assert same(model, own, state)
        assert own.num_bytes == state.num_bytes
        assert own.span_keys is state.span_keys
        held = {
            tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes()
            for part in (own.state, *own.moments)
            for tensor in _held(part)
        }
        assert sum(held.values()) <= own.num_bytes


def _held(part: object) -> list[Tensor]:
    layers = part.layers.values() if isinstance(part, Moment) else part.layers
    names = ("keys_PGD", "values_PGD", "states_IHKV", "tails_ICW")
    found = [getattr(layer, name, None) for layer in layers for name in names]
    return [tensor for tensor in found if tensor is not None]


def test_the_memory_is_known_before(model: DegModel) -> None:
    for text in ("", "fox", TEXT):
        state = model.read(text)
        most = model.reader.num_bytes(len(state.encoded.ids))
        around = len(state.encoded.ids) - state.encoded.num_tokens
        assert state.num_bytes <= most <= state.num_bytes + model.reader.num_bytes(around)


def test_a_config_knows_the_size_of_a_state(model: DegModel) -> None:
    state, config, item = (
        model.read(TEXT).state,
        model.backbone.config,
        model.backbone.dtype.itemsize,
    )
    expected = state.length * config.token_bytes(item) + config.moment_bytes(item)
    assert state.num_bytes == expected


def test_progress_is_told_after_each_pass(model: DegModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_PASS_TOKENS", 50)
    told: list[tuple[int, int]] = []
    states = model.read_many(
        [TEXT, "fox", "brown"], on_progress=lambda done, total: told.append((done, total))
    )
    total = sum(len(state.encoded.ids) for state in states)
    assert told[-1] == (total, total)
    assert told[0][0] <= 50
    assert [done for done, _ in told] == sorted({done for done, _ in told})


def test_a_pass_reads_no_more_than_its_tokens(
    model: DegModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    widths: list[int] = []
    hidden = model.backbone.hidden

    def counted(ids_N: Tensor, *args: object, **kwargs: object) -> list[Tensor]:
        widths.append(len(ids_N))
        return hidden(ids_N, *args, **kwargs)

    monkeypatch.setattr(model.backbone, "hidden", counted)
    monkeypatch.setattr(reading, "_PASS_TOKENS", 64)
    model.read_many(["fox", TEXT, "brown", "fox"])
    assert max(widths) <= 64
    assert len(widths) < 4 + len(model.encode(TEXT).ids) // 40


def test_a_context_is_held_once_while_it_is_read(
    make_model: Callable[..., DegModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_model(layers=2)
    model.reader.grid = 100
    pointers = []
    run_pass = passes.run_pass

    def watched(*args: object, **kwargs: object) -> list[Tensor]:
        states = args[2]
        if states[0].length:
            pointers.append(states[0].layers[0].keys_PGD.untyped_storage().data_ptr())
        return run_pass(*args, **kwargs)

    monkeypatch.setattr(reading, "run_pass", watched)
    model.read("q" * 500)
    assert len(pointers) >= 4
    assert len(set(pointers)) == 1


@settings(max_examples=20, deadline=None)
@given(texts=st.lists(st.text("ab é", max_size=120), min_size=1, max_size=5), data=st.data())
def test_starts_and_company_change_no_bit(
    law_model: DegModel, texts: list[str], data: st.DataObject
) -> None:
    model = law_model
    base = model.read(data.draw(st.text("ab é", min_size=60, max_size=150)))
    encoded, starts = [], []
    for text in texts:
        encoded.append(model.encode(text))
        starts.append(base.start(num_alike(encoded[-1], base)))
    together = model.reader.read(encoded, starts)
    for text, state in zip(texts, together, strict=True):
        assert all(map(torch.equal, tensors(state), tensors(model.read(text))))


@pytest.fixture(scope="module", params=FAMILIES)
def law_model(request: pytest.FixtureRequest, make_model: Callable[..., DegModel]) -> DegModel:
    model = make_model(request.param, hidden=64)
    model.reader.grid = model.reader.step = 16
    return model


@pytest.mark.parametrize(
    ("family", "grid", "step"),
    [("llama", 4096, 64), ("qwen3.5", 512, 512), ("lfm2", 512, 512)],
)
def test_the_grid_is_as_fine_as_the_states_are_small(
    make_model: Callable[..., DegModel], family: str, grid: int, step: int
) -> None:
    reader = make_model(family).reader
    assert (reader.grid, reader.step) == (grid, step)
