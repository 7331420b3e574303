"""Estimate the disk space of a run from the params, before it starts.

Only what grows with the params counts; the rest of a run is some 100 MiB. DVC keeps what a stage makes twice, in the
checkout and in its cache, unless the file system can share the blocks of both.
"""

import shutil
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from pipeline_src.errors import ZugwerkError

COPIES = 2
REST = 100 << 20
"""Bytes of everything without an estimate, of pages, reports and intermediate files."""
A_GAME, A_GAME_OF_SAMPLES = 800, 18_800
"""Bytes of a game of the Amazons on 10x10: in an archive, pages or records; as samples. Measured at 1,000 games."""
A_GAME_OF_LABELS = 14_500
"""Bytes of a game of search depths."""
A_WEIGHT = 16
"""Bytes of a generation for each weight: the net, the best player, and the optimiser with two moments."""


def needed(targets: Iterable[str], params: Mapping[str, Any]) -> int:
    """Estimate the bytes that some targets of the graph will take.

    Raises:
        ZugwerkError: params lack what the sizes are made of.
    """
    try:
        bytes_made = sum(bytes_of(*target.partition("@")[::2], params) for target in targets)
        return REST + COPIES * round(bytes_made)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise unknown_size(error) from error


def unknown_size(error: Exception) -> ZugwerkError:
    """Return the error for params that lack what the estimate needs."""
    return ZugwerkError(
        f"params.yaml: the size of the run cannot be estimated ({type(error).__name__}: {error}); compare the file"
        " with docs/reference/params.md, or `git checkout params.yaml`"
    )


def graph_targets(params: Mapping[str, Any]) -> list[str]:
    """Return the targets of the whole graph that have an estimate."""
    names = ["archive", "crawl", "parse", "samples"] if "amazons_archive" in params else []
    members = {
        "amazons_train": params.get("amazons_models", {}).get("trained", ()),
        "gomoku_generation": params.get("gomoku_generations", ()),
        "growing_board": params.get("growing_larger", ()),
    }
    sections = {"gomoku_first": "gomoku_game", "growing_first": "growing_first", "depth_label": "depth_label"}
    found = [f"amazons_{name}" for name in names]
    found += [f"{stage}@{item}" for stage, items in members.items() for item in items]
    return found + [stage for stage, section in sections.items() if section in params]


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


def bytes_of(stage: str, item: str, params: Mapping[str, Any]) -> float:
    """Return the bytes of one copy of a target's outputs."""
    games = params.get("amazons_archive", {}).get("games", 0)
    if stage in ("amazons_archive", "amazons_crawl", "amazons_parse"):
        return float(games * A_GAME)
    if stage == "amazons_samples":
        return float(games * A_GAME_OF_SAMPLES * (params["amazons_samples"]["size"] / 10) ** 2)
    if stage == "amazons_train":
        return amazons_net(item, params)
    if stage in ("gomoku_first", "gomoku_generation"):
        size = params["gomoku_game"]["size"]
        window = params["gomoku_train"]["window"] * 2 * size**2  # a target of 16 bits for each cell
        return float(window + A_WEIGHT * weights(params["gomoku_net"], size))
    if stage in ("growing_first", "growing_board"):
        size = int(item or params["growing_first"]["size"])
        board = params["growing_larger"][item] if item else params["growing_first"]
        return float(board["generations"] * 4 * weights(params["growing_net"], size))
    if stage == "depth_label":
        return float(params["depth_label"]["games"] * A_GAME_OF_LABELS)
    return 0.0


def amazons_net(name: str, params: Mapping[str, Any]) -> float:
    """Return the bytes of a trained net; in the published nets most weights are in the policy's dense layer."""
    if name == "residual":
        net = params["amazons_residual"]
        return float(4 * 18 * net["blocks"] * net["channels"] ** 2)
    own = params["amazons_train"]
    cells = params["amazons_samples"]["size"] ** 2
    return float(4 * max(own["fewest_filters"], round(16 * own["width"])) * cells**3)


def weights(net: Mapping[str, Any], size: int) -> float:
    """Return the number of weights of a self-play net, in its convolutions and dense heads."""
    own = net[net["kind"]]
    if net["kind"] == "residual":
        widths = [own["stem_filters"], *own["widths"]]
        between = sum(9 * before * after for before, after in pairwise(widths))
        return float(between + sum(9 * width**2 * (2 * own["blocks"] - 1) for width in own["widths"]))
    if net["kind"] == "lines":
        return float(4 * own["window"] * own["units"] + own["units"] ** 2 + 32 * own["units"] + 6_000)
    widths = [1, *own["filters"]]
    layers = sum(9 * before * after for before, after in pairwise(widths))
    if own["head"] == "convolutional":
        return float(layers + 9 * widths[-1] * own["policy_planes"])
    return float(layers + own["policy_planes"] * size**4 + own["value_planes"] * size**2 * own["value_hidden"])
