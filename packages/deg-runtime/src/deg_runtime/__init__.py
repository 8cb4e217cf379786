"""In-process inference: load a model, fill schemas from documents."""

from deg_runtime._version import __version__
from deg_runtime.engine import Engine, load

__all__ = ["Engine", "__version__", "load"]
