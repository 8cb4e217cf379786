"""What it costs to compile a schema, beside the grammar compilers of constrained decoders.

python tools/bench_compile.py [--repeats N]

The others are needed here alone; what is not installed is left out, with a line that says so:

    pip install llguidance xgrammar outlines-core

Every run compiles a schema that nothing has seen before, from its JSON text to what answers the
first question: a fill plan here, a matcher over a vocabulary there. The vocabulary is the 256
bytes, the least that a grammar compiler can be given, so a real one only costs them more. Time is
processor time on one thread; all take their turn in one process, and the median counts.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from deg_schema import compile_schema

Compiler: TypeAlias = Callable[[str], object]

OURS = "deg_schema"
SIZES = (10, 40, 100, 400, 1000)
LEAVES: tuple[dict[str, Any], ...] = (
    {"type": "string", "description": "The name as it stands in the document"},
    {"enum": ["billing", "delivery", "returns", "other"], "description": "What it is about"},
    {"type": "integer", "minimum": 1, "maximum": 5, "description": "How urgent it is"},
    {"type": ["string", "null"], "format": "date", "description": "The day of the order"},
    {"type": "boolean", "description": "True if an answer is asked for"},
    {"type": "number", "minimum": 0, "description": "The amount, in euros"},
    {"type": "string", "maxLength": 40},
    {
        "anyOf": [{"type": "string"}, {"type": "null"}],
        "description": "The address, if there is one",
    },
)


def main() -> None:
    """Print the table: milliseconds at each size, and how often ours fits into theirs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    compilers = dict(_installed())
    for shape in (flat, nested):
        times = measure(compilers, shape, repeats)
        print(f"\n{shape.__doc__} Milliseconds to compile N properties:")
        print_table(times)


def flat(num_properties: int, seed: int) -> str:
    """One object with N scalar properties."""
    properties = {f"p{seed}_{i}": LEAVES[i % len(LEAVES)] for i in range(num_properties)}
    return json.dumps(_object(properties))


def nested(num_properties: int, seed: int) -> str:
    """Objects of five properties, every fourth a reference to one definition."""
    groups: dict[str, Any] = {}
    for index in range(num_properties // 5):
        leaves = {f"p{index}_{i}": LEAVES[(index + i) % len(LEAVES)] for i in range(5)}
        groups[f"g{seed}_{index}"] = _object(leaves) if index % 4 else {"$ref": "#/$defs/group"}
    definition = _object({f"d{i}": LEAVES[i] for i in range(5)})
    return json.dumps(_object(groups) | {"$defs": {"group": definition}})


def measure(
    compilers: dict[str, Compiler], shape: Callable[[int, int], str], repeats: int
) -> dict[str, list[float]]:
    """Return the median seconds at each size; what refuses a schema is left out."""
    times: dict[str, list[float]] = {name: [] for name in compilers}
    for size in SIZES:
        taken: dict[str, list[float]] = {name: [] for name in times}
        for number in range(repeats):
            text = shape(size, number)
            for name in list(taken):
                try:
                    taken[name].append(_seconds(compilers[name], text))
                except Exception as error:  # whatever another library raises is its refusal
                    print(f"{name} refuses the schema of {size} properties: {error}")
                    del taken[name], times[name]
        for name, seconds in taken.items():
            times[name].append(statistics.median(seconds))
    return times


def print_table(times: dict[str, list[float]]) -> None:
    """Print one line a compiler; the last column is linear where it is 1."""
    heads = ["x at 40", "x at 1000", "us each", "growth"]
    print(f"{'':<16}", *(f"{size:>8}" for size in SIZES), *(f"{head:>10}" for head in heads))
    for name, seconds in times.items():
        of_ours = [seconds[i] / times[OURS][i] for i in (SIZES.index(40), SIZES.index(1000))]
        each = [second / size for second, size in zip(seconds, SIZES, strict=True)]
        measures = [*of_ours, 1e6 * each[-1], each[-1] / each[SIZES.index(40)]]
        cells = [f"{1e3 * second:>8.2f}" for second in seconds]
        print(f"{name:<16}", *cells, *(f"{measure:>10.2f}" for measure in measures))


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    closed = {"required": list(properties), "additionalProperties": False}
    return {"type": "object", "properties": properties} | closed


def _seconds(compiler: Compiler, text: str) -> float:
    began = time.process_time()
    compiler(text)
    return time.process_time() - began


def _installed() -> Iterator[tuple[str, Compiler]]:
    yield OURS, lambda text: compile_schema(json.loads(text))
    for library, make in (
        ("llguidance", _llguidance),
        ("xgrammar", _xgrammar),
        ("outlines_core", _outlines),
    ):
        try:
            module = importlib.import_module(library)
        except ImportError as error:
            print(f"{library} is left out: {error}")
        else:
            version = importlib.metadata.version(library.replace("_", "-"))
            print(f"{library} {version}")
            yield library, make(module)


def _llguidance(library: Any) -> Compiler:
    tokenizer = library.LLTokenizer("byte")

    def compile(text: str) -> object:
        matcher = library.LLMatcher(tokenizer, library.LLMatcher.grammar_from_json_schema(text))
        if matcher.is_error():
            raise ValueError(matcher.get_error())
        return matcher

    return compile


def _xgrammar(library: Any) -> Compiler:
    bytes_and_end = [bytes([byte]) for byte in range(256)] + [b"</s>"]
    vocabulary = library.TokenizerInfo(bytes_and_end, stop_token_ids=[256])
    compiler = library.GrammarCompiler(vocabulary, max_threads=1, cache_enabled=False)
    return lambda text: library.GrammarMatcher(compiler.compile_json_schema(text))


def _outlines(library: Any) -> Compiler:
    vocabulary = library.Vocabulary(256, {bytes([byte]): [byte] for byte in range(256)})
    schemas = importlib.import_module("outlines_core.json_schema")
    return lambda text: library.Guide(
        library.Index(schemas.build_regex_from_schema(text), vocabulary)
    )


if __name__ == "__main__":
    main()
