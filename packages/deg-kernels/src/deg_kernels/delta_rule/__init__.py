"""The gated delta rule: a matrix a head, decayed and corrected by each token."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from deg_kernels.checks import check, check_dtype, check_shape, check_together
from deg_kernels.delta_rule import cpu
from deg_kernels.delta_rule.reference import naive_fork_delta_rule
from deg_kernels.dispatch import by_device
from deg_kernels.gradients import check_no_gradient
from deg_kernels.state_rows import StateRows

# N flat tokens, H key heads, J value heads, K key size, V value size, S and F places in the pools

__all__ = ["KEY_SIZES", "VALUE_STEP", "fork_delta_rule", "naive_fork_delta_rule"]

KEY_SIZES = (16, 32, 64, 128, 256)
"""The key sizes that a kernel is compiled for."""

VALUE_STEP = 8
"""Value sizes are multiples of it."""

_operator = by_device(cpu.fork_delta_rule)


def fork_delta_rule(
    q_NHK: Tensor,
    k_NHK: Tensor,
    v_NJV: Tensor,
    g_NJ: Tensor,
    beta_NJ: Tensor,
    states_SJKV: Tensor | None,
    rows: StateRows,
    *,
    finals_FJKV: Tensor | None = None,
) -> Tensor:
    """Return what each token reads from its row's state, bit for bit the same in any batch.

    With a key and a query of unit length, each token in turn does `S = exp(g) S`,
    `S += k (beta (v - k S))` and reads `q S / sqrt(K)`. A row cut anywhere into passes, down to
    single tokens, gives the bits of one pass. A token with `g = beta = 0` leaves the state alone.

    Args:
        q_NHK: Queries, fp32 or bf16, of any length: they are normalised in fp32.
        k_NHK: Keys, likewise.
        v_NJV: Values; a key head serves J / H value heads that lie side by side.
        g_NJ: The logarithm of the decay, fp32, at most 0.
        beta_NJ: How far a token overwrites, fp32 or the dtype of the queries.
        states_SJKV: The pool of states that rows start from, fp32 and contiguous, never copied as a
            whole; None where every row starts from zeros.
        rows: The tokens of each row and its places in the pools.
        finals_FJKV: The pool that final states are written to, fp32 and contiguous; it may be
            *states_SJKV* itself.

    Returns:
        The outputs [N, J, V] in the dtype of the queries; zeros where no row has a token.

    Raises:
        ValueError: An argument has the wrong dtype, shape or device or requires a gradient, or a
            place is not in its pool or is written while another row reads it.
    """
    tokens = {"q_NHK": q_NHK, "k_NHK": k_NHK, "v_NJV": v_NJV, "g_NJ": g_NJ, "beta_NJ": beta_NJ}
    pools = {"states_SJKV": states_SJKV, "finals_FJKV": finals_FJKV}
    _check_dtypes(tokens, pools)
    _check_sizes(tokens, pools)
    reach = rows.num_tokens
    check(reach <= len(q_NHK), "rows", f"reach to token {reach} of {len(q_NHK)}")
    rows.check_starts(states_SJKV)
    rows.check_writes(finals_FJKV, states_SJKV)
    return _operator(q_NHK, k_NHK, v_NJV, g_NJ, beta_NJ, states_SJKV, rows, finals_FJKV)


def _check_dtypes(tokens: Mapping[str, Tensor], pools: Mapping[str, Tensor | None]) -> None:
    check_dtype((torch.float32, torch.bfloat16), q_NHK=tokens["q_NHK"])
    alike = {name: tokens[name] for name in ("q_NHK", "k_NHK", "v_NJV")}
    check_together(same_dtype=True, **alike)
    check_dtype((torch.float32,), g_NJ=tokens["g_NJ"], **pools)
    check_dtype((torch.float32, tokens["q_NHK"].dtype), beta_NJ=tokens["beta_NJ"])
    check_together(same_dtype=False, **tokens, **pools)
    check_no_gradient(**tokens, **pools)


def _check_sizes(tokens: Mapping[str, Tensor], pools: Mapping[str, Tensor | None]) -> None:
    check_shape("q_NHK", tokens["q_NHK"], (None, None, None))
    num_tokens, num_key_heads, key_size = tokens["q_NHK"].shape
    check(num_key_heads > 0, "q_NHK", "has no heads")
    check(key_size in KEY_SIZES, "q_NHK", f"key size {key_size} is not one of {KEY_SIZES}")
    check_shape("k_NHK", tokens["k_NHK"], (num_tokens, num_key_heads, key_size))
    check_shape("v_NJV", tokens["v_NJV"], (num_tokens, None, None))
    num_heads, value_size = tokens["v_NJV"].shape[1:]
    fits = num_heads > 0 and num_heads % num_key_heads == 0
    check(fits, "v_NJV", f"has {num_heads} heads, no multiple of {num_key_heads} key heads")
    fits = value_size > 0 and value_size % VALUE_STEP == 0
    check(fits, "v_NJV", f"value size {value_size} is no multiple of {VALUE_STEP}")
    check_shape("g_NJ", tokens["g_NJ"], (num_tokens, num_heads))
    check_shape("beta_NJ", tokens["beta_NJ"], (num_tokens, num_heads))
    for name, pool in pools.items():
        if pool is not None:
            check_shape(name, pool, (None, num_heads, key_size, value_size))
            check(pool.is_contiguous(), name, "is not contiguous")
