from __future__ import annotations

from typing import Literal

import pytest
import torch
from torch import Tensor

from deg_kernels import NOWHERE, StateRows, naive_short_conv
from state_inputs import spans

pytest.importorskip("triton")
from compile_only import SHARED_BYTES, compile_launches, recorded_launches
from deg_kernels.convolution.triton_kernel import short_conv

# C channels, W taps; more channels and tokens than one program takes
NUM_CHANNELS = 136
LENGTHS = [5, 0, 1, 18, 2]
STARTS = [0, 1, NOWHERE, 0, 2]
Activation = Literal["silu"] | None
every_kind = pytest.mark.parametrize(
    ("width", "activation", "dtype"),
    [
        (width, activation, dtype)
        for width, activation in ((3, None), (4, "silu"))
        for dtype in (torch.float32, torch.bfloat16)
    ],
)


def inputs(num_tokens: int, width: int, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    """Return tokens, taps, and a pool of three tails."""
    generator = torch.Generator().manual_seed(width)
    shapes = [(num_tokens, NUM_CHANNELS), (NUM_CHANNELS, width), (3, NUM_CHANNELS, width - 1)]
    x, weight, pool = (torch.randn(shape, generator=generator).to(dtype) for shape in shapes)
    return x, weight, pool


@every_kind
def test_it_agrees_with_the_reference_and_company_changes_no_bit(
    width: int, activation: Activation, dtype: torch.dtype
) -> None:
    x, weight, pool = inputs(sum(LENGTHS), width, dtype)
    rows = StateRows.of(LENGTHS, starts=STARTS)
    out, tails = short_conv(x, weight, pool, rows, activation)
    expected, expected_tails = naive_short_conv(x, weight, pool, rows, activation=activation)
    tolerance = 1e-5 if dtype == torch.float32 else 2e-2
    torch.testing.assert_close(out, expected, rtol=tolerance, atol=tolerance)
    assert torch.equal(tails, expected_tails)
    where, order = spans(LENGTHS), [3, 1, 4, 4]
    tokens = torch.cat([torch.arange(where[row].start, where[row].stop) for row in order])
    again = StateRows.of([LENGTHS[row] for row in order], starts=[STARTS[row] for row in order])
    out_again, tails_again = short_conv(x[tokens], weight, pool, again, activation)
    assert torch.equal(out_again, out[tokens])
    assert torch.equal(tails_again, tails[order])


@every_kind
def test_forks_and_decoding_give_the_bits_of_one_pass(
    width: int, activation: Activation, dtype: torch.dtype
) -> None:
    x, weight, _ = inputs(20, width, dtype)
    expected, end = short_conv(x, weight, None, StateRows.of([20]), activation)
    tails: Tensor | None = None
    for length, span in zip([17, 1, 2], spans([17, 1, 2]), strict=True):
        rows = StateRows.of([length], starts=None if tails is None else [0])
        out, tails = short_conv(x[span], weight, tails, rows, activation)
        assert torch.equal(out, expected[span])
    assert torch.equal(tails, end)


def test_tokens_of_nobody_give_zeros() -> None:
    x, weight, _ = inputs(5, 4, torch.float32)
    out, _ = short_conv(x, weight, None, StateRows.of([2], offsets=[1]), None)
    assert not out[:1].any()
    assert not out[3:].any()
    assert short_conv(x, weight, None, StateRows.of([]), None)[1].shape == (0, NUM_CHANNELS, 3)


def test_one_variant_a_layer_serves_every_batch_and_fits_every_chip() -> None:
    with recorded_launches() as launches:
        for width, activation in ((3, None), (4, "silu")):
            weight, pool = torch.empty(2048, width).bfloat16(), torch.empty(2, 2048, width - 1)
            for lengths in ([1], [16], [17, 3], [1] * 16):
                x = torch.empty(sum(lengths), 2048).bfloat16()
                rows = StateRows.of(lengths, starts=[1] * len(lengths))
                short_conv(x, weight, pool.bfloat16(), rows, activation)
                short_conv(x, weight, None, StateRows.of(lengths), activation)
    assert len(set(launches)) == 2
    compiled = compile_launches(launches)
    assert len(compiled) == 2 * len(SHARED_BYTES)
    assert all(each.fits for each in compiled)
