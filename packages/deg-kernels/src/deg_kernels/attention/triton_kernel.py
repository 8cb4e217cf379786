"""Batch-invariant attention on CUDA: key blocks by the row's absolute position, one online softmax.

Key *j* of a row lies in its prefix if the prefix is longer than *j*, and otherwise among the pass's
own tokens; a block may hold both. A block that a query sees nothing of changes no bit of it, so it
does not matter which queries share a program, and a fork, one pass and single tokens agree.
Prefixes lie anywhere: they are addressed from one base by 64-bit offsets and never copied. The base
is the pass's own keys, or in a decode step, which has to look alike every time, a pool.
"""

# N flat tokens, A heads, G key/value heads, D head size, P tokens of a prefix
# Q query places of a program, K keys of a block; in the kernel a suffix D may be a part of a head
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
import triton
import triton.language as tl
from torch import Tensor

from deg_kernels.attention.rows import DecodeRows, Prefix, Rows

__all__ = ["decode_attention", "fork_attention"]

_LOG2_E = 1.4426950408889634


@dataclass(frozen=True, slots=True)
class _Block:
    """What a program holds: queries, keys, and how much of a head a score adds up at a time."""

    queries: int
    keys: int
    part: int
    num_warps: int
    num_stages: int


# A dtype and head size have one block, for any number of queries: not only the keys but also the
# layout of a tile over its threads orders the sums. None spills on a chip, and shared memory fits.
_BLOCKS = {
    (torch.bfloat16, 16): _Block(32, 64, 16, num_warps=4, num_stages=3),
    (torch.bfloat16, 32): _Block(32, 64, 32, num_warps=4, num_stages=3),
    (torch.bfloat16, 64): _Block(32, 64, 64, num_warps=4, num_stages=3),
    (torch.bfloat16, 128): _Block(32, 64, 128, num_warps=4, num_stages=3),
    (torch.bfloat16, 256): _Block(32, 32, 256, num_warps=4, num_stages=3),
    (torch.bfloat16, 512): _Block(16, 16, 512, num_warps=8, num_stages=3),
    # without tensor cores a thread holds whole rows of what it multiplies: only short ones fit
    (torch.float32, 16): _Block(16, 32, 16, num_warps=4, num_stages=2),
    (torch.float32, 32): _Block(16, 32, 32, num_warps=4, num_stages=2),
    (torch.float32, 64): _Block(16, 32, 64, num_warps=4, num_stages=2),
    (torch.float32, 128): _Block(16, 16, 64, num_warps=8, num_stages=2),
    (torch.float32, 256): _Block(16, 16, 64, num_warps=8, num_stages=2),
    (torch.float32, 512): _Block(16, 16, 64, num_warps=16, num_stages=2),
}
# more tokens than a row can have
_NO_WINDOW = 2**31 - 1


def fork_attention(
    q_NAD: Tensor,
    keys_NGD: Tensor,
    values_NGD: Tensor,
    rows: Rows,
    prefixes: Sequence[Prefix],
    window: int | None,
    scale: float,
) -> Tensor:
    """Return attention [N, A, D] of every row in one launch."""
    longest = max(rows.lengths, default=0)
    if not longest or not q_NAD.shape[1]:
        return q_NAD.new_zeros(q_NAD.shape)
    own = _Own(*map(_dense, (q_NAD, keys_NGD, values_NGD)))
    places = _places(rows, own.keys_NGD, own.values_NGD, prefixes)
    return _launch(own, own.keys_NGD, own.values_NGD, places, longest, window, scale)


def decode_attention(
    q_RAD: Tensor,
    keys_RGD: Tensor,
    values_RGD: Tensor,
    rows: DecodeRows,
    pool_keys_TGD: Tensor,
    pool_values_TGD: Tensor,
    scale: float,
) -> Tensor:
    """Return attention [R, A, D] of every row by a launch that only the table tells apart."""
    own = _Own(*map(_dense, (q_RAD, keys_RGD, values_RGD)))
    return _launch(own, pool_keys_TGD, pool_values_TGD, rows.table_R5, 1, None, scale)


@dataclass(frozen=True, slots=True)
class _Own:
    """What the pass brings along."""

    q_NAD: Tensor
    keys_NGD: Tensor
    values_NGD: Tensor


def _launch(
    own: _Own,
    before_keys: Tensor,
    before_values: Tensor,
    places: Tensor,
    longest: int,
    window: int | None,
    scale: float,
) -> Tensor:
    num_tokens, heads, size = own.q_NAD.shape
    out_NAD = own.q_NAD.new_zeros(num_tokens, heads, size)
    groups = own.keys_NGD.shape[1]
    block = _BLOCKS[own.q_NAD.dtype, size]
    grid = (triton.cdiv(heads // groups * longest, block.queries), groups, len(places))
    _kernel[grid](
        own.q_NAD,
        own.keys_NGD,
        own.values_NGD,
        before_keys,
        before_values,
        out_NAD,
        places,
        scale * _LOG2_E,
        _NO_WINDOW if window is None else min(window, _NO_WINDOW),
        EACH=heads // groups,
        GROUPS=groups,
        SIZE=size,
        QUERIES=block.queries,
        KEYS=block.keys,
        PART=block.part,
        num_warps=block.num_warps,
        num_stages=block.num_stages,
        enable_fp_fusion=False,
    )
    return out_NAD


def _dense(tensor: Tensor) -> Tensor:
    # a kernel is compiled anew, and may round anew, for pointers that are not aligned
    dense = tensor.contiguous()
    return dense if dense.data_ptr() % 16 == 0 else dense.clone()


def _places(rows: Rows, keys_NGD: Tensor, values_NGD: Tensor, prefixes: Sequence[Prefix]) -> Tensor:
    """Return for each row its length, first token, prefix length and two prefix offsets, int64."""
    found = [(0, 0, 0)]
    for prefix in prefixes:
        keys, values = prefix.keys_PGD, prefix.values_PGD
        _check_layout(keys, values)
        found.append((len(prefix), _offset(keys, keys_NGD), _offset(values, values_NGD)))
    table, start = [], 0
    for length, index in zip(rows.lengths, rows.prefixes, strict=True):
        table.append((length, start, *found[0 if index is None else index + 1]))
        start += length
    return _on_device(tuple(table), keys_NGD.device)


@lru_cache(maxsize=256)
def _on_device(table: tuple[tuple[int, ...], ...], device: torch.device) -> Tensor:
    with torch.inference_mode(False):
        return torch.tensor(table, dtype=torch.int64).to(device, non_blocking=True)


def _check_layout(*tensors: Tensor) -> None:
    for tensor in tensors:
        size = tensor[0].numel() if len(tensor) else 0
        if tensor.numel() and (not tensor[0].is_contiguous() or tensor.stride(0) != size):
            raise ValueError("prefixes: keys and values of a prefix must be contiguous")


def _offset(tensor: Tensor, base: Tensor) -> int:
    distance = tensor.data_ptr() - base.data_ptr()
    if tensor.numel() and distance % 16:
        raise ValueError("prefixes: keys and values must start at a multiple of 16 bytes")
    return distance // tensor.element_size() if tensor.numel() else 0


@triton.jit(do_not_specialize=["scale", "window"])
def _kernel(
    q,
    keys,
    values,
    before_keys,
    before_values,
    out,
    places,
    scale,
    window,
    EACH: tl.constexpr,
    GROUPS: tl.constexpr,
    SIZE: tl.constexpr,
    QUERIES: tl.constexpr,
    KEYS: tl.constexpr,
    PART: tl.constexpr,
):
    group = tl.program_id(1)
    row = places + tl.program_id(2).to(tl.int64) * 5
    length = tl.load(row)
    first = tl.program_id(0) * QUERIES
    if first >= length * EACH:
        return
    start = tl.load(row + 1)
    num_before = tl.load(row + 2)
    # multiples of 16 bytes, as the host has checked
    in_keys = before_keys + tl.multiple_of(tl.load(row + 3), 8)
    in_values = before_values + tl.multiple_of(tl.load(row + 4), 8)

    # heads that share a key head lie side by side, so a program reads each key once for all of them
    place_Q = first + tl.arange(0, QUERIES)
    token_Q = place_Q // EACH
    inside_Q = token_Q < length
    size_D = tl.arange(0, SIZE)
    head_Q = (start + token_Q) * (EACH * GROUPS) + group * EACH + place_Q % EACH
    part_D = tl.arange(0, PART)
    from_Q = q + head_Q * SIZE
    query_QD = tl.load(from_Q[:, None] + part_D[None, :], mask=inside_Q[:, None], other=0.0)
    position_Q = num_before + token_Q
    last = num_before + tl.minimum((first + QUERIES - 1) // EACH, length - 1)
    oldest = num_before + first // EACH - window + 1
    first_block = tl.maximum(oldest, 0) // KEYS * KEYS

    # finite, so that a block in which a query sees nothing is no 0 / 0
    top_Q = tl.full((QUERIES,), -1.0e38, tl.float32)
    sum_Q = tl.zeros((QUERIES,), tl.float32)
    total_QD = tl.zeros((QUERIES, SIZE), tl.float32)
    for block in range(first_block, last + 1, KEYS):
        key_K = block + tl.arange(0, KEYS)
        is_before_K = key_K < num_before
        is_there_K = key_K <= last
        own_K = start + key_K - num_before
        token_K = tl.where(is_before_K, key_K, own_K)
        place_K = (token_K * GROUPS + group) * SIZE
        from_K = tl.where(is_before_K, in_keys + place_K, keys + place_K)
        key_KD = tl.load(from_K[:, None] + part_D[None, :], mask=is_there_K[:, None], other=0.0)
        score_QK = tl.dot(query_QD, tl.trans(key_KD), input_precision="ieee")
        for part in range(PART, SIZE, PART):
            other_QD = tl.load(
                from_Q[:, None] + part + part_D[None, :], mask=inside_Q[:, None], other=0.0
            )
            key_KD = tl.load(
                from_K[:, None] + part + part_D[None, :], mask=is_there_K[:, None], other=0.0
            )
            score_QK = tl.dot(other_QD, tl.trans(key_KD), score_QK, input_precision="ieee")
        # tokens between a query and a key
        age_QK = (position_Q - block).to(tl.int32)[:, None] - tl.arange(0, KEYS)[None, :]
        is_seen_QK = (age_QK >= 0) & (age_QK < window)
        score_QK = tl.where(is_seen_QK, score_QK * scale, float("-inf"))

        new_top_Q = tl.maximum(top_Q, tl.max(score_QK, 1))
        weight_QK = tl.exp2(score_QK - new_top_Q[:, None])
        shrink_Q = tl.exp2(top_Q - new_top_Q)
        sum_Q = sum_Q * shrink_Q + tl.sum(weight_QK, 1)
        from_K = tl.where(is_before_K, in_values + place_K, values + place_K)
        value_KD = tl.load(from_K[:, None] + size_D[None, :], mask=is_there_K[:, None], other=0.0)
        total_QD = tl.dot(
            weight_QK.to(value_KD.dtype),
            value_KD,
            total_QD * shrink_Q[:, None],
            input_precision="ieee",
        )
        top_Q = new_top_Q

    # places after the row's last token may have seen nothing
    out_QD = total_QD / tl.where(inside_Q, sum_Q, 1.0)[:, None]
    tl.store(
        out + head_Q[:, None] * SIZE + size_D[None, :],
        out_QD.to(out.dtype.element_ty),
        mask=inside_Q[:, None],
    )
