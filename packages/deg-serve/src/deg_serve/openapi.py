"""The OpenAPI document of the server: every route with its bodies, statuses and errors."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from deg_serve._version import __version__

__all__ = ["document"]

# what stands in the file where the id of the served model does
_MODEL_ID = "{model_id}"


def document(model_id: str) -> dict[str, Any]:
    """Return the document of a server of the model *model_id*."""
    text = files("deg_serve").joinpath("openapi.json").read_text(encoding="utf-8")
    described: dict[str, Any] = json.loads(text.replace(_MODEL_ID, json.dumps(model_id)[1:-1]))
    described["info"]["version"] = __version__
    return described
