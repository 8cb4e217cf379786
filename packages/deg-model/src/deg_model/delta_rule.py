"""The gated delta rule for training: whole chunks of tokens at once, with gradients.

The serving form (`deg_kernels.fork_delta_rule`) goes token by token and keeps no graph. Here a
chunk's corrections follow from one triangular solve (Yang et al., Gated Delta Networks, 2024), and
only the states between chunks are passed on one after another.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

# R rows, T tokens, M chunks of X tokens, J heads, K key size, V value size

__all__ = ["chunked_delta_rule"]

_CHUNK = 64


def chunked_delta_rule(
    q_RTJK: Tensor,
    k_RTJK: Tensor,
    v_RTJV: Tensor,
    log_decay_RTJ: Tensor,
    beta_RTJ: Tensor,
    state_RJKV: Tensor,
) -> tuple[Tensor, Tensor]:
    """Return what each token reads [R, T, J, V] and the state after the last one, in fp32.

    Args:
        q_RTJK: Queries of unit length, scaled.
        k_RTJK: Keys of unit length, or zero where a token writes nothing.
        v_RTJV: Values.
        log_decay_RTJ: The logarithm of what each token leaves of the state, at most 0.
        beta_RTJ: How far each token overwrites; with a log-decay of 0, 0 makes it padding.
        state_RJKV: The states before the first token.
    """
    num_tokens = q_RTJK.shape[1]
    q, k, v = (_chunks(x) for x in (q_RTJK, k_RTJK, v_RTJV))
    log_RJMX, beta = (_chunks(x[..., None])[..., 0] for x in (log_decay_RTJ, beta_RTJ))
    total_RJMX = log_RJMX.cumsum(-1)
    between = _between(total_RJMX)
    keys_beta = k * beta[..., None]
    own = (keys_beta @ k.transpose(-1, -2) * between).tril(-1)
    unit = torch.eye(own.shape[-1], device=own.device)
    # what a token corrects depends on what the tokens before it in the chunk corrected
    asked = torch.cat([v * beta[..., None], keys_beta * total_RJMX.exp()[..., None]], dim=-1)
    told = torch.linalg.solve_triangular(own + unit, asked, upper=False, unitriangular=True)
    values, known = told.split([v.shape[-1], k.shape[-1]], dim=-1)
    seen = q @ k.transpose(-1, -2) * between
    left = (total_RJMX[..., -1:] - total_RJMX).exp()[..., None]
    outs = []
    for chunk in range(q.shape[2]):
        total_RJX1 = total_RJMX[:, :, chunk, :, None]
        new = values[:, :, chunk] - known[:, :, chunk] @ state_RJKV
        outs.append((q[:, :, chunk] * total_RJX1.exp()) @ state_RJKV + seen[:, :, chunk] @ new)
        state_RJKV = state_RJKV * total_RJX1[:, :, -1:].exp() + (
            (k[:, :, chunk] * left[:, :, chunk]).transpose(-1, -2) @ new
        )
    return torch.cat(outs, dim=2)[:, :, :num_tokens].transpose(1, 2), state_RJKV


def _chunks(x_RTJD: Tensor) -> Tensor:
    padded = F.pad(x_RTJD, (0, 0, 0, 0, 0, -x_RTJD.shape[1] % _CHUNK))
    rows, num_tokens, heads, size = padded.shape
    return padded.view(rows, num_tokens // _CHUNK, _CHUNK, heads, size).permute(0, 3, 1, 2, 4)


def _between(total_RJMX: Tensor) -> Tensor:
    """Return the decay from each earlier token of a chunk to each later one, else zero."""
    steps = total_RJMX[..., :, None] - total_RJMX[..., None, :]
    future = torch.ones(steps.shape[-2:], dtype=torch.bool, device=steps.device).triu(1)
    return steps.masked_fill(future, float("-inf")).exp()
