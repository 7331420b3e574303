"""No process of a stage outlives the one that asked for it, however that one ended.

After a kill -9 of DVC its stage would run on, and after one of a stage its workers: the same command, given again,
would then write the same files at the same time. On Linux the kernel kills a child at its parent's death, if the
child has asked for it; elsewhere nothing happens here.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def end_with_parent(parent: int | None = None) -> None:
    """From now on, kill -9 this process when the thread that started it ends.

    Args:
        parent: pid that should be the parent's; where it is not, that one is dead already, and this process ends.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent is not None and os.getppid() != parent:
        os._exit(1)
