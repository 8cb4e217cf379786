"""The three systems: deg, and the same base weights writing the whole object under a grammar."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from baselines.cases import Case, prompt_of
from baselines.grammars import acceptable
from baselines.weights import gguf_file
from deg_model import BASES, DEFAULT_BASE, BaseFiles, load_weights, resolve_base
from deg_runtime import load

__all__ = ["MAX_NEW_TOKENS", "SYSTEMS", "Answer", "System"]

MAX_NEW_TOKENS = 512
_NUM_POSITIONS = 8192


@dataclass(frozen=True, slots=True)
class Answer:
    """What a system made of a case.

    Attributes:
        text: The JSON text; a cut-off one is no JSON.
        dropped: Keywords of the schema that the grammar had to do without.
    """

    text: str
    prompt_tokens: int
    generated_tokens: int
    cut_off: bool = False
    dropped: tuple[str, ...] = ()


class System(Protocol):
    """What is compared: `prepare` is free, `fill` is timed."""

    def prepare(self, case: Case) -> None:
        """Do what a user would do once for a schema, such as finding out what is refused."""

    def fill(self, case: Case) -> Answer:
        """Answer from the text and the schema, with nothing kept from earlier cases."""


class Deg:
    """deg with the checkpoint that it ships."""

    def __init__(self) -> None:
        self._engine = load(report=print)

    def prepare(self, case: Case) -> None:
        """Do nothing: there is nothing to prepare."""

    def fill(self, case: Case) -> Answer:
        """Fill the schema."""
        response = self._engine.fill(case.context, case.schema)
        usage = response["usage"]
        text = json.dumps(response["value"], ensure_ascii=False)
        return Answer(text, usage["prompt_tokens"], usage["generated_tokens"])


class Transformers:
    """transformers in bf16 with its KV cache, greedy, masked by llguidance.

    The loop is leaner than `generate`: it does nothing but the forward of a token and its mask.
    """

    def __init__(self) -> None:
        self._guidance = importlib.import_module("llguidance")
        files = resolve_base(BASES[DEFAULT_BASE], report=print)
        self._model = _plain_model(files)
        self._eos: int = files.config["eos_token_id"]
        path = files.folder / "tokenizer.json"
        self._tokenizer = importlib.import_module("tokenizers").Tokenizer.from_file(str(path))
        wrapped = importlib.import_module("transformers").PreTrainedTokenizerFast(
            tokenizer_file=str(path), eos_token="<|im_end|>"
        )
        hf = importlib.import_module("llguidance.hf")
        self._vocabulary = hf.from_tokenizer(wrapped, n_vocab=files.config["vocab_size"])
        self._prepared: tuple[dict[str, Any], list[str]] = ({}, [])

    def prepare(self, case: Case) -> None:
        """Find out what the grammar refuses."""
        self._prepared = acceptable(case.schema, self._accepts)

    def fill(self, case: Case) -> Answer:
        """Write the object, one token a forward."""
        schema, dropped = self._prepared
        matcher = self._guidance.LLMatcher(self._vocabulary, self._grammar(schema))
        prompt = self._tokenizer.encode(prompt_of(case), add_special_tokens=False).ids
        made, fed = [], torch.tensor([prompt])
        cache = importlib.import_module("transformers").DynamicCache()
        while len(made) < MAX_NEW_TOKENS:
            with torch.inference_mode():
                out = self._model(fed, past_key_values=cache, use_cache=True, logits_to_keep=1)
            token = _best(out.logits[0, -1], matcher.compute_logit_bias())
            if token == self._eos:
                break
            made.append(token)
            matcher.consume_token(token)
            if matcher.is_stopped():
                break
            fed = torch.tensor([[token]])
        cut_off = not matcher.is_accepting()
        text = self._tokenizer.decode(made)
        return Answer(text, len(prompt), len(made), cut_off, tuple(dropped))

    def _grammar(self, schema: dict[str, Any]) -> str:
        # one blank after ":" and ",", as models learned it, instead of any number of them
        ways = {
            "whitespace_flexible": False,
            "item_separator": ", ",
            "key_separator": ": ",
            "coerce_one_of": True,
        }
        made: str = self._guidance.LLMatcher.grammar_from_json_schema(schema, overrides=ways)
        return made

    def _accepts(self, schema: dict[str, Any]) -> bool:
        is_error, _ = self._guidance.LLMatcher.validate_grammar_with_warnings(
            self._grammar(schema), self._vocabulary
        )
        return not is_error


class LlamaCpp:
    """llama.cpp on the GGUF file itself, greedy, under its own grammar of the schema."""

    def __init__(self) -> None:
        self._llama = importlib.import_module("llama_cpp")
        self._model = self._llama.Llama(
            str(gguf_file()), n_ctx=_NUM_POSITIONS, n_threads=1, n_threads_batch=1, verbose=False
        )
        self._prepared: tuple[dict[str, Any], list[str]] = ({}, [])

    def prepare(self, case: Case) -> None:
        """Find out what the grammar refuses."""
        self._prepared = acceptable(case.schema, self._accepts)

    def fill(self, case: Case) -> Answer:
        """Write the object."""
        schema, dropped = self._prepared
        self._model.reset()
        prompt = self._model.tokenize(prompt_of(case).encode(), add_bos=False, special=True)
        made = self._model.create_completion(
            prompt,
            max_tokens=MAX_NEW_TOKENS,
            temperature=0.0,
            repeat_penalty=1.0,
            grammar=self._grammar(schema),
        )
        (choice,), usage = made["choices"], made["usage"]
        return Answer(
            choice["text"],
            len(prompt),
            usage["completion_tokens"],
            choice["finish_reason"] == "length",
            tuple(dropped),
        )

    def _grammar(self, schema: dict[str, Any]) -> Any:
        return self._llama.LlamaGrammar.from_json_schema(json.dumps(schema), verbose=False)

    def _accepts(self, schema: dict[str, Any]) -> bool:
        try:
            self._grammar(schema)
        except Exception:  # it raises what it comes upon
            return False
        return True


def _plain_model(files: BaseFiles) -> Any:
    transformers = importlib.import_module("transformers")
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**files.config))
    weights = load_weights(files)
    weights["lm_head.weight"] = weights["model.embed_tokens.weight"]
    model = model.to(torch.bfloat16).eval()
    model.load_state_dict(weights)
    return model


def _best(logits_V: torch.Tensor, bias: bytes) -> int:
    admissible_V = torch.frombuffer(bytearray(bias), dtype=torch.uint8)[: len(logits_V)] > 0
    return int(logits_V.float().masked_fill(~admissible_V, float("-inf")).argmax())


SYSTEMS: dict[str, Callable[[], System]] = {
    "transformers": Transformers,
    "llamacpp": LlamaCpp,
    "deg": Deg,
}
"""How each system is loaded, by the name that `--systems` takes."""
