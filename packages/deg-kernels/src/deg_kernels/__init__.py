"""Operators whose result for a row does not depend on the batch that the row is in."""

from __future__ import annotations

from deg_kernels._version import __version__
from deg_kernels.argmax import argmax, naive_argmax
from deg_kernels.attention import (
    DecodeRows,
    Prefix,
    Rows,
    decode_attention,
    fork_attention,
    naive_fork_attention,
)
from deg_kernels.convolution import naive_short_conv, short_conv
from deg_kernels.delta_rule import fork_delta_rule, naive_fork_delta_rule
from deg_kernels.elementwise import (
    naive_sigmoid,
    naive_silu,
    naive_softplus,
    sigmoid,
    silu,
    softplus,
)
from deg_kernels.head_product import head_product, naive_head_product
from deg_kernels.linear import linear, linear_small, naive_linear, packed_weight
from deg_kernels.log_softmax import log_softmax, naive_log_softmax
from deg_kernels.rms_norm import (
    naive_rms_norm,
    naive_rms_norm_centred,
    naive_rms_norm_gated,
    rms_norm,
    rms_norm_centred,
    rms_norm_gated,
)
from deg_kernels.state_rows import NOWHERE, StateRows

__all__ = [
    "NOWHERE",
    "DecodeRows",
    "Prefix",
    "Rows",
    "StateRows",
    "__version__",
    "argmax",
    "decode_attention",
    "fork_attention",
    "fork_delta_rule",
    "head_product",
    "linear",
    "linear_small",
    "log_softmax",
    "naive_argmax",
    "naive_fork_attention",
    "naive_fork_delta_rule",
    "naive_head_product",
    "naive_linear",
    "naive_log_softmax",
    "naive_rms_norm",
    "naive_rms_norm_centred",
    "naive_rms_norm_gated",
    "naive_short_conv",
    "naive_sigmoid",
    "naive_silu",
    "naive_softplus",
    "packed_weight",
    "rms_norm",
    "rms_norm_centred",
    "rms_norm_gated",
    "short_conv",
    "sigmoid",
    "silu",
    "softplus",
]
