"""`GET /v1/models`: the list that the OpenAI and the TypeSafe clients both read."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Any

from deg_serve.apis import ModelNames

__all__ = ["list_models"]

_DESCRIPTION = "Fills JSON schemas from documents, with probabilities and places."


def list_models(names: ModelNames, released: date) -> dict[str, Any]:
    """Return the body: every name that requests may use, in the form of each client."""
    created = int(datetime.combine(released, time(), UTC).timestamp())
    known = (names.latest, names.served)
    return {
        "object": "list",
        "data": [
            {"id": name, "object": "model", "created": created, "owned_by": "deg"} for name in known
        ],
        "models": [
            {"name": name, "description": _DESCRIPTION, "release_date": released.isoformat()}
            for name in known
        ],
    }
