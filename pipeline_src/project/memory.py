"""Estimate the memory of a run from the params, before it starts.

A process of a stage takes what `PROCESS` has, and what grows with the params: records and samples, and in training the
weights and activations of the net, which on a GPU are not in this memory. Processes of other stages than those here are
small.
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
PROCESS = {
    "amazons_archive": 350,
    "amazons_parse": 240,
    "amazons_samples": 240,
    "amazons_train": 690,
    "amazons_evaluate": 520,
    "amazons_match": 630,
    "amazons_calibration": 630,
    "gomoku_first": 760,
    "gomoku_generation": 760,
    "gomoku_evaluate": 830,
    "gomoku_calibration": 830,
    "growing_first": 660,
    "growing_board": 660,
    "growing_evaluate": 660,
    "depth_train": 630,
    "depth_match": 580,
}
"""MiB of a process without workers, measured for docs/costs.md and in small runs."""
OTHER = 370
WORKER = 300
"""MiB of a worker."""
DVC = 150
"""MiB of the command that runs a target."""
A_GAME_READ = 30 << 10
"""Bytes of a game of the Amazons in memory."""
KEPT = 3.2
"""Bytes that a training step keeps for each output of the convolutions, measured with the published residual net."""
STATE = 4
"""Numbers for each weight in training: the weight, its gradient and the optimiser's state."""
SIDE_BY_SIDE = ("amazons_train", "amazons_evaluate", "depth_train")
"""Stages with members that may run at the same time. All other stages of a system run one at a time."""
AMAZONS_FILTERS = 1040
"""Sum of the filters of all layers of Amazons-Net, at the published width."""
CGROUPS = (
    ("memory.max", "memory.current", "memory.stat"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat"),
)
"""Files below /sys/fs/cgroup with the limit, the use and the counts of a container."""


def of_process(target: str, params: Mapping[str, Any], gpu: bool = False) -> int:
    """Estimate the bytes of the process of a target, without its workers.

    Raises:
        ZugwerkError: params lack what the sizes are made of.
    """
    stage, _, item = target.partition("@")
    try:
        return PROCESS.get(stage, OTHER) * MIB + round(_grows(stage, item, params, gpu))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise disk.unknown_size(error) from error


def needed(
    targets: Iterable[str], params: Mapping[str, Any], jobs: int, places: Mapping[str, Places], gpu: bool = False
) -> int:
    """Return the largest sum of bytes of targets that may run at the same time in ``jobs`` places."""
    options: dict[str, set[tuple[int, int]]] = {}  # places and bytes, for targets that run one at a time
    for target in targets:
        stage = target.partition("@")[0]
        key, took = target if stage in SIDE_BY_SIDE else stage.partition("_")[0], places.get(stage, Places())
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


def _grows(stage: str, item: str, params: Mapping[str, Any], gpu: bool) -> float:
    """Return the bytes of the data that a target reads and of the net that it trains."""
    games = params.get("amazons_archive", {}).get("games", 0)
    if stage in ("amazons_parse", "amazons_samples"):
        return float(games * A_GAME_READ)
    if stage in ("depth_train", "depth_evaluate"):
        return disk.bytes_of("depth_label", "", params)
    if stage == "amazons_train":
        samples = disk.bytes_of("amazons_samples", "", params)
        return samples if gpu else samples + _amazons_net(item, params)
    if stage in ("gomoku_first", "gomoku_generation", "growing_first", "growing_board") and not gpu:
        system = stage.partition("_")[0]
        size = params["gomoku_game"]["size"] if system == "gomoku" else int(item or params["growing_first"]["size"])
        net, batch = params[f"{system}_net"], params[f"{system}_train"]["batch"]
        return float(4 * (STATE * disk.weights(net, size) + KEPT * batch * _filters(net) * size**2))
    return 0.0


def _amazons_net(name: str, params: Mapping[str, Any]) -> float:
    """Return the bytes of a training for the Amazons; a sample has two positions, before move and arrow."""
    own = params["amazons_residual" if name == "residual" else "amazons_train"]
    cells = params["amazons_samples"]["size"] ** 2
    filters = (2 * own["blocks"] + 1) * own["channels"] if name == "residual" else AMAZONS_FILTERS * own["width"]
    return float(STATE * disk.amazons_net(name, params) + 4 * KEPT * 2 * own["batch"] * filters * cells)


def _filters(net: Mapping[str, Any]) -> int:
    """Return the sum of the filters of all convolutions of a self-play net; 0 for the line net, which has none."""
    own = net[net["kind"]]
    if net["kind"] == "residual":
        return int(own["stem_filters"] + sum(2 * own["blocks"] * width for width in own["widths"]))
    return sum(own.get("filters", ()))
