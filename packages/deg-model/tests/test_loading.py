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
    BackboneConfig,
    Base,
    BaseFiles,
    Checkpoint,
    CheckpointError,
    DegModel,
    Fork,
    Heads,
    Llama,
    LowRankAdapters,
    WeightsError,
    load_backbone,
)
from deg_model.llama import config_from_hf

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
    with pytest.raises(WeightsError, match="family 'mamba'; known are: 'llama'"):
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
