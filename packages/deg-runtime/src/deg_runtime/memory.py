"""How much memory is free now, for this process, and what fits in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil
import torch

from deg_model import DegModel

__all__ = ["fork_token_budget", "free_bytes", "is_out_of_memory"]

_FORK_SHARE = 0.25
_FEWEST_FORK_TOKENS = 512
_MOST_FORK_TOKENS = 4096


def free_bytes(device: torch.device) -> int:
    """Return the memory of *device* that this process can still take.

    On the CPU it is the machine's, or its container's.
    """
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        # what torch holds without using it is there for the taking too
        held = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return int(free + held)
    available: int = psutil.virtual_memory().available
    return min([available, *_left_in_groups()])


def is_out_of_memory(error: BaseException) -> bool:
    """Say whether memory is what lacked, on a device or on the host."""
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    # on the CPU, torch says it by a plain RuntimeError
    said = ("allocate memory", "not enough memory")
    return isinstance(error, RuntimeError) and any(words in str(error) for words in said)


def fork_token_budget(model: DegModel) -> int:
    """Return how many tokens of forks one pass may hold with the memory that is free now."""
    each = model.reader.pass_bytes(_MOST_FORK_TOKENS) // _MOST_FORK_TOKENS
    fitting = int(_FORK_SHARE * free_bytes(model.device)) // each
    return max(_FEWEST_FORK_TOKENS, min(_MOST_FORK_TOKENS, fitting))


def _left_in_groups(root: Path = Path("/sys/fs/cgroup"), own: Path | None = None) -> Iterator[int]:
    """Yield what each control group around this process, of either version, may still take."""
    try:
        lines = (own or Path("/proc/self/cgroup")).read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, place = line.split(":", 2)
        if controllers == "":
            names = ("memory.max", "memory.current", "inactive_file")
            yield from _left_upwards(root, place, names)
        elif "memory" in controllers.split(","):
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            yield from _left_upwards(root / "memory", place, names)


def _left_upwards(root: Path, place: str, names: tuple[str, str, str]) -> Iterator[int]:
    folder = root / place.strip("/")
    for group in (folder, *folder.parents):
        left = _left(group, *names)
        if left is not None:
            yield left
        if group == root:
            return


def _left(group: Path, limit: str, usage: str, reclaimable: str) -> int | None:
    try:
        most = (group / limit).read_text().strip()
        used = int((group / usage).read_text())
        kinds = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
    except OSError:
        return None
    if most == "max":
        return None
    # pages of files are let go when memory gets scarce
    return int(most) - used + int(kinds.get(reclaimable, 0))
