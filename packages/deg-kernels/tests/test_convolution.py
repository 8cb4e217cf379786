from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from deg_kernels import NOWHERE, StateRows, naive_short_conv, short_conv
from deg_kernels.convolution import cpu
from state_inputs import spans

# C channels, W taps, L = W - 1 inputs of a tail
NUM_CHANNELS = 200
LENGTHS = [5, 0, 1, 30, 17, 2, 30]
STARTS = [0, 1, NOWHERE, 0, 2, 2, 1]
DTYPES = [torch.float32, torch.bfloat16]
Activation = Literal["silu"] | None
every_kind = pytest.mark.parametrize(
    ("width", "activation", "dtype"),
    [(w, a, dtype) for w, a in ((3, None), (4, "silu")) for dtype in DTYPES],
)


def inputs(
    num_tokens: int, width: int, dtype: torch.dtype, num_channels: int = NUM_CHANNELS
) -> tuple[Tensor, Tensor, Tensor]:
    """Return tokens, taps, and a pool of three tails."""
    generator = torch.Generator().manual_seed(width)

    def random(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator).to(dtype)

    tokens = random(num_tokens, num_channels)
    return tokens, random(num_channels, width), random(3, num_channels, width - 1)


@every_kind
def test_a_row_alone_has_the_bits_it_has_in_a_batch(
    width: int, activation: Activation, dtype: torch.dtype
) -> None:
    x, weight, pool = inputs(sum(LENGTHS), width, dtype)
    rows = StateRows.of(LENGTHS, starts=STARTS)
    out, tails = short_conv(x, weight, pool, rows, activation=activation)
    for row, span in enumerate(spans(LENGTHS)):
        own = StateRows.of([LENGTHS[row]], starts=[STARTS[row]])
        alone, tail = short_conv(x[span], weight, pool, own, activation=activation)
        assert torch.equal(alone, out[span])
        assert torch.equal(tail[0], tails[row])


@every_kind
def test_the_order_of_rows_and_repeated_rows_change_no_bit(
    width: int, activation: Activation, dtype: torch.dtype
) -> None:
    x, weight, pool = inputs(sum(LENGTHS), width, dtype)
    rows = StateRows.of(LENGTHS, starts=STARTS)
    out, tails = short_conv(x, weight, pool, rows, activation=activation)
    order = [3, 6, 0, 3, 5, 1, 2, 4, 5, 5]
    where = spans(LENGTHS)
    tokens = torch.cat([torch.arange(where[row].start, where[row].stop) for row in order])
    again = StateRows.of([LENGTHS[row] for row in order], starts=[STARTS[row] for row in order])
    out_again, tails_again = short_conv(x[tokens], weight, pool, again, activation=activation)
    assert torch.equal(out_again, out[tokens])
    assert torch.equal(tails_again, tails[order])


@every_kind
@pytest.mark.parametrize("cuts", [[1, 2, 67], [64, 6], [33, 31, 6], [1] * 70])
def test_forks_cuts_and_decoding_give_the_bits_of_one_pass(
    width: int, activation: Activation, dtype: torch.dtype, cuts: list[int]
) -> None:
    x, weight, _ = inputs(70, width, dtype)
    expected, end = short_conv(x, weight, None, StateRows.of([70]), activation=activation)
    tails, outs = torch.zeros_like(end), []
    for span in spans(cuts):
        rows = StateRows.of([span.stop - span.start], starts=[0])
        out, tails = short_conv(x[span], weight, tails, rows, activation=activation)
        outs.append(out)
    assert torch.equal(torch.cat(outs), expected)
    assert torch.equal(tails, end)


@every_kind
def test_padding_is_exact(width: int, activation: Activation, dtype: torch.dtype) -> None:
    x, weight, pool = inputs(20, width, dtype)
    rows = StateRows.of([6, 9], offsets=[0, 8], starts=[0, 1])
    out, tails = short_conv(x, weight, pool, rows, activation=activation)
    for row, span in enumerate([slice(0, 6), slice(8, 17)]):
        own = StateRows.of([span.stop - span.start], starts=[row])
        alone, tail = short_conv(x[span], weight, pool, own, activation=activation)
        assert torch.equal(out[span], alone)
        assert torch.equal(tails[row], tail[0])
    assert not out[6:8].any()
    assert not out[17:].any()


def test_how_the_work_is_cut_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    x, weight, pool = inputs(sum(LENGTHS), 4, torch.bfloat16)
    rows = StateRows.of(LENGTHS, starts=STARTS)
    expected = short_conv(x, weight, pool, rows, activation="silu")
    for size in (1, 7 * NUM_CHANNELS):
        monkeypatch.setattr(cpu, "_BLOCK_NUMBERS", size)
        out, tails = short_conv(x, weight, pool, rows, activation="silu")
        assert torch.equal(out, expected[0])
        assert torch.equal(tails, expected[1])


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_second_thread_changes_no_bit(dtype: torch.dtype) -> None:
    x, weight, pool = inputs(61, 4, dtype, num_channels=1030)
    rows = StateRows.of([31, 30], starts=[0, 1])
    results = []
    num_threads = torch.get_num_threads()
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            results.append(short_conv(x, weight, pool, rows, activation="silu")[0])
    finally:
        torch.set_num_threads(num_threads)
    assert torch.equal(*results)


@every_kind
@pytest.mark.parametrize("pooled", [True, False])
def test_it_agrees_with_the_reference(
    width: int, activation: Activation, dtype: torch.dtype, pooled: bool
) -> None:
    x, weight, pool = inputs(sum(LENGTHS), width, dtype)
    rows = StateRows.of(LENGTHS, starts=STARTS if pooled else None)
    given = (x, weight, pool if pooled else None, rows)
    out, tails = short_conv(*given, activation=activation)
    expected, expected_tails = naive_short_conv(*given, activation=activation)
    tolerance = 1e-5 if dtype == torch.float32 else 2e-2
    torch.testing.assert_close(out, expected, rtol=tolerance, atol=tolerance)
    assert torch.equal(tails, expected_tails)


def test_it_is_the_causal_convolution_of_torch() -> None:
    x, weight, _ = inputs(12, 4, torch.float32)
    out, tails = short_conv(x, weight, None, StateRows.of([12]), activation="silu")
    mixed = F.conv1d(x.T[None], weight[:, None], padding=3, groups=NUM_CHANNELS)[0, :, :12]
    torch.testing.assert_close(out, F.silu(mixed).T)
    assert torch.equal(tails[0], x[-3:].T)


def test_the_reference_has_gradients() -> None:
    given = [x.requires_grad_() for x in inputs(6, 3, torch.float32)]
    naive_short_conv(*given, StateRows.of([6], starts=[1]), activation="silu")[0].sum().backward()
    assert all(x.grad is not None and x.grad.any() for x in given)


@pytest.mark.parametrize("lengths", [[], [0, 0]])
def test_rows_without_tokens_pass_their_tails_on(lengths: list[int]) -> None:
    x, weight, pool = inputs(0, 4, torch.float32)
    rows = StateRows.of(lengths, starts=list(range(len(lengths))))
    out, tails = short_conv(x, weight, pool, rows)
    assert out.shape == (0, NUM_CHANNELS)
    assert torch.equal(tails, pool[: len(lengths)])


def arguments() -> dict[str, Any]:
    x, weight, pool = inputs(5, 4, torch.bfloat16)
    rows = StateRows.of([2, 3], starts=[0, 2])
    return {"x_NC": x, "weight_CW": weight, "tails_SCL": pool, "rows": rows, "activation": "silu"}


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("x_NC", lambda x: x.double(), "has dtype float64"),
        ("x_NC", lambda x: x[0], "has shape"),
        ("weight_CW", lambda x: x.float(), "has dtype float32, but x_NC has bfloat16"),
        ("weight_CW", lambda x: x[:3], "has shape"),
        ("weight_CW", lambda x: x[:, :2], "2 taps are not one of"),
        ("tails_SCL", lambda x: x[..., :2], "has shape"),
        ("tails_SCL", lambda x: x.to("meta"), "lies on meta"),
        ("rows", lambda _: StateRows.of([6]), "reach to token 6 of 5"),
        ("activation", lambda _: "gelu", "'gelu' is not 'silu' or None"),
    ],
)
def test_what_does_not_fit_is_named(name: str, change: Callable[[Any], Any], problem: str) -> None:
    given = arguments()
    given[name] = change(given[name])
    with pytest.raises(ValueError, match=f"^{name}: .*{problem}"):
        short_conv(**given)


def test_a_start_outside_the_pool_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^starts: place 2 is not in a pool of 0$"):
        short_conv(**arguments() | {"tails_SCL": None})


def test_a_gradient_is_refused() -> None:
    given = arguments()
    given["weight_CW"].requires_grad_()
    with pytest.raises(ValueError, match=r"^weight_CW: requires a gradient"):
        short_conv(**given)
