from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import tokenizers
import torch
from safetensors.torch import save_file
from torch import Tensor

from deg_model import (
    CHATS,
    ArrayMode,
    Backbone,
    BackboneConfig,
    Base,
    BaseFiles,
    Checkpoint,
    CheckpointError,
    DegModel,
    DeviceError,
    Fork,
    Heads,
    Llama,
    LowRankAdapters,
    WeightsError,
    load_backbone,
    load_checkpoint,
    published_base,
    resolve_base,
    save_checkpoint,
)
from deg_model.llama import config_from_hf
from deg_model.loading import checked_device

BASE = Base("tiny", "llama", "a" * 64)
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


@pytest.fixture
def files(
    make_weights: Callable[[BackboneConfig], dict[str, Tensor]],
    inner_tokenizer: tokenizers.Tokenizer,
    tmp_path: Path,
) -> BaseFiles:
    weights = make_weights(config_from_hf(CONFIG))
    save_file({name: t.bfloat16() for name, t in weights.items()}, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    inner_tokenizer.save(str(tmp_path / "tokenizer.json"))
    return BaseFiles(tmp_path, BASE.name, BASE.family, BASE.sha256)


@pytest.fixture
def checkpoint(make_llama: Callable[..., Llama]) -> Checkpoint:
    torch.manual_seed(2)
    adapters = LowRankAdapters(make_llama(), rank=4)
    for parameter in adapters.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    return Checkpoint(
        "tiny-1", BASE, (1, 2, 3), 4, dict(Heads(64, 192).state_dict()), adapters.named_tensors()
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_backbone_has_the_weights_of_its_files(files: BaseFiles, dtype: torch.dtype) -> None:
    backbone = load_backbone(files, dtype)
    assert backbone.dtype == dtype
    assert backbone.config == config_from_hf(CONFIG)
    assert backbone.adapter_shapes()["layers.2.qkv"] == (128, 64)


def test_an_unknown_family_is_refused(files: BaseFiles) -> None:
    with pytest.raises(WeightsError, match="family 'mamba'; known are: 'llama', 'qwen3.5', 'lfm2'"):
        load_backbone(replace(files, family="mamba"))


def test_a_missing_tensor_is_named(files: BaseFiles) -> None:
    save_file({"model.norm.weight": torch.ones(64)}, files.folder / "model.safetensors")
    with pytest.raises(WeightsError, match="lacks 'model.embed_tokens.weight'"):
        load_backbone(files)


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_a_truncated_file_is_named(files: BaseFiles, name: str) -> None:
    content = (files.folder / name).read_bytes()
    (files.folder / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(WeightsError, match=f"{name} is damaged"):
        load_backbone(files)


def test_a_loaded_model_answers_with_its_adapters(files: BaseFiles, checkpoint: Checkpoint) -> None:
    fork = Fork((4, 5, 6), (0, 1), "choice")
    zeros = {name: torch.zeros_like(t) for name, t in checkpoint.adapters.items()}
    answers = []
    for adapters in (checkpoint.adapters, zeros):
        model = DegModel.load(replace(checkpoint, adapters=adapters), files)
        answers += model.answer([fork], [model.read("the fox")])
    assert (model.model_id, model.taps) == ("tiny-1", (1, 2, 3))
    assert not torch.equal(*answers)


@pytest.mark.parametrize("arrays", [None, ArrayMode("anchor", 100)])
def test_a_loaded_model_says_how_it_finds_items(
    files: BaseFiles, checkpoint: Checkpoint, arrays: ArrayMode | None
) -> None:
    assert DegModel.load(replace(checkpoint, arrays=arrays), files).arrays == arrays


def without(heads: dict[str, Tensor], *prefixes: str) -> dict[str, Tensor]:
    return {name: t for name, t in heads.items() if not name.startswith(prefixes)}


def test_a_checkpoint_from_before_arrays_answers_as_it_did(
    files: BaseFiles, checkpoint: Checkpoint
) -> None:
    old = replace(
        checkpoint, heads=without(checkpoint.heads, "count.", "anchor.", "extract.anchor_bias")
    )
    fork, answers = Fork((4, 5, 6), (), "extract"), []
    for one in (checkpoint, old):
        model = DegModel.load(one, files)
        answers += model.answer([fork], [model.read("the fox")])
    assert torch.equal(answers[0].log_start, answers[1].log_start)
    assert torch.equal(answers[0].log_end([0, 1]), answers[1].log_end([0, 1]))


@pytest.mark.parametrize(
    ("prefixes", "arrays"),
    [(("count.",), None), (("count.", "anchor.", "extract.anchor_bias"), ArrayMode("anchor"))],
    ids=["some are there", "it says it was trained on arrays"],
)
def test_heads_of_arrays_may_be_missing_only_where_there_were_none(
    files: BaseFiles, checkpoint: Checkpoint, prefixes: tuple[str, ...], arrays: ArrayMode | None
) -> None:
    heads = without(checkpoint.heads, *prefixes)
    with pytest.raises(CheckpointError, match=r"(?s)'tiny-1': .*Missing.*count\.counts"):
        DegModel.load(replace(checkpoint, heads=heads, arrays=arrays), files)


def test_a_tensor_of_no_head_is_named(files: BaseFiles, checkpoint: Checkpoint) -> None:
    heads = checkpoint.heads | {"rank.weight": torch.ones(2)}
    with pytest.raises(CheckpointError, match="no head has 'rank.weight'"):
        DegModel.load(replace(checkpoint, heads=heads), files)


def test_a_checkpoint_of_another_family_is_refused(
    files: BaseFiles, checkpoint: Checkpoint
) -> None:
    other = replace(checkpoint, base=Base("own", "qwen3.5", BASE.sha256))
    with pytest.raises(CheckpointError, match="of family 'qwen3.5', 'tiny' of family 'llama'"):
        DegModel.load(other, files)


def test_a_tensor_of_another_shape_is_named(files: BaseFiles) -> None:
    (files.folder / "config.json").write_text(json.dumps(CONFIG | {"vocab_size": 301}))
    with pytest.raises(WeightsError, match=r"embed_tokens.weight is \[300, 64\], expected \[301"):
        load_backbone(files)


@pytest.fixture(params=["qwen3.5", "lfm2"])
def hybrid(
    request: pytest.FixtureRequest,
    make_backbone: Callable[..., Backbone],
    make_weights: Callable[[BackboneConfig], dict[str, Tensor]],
    inner_tokenizer: tokenizers.Tokenizer,
    tmp_path: Path,
) -> Path:
    """Return a folder as published for transformers; Qwen3.5 with its vision tower beside."""
    config = make_backbone(request.param).config
    weights = make_weights(config)
    facts: dict[str, object] = {
        "vocab_size": config.vocab_size,
        "hidden_size": config.hidden_size,
        "intermediate_size": config.intermediate_size,
        "num_hidden_layers": config.num_layers,
        "num_attention_heads": config.num_heads,
        "num_key_value_heads": config.num_kv_heads,
        "head_dim": config.head_size,
        "max_position_embeddings": config.max_positions,
    }
    if request.param == "lfm2":
        types = ["conv", "conv", "full_attention", "conv"]
        facts |= {"model_type": "lfm2", "norm_eps": 1e-5, "conv_L_cache": 3, "layer_types": types}
        facts |= {"block_auto_adjust_ff_dim": False, "rope_theta": config.rope_theta}
    else:
        facts |= {"rms_norm_eps": 1e-5, "rope_parameters": {"rope_theta": 1e4}}
        facts |= {"linear_num_key_heads": 2, "linear_num_value_heads": 4}
        facts |= {"linear_key_head_dim": 32, "linear_value_head_dim": 32}
        facts |= {"linear_conv_kernel_dim": 4}
        facts = {"model_type": "qwen3_5", "text_config": facts}
        texts = {
            name.replace("model.", "model.language_model.", 1): t for name, t in weights.items()
        }
        weights = texts | {
            "model.visual.patch.weight": torch.ones(2),
            "mtp.fc.weight": torch.ones(2),
        }
    save_file({name: t.bfloat16() for name, t in weights.items()}, tmp_path / "part.safetensors")
    (tmp_path / "config.json").write_text(json.dumps(facts))
    inner_tokenizer.save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def test_a_published_folder_is_read(hybrid: Path, make_backbone: Callable[..., Backbone]) -> None:
    files = published_base(hybrid, name="own")
    expected = make_backbone(files.family, dtype=torch.bfloat16)
    loaded = load_backbone(files)
    assert loaded.config == expected.config
    for one, other in zip(loaded.layers, expected.layers, strict=True):
        assert one.keys() == other.keys()
        assert all(torch.equal(one[name], other[name]) for name in one)


def test_a_checkpoint_on_a_published_folder_answers(hybrid: Path, tmp_path: Path) -> None:
    files = published_base(hybrid, name="own")
    backbone, base = load_backbone(files), Base("own", files.family, files.sha256)
    adapters = LowRankAdapters(backbone, rank=2)
    heads = dict(Heads(64, 192).state_dict())
    save_checkpoint(
        Checkpoint("tiny-2", base, (1, 2, 4), 2, heads, adapters.named_tensors()),
        tmp_path / "saved",
    )
    checkpoint = load_checkpoint(tmp_path / "saved")
    model = DegModel.load(checkpoint, resolve_base(checkpoint.base, folder=hybrid))
    assert model.tokenizer.chat == CHATS[files.family]
    (answer,) = model.answer([Fork((4, 5, 6), (0, 1), "choice")], [model.read("the fox")])
    assert float(answer.sum()) == pytest.approx(1, abs=1e-5)


def test_a_published_folder_of_another_base_is_refused(hybrid: Path) -> None:
    files = published_base(hybrid)
    with pytest.raises(WeightsError, match="of family .* not 'own' of family 'llama'"):
        resolve_base(Base("own", "llama", files.sha256), folder=hybrid)


def test_a_published_folder_of_no_family_or_of_shards_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "gemma4"}')
    with pytest.raises(WeightsError, match="type 'gemma4'; known are: 'llama', 'qwen3_5'"):
        published_base(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "lfm2"}')
    with pytest.raises(WeightsError, match="0 safetensors files, expected one"):
        published_base(tmp_path)


def test_a_checkpoint_of_another_base_is_refused(files: BaseFiles, checkpoint: Checkpoint) -> None:
    with pytest.raises(CheckpointError, match=r"trained on 'tiny' \(sha256 aaa.* not on 'tiny'"):
        DegModel.load(checkpoint, replace(files, sha256="b" * 64))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"rank": 5}, "size mismatch"),
        ({"taps": (1, 3)}, "size mismatch"),
        ({"heads": {}}, "Missing"),
    ],
)
def test_tensors_that_do_not_fit_are_refused(
    files: BaseFiles, checkpoint: Checkpoint, changes: dict[str, object], problem: str
) -> None:
    with pytest.raises(CheckpointError, match=f"'tiny-1': .*(?s:.*){problem}"):
        DegModel.load(replace(checkpoint, **changes), files)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gpu", "'gpu' is no device"),
        ("meta", "does not run on 'meta'"),
        ("cuda:99", "'cuda:99' is not here, of "),
    ],
)
def test_a_device_that_is_not_here_is_refused(name: str, message: str) -> None:
    with pytest.raises(DeviceError, match=message):
        checked_device(name)
