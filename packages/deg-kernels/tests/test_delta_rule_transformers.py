from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from deg_kernels import NOWHERE, StateRows, fork_delta_rule
from state_inputs import DeltaSizes, delta_inputs

SIZES = [DeltaSizes(4, 4, 128, 128), DeltaSizes(2, 4, 64, 32), DeltaSizes(1, 3, 16, 8)]
QWEN = pytest.importorskip("transformers.models.qwen3_5.modeling_qwen3_5")
RULES = [QWEN.torch_recurrent_gated_delta_rule, QWEN.torch_chunk_gated_delta_rule]


def as_transformers(
    rule: Callable[..., Any], tokens: tuple[Tensor, ...], state: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Run one row by a rule of transformers."""
    q, k, v, g, beta = (x[None] for x in tokens)
    out, final = rule(
        q,
        k,
        v,
        g=g,
        beta=beta,
        initial_state=state,
        output_final_state=True,
        use_qk_l2norm_in_kernel=True,
    )
    return out[0], final


def run(tokens: tuple[Tensor, ...], state: Tensor | None) -> tuple[Tensor, Tensor]:
    """Run one row by our rule."""
    rows = StateRows.of([len(tokens[0])], starts=[NOWHERE if state is None else 0], writes=[0])
    final = torch.empty(1, tokens[2].shape[1], tokens[0].shape[2], tokens[2].shape[2])
    return fork_delta_rule(*tokens, state, rows, finals_FJKV=final), final


@pytest.mark.parametrize("rule", RULES, ids=["recurrent", "chunk"])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_it_agrees_with_transformers(rule: Callable[..., Any], sizes: DeltaSizes) -> None:
    inputs, pool = delta_inputs(100, sizes, torch.float32), sizes.pool(1)
    out, final = run(inputs[:], pool)
    expected, expected_final = as_transformers(rule, inputs[:], pool)
    torch.testing.assert_close(out, expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(final, expected_final, rtol=1e-4, atol=1e-5)


def test_the_chunked_rule_of_transformers_fails_where_ours_passes() -> None:
    sizes = DeltaSizes(4, 4, 128, 128)
    inputs = delta_inputs(70, sizes, torch.float32)

    def fork_is_one_pass(rule: Callable[..., tuple[Tensor, Tensor]]) -> bool:
        whole, _ = rule(inputs[:], None)
        _, state = rule(inputs[:37], None)
        return torch.equal(rule(inputs[37:], state)[0], whole[37:])

    assert fork_is_one_pass(run)
    assert not fork_is_one_pass(lambda tokens, state: as_transformers(RULES[1], tokens, state))
