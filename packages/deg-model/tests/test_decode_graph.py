from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor

from deg_model import DegModel, KeyValues, State, Writer
from deg_model.decode_graph import DecodeBuffers, Decoder, DecodeStep

FAMILIES = ["llama", "qwen3.5", "lfm2"]
DTYPES = [torch.float32, torch.bfloat16]

MakeModel = Callable[..., DegModel]


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=DTYPES, ids=["fp32", "bf16"])
def writer(
    request: pytest.FixtureRequest,
    make_model: MakeModel,
    family: str,
    monkeypatch: pytest.MonkeyPatch,
) -> Writer:
    monkeypatch.setattr("deg_model.writing._HAS_GRAPHS", ("cpu",))
    return make_model(family, dtype=request.param).writer


def trunk_of(num: int, first: int = 7) -> list[int]:
    return [3 + (first * place + place * place) % 290 for place in range(num)]


class Alone:
    """A row that is read on both ways, and must get the same logits."""

    def __init__(self, writer: Writer, ids: Sequence[int], state: State) -> None:
        self.writer, self.ids = writer, ids
        self.plain = self.state = state

    def check(self, logits_V: Tensor, state: State) -> None:
        expected_RV, (self.plain,) = self.writer.extend([self.ids], [self.plain])
        assert torch.equal(logits_V, expected_RV[0])
        self.ids, self.state = (int(logits_V.argmax()),), state


def read_on(decoder: Writer | Decoder, rows: Sequence[Alone]) -> None:
    found = decoder.extend([row.ids for row in rows], [row.state for row in rows])
    for row, logits_V, state in zip(rows, *found, strict=True):
        row.check(logits_V, state)


def test_a_step_has_the_bits_of_each_row_read_alone(writer: Writer) -> None:
    one, other = writer.read(trunk_of(61)), writer.read(trunk_of(17, first=11))
    rows = [
        Alone(writer, trunk_of(5), one),
        Alone(writer, trunk_of(2, first=5), one),
        Alone(writer, trunk_of(9), other),
    ]
    with writer.decoder() as decoder:
        assert isinstance(decoder, Decoder)
        for _ in range(8):
            read_on(decoder, rows)


def test_rows_keep_their_bits_when_others_leave_and_join(writer: Writer) -> None:
    trunk = writer.read(trunk_of(30))
    waiting = [Alone(writer, trunk_of(2 + i % 4, first=3 + i), trunk) for i in range(12)]
    rows = [waiting.pop(), waiting.pop()]
    with writer.decoder() as decoder:
        # who leaves, and how many come
        for leaving, coming in ((None, 0), (0, 1), (None, 4), (2, 0), (4, 0), (0, 5), (1, 0)):
            if leaving is not None:
                del rows[leaving]
            rows = [*[waiting.pop() for _ in range(coming)], *rows[::-1]]
            read_on(decoder, rows)
            read_on(decoder, rows)


def test_rows_keep_their_bits_when_buffers_grow(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deg_model.decode_graph._OWN_TOKENS", 2)
    rows = [Alone(writer, trunk_of(3), writer.read(trunk_of(9)))]
    with writer.decoder() as decoder:
        for _ in range(6):
            read_on(decoder, rows)
        rows.append(Alone(writer, trunk_of(4), writer.read(trunk_of(70))))
        for _ in range(4):
            read_on(decoder, rows)


def test_buffers_serve_one_loop_after_another(writer: Writer) -> None:
    trunk = writer.read(trunk_of(20))
    with writer.decoder() as first, writer.decoder() as beside:
        assert first is not beside
        read_on(first, [Alone(writer, trunk_of(3), trunk) for _ in range(3)])
    with writer.decoder() as again:
        assert again in (first, beside)
        rows = [Alone(writer, trunk_of(5, first=9), trunk)]
        for _ in range(3):
            read_on(again, rows)


@torch.inference_mode()
def test_padding_is_left_as_it_was(writer: Writer) -> None:
    _, states = writer.extend([trunk_of(5), trunk_of(70)], [State(), State()])
    buffers = DecodeBuffers(states[0].layers, 4, 128)
    for state in states:
        buffers.join(state)
    step = DecodeStep(writer.backbone, writer._head_VH, buffers, 4)
    real = [bits(buffers, row) for row in (0, 1)]
    rest = [bits(buffers, row) for row in (2, 3)]
    buffers.tell(padding=True)
    step.step()
    assert [bits(buffers, row) for row in (0, 1)] == real
    step()
    assert [bits(buffers, row) for row in (2, 3)] == rest
    assert bits(buffers, 0) != real[0]
    assert bits(buffers, 1) != real[1]


def bits(buffers: DecodeBuffers, row: int) -> list[bytes]:
    """Return all that the pools hold for *row*, used or not."""
    inside = slice(row * buffers.num_tokens, (row + 1) * buffers.num_tokens)
    tensors: list[Tensor] = []
    for layer in buffers.layers:
        if isinstance(layer, KeyValues):
            tensors += [layer.keys_PGD[inside], layer.values_PGD[inside]]
        else:
            states = [] if layer.states_IHKV is None else [layer.states_IHKV[row]]
            tensors += [layer.tails_ICW[row], *states]
    return [each.contiguous().view(torch.uint8).numpy().tobytes() for each in tensors]


def test_a_cpu_reads_on_without_static_buffers(make_model: MakeModel) -> None:
    writer = make_model().writer
    with writer.decoder() as decoder:
        assert decoder is writer
