"""What holds of every family: it equals the published stack, and rows do not see each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise

import pytest
import torch
import transformers
from torch import Tensor

from deg_model import (
    FAMILIES,
    Backbone,
    ForkBucket,
    LowRankAdapters,
    RowAttention,
    RowRecurrence,
    State,
    TrainingAttention,
    TrainingRecurrence,
    WeightsError,
    lfm2,
    llama,
    qwen35,
    states_after,
)

NAMES = tuple(FAMILIES)
MODULES = {"llama": llama, "qwen3.5": qwen35, "lfm2": lfm2}
SIZES = {
    "vocab_size": 300,
    "hidden_size": 128,
    "intermediate_size": 160,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "initializer_range": 0.2,
    "tie_word_embeddings": True,
}
LAST = (4,)

Answer = tuple[list[Tensor], list[State]]


def published(family: str) -> transformers.PreTrainedModel:
    torch.manual_seed(0)
    if family == "llama":
        model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZES))
    elif family == "lfm2":
        types = ["conv", "conv", "full_attention", "conv"]
        model = transformers.Lfm2ForCausalLM(transformers.Lfm2Config(**SIZES, layer_types=types))
    else:
        config = transformers.Qwen3_5TextConfig(
            **SIZES,
            head_dim=32,
            linear_num_key_heads=2,
            linear_num_value_heads=4,
            linear_key_head_dim=16,
            linear_value_head_dim=24,
            rope_parameters={
                "rope_type": "default",
                "rope_theta": 1e7,
                "partial_rotary_factor": 0.25,
                "mrope_section": [2, 1, 1],
            },
        )
        model = transformers.Qwen3_5ForCausalLM(config)
    for name, parameter in model.named_parameters():
        if "norm" in name:
            torch.nn.init.normal_(parameter, float(parameter.detach().mean()), 0.2)
    return model.eval()


def random_ids(num: int, *, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(1000 * seed + num)
    return torch.randint(0, 300, (num,), generator=generator)


@torch.inference_mode()
def read(
    backbone: Backbone,
    rows: Sequence[Tensor],
    states: Sequence[State],
    *,
    taps: tuple[int, ...] = LAST,
) -> tuple[list[Tensor], list[State]]:
    lengths = [len(row) for row in rows]
    attend = RowAttention(lengths, states, keep=True)
    recur = RowRecurrence(lengths, states, keep=True)
    starts = [state.length for state in states]
    positions = [start + torch.arange(n) for start, n in zip(starts, lengths, strict=True)]
    tapped = backbone.hidden(torch.cat(list(rows)), torch.cat(positions), attend, recur, taps=taps)
    states = states_after(attend, recur, backbone.config.state_layers)
    return (list(tapped[-1].split(lengths)) if taps == LAST else tapped), states


def tensors(state: State) -> list[Tensor]:
    parts = [getattr(layer, name) for layer in state.layers for name in _names(layer)]
    return [part.clone() for part in parts if part is not None]


def _names(layer: object) -> tuple[str, str]:
    return ("keys_PGD", "values_PGD") if hasattr(layer, "keys_PGD") else ("state_HKV", "tail_CW")


@pytest.fixture(
    scope="module",
    params=[(name, dtype) for name in NAMES for dtype in (torch.float32, torch.bfloat16)],
    ids=lambda param: f"{param[0]}-{'fp32' if param[1] == torch.float32 else 'bf16'}",
)
def backbone(request: pytest.FixtureRequest, make_backbone: Callable[..., Backbone]) -> Backbone:
    family, dtype = request.param
    return make_backbone(family, hidden=256, dtype=dtype)


@pytest.mark.parametrize("num_tokens", [1, 3, 130])
@pytest.mark.parametrize("family", NAMES)
def test_hidden_states_are_those_of_transformers(family: str, num_tokens: int) -> None:
    model, module, ids = published(family), MODULES[family], random_ids(num_tokens)
    config = module.config_from_hf(model.config.to_dict())
    backbone = FAMILIES[family](model.config.to_dict(), model.state_dict())
    assert backbone.config == config
    with torch.no_grad():
        expected = model(ids[None], output_hidden_states=True).hidden_states[1:]
    found, _ = read(backbone, [ids], [State()], taps=(1, 2, 3, 4))
    for one, other in zip(found, expected, strict=True):
        assert float((one - other[0]).norm() / other[0].norm()) < 1e-3


@pytest.mark.parametrize("family", NAMES)
def test_the_weights_of_a_stack_are_those_of_transformers(family: str) -> None:
    model, module = published(family), MODULES[family]
    expected = {name: tuple(t.shape) for name, t in model.state_dict().items()}
    expected.pop("lm_head.weight")
    assert module.weight_shapes(module.config_from_hf(model.config.to_dict())) == expected


@pytest.mark.parametrize("cuts", [(0, 1, 70), (0, 16, 32, 70), (0, *range(65, 71))])
def test_a_context_read_in_pieces_has_the_bits_of_one_pass(
    backbone: Backbone, cuts: tuple[int, ...]
) -> None:
    ids = random_ids(70)
    ((expected,), (whole,)) = read(backbone, [ids], [State()])
    state, pieces = State(), []
    for start, end in pairwise(cuts):
        ((piece,), (state,)) = read(backbone, [ids[start:end]], [state])
        pieces.append(piece)
    assert torch.equal(torch.cat(pieces), expected)
    assert state.length == whole.length == 70
    assert all(map(torch.equal, tensors(state), tensors(whole)))


def test_forks_have_the_bits_they_have_alone_and_in_one_pass(backbone: Backbone) -> None:
    contexts = [random_ids(40), random_ids(19)]
    _, both = read(backbone, contexts, [State(), State()])
    _, (third,) = read(backbone, [random_ids(33)], [State()])
    rows = [random_ids(n, seed=1) for n in (5, 1, 30, 8, 17, 2)]
    # of one pass, of another, and from nothing
    starts = [both[0], both[1], both[0], third, State(), third]
    before = [tensors(state) for state in starts]
    together, after = read(backbone, rows, starts)
    texts = [contexts[0], contexts[1], contexts[0], random_ids(33), random_ids(0), random_ids(33)]
    for row, start, text, found, state in zip(rows, starts, texts, together, after, strict=True):
        ((alone,), (alone_state,)) = read(backbone, [row], [start])
        ((whole,), _) = read(backbone, [torch.cat([text, row])], [State()])
        assert torch.equal(found, alone)
        assert torch.equal(found, whole[len(text) :])
        assert all(map(torch.equal, tensors(state), tensors(alone_state)))
    for state, kept in zip(starts, before, strict=True):
        assert all(map(torch.equal, tensors(state), kept))


def test_two_threads_give_the_bits_of_one(backbone: Backbone) -> None:
    rows = [random_ids(n, seed=2) for n in (40, 3, 19)]
    expected, _ = read(backbone, rows, [State()] * 3)
    torch.set_num_threads(2)
    try:
        found, _ = read(backbone, rows, [State()] * 3)
    finally:
        torch.set_num_threads(1)
    assert all(map(torch.equal, found, expected))


def test_two_continuations_of_a_state_do_not_meet(backbone: Backbone) -> None:
    _, (state,) = read(backbone, [random_ids(20)], [State()])
    _, (state,) = read(backbone, [random_ids(3)], [state])
    rows = [random_ids(4, seed=seed) for seed in (1, 2)]
    (_, (first,)), (_, (second,)) = (read(backbone, [row], [state]) for row in rows)
    for row, after in zip(rows, (first, second), strict=True):
        _, (expected,) = read(
            backbone, [torch.cat([random_ids(20), random_ids(3), row])], [State()]
        )
        assert all(map(torch.equal, tensors(after), tensors(expected)))


def test_a_state_layer_needs_recurrence(make_backbone: Callable[..., Backbone]) -> None:
    backbone = make_backbone("qwen3.5")
    with pytest.raises(ValueError, match="recur is needed"):
        backbone.hidden(random_ids(3), torch.arange(3), RowAttention([3], [State()]), taps=LAST)


def test_every_projection_takes_an_adapter(make_backbone: Callable[..., Backbone]) -> None:
    names = {"in", "qkv", "o", "gate_up", "down"}
    for family in NAMES:
        found = {name.split(".")[2] for name in make_backbone(family).adapter_shapes()}
        assert found == (names - {"in"} if family == "llama" else names)
        assert len(make_backbone(family).adapter_shapes()) == 16


class Laid:
    """Contexts of 5 and 9 tokens, then forks of 4, 6 | 71 tokens, padded, and their flat pass."""

    lengths = (5, 9)
    forks = ((1, 4), (0, 6), (1, 71))
    widths = (9, 9, 6, 6, 71)

    def __init__(self, *, padding: int) -> None:
        self.contexts = [random_ids(n) for n in self.lengths]
        self.rows = [(context, random_ids(n, seed=1)) for context, n in self.forks]
        texts = [*self.contexts, *(ids for _, ids in self.rows)]
        starts = [0, 0, *(self.lengths[context] for context, _ in self.rows)]
        padded = [
            torch.cat([ids, torch.full((width - len(ids),), padding)])
            for ids, width in zip(texts, self.widths, strict=True)
        ]
        self.ids_N = torch.cat(padded)
        pairs = zip(starts, self.widths, strict=True)
        self.positions_N = torch.cat([start + torch.arange(width) for start, width in pairs])
        offsets = accumulate(self.widths, initial=0)
        self.real = [slice(at, at + len(ids)) for at, ids in zip(offsets, texts, strict=False)]

    def hidden(self, backbone: Backbone, **adapters: object) -> list[Tensor]:
        lengths_B = torch.tensor(self.lengths)
        buckets = [
            ForkBucket(torch.tensor([1, 0]), torch.tensor([4, 6]), 6),
            ForkBucket(torch.tensor([1]), torch.tensor([71]), 71),
        ]
        attend = TrainingAttention(lengths_B, 9, buckets, each=2, dtype=backbone.dtype)
        recur = TrainingRecurrence(lengths_B, 9, buckets)
        (hidden_NH,) = backbone.hidden(
            self.ids_N, self.positions_N, attend, recur, taps=LAST, **adapters
        )
        return [hidden_NH[real] for real in self.real]


@pytest.mark.parametrize("family", NAMES)
def test_a_training_batch_is_its_rows(make_backbone: Callable[..., Backbone], family: str) -> None:
    backbone, laid = make_backbone(family), Laid(padding=0)
    expected, states = read(backbone, laid.contexts, [State()] * 2)
    starts = [states[context] for context, _ in laid.rows]
    expected += read(backbone, [ids for _, ids in laid.rows], starts)[0]
    for found, own in zip(laid.hidden(backbone), expected, strict=True):
        assert torch.allclose(found, own, atol=1e-3)


def test_padding_is_exact(backbone: Backbone) -> None:
    with torch.no_grad():
        one, other = (Laid(padding=padding).hidden(backbone) for padding in (0, 299))
    assert all(map(torch.equal, one, other))


@pytest.mark.parametrize("family", NAMES)
def test_gradients_flow_from_forks_through_contexts_into_adapters(family: str) -> None:
    model = published(family)
    backbone = FAMILIES[family](model.config.to_dict(), model.state_dict())
    torch.manual_seed(5)
    adapters = LowRankAdapters(backbone, rank=3)
    for parameter in adapters.parameters():
        torch.nn.init.normal_(parameter, std=0.1)
    parameters, laid = list(adapters.parameters()), Laid(padding=0)
    weight_H = torch.linspace(-1, 1, 128)
    # the loss looks at a fork alone, so that a context counts only through its state
    *_, own_LH = laid.hidden(backbone, adapters=adapters.pairs(torch.float32))
    found = torch.autograd.grad((own_LH @ weight_H).sum(), parameters)
    context, ids = laid.rows[-1]
    text = torch.cat([laid.contexts[context], ids])
    merge_into(model, backbone, adapters)
    expected = torch.autograd.grad(
        (model.model(text[None]).last_hidden_state[0, -71:] @ weight_H).sum(), parameters
    )
    for one, other in zip(found, expected, strict=True):
        assert one.abs().max() > 0
        assert torch.allclose(one, other, rtol=1e-3, atol=1e-3 * float(other.abs().max()))


@pytest.mark.parametrize("family", NAMES)
def test_every_weight_gets_the_gradient_of_the_published_stack(family: str) -> None:
    model = published(family)
    backbone = FAMILIES[family](model.config.to_dict(), model.state_dict())
    weights = {name: each.clone().requires_grad_() for name, each in backbone.weights().items()}
    laid, weight_H = Laid(padding=0), torch.linspace(-1, 1, 128)
    *_, own_LH = laid.hidden(backbone.with_weights(weights))
    found = torch.autograd.grad((own_LH @ weight_H).sum(), list(weights.values()))
    context, ids = laid.rows[-1]
    text = torch.cat([laid.contexts[context], ids])
    (model.model(text[None]).last_hidden_state[0, -71:] @ weight_H).sum().backward()
    grads = {name: each.grad for name, each in model.named_parameters() if each.grad is not None}
    # a family lays out gradients as it does weights
    expected = FAMILIES[family](model.config.to_dict(), grads).weights()
    for (name, other), one in zip(expected.items(), found, strict=True):
        assert other.abs().max() > 0, name
        assert torch.allclose(one, other, rtol=1e-3, atol=1e-3 * float(other.abs().max())), name


@pytest.mark.parametrize("family", NAMES)
def test_a_stack_with_its_own_weights_is_itself(
    make_backbone: Callable[..., Backbone], family: str
) -> None:
    backbone = make_backbone(family, dtype=torch.bfloat16)
    weights = {name: each.float() for name, each in backbone.weights().items()}
    again = backbone.with_weights(weights)
    assert again.weights().keys() == backbone.weights().keys()
    for name, each in again.weights().items():
        own = backbone.weights()[name]
        assert each.dtype == own.dtype
        assert torch.equal(each, own)


def test_weights_that_are_not_the_stack_s_are_refused_by_name(
    make_backbone: Callable[..., Backbone],
) -> None:
    backbone = make_backbone("llama")
    weights = backbone.weights()
    with pytest.raises(WeightsError, match=r"layers\.0\.qkv is \[2, 2\]"):
        backbone.with_weights({**weights, "layers.0.qkv": torch.ones(2, 2)})
    with pytest.raises(WeightsError, match=r"'layers\.9\.qkv' is missing, or no weight"):
        backbone.with_weights({**weights, "layers.9.qkv": weights["norm"]})
    del weights["norm"]
    with pytest.raises(WeightsError, match="'norm' is missing"):
        backbone.with_weights(weights)


def merge_into(
    model: transformers.PreTrainedModel, backbone: Backbone, adapters: LowRankAdapters
) -> None:
    """Let transformers' own projections run with the adapters' weights, keeping their gradients."""
    parts = {
        "llama": {
            "qkv": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
            "o": ("self_attn.o_proj",),
            "gate_up": ("mlp.gate_proj", "mlp.up_proj"),
            "down": ("mlp.down_proj",),
        },
    }
    parts["qwen3.5"] = parts["llama"] | {
        "in": tuple(f"linear_attn.in_proj_{name}" for name in ("qkv", "z", "b", "a")),
        "o": ("self_attn.o_proj", "linear_attn.out_proj"),
    }
    parts["lfm2"] = parts["llama"] | {
        "in": ("conv.in_proj",),
        "o": ("self_attn.out_proj", "conv.out_proj"),
        "gate_up": ("feed_forward.w1", "feed_forward.w3"),
        "down": ("feed_forward.w2",),
    }
    for key, (down_RI, up_OR) in adapters.pairs(torch.float32).items():
        _, index, name = key.split(".")
        layer = model.model.layers[int(index)]
        modules = dict(layer.named_modules())
        start = 0
        for part in parts[backbone.config.family][name]:
            if part in modules:
                linear = modules[part]
                end = start + linear.out_features
                weight_OI = linear.weight.detach() + up_OR[start:end] @ down_RI
                del linear.weight
                linear.weight = weight_OI
                start = end
