from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
import torch

from deg_runtime import Engine, is_out_of_memory, memory

CPU = torch.device("cpu")
NEW = {
    "memory.max": "1000",
    "memory.current": "700",
    "memory.stat": "anon 500\ninactive_file 50\n",
}
OLD = {
    "memory.limit_in_bytes": "1000",
    "memory.usage_in_bytes": "700",
    "memory.stat": "inactive_file 9\ntotal_inactive_file 50\n",
}


def group(folder: Path, files: dict[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)


def left(root: Path, own: str) -> list[int]:
    (root / "own").write_text(own)
    return list(memory._left_in_groups(root, root / "own"))


def test_a_container_of_either_kind_limits_what_is_left(tmp_path: Path) -> None:
    group(tmp_path / "a/b", NEW)
    group(tmp_path / "memory/c", OLD)
    assert left(tmp_path, "0::/a/b\n") == [350]
    assert left(tmp_path, "5:devices:/\n4:cpu,memory:/c\n") == [350]


def test_every_group_around_the_process_counts(tmp_path: Path) -> None:
    group(tmp_path / "a", {**NEW, "memory.max": "800"})
    group(tmp_path / "a/b", NEW)
    assert left(tmp_path, "0::/a/b") == [350, 150]


def test_a_group_without_a_limit_leaves_everything(tmp_path: Path) -> None:
    group(tmp_path / "a", {**NEW, "memory.max": "max\n"})
    assert left(tmp_path, "0::/a") == []
    assert left(tmp_path, "0::/missing") == []
    assert list(memory._left_in_groups(tmp_path, tmp_path / "nothing")) == []


def test_what_is_free_is_what_the_tightest_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 0 < memory.free_bytes(CPU) <= psutil.virtual_memory().total
    monkeypatch.setattr(memory, "_left_in_groups", lambda: [7, 9])
    assert memory.free_bytes(CPU) == 7


def test_scarce_memory_makes_passes_smaller(
    make_engine: Callable[..., Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_engine().model
    monkeypatch.setattr(memory, "free_bytes", lambda _: 1 << 50)
    assert memory.fork_token_budget(model) == 4096
    monkeypatch.setattr(memory, "free_bytes", lambda _: 1 << 26)
    assert 512 < memory.fork_token_budget(model) < 4096
    monkeypatch.setattr(memory, "free_bytes", lambda _: 0)
    assert memory.fork_token_budget(model) == 512


def test_an_allocation_that_fails_is_told_from_other_errors() -> None:
    with pytest.raises(RuntimeError) as failed:
        torch.empty(1 << 50)
    assert is_out_of_memory(failed.value)
    assert is_out_of_memory(MemoryError())
    assert is_out_of_memory(torch.OutOfMemoryError("CUDA out of memory"))
    assert not is_out_of_memory(RuntimeError("shapes do not match"))
