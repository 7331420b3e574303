import os
import subprocess
import sys


def test_onnxruntime_telemetry_is_off_before_import() -> None:
    program = "import os, sys, pipeline_src; print(os.environ['ORT_DISABLE_TELEMETRY'], 'onnxruntime' in sys.modules)"
    clean = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    for environment, said in ((clean, "1 False"), (clean | {"ORT_DISABLE_TELEMETRY": "0"}, "0 False")):
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == said
