from __future__ import annotations

import deg_kernels

NAMES = """
NOWHERE
DecodeRows
Prefix
Rows
StateRows
__version__
argmax
decode_attention
fork_attention
fork_delta_rule
head_product
linear
linear_small
log_softmax
naive_argmax
naive_fork_attention
naive_fork_delta_rule
naive_head_product
naive_linear
naive_log_softmax
naive_rms_norm
naive_rms_norm_centred
naive_rms_norm_gated
naive_short_conv
naive_sigmoid
naive_silu
naive_softplus
packed_weight
rms_norm
rms_norm_centred
rms_norm_gated
short_conv
sigmoid
silu
softplus
"""


def test_the_public_names_are_these() -> None:
    assert deg_kernels.__all__ == NAMES.split()
