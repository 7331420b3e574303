"""Check that a stage ran only code that its digest covers, and read only the params that dvc.yaml lists for it.

With ``ZUGWERK_CHECK_CODE=1`` each stage that DVC runs compares, at its end, the first-party modules that it has loaded
with the closure behind its digest, and the keys of params.yaml that it has read with those of its target. An
``__init__`` does not count, since the registry looks up the players of all rooms there, nor does `parallel`, which
changes no result. A module loaded by a name that cannot be read from the sources, or a key that is not listed, ends it
with status 1. CI runs the smoke graph so.
"""

import os
import sys
from collections.abc import Iterable

from pipeline_src.project.code import CHANGE_NO_OUTPUT, this_code
from pipeline_src.project.graph import Stage, read_graph
from pipeline_src.project.params import PARAMS_FILE, read_tree
from pipeline_src.project.stage_code import closure, find_stage

CHANGE_NO_RESULT = "parallel"


def check_stage(name: str, loaded: Iterable[str], keys_read: Iterable[str]) -> None:
    """End the process with status 1 if stage ``name`` loaded code or read params that the graph does not know of."""
    stage = find_stage(read_graph(), name)
    files = {module: this_code().file(module) for module in loaded}
    own = {module for module, file in files.items() if file is not None and file.name != "__init__.py"}
    missed = sorted(own - CHANGE_NO_OUTPUT - set(closure(stage, read_tree())))
    if missed:
        _end(f"{name} has loaded {', '.join(missed)}, which its digest does not cover; import them where they are used")
    if unlisted := unlisted_keys(stage, name, keys_read):
        _end(f"{name} has read {', '.join(unlisted)}, which dvc.yaml does not list for it; add them to its params")


def unlisted_keys(stage: Stage, target: str, keys_read: Iterable[str]) -> list[str]:
    """Keys of params.yaml that a stage has read, but that dvc.yaml does not list for it; none if the file is a dep."""
    if stage.reads(PARAMS_FILE.name):
        return []
    listed = [f"{key}." for key in (*stage.keys_of(target), CHANGE_NO_RESULT)]
    return sorted(key for key in keys_read if not any(f"{key}.".startswith(one) for one in listed))


def _end(what: str) -> None:
    print(f"error: {what}", file=sys.stderr, flush=True)  # noqa: T201
    os._exit(1)  # an exception at the interpreter's end does not change the exit status
