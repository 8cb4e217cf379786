"""What is installed with deg-schema, and how large its own part is."""

import io
import re
import zipfile
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import deg_schema

WHEEL_BYTES = 150_000


def _installed_with(name: str, seen: set[str]) -> set[str]:
    if name not in seen:
        seen.add(name)
        try:
            lines = requires(name) or []
        except PackageNotFoundError:
            # what another platform needs is not here
            lines = []
        for line in lines:
            if "extra ==" not in line:
                _installed_with(re.split(r"[^\w.-]", line)[0].lower(), seen)
    return seen


def test_nothing_that_comes_along_is_torch_or_numpy() -> None:
    assert not _installed_with("deg-schema", set()) & {"torch", "numpy", "transformers"}


def test_the_wheel_stays_small() -> None:
    packed = io.BytesIO()
    folder = Path(deg_schema.__file__).parent
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path in folder.rglob("*"):
            if path.is_file() and path.parent.name != "__pycache__":
                wheel.write(path, path.relative_to(folder))
    assert len(packed.getvalue()) < WHEEL_BYTES
