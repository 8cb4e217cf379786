"""Generators: pairs by published names, merged into a base that writes and changes nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import tokenizers
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from deg_model import (
    FAMILIES,
    AdapterPlan,
    Backbone,
    BackboneConfig,
    Base,
    BaseFiles,
    Checkpoint,
    CheckpointError,
    DegModel,
    Fork,
    Generator,
    Heads,
    LowRankAdapters,
    generator_folder,
    lfm2,
    llama,
    load_backbone,
    load_generator,
    qwen35,
    save_generator,
)

BASE = Base("tiny", "llama", "a" * 64)
CONFIG = {
    "vocab_size": 300,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
}
TEXT = "the quick brown fox jumps"
FAMILY_MODULES = {"llama": llama, "qwen3.5": qwen35, "lfm2": lfm2}


@pytest.fixture(scope="module")
def files(
    make_weights: Callable[[BackboneConfig], dict[str, Tensor]],
    inner_tokenizer: tokenizers.Tokenizer,
    tmp_path_factory: pytest.TempPathFactory,
) -> BaseFiles:
    folder = tmp_path_factory.mktemp("base")
    weights = make_weights(llama.config_from_hf(CONFIG))
    save_file({name: t.bfloat16() for name, t in weights.items()}, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(CONFIG))
    inner_tokenizer.save(str(folder / "tokenizer.json"))
    return BaseFiles(folder, BASE.name, BASE.family, BASE.sha256)


@pytest.fixture(scope="module")
def checkpoint(files: BaseFiles) -> Checkpoint:
    torch.manual_seed(2)
    adapters = filled_adapters(load_backbone(files), rank=4)
    heads = dict(Heads(64, 128).state_dict())
    return Checkpoint("tiny", BASE, (1, 2), 4, heads, adapters.named_tensors(), plan=AdapterPlan())


def filled_adapters(backbone: Backbone, rank: int = 3) -> LowRankAdapters:
    adapters = LowRankAdapters(backbone, rank)
    for parameter in adapters.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    return adapters


@pytest.fixture
def generator(files: BaseFiles) -> Generator:
    torch.manual_seed(5)
    backbone = load_backbone(files)
    return Generator.of(filled_adapters(backbone), backbone, BASE, {"steps": 7})


@pytest.mark.parametrize("family", FAMILIES)
def test_merged_it_is_the_stack_that_was_trained(
    make_backbone: Callable[..., Backbone], family: str
) -> None:
    torch.manual_seed(0)
    backbone = make_backbone(family)
    adapters = filled_adapters(backbone)
    merged = Generator.of(adapters, backbone, BASE, {}).merged(backbone).weights()
    wanted = backbone.merged(adapters.pairs(torch.float32)).weights()
    assert merged.keys() == wanted.keys()
    for name, tensor in wanted.items():
        torch.testing.assert_close(merged[name], tensor)


@pytest.mark.parametrize("family", FAMILIES)
def test_pairs_are_named_and_sized_as_published(
    make_backbone: Callable[..., Backbone], family: str
) -> None:
    backbone = make_backbone(family)
    shapes = FAMILY_MODULES[family].weight_shapes(backbone.config)
    tensors = Generator.of(LowRankAdapters(backbone, 3), backbone, BASE, {}).tensors
    for name, tensor in tensors.items():
        matrix, _, half = name.rpartition(".")
        num_out, num_in = shapes[f"{matrix}.weight"]
        assert tuple(tensor.shape) == ((3, num_in) if half == "lora_A" else (num_out, 3))
    # every matrix that multiplies, and no other
    matrices = {name for name, shape in shapes.items() if len(shape) == 2} - {
        "model.embed_tokens.weight"
    }
    assert {f"{name.rpartition('.')[0]}.weight" for name in tensors} == matrices


def test_one_that_learned_nothing_is_the_base_to_the_bit(files: BaseFiles) -> None:
    backbone = load_backbone(files)
    fresh = Generator.of(LowRankAdapters(backbone, 3), backbone, BASE, {})
    merged = fresh.merged(backbone).weights()
    assert all(torch.equal(merged[name], own) for name, own in backbone.weights().items())


def test_a_saved_one_comes_back(generator: Generator, tmp_path: Path) -> None:
    save_generator(generator, tmp_path / "g")
    again = load_generator(tmp_path / "g")
    assert (again.base, again.rank, again.alpha) == (BASE, 3, 3.0)
    assert again.training == {"steps": 7}
    assert again.tensors.keys() == generator.tensors.keys()
    for name, tensor in generator.tensors.items():
        assert torch.equal(again.tensors[name], tensor.bfloat16().float())
    # the names that its readers elsewhere look for
    facts = json.loads((tmp_path / "g" / "generator.json").read_text())
    assert facts["format"] == "deg-generator-lora-v1"
    stored = load_file(tmp_path / "g" / "lora.safetensors")
    assert "model.layers.0.self_attn.q_proj.lora_A" in stored


def test_alpha_scales_what_is_added(files: BaseFiles, generator: Generator) -> None:
    backbone = load_backbone(files, torch.float32)
    once, twice = (
        replace(generator, alpha=alpha).merged(backbone).weights() for alpha in (3.0, 6.0)
    )
    for name, own in backbone.weights().items():
        torch.testing.assert_close(twice[name] - own, 2 * (once[name] - own))


def test_it_writes_and_changes_nothing_else(
    files: BaseFiles, checkpoint: Checkpoint, generator: Generator, tmp_path: Path
) -> None:
    save_generator(generator, tmp_path / "g")
    plain, beside, written = (
        DegModel.load(checkpoint, files, generate=generate)
        for generate in ("self", "base", f"base+lora:{tmp_path / 'g'}")
    )
    forks = [Fork((7, 8, 9), (0, 2), "choice"), Fork((4, 5), (), "count")]
    answers = [m.answer(forks, [m.read(TEXT)] * 2) for m in (plain, written)]
    assert all(map(torch.equal, *answers))
    assert not written.writes_on
    ids = plain.encode(TEXT).ids
    base, own = (m.writer.extend([ids], [m.writer.read(())])[0] for m in (beside, written))
    assert not torch.equal(base, own)
    # two rows are as each alone, as with any other weights
    states = [written.writer.read(())] * 2
    both = written.writer.extend([ids, ids[:3]], states)[0]
    assert torch.equal(both[:1], own)


def test_a_generator_of_another_base_is_refused(
    files: BaseFiles, checkpoint: Checkpoint, generator: Generator, tmp_path: Path
) -> None:
    other = replace(generator, base=replace(BASE, name="other", sha256="b" * 64))
    save_generator(other, tmp_path / "g")
    with pytest.raises(CheckpointError, match=r"was trained on 'other' .*, not on 'tiny'"):
        DegModel.load(checkpoint, files, generate=f"base+lora:{tmp_path / 'g'}")


@pytest.mark.parametrize("generate", ["lora:x", "base+lora:", "both", ""])
def test_who_else_would_write_is_refused_with_the_way_out(generate: str) -> None:
    with pytest.raises(CheckpointError, match=r"say self, base or base\+lora:DIR"):
        generator_folder(generate)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda t: {**t, "model.layers.9.x.lora_A": torch.ones(3, 3)}, r"of no matrix of its base"),
        (
            lambda t: {n: v for n, v in t.items() if n != "model.layers.0.mlp.up_proj.lora_B"},
            r"mlp\.up_proj' has the sizes \[\(3, 64\), None\], expected \[\(3, 64\), \(128, 3\)\]",
        ),
        (
            lambda t: {**t, "model.layers.1.mlp.down_proj.lora_A": torch.ones(3, 7)},
            r"mlp\.down_proj' has the sizes \[\(3, 7\), \(64, 3\)\]",
        ),
    ],
)
def test_pairs_that_do_not_fit_are_named(
    files: BaseFiles,
    generator: Generator,
    change: Callable[[dict[str, Tensor]], dict[str, Tensor]],
    told: str,
) -> None:
    odd = replace(generator, tensors=change(generator.tensors))
    with pytest.raises(CheckpointError, match=told):
        odd.merged(load_backbone(files))


def test_a_matrix_without_a_pair_stays(files: BaseFiles, generator: Generator) -> None:
    backbone = load_backbone(files)
    kept = {n: t for n, t in generator.tensors.items() if ".self_attn.k_proj." in n}
    merged = replace(generator, tensors=kept).merged(backbone)
    for name, own in backbone.weights().items():
        assert torch.equal(merged.weights()[name], own) == (not name.endswith(".qkv"))


@pytest.mark.parametrize("name", ["generator.json", "lora.safetensors"])
def test_a_damaged_or_missing_file_is_named(
    generator: Generator, tmp_path: Path, name: str
) -> None:
    save_generator(generator, tmp_path / "g")
    (tmp_path / "g" / name).write_bytes(b"{}")
    with pytest.raises(CheckpointError, match=name.replace(".", r"\.")):
        load_generator(tmp_path / "g")
    (tmp_path / "g" / name).unlink()
    with pytest.raises(CheckpointError, match=name.replace(".", r"\.")):
        load_generator(tmp_path / "g")


@pytest.mark.parametrize(
    ("change", "told"),
    [({"rank": None}, "not laid out"), ({"base": {}}, "lacks 'name'"), ({"files": 3}, "laid out")],
)
def test_facts_that_are_odd_are_told(
    generator: Generator, tmp_path: Path, change: dict[str, object], told: str
) -> None:
    save_generator(generator, tmp_path / "g")
    path = tmp_path / "g" / "generator.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(CheckpointError, match=told):
        load_generator(tmp_path / "g")
