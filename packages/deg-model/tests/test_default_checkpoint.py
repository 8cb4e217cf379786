from __future__ import annotations

from deg_model import DEFAULT_BASE, DEFAULT_CHECKPOINT, load_checkpoint

MAX_BYTES = 20_000_000


def test_the_embedded_checkpoint_is_whole_and_names_the_default_base() -> None:
    checkpoint = load_checkpoint(DEFAULT_CHECKPOINT)
    assert checkpoint.base.name == DEFAULT_BASE
    assert checkpoint.model_id == "deg-smollm2-135m-0.6"


def test_the_embedded_checkpoint_is_small_and_has_a_model_card() -> None:
    files = [path for path in DEFAULT_CHECKPOINT.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= MAX_BYTES
    assert (DEFAULT_CHECKPOINT / "README.md").is_file()


def test_the_embedded_checkpoint_is_calibrated() -> None:
    temperatures = load_checkpoint(DEFAULT_CHECKPOINT).heads["temperatures"]
    assert (temperatures > 0).all()
    assert (temperatures != 1).any()
