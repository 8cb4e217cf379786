"""The loss of written texts: the cross-entropy of each next token, under a frozen head.

The logits of a text over a whole vocabulary would outweigh everything else that a step keeps, so
they are computed a block of tokens at a time, with their gradient, and dropped: the head takes no
gradient, so nothing else is needed later (as in Liger Kernel, Hsu et al., 2024).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

# N tokens to be predicted, V vocabulary, H hidden

__all__ = ["next_token_losses", "text_losses"]

_BLOCK = 128


def text_losses(
    final_NH: Tensor, head_VH: Tensor, answers: Sequence[int], targets: Sequence[Sequence[int]]
) -> tuple[Tensor, int]:
    """Return the mean loss of each text's tokens [R], and how many would be written as they are.

    Args:
        final_NH: The last hidden state of every flat token, fp32.
        head_VH: The head over the vocabulary.
        answers: Of each text, the place of its last token among the flat ones.
        targets: Of each text, the tokens that come next, the last one after that place.
    """
    lengths = [len(each) for each in targets]
    places = [
        torch.arange(answer - length + 1, answer + 1, device=final_NH.device)
        for answer, length in zip(answers, lengths, strict=True)
    ]
    target_N = torch.tensor([token for each in targets for token in each], device=final_NH.device)
    losses_N, right_N = next_token_losses(final_NH[torch.cat(places)], head_VH, target_N)
    means = [own_N.mean() for own_N in torch.split(losses_N, lengths)]
    num_right = sum(bool(own_N.all()) for own_N in torch.split(right_N, lengths))
    return torch.stack(means), num_right


def next_token_losses(
    hidden_NH: Tensor, head_VH: Tensor, target_N: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the cross-entropy [N] of each target in nats, and whether it is the likeliest [N]."""
    losses_N, right_N = _NextToken.apply(hidden_NH, head_VH, target_N)  # type: ignore[no-untyped-call]
    return losses_N, right_N


class _NextToken(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, hidden: Tensor, head: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        losses, right, grads = [], [], []
        for own, wanted in zip(
            torch.split(hidden, _BLOCK), torch.split(target, _BLOCK), strict=True
        ):
            logits = (own.to(head.dtype) @ head.T).float()
            number = torch.arange(len(wanted), device=wanted.device)
            log_probability = logits.log_softmax(-1)
            losses.append(-log_probability[number, wanted])
            right.append(logits.argmax(-1) == wanted)
            if ctx.needs_input_grad[0]:
                surplus = log_probability.exp_()
                surplus[number, wanted] -= 1
                grads.append((surplus.to(head.dtype) @ head).to(hidden.dtype))
        if grads:
            ctx.save_for_backward(torch.cat(grads))
        is_right = torch.cat(right)
        ctx.mark_non_differentiable(is_right)
        return torch.cat(losses), is_right

    @staticmethod
    def backward(ctx: Any, grad: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        (own,) = ctx.saved_tensors
        return own * grad[:, None], None, None
