from __future__ import annotations

import os
import subprocess
import sys

_PRINT = """
from random import Random
from deg_train.generate.pools import _NAMES, pool
for provider in ("city", "name", "company", "street_address", "country", "job"):
    for locale in _NAMES:
        print(provider, locale, pool(provider, locale))
"""


def test_pools_are_the_same_in_every_process() -> None:
    printed = {
        subprocess.run(
            [sys.executable, "-c", _PRINT],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1
