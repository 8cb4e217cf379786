from __future__ import annotations

import subprocess
import sys

import deg_model


def test_public_names_are_sorted_and_there() -> None:
    assert list(deg_model.__all__) == sorted(deg_model.__all__)
    assert all(hasattr(deg_model, name) for name in deg_model.__all__)


def test_the_public_names() -> None:
    assert set(deg_model.__all__) == {
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
    }


def test_importing_needs_neither_transformers_nor_the_conversion_nor_the_hub() -> None:
    program = (
        "import sys, warnings; warnings.simplefilter('ignore'); "
        "absent = ['transformers', 'gguf', 'numpy', 'huggingface_hub']; "
        "sys.modules.update(dict.fromkeys(absent)); import deg_model; "
        "sys.exit(any(sys.modules[name] for name in absent))"
    )
    subprocess.run([sys.executable, "-c", program], check=True, stderr=subprocess.DEVNULL)
