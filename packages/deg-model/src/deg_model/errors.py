"""Everything that deg_model raises for a caller's mistake.

ModelError
├── CheckpointError   a checkpoint is missing, damaged, of another version or made for another base
├── WeightsError      base weights cannot be found, downloaded or trusted
└── ContextTooLong    a context has more tokens than the model reads
"""

from __future__ import annotations

__all__ = ["CheckpointError", "ContextTooLong", "ModelError", "WeightsError"]


class ModelError(Exception):
    """The model cannot do what was asked."""


class CheckpointError(ModelError):
    """A checkpoint is missing, damaged, of another version or made for another base."""


class WeightsError(ModelError):
    """Base weights cannot be found, downloaded or trusted."""


class ContextTooLong(ModelError):
    """A context has more tokens than the model reads."""
