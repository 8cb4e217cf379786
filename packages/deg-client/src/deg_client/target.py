"""What a fill is asked for, and how its answer is read: prepared once for each type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar

import msgspec

from deg_client.filled import Filled
from deg_client.printing import schema_of

__all__ = ["Target", "target_of"]

Model = TypeVar("Model")


@dataclass(frozen=True, slots=True)
class Target(Generic[Model]):
    """A schema as it goes into a body, with the decoder of what comes back."""

    schema: object
    decoder: msgspec.json.Decoder[Filled[Model]]


def target_of(schema: type[Any] | Mapping[str, Any]) -> Target[Any]:
    """Return the target of a type or of a schema.

    Raises:
        NotSent: The contract has no way to ask for the type.
    """
    return Target(schema, _plain()) if isinstance(schema, Mapping) else _target_of_type(schema)  # type: ignore[arg-type]


@lru_cache(maxsize=256)
def _target_of_type(kind: type[Any]) -> Target[Any]:
    schema = msgspec.Raw(msgspec.json.encode(schema_of(kind)))
    return Target(schema, msgspec.json.Decoder(Filled[kind]))  # type: ignore[valid-type]


@lru_cache(maxsize=1)
def _plain() -> msgspec.json.Decoder[Filled[dict[str, Any]]]:
    return msgspec.json.Decoder(Filled[dict[str, Any]])
