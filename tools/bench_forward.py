"""What reading, forks and a decode step cost on one thread, as ratios of one run.

python tools/bench_forward.py [--repeats N] [--layers N]

A Llama stack of SmolLM2-135M's sizes with random weights in bf16 runs in turn with transformers on
the same weights, with the matrix products alone, and with the paths of torch that do not keep bits
in every batch. Time is processor time; the least of each counts, and only ratios mean much.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from unittest.mock import patch

import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import DynamicCache, LlamaConfig, LlamaModel

from deg_kernels import Prefix, Rows
from deg_model import Llama, RowAttention, State, attention, stack
from deg_model.llama import config_from_hf

SIZES = {
    "vocab_size": 49152,
    "hidden_size": 576,
    "intermediate_size": 1536,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "max_position_embeddings": 8192,
    "rope_theta": 100000.0,
}
CONTEXT, ROWS, OWN = 400, 8, 32

# N tokens, A heads, G key/value heads, D head size


def main() -> None:
    """Print the time of every side and the ratios that the targets are for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--layers", type=int, default=30)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    plain = LlamaModel(LlamaConfig(**SIZES, num_hidden_layers=arguments.layers))
    plain = plain.to(torch.bfloat16).eval()
    weights = {f"model.{name}": weight for name, weight in plain.state_dict().items()}
    config = config_from_hf(plain.config.to_dict())
    llama, unpacked = Llama(config, weights), Llama(config, weights)
    llama.pack()
    with torch.inference_mode():
        best = best_of(arguments.repeats, sides(llama, unpacked, plain))
    report(best)


def sides(llama: Llama, unpacked: Llama, plain: LlamaModel) -> dict[str, Callable[[], object]]:
    """Return what is timed, by name."""
    ids = torch.randint(0, SIZES["vocab_size"], (512,))
    _, state = read(llama, ids[:CONTEXT], State())
    forks = ids[: ROWS * OWN]
    cache = DynamicCache(config=plain.config)
    plain(ids[None, :CONTEXT], past_key_values=cache, use_cache=True)
    step_state = [read(llama, ids[:1], state)[1]]

    def decode() -> None:
        _, step_state[0] = read(llama, ids[:1], step_state[0])

    def naive_forks() -> None:
        with naive():
            fork(unpacked, forks, state)

    return {
        "products of 512 rows": lambda: products(unpacked, 512),
        "prefill": lambda: read(llama, ids, State()),
        "prefill, transformers": lambda: plain(ids[None], use_cache=True),
        "products of 256 rows": lambda: products(unpacked, ROWS * OWN),
        "forks": lambda: fork(llama, forks, state),
        "forks, naive": naive_forks,
        "decode": decode,
        "decode, transformers": lambda: plain(ids[None, :1], past_key_values=cache, use_cache=True),
    }


def report(best: dict[str, float]) -> None:
    """Print times in milliseconds, then the ratios beside their targets."""
    for name, seconds in best.items():
        print(f"{name:24}{1e3 * seconds:8.1f} ms")
    rows = (
        ("prefill tokens/s / products", "products of 512 rows", "prefill", ">= 0.65"),
        ("  of transformers", "products of 512 rows", "prefill, transformers", ""),
        ("prefill tokens/s / transformers", "prefill, transformers", "prefill", ""),
        ("fork tokens/s / products", "products of 256 rows", "forks", ">= 0.65"),
        ("invariant / naive fork round", "forks", "forks, naive", "<= 1.25"),
        ("decode step / transformers", "decode", "decode, transformers", "<= 1.00"),
    )
    for name, above, below, target in rows:
        print(f"{name:34}{best[above] / best[below]:6.2f}  {target}")


def read(llama: Llama, ids: Tensor, state: State) -> tuple[Tensor, State]:
    """Read *ids* after *state* and keep what they leave behind."""
    attend = RowAttention([len(ids)], [state], keep=True)
    positions = torch.arange(state.length, state.length + len(ids))
    (hidden,) = llama.hidden(ids, positions, attend, taps=(llama.config.num_layers,))
    return hidden, attend.states()[0]


def fork(llama: Llama, ids: Tensor, state: State) -> Tensor:
    """Read `ROWS` forks of *state*."""
    attend = RowAttention([OWN] * ROWS, [state] * ROWS)
    positions = (state.length + torch.arange(OWN)).repeat(ROWS)
    (hidden,) = llama.hidden(ids, positions, attend, taps=(llama.config.num_layers,))
    return hidden


def products(llama: Llama, num_rows: int) -> None:
    """Multiply that many rows with every weight of the layers, and do nothing else."""
    inputs = {size: torch.ones(num_rows, size, dtype=torch.bfloat16) for size in (576, 1536)}
    for layer in llama.layers:
        for name in ("qkv", "o", "gate_up", "down"):
            F.linear(inputs[layer[name].shape[1]], layer[name])


@contextmanager
def naive() -> Iterator[None]:
    """Replace each operator by what torch has for it, attention by one fused call for all rows."""
    with (
        patch.object(stack, "linear", F.linear),
        patch.object(stack, "silu", F.silu),
        patch.object(attention, "fork_attention", naive_attention),
    ):
        yield


def naive_attention(
    q_NAD: Tensor, keys_NGD: Tensor, values_NGD: Tensor, rows: Rows, prefixes: Sequence[Prefix]
) -> Tensor:
    """Return attention by torch's fused kernel over a copy of the prefix for every row."""
    num, length = len(rows.lengths), rows.lengths[0]
    prefix = prefixes[0]
    before = len(prefix)

    def all_keys(prefix_PGD: Tensor, own_NGD: Tensor) -> Tensor:
        own_RLGD = own_NGD.view(num, length, *own_NGD.shape[1:])
        return torch.cat([prefix_PGD.expand(num, *prefix_PGD.shape), own_RLGD], 1).transpose(1, 2)

    q_RALD = q_NAD.view(num, length, *q_NAD.shape[1:]).transpose(1, 2)
    visible = torch.ones(length, before + length, dtype=torch.bool).tril(before)
    out_RALD = F.scaled_dot_product_attention(
        q_RALD,
        all_keys(prefix.keys_PGD, keys_NGD),
        all_keys(prefix.values_PGD, values_NGD),
        attn_mask=visible,
        enable_gqa=True,
    )
    return out_RALD.transpose(1, 2).reshape(q_NAD.shape)


def best_of(repeats: int, runs: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Return the least processor time of each side, run in turn."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(repeats):
        for name, run in runs.items():
            for _ in range(4 if name.startswith("decode") else 1):
                began = time.process_time()
                run()
                best[name] = min(best[name], time.process_time() - began)
    return best


if __name__ == "__main__":
    main()
