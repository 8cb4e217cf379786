"""The section of the GPU check for decode graphs: the writer of deg-model, graphs against steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from gpu.measure import Bench, Equal, Line, equalities

from deg_model import Qwen35, Qwen35Config, State, Writer, qwen35
from deg_model.decode_graph import Decoder

__all__ = ["graphs"]


def graphs(bench: Bench) -> Iterator[Line]:
    """Check that rows over graphs get the bits that steps from the host give, and time both."""
    backbone = _backbone(bench)
    # no text is read
    writer = Writer(backbone, backbone.embedding_VH, None)
    state = writer.read([7 * i % 500 for i in range(bench.size(4096, 70))])
    yield from equalities("decode graph", [("rows", _bits(writer, state))])
    for num_rows in (1, 2, 4, 8, 16):
        yield from _times(bench, writer, state, num_rows)


def _bits(writer: Writer, state: State) -> Iterator[Equal]:
    headers = [[7 + i] * (1 + 3 * i) for i in range(5)]
    # how many of the rows, from the first on, take part in each step
    company = [5] * 4 + [3] * 4 + [4] * 3 + [1] * 4
    found, expected = (
        _written(reader, headers, state, company) for reader in (_decoder(writer), writer)
    )
    yield "graph == step", found == expected


def _written(
    writer: Writer | Decoder, headers: Sequence[Sequence[int]], state: State, company: Sequence[int]
) -> list[list[bytes]]:
    """Return the logits of each step; a row that comes again starts from its header."""
    rows: list[Sequence[int]] = []
    states: list[State] = []
    found = []
    for size in company:
        rows = [*rows[:size], *headers[len(rows) : size]]
        logits, states = writer.extend(rows, [*states[:size], *[state] * (size - len(states))])
        found.append([row_V.float().cpu().numpy().tobytes() for row_V in logits])
        rows = [(int(row_V.argmax()),) for row_V in logits]
    return found


def _times(bench: Bench, writer: Writer, state: State, num_rows: int) -> Iterator[Line]:
    columns = {"batch": str(num_rows), "context": str(state.length)}
    layers = (tensor for layer in writer.backbone.layers for tensor in layer.values())
    weights = (writer.backbone.embedding_VH, *layers)
    num_bytes = sum(t.numel() * t.element_size() for t in weights) + num_rows * state.num_bytes
    for how, reader in (("from the host", writer), ("in a graph", _decoder(writer))):
        states = [state] * num_rows

        def step(reader: Writer | Decoder = reader) -> None:
            nonlocal states
            _, states = reader.extend([[5]] * num_rows, states)

        step()
        ms = bench.ms(step)
        yield bench.timing(f"step of a writer {how}", ms, num_bytes=num_bytes, **columns)


def _decoder(writer: Writer) -> Decoder:
    # on a CPU, where a writer has none, its steps run as they are
    return Decoder(writer.backbone, writer._head_VH, writer.extend)


def _backbone(bench: Bench) -> Qwen35:
    """Make a Qwen3.5-0.8B with random weights."""
    layers = bench.size(24, 4)
    config = Qwen35Config(
        family="qwen3.5",
        vocab_size=bench.size(248320, 500),
        hidden_size=bench.size(1024, 64),
        intermediate_size=bench.size(3584, 96),
        num_layers=layers,
        num_heads=bench.size(8, 4),
        num_kv_heads=2,
        head_size=bench.size(256, 64),
        norm_eps=1e-6,
        rope_theta=1e7,
        max_positions=262144,
        state_layers=frozenset(i for i in range(layers) if i % 4 != 3),
        rotary_size=bench.size(64, 16),
        num_key_heads=bench.size(16, 2),
        num_value_heads=bench.size(16, 2),
        key_size=bench.size(128, 32),
        value_size=bench.size(128, 32),
        conv_width=4,
    )
    weights = {
        name: bench.randn(*shape, scale=0.1 if len(shape) == 1 else shape[-1] ** -0.5)
        for name, shape in qwen35.weight_shapes(config).items()
    }
    # what the stack computes of its sizes lies with the weights
    with torch.device(bench.device):
        return Qwen35(config, weights)
