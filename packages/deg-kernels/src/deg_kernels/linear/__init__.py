"""The linear map, with the same bits for a row alone, in any batch and at any place in it."""

from __future__ import annotations

from deg_kernels.linear.naive import naive_linear
from deg_kernels.linear.tiled import linear

__all__ = ["linear", "naive_linear"]
