"""How long a process takes to end."""

import time
from pathlib import Path

PATIENCE_S = 60.0


def time_to_end(process):
    """Seconds until a process has ended, and for how many of them it waited for a processor, which others had.

    The second number is 0 where the system does not tell it.
    """
    begun, before = time.monotonic(), queued(process.pid)
    after = before
    while process.poll() is None:
        if time.monotonic() - begun > PATIENCE_S:
            process.kill()
            raise AssertionError("it did not end")
        after = queued(process.pid) or after
        time.sleep(0.01)
    return time.monotonic() - begun, after - before


def queued(pid):
    """For how many seconds a process was ready to run and did not."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0
