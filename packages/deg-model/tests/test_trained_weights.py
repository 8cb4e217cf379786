"""Checkpoints with adapters by kind, with contexts that the base reads, with a whole backbone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import tokenizers
import torch
from safetensors.torch import save_file
from torch import Tensor

from deg_model import (
    BASE_READS,
    CHATS,
    FAMILIES,
    FORK_HEADS,
    AdapterPlan,
    Backbone,
    BackboneConfig,
    Base,
    BaseFiles,
    Checkpoint,
    CheckpointError,
    ContextState,
    DegModel,
    Fork,
    Heads,
    LowRankAdapters,
    RowAttention,
    Tokenizer,
    load_backbone,
    load_checkpoint,
    save_checkpoint,
    text_trunk,
)
from deg_model.llama import config_from_hf
from deg_model.scores import count_logits, probabilities

BASE = Base("tiny", "llama", "a" * 64)
BY_KIND = ("decide", "extract")
CONFIG = {
    "vocab_size": 300,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
}
TEXT = "the quick brown fox jumps, naïve — 東京"
FORKS = [
    Fork((7, 8, 9), (0, 2), "choice"),
    Fork((11, 12), (), "count"),
    Fork((4, 5, 6, 7), (), "noul"),
    Fork((13, 14, 15), (), "anchor"),
    Fork((1, 2, 3, 4, 5), (1, 3), "score"),
]


@pytest.fixture(scope="module")
def files(
    make_weights: Callable[[BackboneConfig], dict[str, Tensor]],
    inner_tokenizer: tokenizers.Tokenizer,
    tmp_path_factory: pytest.TempPathFactory,
) -> BaseFiles:
    folder = tmp_path_factory.mktemp("base")
    weights = make_weights(config_from_hf(CONFIG))
    save_file({name: t.bfloat16() for name, t in weights.items()}, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(CONFIG))
    inner_tokenizer.save(str(folder / "tokenizer.json"))
    return BaseFiles(folder, BASE.name, BASE.family, BASE.sha256)


@pytest.fixture(scope="module")
def make_checkpoint(files: BaseFiles) -> Callable[[AdapterPlan], Checkpoint]:
    def make(plan: AdapterPlan) -> Checkpoint:
        torch.manual_seed(2)
        heads = dict(Heads(64, 192).state_dict())
        adapters = LowRankAdapters(load_backbone(files), 4, plan.names)
        for parameter in adapters.parameters():
            torch.nn.init.normal_(parameter, std=0.2)
        return Checkpoint("tiny", BASE, (1, 2, 3), 4, heads, adapters.named_tensors(), plan=plan)

    return make


@pytest.fixture(scope="module")
def trained(files: BaseFiles) -> Checkpoint:
    torch.manual_seed(3)
    heads = dict(Heads(64, 192).state_dict())
    weights = {
        name: (each.float() + 0.05 * torch.randn_like(each.float())).bfloat16()
        for name, each in load_backbone(files).weights().items()
    }
    plan = AdapterPlan((), BASE_READS)
    return Checkpoint("full", BASE, (1, 2, 3), 0, heads, {}, plan=plan, backbone=weights)


def unmerged(
    checkpoint: Checkpoint, files: BaseFiles, fork: Fork, context: ContextState, heads: Heads
) -> Tensor:
    """Answer *fork* with low-rank terms beside the weights."""
    backbone, name = load_backbone(files, torch.float32), checkpoint.plan.adapter_of(fork.head)
    adapters = LowRankAdapters(backbone, checkpoint.rank, checkpoint.plan.names)
    adapters.load(checkpoint.adapters)
    num, start = len(fork.ids), context.state.length
    (hidden_NH,) = backbone.hidden(
        torch.tensor(fork.ids),
        torch.arange(start, start + num),
        RowAttention([num], [context.state]),
        taps=(3,),
        adapters=adapters.pairs(torch.float32, name),
    )
    if fork.head == "count":
        return count_logits(heads, hidden_NH[-1])
    return probabilities(heads, fork.head, hidden_NH[-1], hidden_NH[list(fork.options)])


@torch.no_grad()
def test_each_kind_of_fork_is_read_by_its_adapter_over_a_context_of_the_base(
    files: BaseFiles, make_checkpoint: Callable[[AdapterPlan], Checkpoint]
) -> None:
    checkpoint = make_checkpoint(AdapterPlan(BY_KIND, BASE_READS))
    model = DegModel.load(checkpoint, files, torch.float32)
    plain = DegModel.load(make_checkpoint(AdapterPlan()), files, torch.float32)
    (context,) = model.read_many([TEXT])
    keys = context.state.layers[2].keys_PGD
    assert torch.equal(keys, plain.writer.read(context.encoded.ids).layers[2].keys_PGD)
    forks = [fork for fork in FORKS if fork.head != "anchor"]
    for fork, found in zip(forks, model.answer(forks, [context] * len(forks)), strict=True):
        expected = unmerged(checkpoint, files, fork, context, model.heads)
        assert torch.allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize(
    "plan",
    [AdapterPlan(BY_KIND, BASE_READS), AdapterPlan(BY_KIND, "extract")],
    ids=["base", "extract"],
)
def test_forks_of_each_kind_have_the_same_bits_alone_and_in_company(
    files: BaseFiles, make_checkpoint: Callable[[AdapterPlan], Checkpoint], plan: AdapterPlan
) -> None:
    model = DegModel.load(make_checkpoint(plan), files)
    one, other = model.read(TEXT), model.read("a lazy dog")
    forks, contexts = FORKS * 2, [one, other] * len(FORKS)
    together = model.answer(forks, contexts)
    for fork, context, found in zip(forks, contexts, together, strict=True):
        (alone,) = model.answer([fork], [context])
        assert torch.equal(alone, found)


def test_a_context_is_read_by_the_adapter_that_the_plan_names(
    files: BaseFiles, make_checkpoint: Callable[[AdapterPlan], Checkpoint]
) -> None:
    keys = []
    for context in (BASE_READS, *BY_KIND):
        model = DegModel.load(make_checkpoint(AdapterPlan(BY_KIND, context)), files)
        keys.append(model.read(TEXT).state.layers[2].keys_PGD)
        assert model.writes_on == (context == BASE_READS)
    assert not torch.equal(keys[0], keys[1])
    assert not torch.equal(keys[1], keys[2])


def by_kind(backbone: Backbone, tokenizer: tokenizers.Tokenizer, heads: Heads) -> DegModel:
    """Return a model whose contexts *backbone* reads, and each kind of fork an adapter."""
    torch.manual_seed(4)
    adapters = LowRankAdapters(backbone, 3, BY_KIND)
    for parameter in adapters.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    with torch.no_grad():
        stacks = {name: backbone.merged(adapters.pairs(torch.float32, name)) for name in BY_KIND}
    plan = AdapterPlan(BY_KIND, BASE_READS)
    return DegModel(
        backbone,
        heads,
        Tokenizer(tokenizer, CHATS[backbone.config.family]),
        taps=(1, 2, 4),
        model_id="tiny",
        fork_stacks={head: stacks[plan.adapter_of(head) or ""] for head in FORK_HEADS},
    )


@pytest.fixture(scope="module", params=FAMILIES)
def hybrid(
    request: pytest.FixtureRequest,
    make_backbone: Callable[..., Backbone],
    inner_tokenizer: tokenizers.Tokenizer,
) -> DegModel:
    torch.manual_seed(5)
    return by_kind(
        make_backbone(request.param, dtype=torch.bfloat16), inner_tokenizer, Heads(64, 192)
    )


def test_forks_of_any_family_have_the_same_bits_alone_and_in_company(hybrid: DegModel) -> None:
    one, other = hybrid.read_many([TEXT, "a lazy dog"])
    forks, contexts = FORKS * 2, [one, other] * len(FORKS)
    together = hybrid.answer(forks, contexts)
    assert hybrid.stack_of("choice") is not hybrid.stack_of("count")
    for fork, context, found in zip(forks, contexts, together, strict=True):
        (alone,) = hybrid.answer([fork], [context])
        assert torch.equal(alone, found)


def test_a_text_goes_on_from_the_context_with_the_bits_of_a_read_of_its_own(
    hybrid: DegModel,
) -> None:
    trunk = text_trunk(TEXT, [("/kind", "fox")], hybrid.tokenizer)
    # a context that was read in company, and one that an earlier text went on from
    state = hybrid.read_many(["a dog", TEXT])[1].state
    hybrid.writer.read((5, 6, 7), state)
    states = [hybrid.writer.read(trunk[state.length :], state), hybrid.writer.read(trunk)]
    one, other = (hybrid.writer.extend([(3, 4)], [each])[0] for each in states)
    assert hybrid.writes_on
    assert torch.equal(one, other)


def loaded(checkpoint: Checkpoint, folder: Path) -> Checkpoint:
    save_checkpoint(checkpoint, folder)
    return load_checkpoint(folder)


def answers(model: DegModel) -> Iterator[Tensor]:
    yield from model.answer(FORKS, [model.read(TEXT)] * len(FORKS))


@pytest.mark.parametrize("names", [("shared",), BY_KIND])
def test_a_checkpoint_answers_the_same_after_it_was_saved(
    files: BaseFiles,
    make_checkpoint: Callable[[AdapterPlan], Checkpoint],
    names: tuple[str, ...],
    tmp_path: Path,
) -> None:
    first = loaded(make_checkpoint(AdapterPlan(names, BASE_READS)), tmp_path / "one")
    again = loaded(first, tmp_path / "two")
    models = [DegModel.load(each, files) for each in (first, again)]
    assert all(map(torch.equal, *map(answers, models)))


def test_a_trained_backbone_reads_contexts_and_forks_and_writes(
    files: BaseFiles, trained: Checkpoint, tmp_path: Path
) -> None:
    model = DegModel.load(loaded(trained, tmp_path / "full"), files)
    expected = load_backbone(files).with_weights(trained.backbone or {})
    ids = torch.tensor(model.encode(TEXT).ids)
    state = model.read(TEXT).state
    attend = RowAttention([len(ids)], [type(state)()], keep=True)
    with torch.no_grad():
        expected.hidden(ids, torch.arange(len(ids)), attend, taps=(3,))
    (other,) = attend.states()
    found, own = (each.layers[2].keys_PGD.float() for each in (state, other))
    assert torch.allclose(found, own, atol=0.05, rtol=0.05)
    assert model.writes_on
    assert model.writer.backbone is model.stack_of("choice") is model.backbone


def test_a_frozen_base_may_write_beside_a_trained_backbone(
    files: BaseFiles, make_checkpoint: Callable[[AdapterPlan], Checkpoint], trained: Checkpoint
) -> None:
    model = DegModel.load(trained, files, generate="base")
    base = DegModel.load(make_checkpoint(AdapterPlan()), files).writer
    assert not model.writes_on
    ids = model.encode(TEXT).ids
    logits = [w.extend([ids], [w.read(())])[0] for w in (model.writer, base)]
    assert torch.equal(*logits)
    own = DegModel.load(trained, files).writer
    assert not torch.equal(own.extend([ids], [own.read(())])[0], logits[0])


def test_a_backbone_of_another_shape_is_refused(files: BaseFiles, trained: Checkpoint) -> None:
    odd = {**(trained.backbone or {}), "layers.0.o": torch.ones(3, 3)}
    with pytest.raises(CheckpointError, match=r"checkpoint 'full': layers\.0\.o is \[3, 3\]"):
        DegModel.load(replace(trained, backbone=odd), files)
