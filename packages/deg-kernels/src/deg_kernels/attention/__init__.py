"""Causal attention of rows that continue prefixes, which many rows may share and none copies."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from deg_kernels.attention import cpu
from deg_kernels.attention.reference import naive_fork_attention
from deg_kernels.attention.rows import DecodeRows, Prefix, Rows
from deg_kernels.checks import check, check_dtype, check_shape, check_together
from deg_kernels.dispatch import by_device

# N flat tokens, A heads, G key/value heads, D head size, P tokens of a prefix
# R rows of one token, T tokens of a pool

__all__ = [
    "HEAD_SIZES",
    "DecodeRows",
    "Prefix",
    "Rows",
    "decode_attention",
    "fork_attention",
    "naive_fork_attention",
]

HEAD_SIZES = (16, 32, 64, 128, 256, 512)
"""The head sizes that a kernel is compiled for."""

_DTYPES = (torch.float32, torch.bfloat16)
_operator = by_device(cpu.fork_attention)
_decode = by_device(cpu.decode_attention)


def fork_attention(
    q_NAD: Tensor,
    keys_NGD: Tensor,
    values_NGD: Tensor,
    rows: Rows,
    prefixes: Sequence[Prefix] = (),
    *,
    window: int | None = None,
    scale: float | None = None,
) -> Tensor:
    """Return causal attention of each row over its prefix and itself, the same bits in any batch.

    Key blocks are cut by a row's absolute positions, so a token gets the same bits whether its row
    was read in one pass, as a fork of what came before, or token by token.

    Args:
        q_NAD: Queries, fp32 or bf16.
        keys_NGD: The keys of the same tokens; a head serves A / G query heads that lie side by
            side.
        values_NGD: Their values.
        rows: Where rows begin and end, and which prefix each continues.
        prefixes: The prefixes; rows that continue the same one should name the same index.
        window: A query sees only so many of the last tokens, itself included; None is all.
        scale: What scores are multiplied by; None is `D ** -0.5`.

    Returns:
        The outputs [N, A, D], contiguous; zeros after the last row.

    Raises:
        ValueError: An argument has the wrong dtype, shape or device, or a row lies outside.
    """
    _check_own(q_NAD, keys_NGD, values_NGD)
    num_tokens, _, size = q_NAD.shape
    check(window is None or window > 0, "window", f"{window} tokens: at least 1 is needed")
    for number, prefix in enumerate(prefixes):
        _check_prefix(number, prefix, q_NAD, keys_NGD)
    _check_rows(rows, num_tokens, len(prefixes))
    scale = size**-0.5 if scale is None else scale
    return _operator(q_NAD, keys_NGD, values_NGD, rows, prefixes, window, scale)


def decode_attention(
    q_RAD: Tensor,
    keys_RGD: Tensor,
    values_RGD: Tensor,
    rows: DecodeRows,
    pool_keys_TGD: Tensor,
    pool_values_TGD: Tensor,
    *,
    scale: float | None = None,
) -> Tensor:
    """Return the bits of `fork_attention` for rows of one token that continue parts of a pool.

    On CUDA nothing of it hangs on the host: captured once, it follows what the table says.

    Args:
        q_RAD: Queries, fp32 or bf16.
        keys_RGD: The keys of the same tokens.
        values_RGD: Their values.
        rows: Which part of the pools each row continues.
        pool_keys_TGD: The keys that rows continue, contiguous.
        pool_values_TGD: Their values.
        scale: What scores are multiplied by; None is `D ** -0.5`.

    Returns:
        The outputs [R, A, D], contiguous; zeros where a row is padding.

    Raises:
        ValueError: An argument has the wrong dtype, shape or device.
    """
    _check_own(q_RAD, keys_RGD, values_RGD)
    num_rows, _, size = q_RAD.shape
    check_shape("table_R5", rows.table_R5, (num_rows, 5))
    check_together(q_RAD=q_RAD, table_R5=rows.table_R5)
    check(rows.table_R5.is_contiguous(), "table_R5", "is not contiguous")
    for name, pool in (("pool_keys_TGD", pool_keys_TGD), ("pool_values_TGD", pool_values_TGD)):
        check_together(True, q_RAD=q_RAD, **{name: pool})
        check_shape(name, pool, (len(pool_keys_TGD), *keys_RGD.shape[1:]))
        aligned = pool.is_contiguous() and pool.data_ptr() % 16 == 0
        check(aligned, name, "is not contiguous from a multiple of 16 bytes on")
    scale = size**-0.5 if scale is None else scale
    return _decode(q_RAD, keys_RGD, values_RGD, rows, pool_keys_TGD, pool_values_TGD, scale)


def _check_own(q_NAD: Tensor, keys_NGD: Tensor, values_NGD: Tensor) -> None:
    check_shape("q_NAD", q_NAD, (None, None, None))
    num_tokens, heads, size = q_NAD.shape
    check(size in HEAD_SIZES, "q_NAD", f"head size {size} is not one of {HEAD_SIZES}")
    groups = keys_NGD.shape[1] if keys_NGD.ndim == 3 else 0
    check_dtype(_DTYPES, q_NAD=q_NAD)
    check_together(True, q_NAD=q_NAD, keys_NGD=keys_NGD, values_NGD=values_NGD)
    check_shape("keys_NGD", keys_NGD, (num_tokens, None, size))
    check_shape("values_NGD", values_NGD, keys_NGD.shape)
    check(
        groups > 0 and heads % groups == 0,
        "keys_NGD",
        f"has {groups} heads, which do not divide {heads} query heads",
    )


def _check_prefix(number: int, prefix: Prefix, q_NAD: Tensor, keys_NGD: Tensor) -> None:
    keys, values = f"prefixes[{number}].keys_PGD", f"prefixes[{number}].values_PGD"
    check_together(True, q_NAD=q_NAD, **{keys: prefix.keys_PGD, values: prefix.values_PGD})
    check_shape(keys, prefix.keys_PGD, (None, *keys_NGD.shape[1:]))
    check_shape(values, prefix.values_PGD, prefix.keys_PGD.shape)


def _check_rows(rows: Rows, num_tokens: int, num_prefixes: int) -> None:
    check(
        len(rows.lengths) == len(rows.prefixes),
        "rows",
        f"{len(rows.lengths)} lengths, but {len(rows.prefixes)} prefixes",
    )
    check(min(rows.lengths, default=0) >= 0, "rows", "a row has a negative length")
    total = sum(rows.lengths)
    check(total <= num_tokens, "rows", f"reach to token {total} of {num_tokens}")
    for row, index in enumerate(rows.prefixes):
        check(
            index is None or 0 <= index < num_prefixes,
            "rows",
            f"row {row} continues prefix {index} of {num_prefixes}",
        )
