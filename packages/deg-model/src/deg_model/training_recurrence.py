"""State layers of a training batch: B padded contexts, then buckets of fork rows, with gradients.

Padding is exact: a padded token neither writes to a state nor decays it, and a fork starts from the
tail at the real end of its context.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from deg_model.attention import ForkBucket
from deg_model.delta_rule import chunked_delta_rule
from deg_model.training_state import TrainingState

# N flat tokens, B contexts, T tokens of a context, R rows of a bucket, U tokens of a row
# C channels, W taps, L = W - 1 inputs of a tail
# B key heads in q_NBK and k_NBK, J value heads, K key size, V value size

__all__ = ["TrainingRecurrence"]


class TrainingRecurrence:
    """Recurrence of a training batch, laid out as `TrainingAttention` has it.

    Args:
        context_lengths_B: Real tokens of each context, those that were read before among them.
        width: T, the padded tokens of each context in this pass; none where forks alone are read.
        buckets: The fork rows, in the order in which their tokens lie.
        before: What was read of the contexts before.
        after: Takes up what the contexts leave behind, each layer's once.
    """

    def __init__(
        self,
        context_lengths_B: Tensor,
        width: int,
        buckets: Sequence[ForkBucket],
        *,
        before: TrainingState | None = None,
        after: TrainingState | None = None,
    ) -> None:
        self._before, self._after = before or TrainingState(), after
        # a context that ended before, or goes on behind, has none or all of its tokens in this pass
        self._lengths_B = (context_lengths_B - self._before.num_tokens).clamp(0, width)
        self._width = width
        self._buckets = tuple(buckets)
        self._sizes = [
            len(context_lengths_B) * width,
            *(len(bucket.context_R) * bucket.width for bucket in buckets),
        ]

    def short_conv(self, layer: int, x_NC: Tensor, weight_CW: Tensor, *, silu: bool) -> Tensor:
        """Return a causal depthwise convolution [N, C] along each row, through SiLU if asked."""
        own, *forks = torch.split(x_NC, self._sizes)
        num_before = weight_CW.shape[1] - 1
        num, channels = len(self._lengths_B), own.shape[-1]
        tails_BLC = self._before.tails.get(layer)
        if tails_BLC is None:
            tails_BLC = own.new_zeros(num, num_before, channels)
        parts = []
        if self._width:
            x_BTC = torch.cat([tails_BLC, own.view(num, self._width, channels)], dim=1)
            places_BL = self._lengths_B[:, None] + torch.arange(num_before)
            tails_BLC = x_BTC[torch.arange(num)[:, None], places_BL]
            parts.append(_convolved(x_BTC, weight_CW))
        if self._after is not None:
            self._after.tails.setdefault(layer, tails_BLC)
        for bucket, x_MC in zip(self._buckets, forks, strict=True):
            x_RUC = x_MC.view(-1, bucket.width, x_MC.shape[-1])
            parts.append(
                _convolved(torch.cat([tails_BLC[bucket.context_R], x_RUC], dim=1), weight_CW)
            )
        out_NC = torch.cat(parts)
        return F.silu(out_NC) if silu else out_NC

    def delta_rule(
        self,
        layer: int,
        q_NBK: Tensor,
        k_NBK: Tensor,
        v_NJV: Tensor,
        log_decay_NJ: Tensor,
        beta_NJ: Tensor,
    ) -> Tensor:
        """Return the gated delta rule's output [N, J, V] along each row."""
        _, heads, size = v_NJV.shape
        repeat, key_size = heads // q_NBK.shape[1], q_NBK.shape[2]
        inputs = _Inputs(
            _unit(q_NBK).repeat_interleave(repeat, 1) * key_size**-0.5,
            _unit(k_NBK).repeat_interleave(repeat, 1),
            v_NJV.float(),
            log_decay_NJ,
            beta_NJ,
        )
        end = self._sizes[0]
        states_BJKV = self._before.states.get(layer)
        if states_BJKV is None:
            states_BJKV = torch.zeros(len(self._lengths_B), heads, key_size, size)
        parts = []
        if self._width:
            own = inputs.rows(0, end, self._lengths_B)
            out_BTJV, states_BJKV = own.advance(states_BJKV)
            parts.append(out_BTJV.reshape(-1, heads, size))
        if self._after is not None:
            self._after.states.setdefault(layer, states_BJKV)
        for bucket, num_own in zip(self._buckets, self._sizes[1:], strict=True):
            own = inputs.rows(end, end + num_own, bucket.lengths_R)
            out_RUJV, _ = own.advance(states_BJKV[bucket.context_R])
            parts.append(out_RUJV.reshape(-1, heads, size))
            end += num_own
        return torch.cat(parts).to(v_NJV.dtype)


@dataclass(frozen=True, slots=True)
class _Inputs:
    """What the delta rule takes of flat tokens, or of rows of one width."""

    q: Tensor
    k: Tensor
    v: Tensor
    log_decay: Tensor
    beta: Tensor

    def rows(self, start: int, end: int, lengths_R: Tensor) -> _Inputs:
        """Return flat tokens [start, end) as rows, of which padding changes no state."""
        q, k, v, log_decay, beta = (
            each[start:end].view(len(lengths_R), -1, *each.shape[1:])
            for each in (self.q, self.k, self.v, self.log_decay, self.beta)
        )
        padding_RT1 = (torch.arange(q.shape[1]) >= lengths_R[:, None])[..., None]
        return _Inputs(
            q, k, v, log_decay.masked_fill(padding_RT1, 0.0), beta.masked_fill(padding_RT1, 0.0)
        )

    def advance(self, state_RJKV: Tensor) -> tuple[Tensor, Tensor]:
        return chunked_delta_rule(self.q, self.k, self.v, self.log_decay, self.beta, state_RJKV)


def _convolved(x_RTC: Tensor, weight_CW: Tensor) -> Tensor:
    mixed_RCT = F.conv1d(x_RTC.transpose(1, 2), weight_CW[:, None], groups=len(weight_CW))
    return mixed_RCT.transpose(1, 2).reshape(-1, len(weight_CW))


def _unit(x_NBK: Tensor) -> Tensor:
    wide_NBK = x_NBK.float()
    return wide_NBK * torch.rsqrt((wide_NBK * wide_NBK).sum(-1, keepdim=True) + 1e-6)
