"""llama.cpp on the GGUF file itself, greedy, under its own grammar of the JSON Schema."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from baselines.cases import Case, prompt_of
from baselines.grammars import acceptable, with_single_types
from baselines.systems import MAX_NEW_TOKENS, Answer
from baselines.weights import gguf_file

__all__ = ["LlamaCpp", "load"]

_NUM_POSITIONS = 8192


class LlamaCpp:
    """Writes the object with `create_completion`, as its users do."""

    def __init__(self, path: Path) -> None:
        self._library = importlib.import_module("llama_cpp")
        self._model = self._library.Llama(
            str(path), n_ctx=_NUM_POSITIONS, n_threads=1, n_threads_batch=1, verbose=False
        )
        self._schema: dict[str, Any] = {}
        self._dropped: list[str] = []

    def prepare(self, case: Case) -> None:
        """Find out which keywords the grammar refuses."""
        # it would lose the keywords beside a list of types without a word
        schema = with_single_types(case.schema)
        self._schema, self._dropped = acceptable(schema, self._accepts)

    def fill(self, case: Case) -> Answer:
        """Write the object of *case*."""
        # what is left of an earlier prompt would be taken up
        self._model.reset()
        prompt = self._model.tokenize(prompt_of(case).encode(), add_bos=False, special=True)
        made = self._model.create_completion(
            prompt,
            max_tokens=MAX_NEW_TOKENS,
            temperature=0.0,
            repeat_penalty=1.0,
            grammar=self._grammar(self._schema),
        )
        choice, written = made["choices"][0], made["usage"]["completion_tokens"]
        cut_off = choice["finish_reason"] == "length"
        return Answer(choice["text"], len(prompt), written, cut_off, tuple(self._dropped))

    def _grammar(self, schema: dict[str, Any]) -> Any:
        return self._library.LlamaGrammar.from_json_schema(json.dumps(schema))

    def _accepts(self, schema: dict[str, Any]) -> bool:
        try:
            text = self._grammar(schema)._grammar
        except (AssertionError, KeyError, ValueError):
            return False
        # what the translation lets through may still be no grammar
        vocabulary = self._library.llama_model_get_vocab(self._model.model)
        with _quiet():
            sampler = self._library.llama_sampler_init_grammar(vocabulary, text.encode(), b"root")
        if sampler:
            self._library.llama_sampler_free(sampler)
        return bool(sampler)


def load() -> LlamaCpp:
    """Load the GGUF file that deg's default base was made from."""
    return LlamaCpp(gguf_file())


@contextmanager
def _quiet() -> Iterator[None]:
    # the library prints every grammar that it refuses
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
