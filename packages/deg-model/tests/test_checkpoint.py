from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from deg_model import (
    BASE_READS,
    BASES,
    DEFAULT_BASE,
    AdapterPlan,
    ArrayMode,
    Base,
    Checkpoint,
    CheckpointError,
    load_checkpoint,
    save_checkpoint,
)

FILES = ("adapters.safetensors", "deg.json", "heads.safetensors")


def make_checkpoint(
    base: Base = BASES[DEFAULT_BASE], arrays: ArrayMode | None = None
) -> Checkpoint:
    return Checkpoint(
        model_id="tiny",
        base=base,
        taps=(1, 2, 3),
        rank=4,
        heads={"noul.yes.weight": torch.randn(1, 8), "temperatures": torch.rand(4)},
        adapters={"layers.0.o.lora_A": torch.randn(4, 8)},
        arrays=arrays,
    )


def make_trained(weights: dict[str, torch.Tensor]) -> Checkpoint:
    plan = AdapterPlan((), BASE_READS)
    return replace(make_checkpoint(), rank=0, adapters={}, plan=plan, backbone=weights)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_checkpoint(make_checkpoint(), tmp_path / "tiny")
    return tmp_path / "tiny"


def edit(folder: Path, **changes: object) -> None:
    facts = json.loads((folder / "deg.json").read_text())
    (folder / "deg.json").write_text(json.dumps(facts | changes))


def test_load_reads_back_what_save_writes(tmp_path: Path) -> None:
    checkpoint = make_checkpoint(Base("own", "llama", "a" * 64))
    save_checkpoint(checkpoint, tmp_path / "deep" / "tiny")
    loaded = load_checkpoint(tmp_path / "deep" / "tiny")
    assert (loaded.model_id, loaded.base, loaded.taps, loaded.rank) == (
        checkpoint.model_id,
        checkpoint.base,
        checkpoint.taps,
        checkpoint.rank,
    )
    assert torch.equal(loaded.heads["temperatures"], checkpoint.heads["temperatures"])
    for name, tensor in checkpoint.adapters.items():
        assert torch.equal(loaded.adapters[name], tensor.bfloat16().float())


@pytest.mark.parametrize("arrays", [None, ArrayMode("anchor"), ArrayMode("index", 3000)])
def test_how_arrays_are_found_is_read_back(tmp_path: Path, arrays: ArrayMode | None) -> None:
    save_checkpoint(make_checkpoint(arrays=arrays), tmp_path / "tiny")
    assert load_checkpoint(tmp_path / "tiny").arrays == arrays


def test_a_checkpoint_from_before_arrays_is_trained_on_none(folder: Path) -> None:
    facts = json.loads((folder / "deg.json").read_text())
    del facts["arrays"]
    (folder / "deg.json").write_text(json.dumps(facts))
    assert load_checkpoint(folder).arrays is None


@pytest.mark.parametrize(
    "plan",
    [
        AdapterPlan(),
        AdapterPlan(("shared",), BASE_READS),
        AdapterPlan(("decide", "extract"), BASE_READS),
        AdapterPlan(("decide", "extract"), "extract"),
    ],
)
def test_which_adapters_there_are_is_read_back(tmp_path: Path, plan: AdapterPlan) -> None:
    save_checkpoint(replace(make_checkpoint(), plan=plan), tmp_path / "tiny")
    loaded = load_checkpoint(tmp_path / "tiny")
    assert loaded.plan == plan
    assert loaded.backbone is None
    facts = json.loads((tmp_path / "tiny" / "deg.json").read_text())["lora"]
    assert (facts["rank"], facts["adapters"], facts["context"]) == (
        4,
        list(plan.names),
        plan.context,
    )


def test_a_trained_backbone_is_read_back_in_place_of_adapters(folder: Path) -> None:
    weights = {"norm": torch.randn(8), "layers.0.o": torch.randn(8, 8)}
    trained = make_trained(weights)
    # over a checkpoint with adapters: none of them stay behind
    save_checkpoint(trained, folder)
    loaded = load_checkpoint(folder)
    assert (loaded.plan, loaded.rank, loaded.adapters) == (trained.plan, 0, {})
    assert loaded.backbone is not None
    for name, tensor in weights.items():
        assert torch.equal(loaded.backbone[name], tensor.bfloat16())
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["backbone.safetensors", "deg.json", "heads.safetensors"]


def test_a_damaged_backbone_is_named(folder: Path) -> None:
    save_checkpoint(make_trained({"norm": torch.randn(8)}), folder)
    path = folder / "backbone.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(CheckpointError, match=r"backbone\.safetensors is damaged"):
        load_checkpoint(folder)


def test_a_checkpoint_from_before_there_was_a_choice_has_one_adapter(folder: Path) -> None:
    edit(folder, lora={"rank": 4, "alpha": 4, "context": "adapter"})
    loaded = load_checkpoint(folder)
    assert (loaded.plan, loaded.rank) == (AdapterPlan(), 4)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"adapters": ["decide"]}, "'lora': no adapters 'decide'"),
        ({"context": "decide"}, "'lora': no adapter 'decide' to read contexts"),
        ({"context": "adapter"}, "'lora': no adapter 'adapter'"),
    ],
)
def test_adapters_of_no_plan_are_refused(
    folder: Path, changes: dict[str, object], told: str
) -> None:
    facts = {"rank": 4, "alpha": 4, "adapters": ["shared"], "context": "base"}
    edit(folder, lora=facts | changes)
    with pytest.raises(CheckpointError, match=told):
        load_checkpoint(folder)


def test_tensors_take_two_bytes_a_number(folder: Path) -> None:
    assert (folder / "adapters.safetensors").stat().st_size < 4 * 8 * 2 + 150


def test_saving_again_keeps_what_stands_beside(folder: Path) -> None:
    (folder / "README.md").write_text("# Model card")
    (folder / "plots").mkdir()
    (folder / "plots" / "loss.svg").write_text("<svg/>")
    save_checkpoint(make_checkpoint(), folder)
    load_checkpoint(folder)
    assert (folder / "README.md").read_text() == "# Model card"
    assert (folder / "plots" / "loss.svg").is_file()
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


@pytest.mark.parametrize("failing", ["write_bytes", "replace"])
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_a_save_that_fails_leaves_the_old_checkpoint(
    folder: Path, monkeypatch: pytest.MonkeyPatch, failing: str, error: BaseException
) -> None:
    before = {name: (folder / name).read_bytes() for name in FILES}
    original = getattr(Path, failing)

    def fail(path: Path, *args: object, **kwargs: object) -> object:
        if "-new-" in str(path):
            raise error
        return original(path, *args, **kwargs)

    monkeypatch.setattr(Path, failing, fail)
    with pytest.raises(type(error)):
        save_checkpoint(make_checkpoint(), folder)
    assert {name: (folder / name).read_bytes() for name in FILES} == before
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_what_a_killed_save_left_is_put_right(folder: Path) -> None:
    (folder / "README.md").write_text("a card")
    # killed between the two moves of its end: the old one is aside, the new one not yet in place
    folder.rename(folder.parent / ".tiny-old-4711")
    shutil.copytree(folder.parent / ".tiny-old-4711", folder.parent / ".tiny-new-4711")
    save_checkpoint(make_checkpoint(), folder)
    assert [path.name for path in folder.parent.iterdir()] == ["tiny"]
    assert (folder / "README.md").read_text() == "a card"


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(CheckpointError, match=name):
        load_checkpoint(folder)


@pytest.mark.parametrize("name", FILES)
def test_a_truncated_file_is_named(folder: Path, name: str) -> None:
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(CheckpointError, match=name):
        load_checkpoint(folder)


def test_a_missing_folder_is_named(folder: Path) -> None:
    shutil.rmtree(folder)
    with pytest.raises(CheckpointError, match="no checkpoint: .*tiny/deg.json"):
        load_checkpoint(folder)


def test_another_format_version_is_refused(folder: Path) -> None:
    edit(folder, format="deg-checkpoint-v2")
    with pytest.raises(CheckpointError, match="'deg-checkpoint-v2'; this version reads"):
        load_checkpoint(folder)


def test_another_hash_of_a_known_base_is_refused(folder: Path) -> None:
    edit(folder, base={"name": DEFAULT_BASE, "family": "llama", "sha256": "0" * 64})
    with pytest.raises(CheckpointError, match=f"{DEFAULT_BASE}' with sha256 0000"):
        load_checkpoint(folder)


@pytest.mark.parametrize(
    "changes",
    [
        {"taps": 3},
        {"base": []},
        {"files": None},
        {"lora": {}},
        {"lora": {"rank": 4, "context": "base"}},
        {"lora": {"rank": 4, "context": "base", "adapters": 3}},
        {"lora": None},
        {"arrays": 3},
        {"arrays": {"mode": "peaks"}},
        {"arrays": {"min_tokens": 3}},
        {"arrays": {"mode": "anchor", "min_tokens": "3"}},
        {"arrays": {"mode": "anchor", "max_tokens": 3}},
    ],
)
def test_facts_of_another_shape_are_refused(folder: Path, changes: dict[str, object]) -> None:
    edit(folder, **changes)
    with pytest.raises(CheckpointError, match=r"deg\.json (lacks|is not laid out)"):
        load_checkpoint(folder)
