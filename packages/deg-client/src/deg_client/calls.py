"""The calls that a server answers: what goes out, and how the answer is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeAlias, TypedDict, TypeVar

import msgspec

from deg_client.decisions import Decisions
from deg_client.errors import InvalidSetting, NotSent, Problem
from deg_client.filled import Filled
from deg_client.sendable import encode_body
from deg_client.systemone import SystemOne
from deg_client.target import Target

__all__ = [
    "Call",
    "Context",
    "ModelInfo",
    "Options",
    "check_concurrency",
    "decisions_call",
    "fill_call",
    "models_call",
    "systemone_call",
]

Answer = TypeVar("Answer")
Model = TypeVar("Model")


class _Dataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Any]]


# text, or what encodes as a JSON object or array
Context: TypeAlias = str | Mapping[str, Any] | Sequence[Any] | msgspec.Struct | _Dataclass

DEFAULT_MODEL = "deg-latest"


class Options(TypedDict, total=False):
    """How a request is filled; what is left out is as the contract says."""

    max_new_tokens: int
    max_items: int | None
    date_order: Literal["MDY", "DMY"] | None
    default_offset: str
    temperature: float
    seed: int | None
    array_decode: Literal["threshold", "count_peaks", "hybrid"]
    null_margin: float | None
    decimal_separator: Literal[".", ","]


class ModelInfo(msgspec.Struct, frozen=True):
    """A name that `model=` takes."""

    id: str
    created: int | None = None
    owned_by: str | None = None


@dataclass(frozen=True, slots=True)
class Call(Generic[Answer]):
    """One request, and how the bytes of its answer are read."""

    path: str
    read: Callable[[bytes], Answer]
    body: bytes | None = None


def fill_call(
    context: Context, target: Target[Model], model: str | None, options: Options
) -> Call[Filled[Model]]:
    """Ask for *target* from *context*.

    Raises:
        NotSent: The context, the schema or an option cannot be said in JSON.
    """
    parts: dict[str, object] = {"context": _check_context(context), "schema": target.schema}
    return Call("/v1/fill", target.decoder.decode, _body(parts, model, options))


def decisions_call(
    given: str | Sequence[Mapping[str, Any]],
    questions: Sequence[Mapping[str, Any]],
    model: str | None,
    options: Options,
) -> Call[Decisions]:
    """Ask *questions* of *given*, as the Decisions API does.

    Raises:
        NotSent: A part cannot be said in JSON.
    """
    parts: dict[str, object] = {"input": given, "questions": questions}
    body = _body(parts, model or DEFAULT_MODEL, options)
    return Call("/v1/decisions", _DECISIONS.decode, body)


def systemone_call(
    state: Context,
    questions: Mapping[str, Mapping[str, Any]],
    model: str | None,
    options: Options,
) -> Call[SystemOne]:
    """Ask *questions* of *state*, as System One does.

    Raises:
        NotSent: A part cannot be said in JSON.
    """
    parts: dict[str, object] = {"state": _check_context(state, "/state"), "questions": questions}
    body = _body(parts, model or DEFAULT_MODEL, options)
    return Call("/v1/systemone", _SYSTEM_ONE.decode, body)


def models_call() -> Call[tuple[ModelInfo, ...]]:
    """Ask for the models."""
    return Call("/v1/models", lambda answer: _MODELS.decode(answer).data)


def check_concurrency(count: int) -> int:
    """Return *count* if so many calls can be under way at once.

    Raises:
        InvalidSetting: It is less than 1.
    """
    if type(count) is not int or count < 1:
        raise InvalidSetting(f"'concurrency' is a whole number of at least 1, not {count!r}")
    return count


def _body(parts: dict[str, object], model: str | None, options: Options) -> bytes:
    if model is not None:
        parts["model"] = model
    if options:
        parts["options"] = options
    return encode_body(parts)


def _check_context(context: object, place: str = "/context") -> object:
    # bytes would be sent as base64, which is nothing that can be read
    if context is None or isinstance(context, (bytes, bytearray, memoryview, int, float)):
        message = f"a context is text or JSON, not {type(context).__name__}"
        raise NotSent.because([Problem(place, message)])
    return context


class _ModelList(msgspec.Struct):
    data: tuple[ModelInfo, ...]


_DECISIONS = msgspec.json.Decoder(Decisions)
_SYSTEM_ONE = msgspec.json.Decoder(SystemOne)
_MODELS = msgspec.json.Decoder(_ModelList)
