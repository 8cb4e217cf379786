"""The model: backbones over explicit state, heads, fork layout, checkpoints and base weights."""

from deg_model._version import __version__
from deg_model.adapters import LowRankAdapters
from deg_model.attention import ForkBucket, RowAttention, TrainingAttention
from deg_model.bases import BASES, DEFAULT_BASE, Base
from deg_model.checkpoint import (
    DEFAULT_CHECKPOINT,
    Checkpoint,
    load_checkpoint,
    save_checkpoint,
)
from deg_model.encoding import EncodedContext, encode_context
from deg_model.errors import CheckpointError, ContextTooLong, ModelError, WeightsError
from deg_model.family import Backbone, BackboneConfig
from deg_model.features import default_taps, tap_features
from deg_model.heads import HEAD_NAMES, MAX_SPAN_TOKENS, Heads
from deg_model.layout import Fork, fork_of
from deg_model.llama import Llama
from deg_model.loading import load_backbone
from deg_model.model import ContextState, DegModel
from deg_model.scores import SpanKeys, SpanScores
from deg_model.state import State
from deg_model.tokenizer import Tokenizer
from deg_model.weights import BaseFiles, cache_folder, load_weights, resolve_base

__all__ = [
    "BASES",
    "Backbone",
    "BackboneConfig",
    "Base",
    "BaseFiles",
    "Checkpoint",
    "CheckpointError",
    "ContextState",
    "ContextTooLong",
    "DEFAULT_BASE",
    "DEFAULT_CHECKPOINT",
    "DegModel",
    "EncodedContext",
    "Fork",
    "ForkBucket",
    "HEAD_NAMES",
    "Heads",
    "Llama",
    "LowRankAdapters",
    "MAX_SPAN_TOKENS",
    "ModelError",
    "RowAttention",
    "SpanKeys",
    "SpanScores",
    "State",
    "Tokenizer",
    "TrainingAttention",
    "WeightsError",
    "__version__",
    "cache_folder",
    "default_taps",
    "encode_context",
    "fork_of",
    "load_backbone",
    "load_checkpoint",
    "load_weights",
    "resolve_base",
    "save_checkpoint",
    "tap_features",
]
