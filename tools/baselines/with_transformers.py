"""transformers in bf16 with its KV cache, greedy, each token masked by llguidance's grammar."""

from __future__ import annotations

import importlib
from typing import Any

import torch
from tokenizers import Tokenizer
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from baselines.cases import Case, prompt_of
from baselines.grammars import acceptable
from baselines.systems import MAX_NEW_TOKENS, Answer
from deg_model import BASES, DEFAULT_BASE, BaseFiles, load_weights, resolve_base

__all__ = ["Transformers", "load"]

# one blank after ":" and "," as models learned it, where blanks without end would be admissible
_WAYS = {
    "whitespace_flexible": False,
    "item_separator": ", ",
    "key_separator": ": ",
    "coerce_one_of": True,
}


class Transformers:
    """Writes the object, a token a step, in a loop leaner than `generate`."""

    def __init__(self, files: BaseFiles) -> None:
        path = str(files.folder / "tokenizer.json")
        self._matcher_class = importlib.import_module("llguidance").LLMatcher
        self._tokenizer = Tokenizer.from_file(path)
        self._eos: int = files.config["eos_token_id"]
        eos = self._tokenizer.id_to_token(self._eos)
        self._vocabulary = importlib.import_module("llguidance.hf").from_tokenizer(
            PreTrainedTokenizerFast(tokenizer_file=path, eos_token=eos)
        )
        self._model = _plain_model(files)
        self._schema: dict[str, Any] = {}
        self._dropped: list[str] = []

    def prepare(self, case: Case) -> None:
        """Find out which keywords the grammar refuses."""
        self._schema, self._dropped = acceptable(case.schema, self._accepts)

    def fill(self, case: Case) -> Answer:
        """Write the object of *case*."""
        matcher = self._matcher_class(self._vocabulary, self._grammar(self._schema))
        prompt = self._tokenizer.encode(prompt_of(case), add_special_tokens=False).ids
        written: list[int] = []
        cache, fed = DynamicCache(config=self._model.config), torch.tensor([prompt])
        with torch.inference_mode():
            while len(written) < MAX_NEW_TOKENS and not matcher.is_stopped():
                out = self._model(fed, cache=cache, logits_to_keep=1)
                token = _best(out.logits[0, -1], matcher.compute_logit_bias())
                matcher.consume_token(token)
                written.append(token)
                fed = torch.tensor([[token]])
        text = self._tokenizer.decode(written)
        cut_off = not matcher.is_stopped()
        return Answer(text, len(prompt), len(written), cut_off, tuple(self._dropped))

    def _grammar(self, schema: dict[str, Any]) -> str:
        grammar: str = self._matcher_class.grammar_from_json_schema(schema, overrides=_WAYS)
        return grammar

    def _accepts(self, schema: dict[str, Any]) -> bool:
        return not self._matcher_class(self._vocabulary, self._grammar(schema)).is_error()


def load() -> Transformers:
    """Load the base that deg's default checkpoint stands on."""
    return Transformers(resolve_base(BASES[DEFAULT_BASE], report=print))


def _plain_model(files: BaseFiles) -> LlamaForCausalLM:
    model = LlamaForCausalLM(LlamaConfig(**files.config)).to(torch.bfloat16).eval()
    weights = load_weights(files)
    weights["lm_head.weight"] = weights["model.embed_tokens.weight"]
    model.load_state_dict(weights)
    return model


def _best(logits_V: torch.Tensor, bias: bytes) -> int:
    # V vocabulary; the bias is 0 where a token is not admissible
    admissible_V = torch.frombuffer(bytearray(bias), dtype=torch.uint8) > 0
    return int(logits_V.masked_fill(~admissible_V, float("-inf")).argmax())
