"""Check that a stage ran only code that its digest covers.

With ``ZUGWERK_CHECK_CODE=1`` each stage that DVC runs compares, at its end, the first-party modules that it has loaded
with the closure behind its digest; an ``__init__`` does not count, since the registry looks up the players of all rooms
there. A module loaded by a name that cannot be read from the sources ends it with status 1. CI runs the smoke graph so.
"""

import os
import sys
from collections.abc import Iterable

from pipeline_src.project.code import CHANGE_NO_OUTPUT, this_code
from pipeline_src.project.graph import read_graph
from pipeline_src.project.params import read_tree
from pipeline_src.project.stage_code import closure, find_stage


def check_loaded(name: str, loaded: Iterable[str]) -> None:
    """End the process with status 1 where it has loaded first-party code beyond the closure of stage ``name``."""
    stage = find_stage(read_graph(), name)
    files = {module: this_code().file(module) for module in loaded}
    own = {module for module, file in files.items() if file is not None and file.name != "__init__.py"}
    missed = sorted(own - CHANGE_NO_OUTPUT - set(closure(stage, read_tree())))
    if missed:
        what = f"{name} has loaded {', '.join(missed)}, which its digest does not cover"
        print(f"error: {what}; import them where they are used", file=sys.stderr, flush=True)  # noqa: T201
        os._exit(1)  # at the interpreter's end an exception would change no exit status
