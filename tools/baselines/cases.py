"""What every system is asked: the examples, and documents generated from unseen templates."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deg_train.generate import DocumentSource

__all__ = ["Case", "example_cases", "generated_cases", "prompt_of"]

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

# the template that the GGUF file carries, with its own system message
_CHAT = (
    "<|im_start|>system\n"
    "You are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
    "<|im_start|>user\n{question}<|im_end|>\n"
    "<|im_start|>assistant\n"
)
# the best of three wordings on documents of another seed, with the shortest answers too; the others
# had the schema first, or asked at length for exact copies and null
_QUESTION = """\
Extract information from the document into JSON that follows the schema.

Document:
{context}

JSON schema:
{schema}"""


@dataclass(frozen=True, slots=True)
class Case:
    """A document, what is asked of it, and the true value."""

    name: str
    context: str
    schema: dict[str, Any]
    gold: dict[str, Any]

    @property
    def key(self) -> str:
        """A hash of all that an answer depends on: results of other words are not taken up."""
        asked = json.dumps([prompt_of(self), self.gold], ensure_ascii=False)
        return hashlib.sha256(asked.encode()).hexdigest()[:16]


def prompt_of(case: Case) -> str:
    """Return the chat that both language models read, special tokens spelled out."""
    schema = json.dumps(case.schema, ensure_ascii=False)
    return _CHAT.format(question=_QUESTION.format(context=case.context.strip(), schema=schema))


def example_cases() -> list[Case]:
    """Return the documents under `examples/`."""
    return [
        Case(
            f"examples/{folder.name}",
            (folder / "document.txt").read_text("utf-8"),
            json.loads((folder / "schema.json").read_text("utf-8")),
            json.loads((folder / "expected.json").read_text("utf-8")),
        )
        for folder in sorted(EXAMPLES.iterdir())
        if (folder / "expected.json").is_file()
    ]


def generated_cases(count: int, seed: int) -> list[Case]:
    """Return documents of templates that training never sees, always the same for a seed."""
    records = DocumentSource("templates").records(count, seed)
    return [
        Case(f"generated/{seed}-{number}", record.context, record.schema, record.value)
        for number, record in enumerate(records)
    ]
