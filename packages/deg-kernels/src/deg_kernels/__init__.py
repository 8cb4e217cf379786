"""Operators whose result for a row does not depend on the batch that the row is in."""

from __future__ import annotations

from deg_kernels._version import __version__
from deg_kernels.linear import linear, naive_linear

__all__ = ["__version__", "linear", "naive_linear"]
