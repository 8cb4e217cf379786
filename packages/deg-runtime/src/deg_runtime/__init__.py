"""In-process inference: load a model, fill schemas from documents."""

from deg_model import CheckpointError, ContextTooLong, DeviceError
from deg_runtime._version import __version__
from deg_runtime.contexts import Contexts
from deg_runtime.engine import Engine, load
from deg_runtime.events import Event, FieldDone, Filled, TextPiece
from deg_runtime.jobs import Request
from deg_runtime.memory import free_bytes, is_out_of_memory
from deg_runtime.stopping import Stop
from deg_runtime.trace import Trace
from deg_schema import DegError, FillError, RequestError, SchemaError

__all__ = [
    "CheckpointError",
    "ContextTooLong",
    "Contexts",
    "DegError",
    "DeviceError",
    "Engine",
    "Event",
    "FieldDone",
    "FillError",
    "Filled",
    "Request",
    "RequestError",
    "SchemaError",
    "Stop",
    "TextPiece",
    "Trace",
    "__version__",
    "free_bytes",
    "is_out_of_memory",
    "load",
]
