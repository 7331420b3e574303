import os
import subprocess
import sys

import pytest

import flows


@pytest.mark.slow
def test_settings_are_prefects_and_existing_ones_win():
    program = (
        "import flows; from prefect.settings import get_current_settings; "
        "now = get_current_settings().server; "
        "print(now.ephemeral.startup_timeout_seconds, now.api.cors_allowed_origins)"
    )
    name = "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS"
    own = "http://127.0.0.1:4200"
    env = {key: value for key, value in os.environ.items() if key not in flows.SETTINGS}
    for given, expected in (({}, "300"), ({name: "7"}, "7")):
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, cwd=flows.CHECKOUT, env=env | given, capture_output=True, text=True, check=True)
        assert done.stdout.split() == [expected, own]
