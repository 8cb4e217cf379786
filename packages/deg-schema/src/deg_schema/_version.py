"""The version of this distribution."""

__all__ = ["__version__"]

__version__ = "0.1.0"
