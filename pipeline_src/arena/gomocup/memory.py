"""Memory of this process."""

import os
import resource
import sys
from pathlib import Path


def resident_bytes() -> int:
    """Bytes of memory that the process has now; where the system does not tell, the most that it has had."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most << 10
