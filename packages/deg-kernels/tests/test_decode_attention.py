"""Attention of a decode step over a pool, on the CPU and in the interpreter of Triton."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from importlib import import_module

import pytest
import torch
from torch import Tensor

from deg_kernels import Prefix, Rows
from deg_kernels.attention import DecodeRows, cpu, decode_attention

# R = 4 rows with room for S = 80 tokens, A = 4 heads, G = 2 key/value heads
NUM_ROWS, ROOM = 4, 80
SIZE = 64
STRIDE = ROOM * 2 * SIZE
DTYPES = [torch.float32, torch.bfloat16]

HAS_TRITON = importlib.util.find_spec("triton") is not None
MODULES = [
    "cpu",
    pytest.param(
        "triton_kernel", marks=pytest.mark.skipif(not HAS_TRITON, reason="Triton is not there")
    ),
]

Attention = Callable[..., Tensor]


@pytest.fixture(params=MODULES)
def module(request: pytest.FixtureRequest) -> object:
    return import_module(f"deg_kernels.attention.{request.param}")


def draw(*shape: int, dtype: torch.dtype, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def step_inputs(dtype: torch.dtype, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    q, k, v = (draw(NUM_ROWS, n, SIZE, dtype=dtype, seed=seed + n) for n in (4, 2, 3))
    return q, k, v[:, :2].contiguous()


def pools_of(dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    keys, values = (draw(NUM_ROWS * ROOM + 1, 2, SIZE, dtype=dtype, seed=s) for s in (7, 8))
    return keys, values


def rows_of(befores: list[int]) -> DecodeRows:
    rows = DecodeRows.padding(NUM_ROWS, torch.device("cpu"))
    rows.tell(befores, STRIDE)
    return rows


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_have_the_bits_that_prefixes_give_each_alone(
    module: object, dtype: torch.dtype
) -> None:
    befores, own, pools = [65, 0, 79, 16], step_inputs(dtype), pools_of(dtype)
    found = module.decode_attention(*own, rows_of(befores), *pools, 0.125)
    for row, before in enumerate(befores):
        inside = slice(row * ROOM, row * ROOM + before)
        prefix = Prefix(*(pool[inside].clone() for pool in pools))
        alone = [each[row : row + 1].clone() for each in own]
        expected = module.fork_attention(*alone, Rows((1,), (0,)), [prefix], None, 0.125)
        assert torch.equal(found[row], expected[0])


@pytest.mark.parametrize("dtype", DTYPES)
def test_steps_over_one_table_have_the_bits_of_one_pass(module: object, dtype: torch.dtype) -> None:
    befores, (keys, values) = [62, 3], pools_of(dtype)
    rows, steps = rows_of(befores), [step_inputs(dtype, seed=10 * step) for step in range(4)]
    outs, starts = [], [pool.clone() for pool in (keys, values)]
    for q, k, v in steps:
        outs.append(module.decode_attention(q, k, v, rows, keys, values, 0.125))
        places_R = rows.places_R(2 * SIZE)
        keys.index_copy_(0, places_R, k)
        values.index_copy_(0, places_R, v)
        rows.advance()
    for row, before in enumerate(befores):
        inside = slice(row * ROOM, row * ROOM + before)
        prefix = Prefix(*(pool[inside].clone() for pool in starts))
        own = [torch.stack([step[part][row] for step in steps]) for part in range(3)]
        expected = module.fork_attention(*own, Rows((4,), (0,)), [prefix], None, 0.125)
        assert torch.equal(torch.stack([out[row] for out in outs]), expected)
        # what lies behind a row's tokens is nobody's yet
        after = slice(row * ROOM + before + 4, (row + 1) * ROOM)
        assert torch.equal(keys[after], starts[0][after])


def test_padding_gives_zeros_changes_no_row_and_stays_padding(module: object) -> None:
    own, pools = step_inputs(torch.float32), pools_of(torch.float32)
    whole, part = rows_of([20, 33, 5, 60]), rows_of([20, 33])
    expected = module.decode_attention(*own, whole, *pools, 0.125)
    # no number of padding is looked at
    for each in own:
        each[2:] = torch.nan
    found = module.decode_attention(*own, part, *pools, 0.125)
    assert torch.equal(found[:2], expected[:2])
    assert not found[2:].any()
    assert part.places_R(2 * SIZE).tolist() == [20, ROOM + 33, 4 * ROOM, 4 * ROOM]
    part.advance()
    assert part.before_R.tolist() == [21, 34, 0, 0]


def test_all_rows_may_be_padding(module: object) -> None:
    own, pools = step_inputs(torch.bfloat16), pools_of(torch.bfloat16)
    assert not module.decode_attention(*own, rows_of([]), *pools, 0.125).any()


def test_the_operator_runs_where_the_tensors_are() -> None:
    own, pools, rows = step_inputs(torch.float32), pools_of(torch.float32), rows_of([4, 70])
    expected = cpu.decode_attention(*own, rows, *pools, SIZE**-0.5)
    assert torch.equal(decode_attention(*own, rows, *pools), expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": DecodeRows(torch.zeros(3, 5))}, r"table_R5: has shape \(3, 5\)"),
        ({"pool_keys_TGD": torch.zeros(9, 1, SIZE)}, "pool_keys_TGD: has shape"),
        ({"pool_values_TGD": torch.zeros(9, 2, SIZE)}, "pool_values_TGD: has shape"),
        ({"keys_RGD": torch.zeros(4, 3, SIZE)}, "values_NGD: has shape"),
        ({"q_RAD": torch.zeros(4, 4, SIZE, dtype=torch.bfloat16)}, "has dtype"),
    ],
)
def test_an_argument_that_does_not_fit_is_named(change: dict[str, object], message: str) -> None:
    (q, k, v), (keys, values) = step_inputs(torch.float32), pools_of(torch.float32)
    arguments = {
        "q_RAD": q,
        "keys_RGD": k,
        "values_RGD": v,
        "rows": rows_of([3]),
        "pool_keys_TGD": keys,
        "pool_values_TGD": values,
    }
    with pytest.raises(ValueError, match=message):
        decode_attention(**(arguments | change))


@pytest.mark.skipif(not HAS_TRITON, reason="Triton is not there")
def test_a_step_takes_the_variant_of_the_kernel_that_forks_take() -> None:
    kernel, recorded = (
        import_module("deg_kernels.attention.triton_kernel"),
        import_module("compile_only").recorded_launches,
    )
    own, pools = step_inputs(torch.bfloat16), pools_of(torch.bfloat16)
    prefix = Prefix(*(pool[:40] for pool in pools))
    with recorded() as launches:
        kernel.fork_attention(*own, Rows((1,) * 4, (0,) * 4), [prefix], None, 0.125)
        kernel.decode_attention(*own, rows_of([40, 2]), *pools, 0.125)
        kernel.decode_attention(*own, rows_of([41]), *pools, 0.125)
    assert len(launches) == 3
    assert len(set(launches)) == 1
