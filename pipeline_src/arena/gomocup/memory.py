"""Memory of this process."""

import os
import resource
import sys
from pathlib import Path


def resident_bytes() -> int:
    """Return the resident memory of the process in bytes, or its peak on systems that report only that."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most << 10
