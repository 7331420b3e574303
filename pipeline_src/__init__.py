"""Zugwerk: one reproducible pipeline for board-game AI.

Importing the package turns off onnxruntime's telemetry: from 1.29 on its builds for Linux send events to their maker,
the first of them at import, before `onnxruntime.disable_telemetry_events` can be called. The variable has to be set by
then.
"""

import os

__version__ = "0.1.0"

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
