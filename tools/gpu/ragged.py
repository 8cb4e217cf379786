"""The sections of the GPU check for operators on ragged rows that continue something.

Each operator is brought into one form, `run(rows, pool, starts)`: rows of tokens that continue
states of a pool give outputs and the states after them. For attention a state is the keys and
values read so far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise

import torch
import torch.nn.functional as F
from gpu.measure import Bench, Equal, Line, equal, equalities, errors, same_bits
from torch import Tensor

import deg_kernels as kernels
from deg_kernels import NOWHERE, Prefix, Rows, StateRows

# N flat tokens, L tokens of a row, P of a prefix, S of both, A heads, G key/value heads
# D head size, C channels, W taps

__all__ = ["attention", "delta_rule", "short_conv"]

Tokens = tuple[Tensor, ...]
Run = Callable[[Sequence[Tokens], Sequence[Tensor], Sequence[int]], list[tuple[Tensor, Tensor]]]

_DTYPES = {"bf16": torch.bfloat16, "fp32": torch.float32}


def attention(bench: Bench) -> Iterator[Line]:
    """Check `fork_attention` with the heads of the model, every head size, and a window."""
    kinds = ((8, 2, 256, None), (32, 8, 64, None), (4, 4, 128, 100), (4, 1, 512, None))
    cases = [(*kind, "bf16") for kind in kinds] + [(4, 2, 64, None, "fp32")]
    for heads, groups, size, window, dtype in cases:
        randn = partial(bench.randn, dtype=_DTYPES[dtype])
        # the longest prefix ends inside a block of keys
        pool = [randn(2, n, groups, size) for n in (64, 1, bench.size(1111, 131))]

        def make(length: int) -> Tokens:
            shapes = ((length, n, size) for n in (heads, groups, groups))  # noqa: B023
            return tuple(randn(*shape) for shape in shapes)  # noqa: B023

        run, truth = (
            partial(_attention_pass, partial(operator, window=window))
            for operator in (kernels.fork_attention, _exact_attention)
        )
        name = f"fork_attention, {heads} x {size} over {groups}, window {window}, {dtype}"
        yield from _checks(name, run, truth, make, pool)


def delta_rule(bench: Bench) -> Iterator[Line]:
    """Check `fork_delta_rule`, states read from their places in a pool and written to others."""
    size, heads = bench.size(128, 32), bench.size(16, 2)
    for dtype, key_heads in (("bf16", heads), ("fp32", heads // 2)):
        make = partial(_delta_tokens, bench, key_heads, heads, size, _DTYPES[dtype])
        pool = bench.randn(3, heads, size, size, scale=0.1, dtype=torch.float32)
        run, truth = (
            partial(_delta_pass, operator)
            for operator in (kernels.fork_delta_rule, kernels.naive_fork_delta_rule)
        )
        name = f"fork_delta_rule, {heads} x {size} over {key_heads}, {dtype}"
        yield from _checks(name, run, truth, make, list(pool))
        rows, tokens = StateRows.of([1] * 3, starts=[2, 0, 1], writes=[2, 0, 1]), make(3)
        apart, in_place = torch.zeros_like(pool), pool.clone()
        left = kernels.fork_delta_rule(*tokens, pool, rows, finals_FJKV=apart)
        right = kernels.fork_delta_rule(*tokens, in_place, rows, finals_FJKV=in_place)
        same = equal([left, apart], [right, in_place])
        yield from equalities(name, [("", [("in place == apart", same)])])


def short_conv(bench: Bench) -> Iterator[Line]:
    """Check `short_conv` with the channels and taps of the model."""
    channels, taps = bench.size(6144, 64), 4
    for dtype in _DTYPES:
        randn = partial(bench.randn, dtype=_DTYPES[dtype])
        weight_CW, pool = randn(channels, taps), randn(3, channels, taps - 1)
        run, truth = (
            partial(_conv_pass, operator, weight_CW)
            for operator in (kernels.short_conv, kernels.naive_short_conv)
        )
        name = f"short_conv, {channels} x {taps}, {dtype}"
        yield from _checks(
            name, run, truth, lambda n, randn=randn: (randn(n, channels),), list(pool)
        )


def _attention_pass(
    operator: Callable[..., Tensor],
    rows: Sequence[Tokens],
    pool: Sequence[Tensor],
    starts: Sequence[int],
) -> list[tuple[Tensor, Tensor]]:
    lengths = tuple(len(q_LAD) for q_LAD, _, _ in rows)
    places = Rows(lengths, tuple(None if start == NOWHERE else start for start in starts))
    out_NAD = operator(*_flat(rows), places, [Prefix(*kv_2PGD) for kv_2PGD in pool])
    own = [torch.stack(row[1:]) for row in rows]
    after = [
        kv if start == NOWHERE else torch.cat([pool[start], kv], 1)
        for kv, start in zip(own, starts, strict=True)
    ]
    return list(zip(out_NAD.split(lengths), after, strict=True))


def _exact_attention(
    q_NAD: Tensor,
    keys_NGD: Tensor,
    values_NGD: Tensor,
    rows: Rows,
    prefixes: Sequence[Prefix],
    *,
    window: int | None,
) -> Tensor:
    outs, each = [], q_NAD.shape[1] // keys_NGD.shape[1]
    own = zip(*(t.split(rows.lengths) for t in (q_NAD, keys_NGD, values_NGD)), strict=True)
    for (q_LAD, keys, values), start in zip(own, rows.prefixes, strict=True):
        if start is not None:
            keys = torch.cat([prefixes[start].keys_PGD, keys])
            values = torch.cat([prefixes[start].values_PGD, values])
        keys_ASD, values_ASD = (
            t.repeat_interleave(each, 1).transpose(0, 1) for t in (keys, values)
        )
        scores_ALS = q_LAD.transpose(0, 1) @ keys_ASD.transpose(1, 2) * q_LAD.shape[-1] ** -0.5
        before = len(keys) - len(q_LAD)
        seen_LS = torch.ones_like(scores_ALS[0]).tril(before)
        if window is not None:
            seen_LS = seen_LS.triu(before - window + 1)
        scores_ALS = scores_ALS.masked_fill(seen_LS == 0, float("-inf"))
        outs.append((scores_ALS.softmax(-1) @ values_ASD).transpose(0, 1))
    return torch.cat(outs)


def _delta_tokens(
    bench: Bench, key_heads: int, heads: int, size: int, dtype: torch.dtype, length: int
) -> Tokens:
    q, k, v = (bench.randn(length, n, size, dtype=dtype) for n in (key_heads, key_heads, heads))
    decay, beta = (bench.randn(length, heads, dtype=torch.float32) for _ in range(2))
    return q, k, v, -F.softplus(decay), beta.sigmoid()


def _delta_pass(
    operator: Callable[..., Tensor],
    rows: Sequence[Tokens],
    pool: Sequence[Tensor],
    starts: Sequence[int],
) -> list[tuple[Tensor, Tensor]]:
    lengths = [len(row[0]) for row in rows]
    places = StateRows.of(lengths, starts=starts, writes=range(len(rows)))
    finals = pool[0].new_zeros(len(rows), *pool[0].shape)
    out_NJV = operator(*_flat(rows), torch.stack(list(pool)), places, finals_FJKV=finals)
    return list(zip(out_NJV.split(lengths), finals, strict=True))


def _conv_pass(
    operator: Callable[..., tuple[Tensor, Tensor]],
    weight_CW: Tensor,
    rows: Sequence[Tokens],
    pool: Sequence[Tensor],
    starts: Sequence[int],
) -> list[tuple[Tensor, Tensor]]:
    lengths = [len(row[0]) for row in rows]
    (x_NC,), places = _flat(rows), StateRows.of(lengths, starts=starts)
    tails = torch.stack(list(pool))
    out_NC, after = operator(x_NC, weight_CW.to(x_NC.dtype), tails, places, activation="silu")
    return list(zip(out_NC.split(lengths), after, strict=True))


def _flat(rows: Sequence[Tokens]) -> list[Tensor]:
    return [torch.cat(each) for each in zip(*rows, strict=True)]


def _checks(
    name: str, run: Run, truth: Run, make: Callable[[int], Tokens], pool: Sequence[Tensor]
) -> Iterator[Line]:
    rows, starts = [make(n) for n in (1, 24, 7, 66, 3)], (2, 0, NOWHERE, 2, 1)
    exact = [tuple(each.double() for each in row) for row in rows]
    results, truths = run(rows, pool, starts), truth(exact, [p.double() for p in pool], starts)
    pairs = zip(results, truths, strict=True)
    # outputs, and states where they are computed rather than kept
    yield errors(
        name, (pair for result, exact in pairs for pair in zip(result, exact, strict=True))
    )
    yield from equalities(name, [("rows", _bits(run, rows, pool, starts))])


def _bits(
    run: Run, rows: Sequence[Tokens], pool: Sequence[Tensor], starts: Sequence[int]
) -> Iterator[Equal]:
    def some(numbers: Sequence[int]) -> list[Tensor]:
        found = run([rows[i] for i in numbers], pool, [starts[i] for i in numbers])
        return [_joined(*each) for each in found]

    yield from same_bits(some, len(rows))
    (fork,) = some([1])
    length = len(rows[1][0])
    for what, ends in (("fork == one pass", (9, length)), ("decode == fork", range(1, length + 1))):
        outs, state = [], pool[starts[1]]
        for start, end in pairwise((0, *ends)):
            ((out, state),) = run([tuple(each[start:end] for each in rows[1])], [state], [0])
            outs.append(out)
        yield what, equal([_joined(torch.cat(outs), state)], [fork])


def _joined(out: Tensor, state: Tensor) -> Tensor:
    return torch.cat([out.flatten().float(), state.flatten().float()])
