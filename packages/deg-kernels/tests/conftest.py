from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

# kernels run without a GPU; read when triton is first imported
os.environ["TRITON_INTERPRET"] = "1"

# test folders are no packages, and pytest keeps them off the path
sys.path.insert(0, str(Path(__file__).parent))

if importlib.util.find_spec("triton"):
    importlib.import_module("interpreter")
