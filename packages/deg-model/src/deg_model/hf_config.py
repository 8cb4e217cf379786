"""What the families read alike from a published transformers configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deg_model.errors import WeightsError

__all__ = ["layers_of_type", "refuse_unless", "rope_theta"]


def rope_theta(config: Mapping[str, Any], *, default: float) -> float:
    """Return the base of the rotary angles.

    Raises:
        WeightsError: The angles are scaled, as no family here does.
    """
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    refuse_unless(rope, "rope_type", "default")
    return float(rope.get("rope_theta") or config.get("rope_theta") or default)


def layers_of_type(config: Mapping[str, Any], name: str) -> frozenset[int]:
    """Return the layers of type *name*; every other one has full attention.

    Raises:
        WeightsError: A layer is of neither type, or the list is not as long as the stack.
    """
    types = config["layer_types"]
    unknown = set(types) - {name, "full_attention"}
    if unknown or len(types) != config["num_hidden_layers"]:
        raise WeightsError(
            f"layer_types has {len(types)} entries for {config['num_hidden_layers']} layers, with "
            f"{sorted(unknown) or 'none'} beside {name!r} and 'full_attention'"
        )
    return frozenset(index for index, each in enumerate(types) if each == name)


def refuse_unless(config: Mapping[str, Any], key: str, expected: object) -> None:
    """Refuse a configuration that sets *key* to something else.

    Raises:
        WeightsError: It does.
    """
    found = config.get(key, expected)
    if found != expected:
        raise WeightsError(f"the configuration has {key} {found!r}; deg runs {expected!r} alone")
