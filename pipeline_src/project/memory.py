"""Estimate the memory of a run from the params, before it starts.

A system declares the memory of its stages (`project.systems.Sizes`): the size in small runs, and the part that grows
with the params, that is records and samples, and in training the weights and activations of the net, unless they are on
a GPU.
"""

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import psutil

from pipeline_src.errors import ZugwerkError
from pipeline_src.project import disk
from pipeline_src.project.disk import gib
from pipeline_src.project.schedule import Places

LOG = logging.getLogger(__name__)
MIB = 1 << 20
OTHER = 370
"""MiB of a process without workers, of stages without a declared size."""
WORKER = 300
"""MiB of a worker."""
DVC = 150
"""MiB of the command that runs a target."""
CGROUPS = (
    ("memory.max", "memory.current", "memory.stat"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat"),
)
"""Files below /sys/fs/cgroup with the limit, the use and the counts of a container."""


def of_process(target: str, params: Mapping[str, Any], gpu: bool = False) -> int:
    """Estimate the bytes of the process of a target, without its workers.

    Raises:
        ZugwerkError: params lack a key that the sizes depend on.
    """
    stage, _, item = target.partition("@")
    sizes = disk.sizes_of(stage)
    try:
        return (
            OTHER * MIB
            if sizes is None
            else (sizes.process.get(stage, OTHER) * MIB + round(sizes.memory(stage, item, params, gpu)))
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise disk.unknown_size(error) from error


def needed(
    targets: Iterable[str], params: Mapping[str, Any], jobs: int, places: Mapping[str, Places], gpu: bool = False
) -> int:
    """Return the largest sum of bytes of targets that may run at the same time in ``jobs`` places."""
    options: dict[str, set[tuple[int, int]]] = {}  # places and bytes, for targets that run one at a time
    for target in targets:
        stage = target.partition("@")[0]
        sizes, took = disk.sizes_of(stage), places.get(stage, Places())
        key = target if sizes and stage in sizes.side_by_side else stage.partition("_")[0]
        own = DVC * MIB + of_process(target, params, gpu)
        options.setdefault(key, set()).add((min(jobs, took.least), own))
        if (workers := min(jobs, took.most)) > 1:  # a single worker is the process itself
            options[key].add((max(workers, took.least), own + workers * WORKER * MIB))
    most = [0] * (jobs + 1)  # by the number of places
    for choices in options.values():
        most = [
            max(most[room], *(most[room - taken] + size for taken, size in choices if taken <= room), 0)
            for room in range(jobs + 1)
        ]
    return most[jobs]


def available(groups: Path = Path("/sys/fs/cgroup")) -> int:
    """Return the bytes that new processes may use, with swap, within the limit of the container.

    Cached files of a container do not count as used: they are dropped when memory is needed.
    """
    free = psutil.virtual_memory().available + psutil.swap_memory().free
    for limit, used, stat in CGROUPS:
        try:
            counts = dict(line.split() for line in (groups / stat).read_text().splitlines())
            cached = int(counts["inactive_file"]) + int(counts["active_file"])
            free = min(free, int((groups / limit).read_text()) - int((groups / used).read_text()) + cached)
        except (OSError, ValueError, KeyError):  # no container, or ``max``: one without a limit
            continue
    return max(0, int(free))


def has_gpu() -> bool:
    """Return whether trainings find an NVIDIA GPU."""
    return Path("/proc/driver/nvidia/version").exists()


def sizes(targets: Iterable[str], params: Mapping[str, Any], jobs: int, places: Mapping[str, Places]) -> str:
    """Return a line with the estimate for targets that run at the same time, and the available memory."""
    wanted = needed(targets, params, jobs, places, has_gpu())
    return f"memory: about {gib(wanted)} needed with --jobs {jobs}, {gib(available())} available"


def check(targets: Iterable[str], params: Mapping[str, Any], jobs: int, places: Mapping[str, Places]) -> None:
    """Raise if one target needs more memory than is available; warn if those that run at the same time do.

    Raises:
        ZugwerkError: names the target, and says both sizes.
    """
    targets, free, gpu = list(targets), available(), has_gpu()
    for target in sorted(targets):
        if (alone := of_process(target, params, gpu)) > free:
            raise ZugwerkError(
                f"{target}: about {gib(alone)} of memory needed, but {gib(free)} available; take a smaller batch or"
                " net, or name other targets: zugwerk repro TARGET"
            )
    if needed(targets, params, jobs, places, gpu) > free:
        LOG.warning("%s; fewer jobs at a time take less", sizes(targets, params, jobs, places))
