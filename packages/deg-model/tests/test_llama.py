from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import transformers
from torch import Tensor

from deg_model import Llama, LowRankAdapters, RowAttention, State
from deg_model.llama import config_from_hf

CONFIG = {
    "vocab_size": 300,
    "hidden_size": 64,
    "intermediate_size": 160,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "rms_norm_eps": 1e-5,
    "tie_word_embeddings": True,
}


@pytest.fixture(scope="module")
def reference() -> transformers.LlamaForCausalLM:
    torch.manual_seed(0)
    config = transformers.LlamaConfig(**CONFIG, initializer_range=0.3)
    return transformers.LlamaForCausalLM(config).eval()


@pytest.fixture(scope="module")
def llama(reference: transformers.LlamaForCausalLM) -> Llama:
    return Llama(config_from_hf(reference.config.to_dict()), reference.state_dict())


def relative_error(found: Tensor, expected: Tensor) -> float:
    return float((found - expected).norm() / expected.norm())


def random_ids(num: int) -> Tensor:
    return torch.randint(0, 300, (num,), generator=torch.Generator().manual_seed(num))


@torch.no_grad()
def one_pass(llama: Llama, ids: Tensor, state: State | None = None) -> tuple[Tensor, State]:
    before = state or State()
    attention = RowAttention([len(ids)], [before], keep=True)
    positions = torch.arange(before.length, before.length + len(ids))
    (hidden,) = llama.hidden(ids, positions, attention, taps=(llama.config.num_layers,))
    return hidden, attention.states()[0]


@pytest.mark.parametrize("num_tokens", [1, 7, 128, 200])
def test_hidden_states_are_those_of_transformers(
    reference: transformers.LlamaForCausalLM, llama: Llama, num_tokens: int
) -> None:
    ids = random_ids(num_tokens)
    with torch.no_grad():
        expected = reference(ids[None], output_hidden_states=True).hidden_states
        attention = RowAttention([num_tokens], [State()])
        found = llama.hidden(ids, torch.arange(num_tokens), attention, taps=(1, 2, 3))
    assert len(found) == 3
    for after, hidden_NH in enumerate(found, start=1):
        assert relative_error(hidden_NH, expected[after][0]) < 1e-3


@pytest.mark.parametrize("chunk", [1, 50, 128])
def test_a_context_read_in_chunks_is_the_context_read_at_once(llama: Llama, chunk: int) -> None:
    ids = random_ids(150)
    expected, _ = one_pass(llama, ids)
    state, pieces = State(), []
    for start in range(0, len(ids), chunk):
        hidden, state = one_pass(llama, ids[start : start + chunk], state)
        pieces.append(hidden)
    assert state.length == 150
    assert relative_error(torch.cat(pieces), expected) < 1e-4


def test_forks_of_a_state_continue_it(llama: Llama) -> None:
    context, forks = random_ids(60), [random_ids(n) for n in (5, 140, 1)]
    _, state = one_pass(llama, context)
    lengths = [len(fork) for fork in forks]
    with torch.no_grad():
        (together,) = llama.hidden(
            torch.cat(forks),
            torch.cat([60 + torch.arange(length) for length in lengths]),
            RowAttention(lengths, [state] * 3),
            taps=(3,),
        )
    for fork, found in zip(forks, together.split(lengths), strict=True):
        expected, _ = one_pass(llama, torch.cat([context, fork]))
        assert relative_error(found, expected[60:]) < 1e-4


def test_a_fork_leaves_the_state_as_it_was(llama: Llama) -> None:
    _, state = one_pass(llama, random_ids(20))
    before = [layer.keys_PGD.clone() for layer in state.layers]
    one_pass(llama, random_ids(9), state)
    kept = [layer.keys_PGD for layer in state.layers]
    assert all(torch.equal(a, b) for a, b in zip(before, kept, strict=True))


def test_taps_change_nothing_but_what_is_returned(llama: Llama) -> None:
    ids, attention = random_ids(12), lambda: RowAttention([12], [State()])
    with torch.no_grad():
        *_, last = llama.hidden(ids, torch.arange(12), attention(), taps=(1, 2, 3))
        (alone,) = llama.hidden(ids, torch.arange(12), attention(), taps=(3,))
    assert torch.equal(last, alone)


def test_gradients_on_or_off_give_the_same_numbers(llama: Llama) -> None:
    ids = random_ids(30)
    expected, _ = one_pass(llama, ids)
    (found,) = llama.hidden(ids, torch.arange(30), RowAttention([30], [State()]), taps=(3,))
    assert torch.allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-4), (torch.bfloat16, 0.1)])
def test_merged_adapters_equal_adapters_beside_the_weights(
    make_llama: Callable[..., Llama], dtype: torch.dtype, tolerance: float
) -> None:
    llama = make_llama(dtype=dtype)
    adapters = LowRankAdapters(llama, rank=4)
    for parameter in adapters.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    ids, positions = random_ids(40), torch.arange(40)
    with torch.no_grad():
        (beside,) = llama.hidden(
            ids, positions, RowAttention([40], [State()]), taps=(3,), adapters=adapters.pairs(dtype)
        )
        merged, _ = one_pass(llama.merged(adapters.pairs(torch.float32)), ids)
        plain, _ = one_pass(llama, ids)
    assert relative_error(merged.float(), beside.float()) < tolerance
    assert relative_error(plain.float(), beside.float()) > 2 * tolerance


def test_merging_leaves_the_stack_as_it_was(make_llama: Callable[..., Llama]) -> None:
    llama = make_llama()
    adapters = LowRankAdapters(llama, rank=2)
    for parameter in adapters.parameters():
        torch.nn.init.ones_(parameter)
    before = llama.layers[0]["qkv"].clone()
    with torch.no_grad():
        merged = llama.merged(adapters.pairs(torch.float32))
    assert torch.equal(llama.layers[0]["qkv"], before)
    assert torch.allclose(merged.layers[0]["qkv"], before + 2, atol=1e-5)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 0.05)])
def test_a_packed_stack_computes_the_same_and_forks_equal_one_pass(
    make_llama: Callable[..., Llama], dtype: torch.dtype, tolerance: float
) -> None:
    llama, packed = (make_llama(hidden=256, dtype=dtype) for _ in range(2))
    packed.pack()
    ids = random_ids(90)
    expected, _ = one_pass(llama, ids)
    found, _ = one_pass(packed, ids)
    assert relative_error(found.float(), expected.float()) < tolerance
    _, before = one_pass(packed, ids[:70])
    assert torch.equal(one_pass(packed, ids[70:], before)[0], found[70:])
    step, _ = one_pass(packed, ids[70:71], before)
    assert torch.equal(step, found[70:71])


def test_the_rope_base_is_read_from_either_form_of_the_configuration() -> None:
    assert config_from_hf({**CONFIG, "rope_theta": 5e4}).rope_theta == 5e4
    assert config_from_hf({**CONFIG, "rope_parameters": {"rope_theta": 7e4}}).rope_theta == 7e4
