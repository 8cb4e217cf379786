"""An engine without a model, which finds what it was told to look for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from deg_schema import (
    Decided,
    Extracted,
    FieldPlan,
    Missing,
    Options,
    Outcome,
    assemble,
    compile_schema,
    read_span,
    render_context,
)


class FakeEngine:
    """Takes the first outcome of a decision, and the words given for a pointer."""

    def __init__(self, words: Mapping[str, str], error: BaseException | None = None) -> None:
        self.words = words
        self.error = error
        self.options: Any = None

    def __call__(
        self, checkpoint: Path | None = None, *, report: Callable[[str], None] | None = None
    ) -> FakeEngine:
        return self

    def fill(
        self,
        context: str | dict[str, Any] | list[Any],
        schema: Mapping[str, Any],
        *,
        options: Options | Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        if self.error:
            raise self.error
        self.options = options
        plan = compile_schema(schema)
        text = render_context(context)
        outcomes = {field.pointer: self._outcome(field, text) for field in plan.fields}
        return assemble(plan, schema, outcomes, model="fake", prompt_tokens=len(text.split()))

    def _outcome(self, field: FieldPlan, text: str) -> Outcome:
        if field.mode.startswith("decide"):
            rest = field.num_outcomes - 1
            return Decided((0.7, *[0.3 / rest] * rest))
        words = self.words.get(field.pointer, "")
        start = text.find(words)
        if not words or start < 0:
            return Missing("not_found", 0.9)
        value = read_span(field, words, Options()).value
        return Extracted(value, (start, start + len(words)), 0.8)


@pytest.fixture
def fake_engine() -> type[FakeEngine]:
    return FakeEngine
