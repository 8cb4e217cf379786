from __future__ import annotations

import pytest
import torch
from torch import Tensor

from deg_kernels import NOWHERE, StateRows, naive_fork_delta_rule
from state_inputs import DeltaSizes, delta_inputs, spans

pytest.importorskip("triton")
from compile_only import SHARED_BYTES, compile_launches, recorded_launches
from deg_kernels.delta_rule.triton_kernel import fork_delta_rule

# every program is interpreted: few heads, few columns, few tokens
SIZES = DeltaSizes(1, 2, 16, 8)
LENGTHS = [3, 0, 1, 2]
STARTS = [0, 1, NOWHERE, 0]
DTYPES = [torch.float32, torch.bfloat16]


def run(
    tokens: tuple[Tensor, ...], pool: Tensor | None, lengths: list[int], starts: list[int]
) -> tuple[Tensor, Tensor]:
    """Return the outputs and every row's final state."""
    rows = StateRows.of(lengths, starts=starts, writes=range(len(lengths)))
    heads, key_size, value_size = tokens[2].shape[1], tokens[0].shape[2], tokens[2].shape[2]
    finals_FJKV = torch.full((len(lengths), heads, key_size, value_size), torch.nan)
    return fork_delta_rule(*tokens, pool, rows, finals_FJKV), finals_FJKV


@pytest.mark.parametrize("dtype", DTYPES)
def test_company_order_and_repetition_change_no_bit(dtype: torch.dtype) -> None:
    inputs, pool = delta_inputs(sum(LENGTHS), SIZES, dtype), SIZES.pool(2)
    out, finals = run(inputs[:], pool, LENGTHS, STARTS)
    where = spans(LENGTHS)
    for order in ([0], [3, 1, 0, 2, 3]):
        tokens = torch.cat([torch.arange(where[row].start, where[row].stop) for row in order])
        lengths, starts = [LENGTHS[row] for row in order], [STARTS[row] for row in order]
        again, finals_again = run(inputs[tokens], pool, lengths, starts)
        assert torch.equal(again, out[tokens])
        assert torch.equal(finals_again, finals[order])


@pytest.mark.parametrize("dtype", DTYPES)
def test_forks_and_decoding_give_the_bits_of_one_pass(dtype: torch.dtype) -> None:
    inputs = delta_inputs(7, SIZES, dtype)
    expected, expected_state = run(inputs[:], None, [7], [NOWHERE])
    _, pool = run(inputs[:4], None, [4], [NOWHERE])
    before = pool.clone()
    fork, _ = run(inputs[4:], pool, [3], [0])
    assert torch.equal(fork, expected[4:])
    assert torch.equal(pool, before)
    rows = StateRows.of([1], starts=[0], writes=[0])
    for n in range(4, 7):
        step = fork_delta_rule(*inputs[n : n + 1], pool, rows, pool)
        assert torch.equal(step[0], expected[n])
    assert torch.equal(pool, expected_state)


@pytest.mark.parametrize("sizes", [DeltaSizes(1, 2, 16, 8), DeltaSizes(1, 1, 64, 16)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_it_agrees_with_the_reference_in_fp64(sizes: DeltaSizes, dtype: torch.dtype) -> None:
    inputs, pool = delta_inputs(sum(LENGTHS), sizes, dtype), sizes.pool(2)
    out, finals = run(inputs[:], pool, LENGTHS, STARTS)
    rows = StateRows.of(LENGTHS, starts=STARTS, writes=range(len(LENGTHS)))
    true_finals = torch.zeros_like(finals, dtype=torch.float64)
    true = naive_fork_delta_rule(*inputs[:], pool.double(), rows, finals_FJKV=true_finals)
    tolerance = 1e-5 if dtype == torch.float32 else 1e-2
    torch.testing.assert_close(out.double(), true, rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(finals.double(), true_finals, rtol=1e-5, atol=1e-5)


def test_tokens_of_nobody_give_zeros_and_states_stay_where_none_is_asked_for() -> None:
    inputs, pool = delta_inputs(5, SIZES, torch.float32), SIZES.pool(2)
    before = pool.clone()
    rows = StateRows.of([2], offsets=[1], starts=[1])
    out = fork_delta_rule(*inputs[:], pool, rows, pool)
    assert not out[:1].any()
    assert not out[3:].any()
    assert torch.equal(pool, before)
    assert fork_delta_rule(*inputs[:], None, StateRows.of([]), None).shape == (5, 2, 8)


def test_one_variant_serves_every_batch_and_fits_every_chip() -> None:
    sizes = DeltaSizes(16, 16, 128, 128)
    pool = sizes.pool(2)
    with recorded_launches() as launches:
        for lengths in ([1], [16], [17, 3], [1] * 16):
            tokens = delta_inputs(sum(lengths), sizes, torch.bfloat16)[:]
            for start in (None, pool):
                rows = StateRows.of(lengths, starts=None if start is None else [1] * len(lengths))
                fork_delta_rule(*tokens, start, rows, pool)
    assert len(set(launches)) == 1
    compiled = compile_launches(launches)
    assert [each.capability for each in compiled] == list(SHARED_BYTES)
    assert all(each.fits for each in compiled)
