"""Attention on CUDA, in the interpreter and compiled for chips that are not there."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from torch import Tensor

from deg_kernels import Prefix, Rows, naive_fork_attention

pytest.importorskip("triton")

from compile_only import SHARED_BYTES, compile_launches, recorded_launches
from deg_kernels.attention.triton_kernel import fork_attention

# A = 4 heads, G = 2 key/value heads
DTYPES = [torch.float32, torch.bfloat16]
TOLERANCE = {torch.float32: 1e-5, torch.bfloat16: 2e-2}
Qkv = tuple[Tensor, Tensor, Tensor]


def draw(num: int, *, size: int, dtype: torch.dtype, heads: int = 4, groups: int = 2) -> Qkv:
    generator = torch.Generator().manual_seed(1000 * size + num)
    q, k, v = (
        torch.randn(num, count, size, generator=generator).to(dtype)
        for count in (heads, groups, groups)
    )
    return q, k, v


def attend(
    qkv: Qkv, rows: Rows, prefixes: list[Prefix] | None = None, *, window: int | None = None
) -> Tensor:
    return fork_attention(*qkv, rows, prefixes or [], window, qkv[0].shape[2] ** -0.5)


def part(qkv: Qkv, start: int, end: int) -> Qkv:
    q, k, v = qkv
    return q[start:end].clone(), k[start:end].clone(), v[start:end].clone()


def after(prefix: Prefix, own: Qkv) -> Qkv:
    """Return the prefix and *own* as one row; nobody asks for the prefix's own outputs."""
    before_q = torch.zeros(len(prefix), *own[0].shape[1:], dtype=own[0].dtype)
    return (
        torch.cat([before_q, own[0]]),
        torch.cat([prefix.keys_PGD, own[1]]),
        torch.cat([prefix.values_PGD, own[2]]),
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("size", "window"), [(64, None), (64, 70), (128, None), (256, 5)])
def test_it_agrees_with_the_reference(size: int, window: int | None, dtype: torch.dtype) -> None:
    prefixes = [Prefix(*draw(num, size=size, dtype=dtype)[1:]) for num in (90, 0)]
    qkv = draw(24, size=size, dtype=dtype)
    rows = Rows((3, 9, 1, 8), (0, None, 1, 0))
    expected = naive_fork_attention(*qkv, rows, prefixes, window=window)
    found = attend(qkv, rows, prefixes, window=window)
    torch.testing.assert_close(found, expected, atol=TOLERANCE[dtype], rtol=TOLERANCE[dtype])
    assert not found[21:].any()


def test_the_largest_head_size_agrees_with_the_reference() -> None:
    prefix = Prefix(*draw(20, size=512, dtype=torch.float32)[1:])
    qkv, rows = draw(5, size=512, dtype=torch.float32), Rows((5,), (0,))
    expected = naive_fork_attention(*qkv, rows, [prefix])
    torch.testing.assert_close(attend(qkv, rows, [prefix]), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("window", [None, 40])
def test_a_row_has_the_same_bits_alone_and_beside_others(
    window: int | None, dtype: torch.dtype
) -> None:
    prefix = Prefix(*draw(70, size=64, dtype=dtype)[1:])
    qkv, lengths = draw(46, size=64, dtype=dtype), (2, 40, 4)
    together = attend(qkv, Rows(lengths, (0, None, 0)), [prefix], window=window)
    start = 0
    for length, index in zip(lengths, (0, None, 0), strict=True):
        own = part(qkv, start, start + length)
        alone = attend(own, Rows((length,), (index,)), [prefix], window=window)
        assert torch.equal(alone, together[start : start + length])
        start += length


def test_rows_permuted_and_repeated_keep_their_bits() -> None:
    prefix = Prefix(*draw(33, size=64, dtype=torch.bfloat16)[1:])
    qkv = draw(9, size=64, dtype=torch.bfloat16)
    first, second = part(qkv, 0, 3), part(qkv, 3, 9)
    forward = attend(qkv, Rows((3, 6), (0, 0)), [prefix])
    mixed = tuple(torch.cat(parts) for parts in zip(second, first, second, strict=True))
    found = attend(mixed, Rows((6, 3, 6), (0, 0, 0)), [prefix])
    assert torch.equal(found, torch.cat([forward[3:], forward]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("num_before", [1, 63, 64, 70])
def test_a_fork_has_the_bits_of_one_pass(num_before: int, dtype: torch.dtype) -> None:
    prefix = Prefix(*draw(num_before, size=64, dtype=dtype)[1:])
    own = draw(5, size=64, dtype=dtype)
    fork = attend(own, Rows((5,), (0,)), [prefix])
    whole = attend(after(prefix, own), Rows((num_before + 5,), (None,)))
    assert torch.equal(whole[num_before:], fork)


@pytest.mark.parametrize("dtype", DTYPES)
def test_token_by_token_has_the_bits_of_a_fork(dtype: torch.dtype) -> None:
    prefix = Prefix(*draw(62, size=64, dtype=dtype)[1:])
    own = draw(5, size=64, dtype=dtype)
    fork = attend(own, Rows((5,), (0,)), [prefix])
    _, keys, values = after(prefix, own)
    for token in range(5):
        grown = Prefix(keys[: 62 + token], values[: 62 + token])
        one = attend(part(own, token, token + 1), Rows((1,), (0,)), [grown])
        assert torch.equal(one[0], fork[token])


def test_a_prefix_must_lie_in_one_piece() -> None:
    qkv = draw(2, size=64, dtype=torch.float32)
    apart = torch.zeros(2, 8, 64).transpose(0, 1)
    with pytest.raises(ValueError, match="contiguous"):
        attend(qkv, Rows((2,), (0,)), [Prefix(apart, apart)])


def test_one_variant_serves_every_batch_and_fits_every_chip() -> None:
    num_variants = 0
    with recorded_launches() as launches:
        # smaller heads are for small models of tests
        for dtype, size in product(DTYPES, (64, 128, 256, 512)):
            num_variants += 1
            for num, window in ((1, None), (16, 64), (400, None)):
                qkv = draw(num, size=size, dtype=dtype, heads=8)
                prefix = Prefix(*draw(48, size=size, dtype=dtype)[1:])
                attend(qkv, Rows((num,), (0,)), [prefix], window=window)
            assert len(set(launches)) == num_variants
    compiled = compile_launches(launches)
    assert len(compiled) == num_variants * len(SHARED_BYTES)
    assert [each for each in compiled if not each.fits] == []
