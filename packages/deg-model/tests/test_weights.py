from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from deg_model import Base, WeightsError, cache_folder, load_weights, resolve_base, weights

SOURCES = ("from_hub_cache", "from_hub", "from_wheel")


@pytest.fixture
def base(tmp_path: Path) -> Base:
    (tmp_path / "found.gguf").write_bytes(b"weights")
    return Base("tiny", "llama", "c" * 64)


@pytest.fixture(autouse=True)
def tried(base: Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """No source answers; the names of those asked are collected."""
    asked: list[str] = []
    monkeypatch.setenv("DEG_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("DEG_BASE_DIR", raising=False)

    def source(name: str) -> Callable[..., None]:
        def ask(*_: object) -> None:
            asked.append(name)
            raise WeightsError(f"{name} is away")

        return ask

    for name in SOURCES:
        monkeypatch.setattr(weights, name, source(name))
    return asked


@pytest.fixture
def converts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take any file for a GGUF file."""
    gguf_file = weights.importlib.import_module("deg_model.gguf_file")
    tensors = {"model.norm.weight": torch.ones(4).bfloat16()}
    monkeypatch.setattr(gguf_file, "read_gguf", lambda _: (tensors, {"vocab_size": 3}, "{}"))


def offer(monkeypatch: pytest.MonkeyPatch, name: str, path: Path, asked: list[str]) -> None:
    def ask(*_: object) -> Path:
        asked.append(name)
        return path

    monkeypatch.setattr(weights, name, ask)


@pytest.mark.usefixtures("converts")
@pytest.mark.parametrize("number", [0, 1, 2])
def test_sources_are_asked_in_order_until_one_answers(
    base: Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tried: list[str], number: int
) -> None:
    offer(monkeypatch, SOURCES[number], tmp_path / "found.gguf", tried)
    files = resolve_base(base)
    assert tried == list(SOURCES[: number + 1])
    assert files.folder == cache_folder() / "tiny"
    assert files.config == {"vocab_size": 3}
    assert torch.equal(load_weights(files)["model.norm.weight"], torch.ones(4).bfloat16())


@pytest.mark.usefixtures("converts")
def test_what_was_converted_is_found_in_the_cache(
    base: Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tried: list[str]
) -> None:
    lines: list[str] = []
    offer(monkeypatch, "from_hub_cache", tmp_path / "found.gguf", tried)
    first = resolve_base(base, report=lines.append)
    assert resolve_base(base, report=lines.append) == first
    assert tried == ["from_hub_cache"]
    assert len(lines) == 1
    assert lines[0].startswith("converting tiny")
    assert [path.name for path in cache_folder().iterdir()] == ["tiny"]


@pytest.mark.usefixtures("converts")
@pytest.mark.parametrize("by_variable", [True, False])
def test_a_named_folder_comes_before_everything(
    base: Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tried: list[str], by_variable: bool
) -> None:
    monkeypatch.setattr(weights, "checked", lambda path, _: path)
    if by_variable:
        monkeypatch.setenv("DEG_BASE_DIR", str(tmp_path))
    files = resolve_base(base, folder=None if by_variable else tmp_path)
    assert tried == []
    assert resolve_base(base, folder=files.folder) == files


def test_a_folder_whose_file_has_another_hash_is_refused(base: Base, tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=f"nor the GGUF file of 'tiny' .*{base.sha256}"):
        resolve_base(base, folder=tmp_path)


def test_a_missing_folder_is_named(base: Base, tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="nowhere holds neither"):
        resolve_base(base, folder=tmp_path / "nowhere")


def test_converted_weights_of_another_base_are_refused(base: Base, tmp_path: Path) -> None:
    (tmp_path / "base.json").write_text(json.dumps({"name": "other", "sha256": "0" * 64}))
    with pytest.raises(WeightsError, match="holds 'other' made from sha256 0000"):
        resolve_base(base, folder=tmp_path)


@pytest.mark.parametrize("text", ["{", "[]", ""])
def test_a_damaged_note_of_origin_is_named(base: Base, tmp_path: Path, text: str) -> None:
    (tmp_path / "base.json").write_text(text)
    with pytest.raises(WeightsError, match="base.json is damaged .* delete"):
        resolve_base(base, folder=tmp_path)


def test_no_source_at_all_says_what_to_do(base: Base, tried: list[str]) -> None:
    with pytest.raises(WeightsError) as caught:
        resolve_base(base)
    assert tried == list(SOURCES)
    message = str(caught.value)
    assert "from_hub_cache is away; from_hub is away; from_wheel is away" in message
    assert "Connect to the network once, or point DEG_BASE_DIR at a folder" in message
    assert "\n" not in message


@pytest.mark.usefixtures("converts")
@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_a_conversion_that_fails_leaves_nothing(
    base: Base,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    tried: list[str],
    error: BaseException,
) -> None:
    def write_half(tensors: object, path: Path) -> None:
        path.write_bytes(b"half")
        raise error

    offer(monkeypatch, "from_hub", tmp_path / "found.gguf", tried)
    monkeypatch.setattr(weights, "save_file", write_half)
    with pytest.raises((WeightsError, KeyboardInterrupt)):
        resolve_base(base)
    assert list(cache_folder().iterdir()) == []


@pytest.mark.usefixtures("converts")
def test_a_half_written_cache_folder_is_replaced(
    base: Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tried: list[str]
) -> None:
    target = cache_folder() / "tiny"
    target.mkdir(parents=True)
    (target / "model.safetensors").write_bytes(b"half")
    offer(monkeypatch, "from_wheel", tmp_path / "found.gguf", tried)
    assert load_weights(resolve_base(base)).keys() == {"model.norm.weight"}


@pytest.mark.usefixtures("converts")
def test_another_process_may_be_first(
    base: Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tried: list[str]
) -> None:
    offer(monkeypatch, "from_hub", tmp_path / "found.gguf", tried)

    def write_after_the_other(tensors: dict[str, torch.Tensor], path: Path) -> None:
        monkeypatch.setattr(weights, "save_file", save_file)
        monkeypatch.setattr(weights.os, "getpid", lambda: 1)
        resolve_base(base)
        save_file(tensors, path)

    monkeypatch.setattr(weights, "save_file", write_after_the_other)
    assert resolve_base(base).folder == cache_folder() / "tiny"
    assert [path.name for path in cache_folder().iterdir()] == ["tiny"]


def test_the_cache_stands_where_the_environment_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert cache_folder() == tmp_path / "cache"
    monkeypatch.delenv("DEG_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "deg"
