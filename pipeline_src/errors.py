"""Errors a user can act on, and the one place where they become a message and an exit status."""

import sys
from collections.abc import Callable


class ZugwerkError(ValueError):
    """Bad input or state of the world; its text names the file, line or key and what to do."""


def run_main(main: Callable[[], None]) -> None:
    """Run the ``main`` of a stage or command; an expected failure ends in one line on stderr and status 1.

    Expected are `ZugwerkError` and `OSError` (a full disk, a folder that cannot be written). Anything
    else is a defect and keeps its traceback.
    """
    try:
        main()
    except ZugwerkError as error:
        sys.exit(f"error: {error}")
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        sys.exit(f"error: {where}{error.strerror or error}")
