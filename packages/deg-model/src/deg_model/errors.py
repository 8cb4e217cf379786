"""Everything that deg_model raises for a caller's mistake.

ModelError            a `deg_schema.DegError`
├── CheckpointError   a checkpoint is missing, damaged, of another version or made for another base
├── WeightsError      base weights cannot be found, downloaded or trusted
├── DeviceError       a device is unknown or not here
└── ContextTooLong    a context does not fit the memory that is free
"""

from __future__ import annotations

from deg_schema import DegError

__all__ = ["CheckpointError", "ContextTooLong", "DeviceError", "ModelError", "WeightsError"]


class ModelError(DegError):
    """The model cannot do what was asked."""


class CheckpointError(ModelError):
    """A checkpoint is missing, damaged, of another version or made for another base."""


class WeightsError(ModelError):
    """Base weights cannot be found, downloaded or trusted."""


class DeviceError(ModelError):
    """A device is unknown, or there is none of its kind here."""


class ContextTooLong(ModelError):
    """A context does not fit the memory that is free; raised before anything is read.

    Args:
        num_tokens: The context's.
        bytes_needed: What reading it takes.
        bytes_free: What was free for it.
    """

    def __init__(self, num_tokens: int, bytes_needed: int, bytes_free: int) -> None:
        self.num_tokens = num_tokens
        self.bytes_needed, self.bytes_free = bytes_needed, bytes_free
        super().__init__(num_tokens, bytes_needed, bytes_free)

    def __str__(self) -> str:
        return (
            f"the context has {self.num_tokens:,} tokens, for which {self.bytes_needed / 1e9:.2f} "
            f"GB of memory are needed and {max(self.bytes_free, 0) / 1e9:.2f} GB are free: split "
            "the document, or free memory"
        )
