"""Estimate the disk space of a run from the params, before it starts.

Only files that grow with the params count; the rest of a run is some 100 MiB. DVC keeps outputs twice, in the checkout
and in its cache, unless the file system can share the blocks of both.
"""

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pipeline_src.errors import ZugwerkError
from pipeline_src.project.graph import GRAPH, read_graph
from pipeline_src.project.systems import Sizes, by_word

COPIES = 2
REST = 100 << 20
"""Bytes of everything without an estimate, of pages, reports and intermediate files."""


def needed(targets: Iterable[str], params: Mapping[str, Any]) -> int:
    """Estimate the bytes that some targets of the graph will take.

    Raises:
        ZugwerkError: params lack a key that the sizes depend on.
    """
    try:
        bytes_made = sum(bytes_of(*target.partition("@")[::2], params) for target in targets)
        return REST + COPIES * round(bytes_made)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise unknown_size(error) from error


def unknown_size(error: Exception) -> ZugwerkError:
    """Return the error for params that lack a key of the estimate."""
    return ZugwerkError(
        f"params.yaml: the size of the run cannot be estimated ({type(error).__name__}: {error}); compare the file"
        " with docs/reference/params.md, or `git checkout params.yaml`"
    )


def graph_targets(params: Mapping[str, Any], checkout: Path = Path()) -> list[str]:
    """Return the targets of the whole graph with these params."""
    return [target for stage in read_graph(checkout / GRAPH, params).values() for target in stage.listed]


def sizes(targets: Iterable[str], params: Mapping[str, Any], checkout: Path) -> str:
    """Return a line with the estimate for targets and the free space."""
    free = shutil.disk_usage(checkout).free
    return f"disk: about {gib(needed(targets, params))} needed for all of it, {gib(free)} free at {checkout.resolve()}"


def check(targets: Iterable[str], params: Mapping[str, Any], checkout: Path) -> None:
    """Raise if targets need more disk space than is free at the checkout.

    Raises:
        ZugwerkError: says both sizes.
    """
    wanted, free = needed(targets, params), shutil.disk_usage(checkout).free
    if free < wanted:
        raise ZugwerkError(
            f"{checkout.resolve()}: {gib(free)} of disk free, but about {gib(wanted)} needed for all that has to run; "
            "make room, or name fewer targets: zugwerk repro TARGET"
        )


def gib(size: float) -> str:
    """Return a size as text, such as ``2.4 GiB``."""
    return f"{size / (1 << 30):,.1f} GiB"


def sizes_of(stage: str) -> Sizes | None:
    """Return the sizes that the system of a stage declares."""
    system = by_word().get(stage.partition("_")[0])
    return system.sizes if system else None


def bytes_of(stage: str, item: str, params: Mapping[str, Any]) -> float:
    """Return the bytes of one copy of a target's outputs."""
    sizes = sizes_of(stage)
    return sizes.disk(stage, item, params) if sizes else 0.0
