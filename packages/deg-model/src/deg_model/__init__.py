"""The model: backbones over explicit state, heads, fork layout, checkpoints and base weights."""

from deg_model._version import __version__
from deg_model.adapters import (
    BASE_READS,
    DECIDE_HEADS,
    FORK_HEADS,
    SHARED,
    AdapterPlan,
    LowRankAdapters,
)
from deg_model.attention import ForkBucket, RowAttention, TrainingAttention
from deg_model.bases import BASES, DEFAULT_BASE, Base
from deg_model.chat import CHATS, Chat
from deg_model.checkpoint import (
    DEFAULT_CHECKPOINT,
    ArrayMode,
    Checkpoint,
    load_checkpoint,
    save_checkpoint,
)
from deg_model.encoding import EncodedContext, encode_context
from deg_model.errors import (
    CheckpointError,
    ContextTooLong,
    DeviceError,
    ModelError,
    WeightsError,
)
from deg_model.family import Backbone, BackboneConfig
from deg_model.features import TapFeatures, default_taps, tap_features
from deg_model.generator import (
    GENERATOR_FACTS,
    Generator,
    generator_folder,
    load_generator,
    save_generator,
)
from deg_model.heads import (
    HEAD_NAMES,
    MAX_COUNT,
    MAX_SPAN_TOKENS,
    Heads,
    anchor_bias_of,
    load_heads,
)
from deg_model.layout import Fork, Item, anchor_fork, count_fork, fork_of, item_at
from deg_model.lfm2 import Lfm2, Lfm2Config
from deg_model.llama import Llama
from deg_model.loading import FAMILIES, load_backbone
from deg_model.model import DegModel
from deg_model.qwen35 import Qwen35, Qwen35Config
from deg_model.reading import ContextState, Progress, Start
from deg_model.recurrence import RowRecurrence, states_after
from deg_model.scores import SpanKeys, SpanScores
from deg_model.state import KeyValues, Recurrent, State
from deg_model.text_layout import text_header, text_trunk
from deg_model.tokenizer import Tokenizer
from deg_model.training_recurrence import TrainingRecurrence
from deg_model.training_state import TrainingState
from deg_model.weights import (
    BaseFiles,
    cache_folder,
    load_weights,
    published_base,
    resolve_base,
)
from deg_model.writing import Writer

__all__ = [
    "AdapterPlan",
    "ArrayMode",
    "BASES",
    "BASE_READS",
    "Backbone",
    "BackboneConfig",
    "Base",
    "BaseFiles",
    "CHATS",
    "Chat",
    "Checkpoint",
    "CheckpointError",
    "ContextState",
    "ContextTooLong",
    "DECIDE_HEADS",
    "DEFAULT_BASE",
    "DEFAULT_CHECKPOINT",
    "DegModel",
    "DeviceError",
    "EncodedContext",
    "FAMILIES",
    "FORK_HEADS",
    "Fork",
    "ForkBucket",
    "GENERATOR_FACTS",
    "Generator",
    "HEAD_NAMES",
    "Heads",
    "Item",
    "KeyValues",
    "Lfm2",
    "Lfm2Config",
    "Llama",
    "LowRankAdapters",
    "MAX_COUNT",
    "MAX_SPAN_TOKENS",
    "ModelError",
    "Progress",
    "Qwen35",
    "Qwen35Config",
    "Recurrent",
    "RowAttention",
    "RowRecurrence",
    "SHARED",
    "SpanKeys",
    "SpanScores",
    "Start",
    "State",
    "TapFeatures",
    "Tokenizer",
    "TrainingAttention",
    "TrainingRecurrence",
    "TrainingState",
    "WeightsError",
    "Writer",
    "__version__",
    "anchor_bias_of",
    "anchor_fork",
    "cache_folder",
    "count_fork",
    "default_taps",
    "encode_context",
    "fork_of",
    "generator_folder",
    "item_at",
    "load_backbone",
    "load_checkpoint",
    "load_generator",
    "load_heads",
    "load_weights",
    "published_base",
    "resolve_base",
    "save_checkpoint",
    "save_generator",
    "states_after",
    "tap_features",
    "text_header",
    "text_trunk",
]
