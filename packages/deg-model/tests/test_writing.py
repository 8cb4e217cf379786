from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor

from deg_model import DegModel, RowAttention, State, Writer

FAMILIES = ["llama", "qwen3.5", "lfm2"]
DTYPES = [torch.float32, torch.bfloat16]

MakeModel = Callable[..., DegModel]


def trunk_of(num: int, first: int = 7) -> list[int]:
    return [3 + (first * place + place * place) % 290 for place in range(num)]


def written(writer: Writer, rows: Sequence[Sequence[int]], states: Sequence[State]) -> list[Tensor]:
    """Return each row's logits after its header, then after each of its six likeliest tokens."""
    found: list[list[Tensor]] = [[] for _ in rows]
    states = list(states)
    for _ in range(7):
        logits_RV, states = writer.extend(rows, states)
        for logits, row in zip(found, logits_RV, strict=True):
            logits.append(row)
        rows = [(int(row.argmax()),) for row in logits_RV]
    return [torch.stack(logits) for logits in found]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_row_has_the_same_bits_alone_and_in_company(
    make_model: MakeModel, family: str, dtype: torch.dtype
) -> None:
    writer = make_model(family, dtype=dtype).writer
    one, other = writer.read(trunk_of(40)), writer.read(trunk_of(17, first=11))
    rows = [trunk_of(5), trunk_of(9), trunk_of(1), trunk_of(5, first=3)]
    states = [one, one, other, other]
    together = written(writer, rows, states)
    for row, state, logits in zip(rows, states, together, strict=True):
        (alone,) = written(writer, [row], [state])
        assert torch.equal(alone, logits)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_row_has_the_same_bits_when_others_leave_and_join(
    make_model: MakeModel, family: str, dtype: torch.dtype
) -> None:
    writer = make_model(family, dtype=dtype).writer
    trunk = writer.read(trunk_of(30))
    (expected,) = written(writer, [trunk_of(4)], [trunk])
    logits_RV, (state, *_) = writer.extend([trunk_of(4), trunk_of(6)], [trunk, trunk])
    found = [logits_RV[0]]
    for company in (0, 3, 1, 20, 2, 0):
        rows = [(int(found[-1].argmax()),), *[trunk_of(2 + i) for i in range(company)]]
        logits_RV, (state, *_) = writer.extend(rows, [state, *[trunk] * company])
        found.append(logits_RV[0])
    assert torch.equal(torch.stack(found), expected)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_trunk_read_in_pieces_is_continued_as_one_read_whole(
    make_model: MakeModel, family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = make_model(family).writer
    whole = writer.read(trunk_of(90))
    monkeypatch.setattr("deg_model.writing._CHUNK", 32)
    pieces = writer.read(trunk_of(90))
    assert pieces.length == whole.length == 90
    one, other = (written(writer, [[5]], [state])[0] for state in (whole, pieces))
    assert torch.equal(one, other)


def test_logits_are_those_of_the_embeddings(make_model: MakeModel) -> None:
    model = make_model()
    logits_RV, _ = model.writer.extend([trunk_of(8)], [State()])
    ids = torch.tensor(trunk_of(8))
    (hidden_NH,) = model.backbone.hidden(
        ids, torch.arange(8), RowAttention([8], [State()]), taps=(3,)
    )
    expected_V = hidden_NH[-1] @ model.backbone.embedding_VH.T
    torch.testing.assert_close(logits_RV[0], expected_V, atol=1e-4, rtol=1e-4)


def test_a_writer_is_loaded_when_it_is_first_asked_for(make_model: MakeModel) -> None:
    plain = make_model()
    loads = []

    def load() -> Writer:
        loads.append(1)
        return Writer(plain.backbone, plain.backbone.embedding_VH, plain.tokenizer)

    model = DegModel(
        plain.backbone,
        plain.heads,
        plain.tokenizer,
        taps=plain.taps,
        model_id="tiny",
        load_writer=load,
    )
    assert not loads
    assert model.writer is model.writer
    assert len(loads) == 1
