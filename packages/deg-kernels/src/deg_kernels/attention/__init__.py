"""Causal attention of rows that continue prefixes, which many rows may share and none copies."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from deg_kernels.attention import cpu
from deg_kernels.attention.reference import naive_fork_attention
from deg_kernels.attention.rows import Prefix, Rows
from deg_kernels.checks import check, check_dtype, check_shape, check_together
from deg_kernels.dispatch import by_device

# N flat tokens, A heads, G key/value heads, D head size, P tokens of a prefix

__all__ = ["HEAD_SIZES", "Prefix", "Rows", "fork_attention", "naive_fork_attention"]

HEAD_SIZES = (16, 32, 64, 128, 256, 512)
"""The head sizes that a kernel is compiled for."""

_DTYPES = (torch.float32, torch.bfloat16)
_operator = by_device(cpu.fork_attention)


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
    num_tokens, heads, size = _sizes(q_NAD)
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
    check(window is None or window > 0, "window", f"{window} tokens: at least 1 is needed")
    for number, prefix in enumerate(prefixes):
        _check_prefix(number, prefix, q_NAD, keys_NGD)
    _check_rows(rows, num_tokens, len(prefixes))
    scale = size**-0.5 if scale is None else scale
    return _operator(q_NAD, keys_NGD, values_NGD, rows, prefixes, window, scale)


def _sizes(q_NAD: Tensor) -> tuple[int, int, int]:
    check_shape("q_NAD", q_NAD, (None, None, None))
    num_tokens, heads, size = q_NAD.shape
    check(size in HEAD_SIZES, "q_NAD", f"head size {size} is not one of {HEAD_SIZES}")
    return num_tokens, heads, size


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
