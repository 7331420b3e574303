"""Prefect flows: when and where the graph of dvc.yaml runs. DVC alone defines dependencies.

Importing the package keeps Prefect's state inside the checkout, turns off telemetry and gives a server time to
start; it has to come before `prefect` is imported, which reads its settings once. Variables that are set already win.
"""

import contextlib
import os
from pathlib import Path

from pipeline_src.project.code import home

CHECKOUT = Path(__file__).resolve().parents[1]  # The folder with dvc.yaml, params.yaml and .dvc

SETTINGS = {
    "PREFECT_HOME": str(CHECKOUT / "work" / "prefect"),
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": "http://127.0.0.1:4200",  # by default a page of any site may use the API
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "300",  # its default of 20 s ends flows on a busy machine
    "DO_NOT_TRACK": "1",
    "DVC_NO_ANALYTICS": "1",
}

for _name, _value in SETTINGS.items():
    os.environ.setdefault(_name, _value)
home()
with contextlib.suppress(OSError):  # Prefect makes this folder but not its parent, and says so if it cannot
    Path(os.environ["PREFECT_HOME"]).mkdir(parents=True, exist_ok=True)
