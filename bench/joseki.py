"""Microseconds a corner pattern on one core: the codes, the exact key, both look-ups."""

import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.measure import medians, row
from pipeline_src.systems.joseki.build import Builder
from pipeline_src.systems.joseki.canonical import canonical_keys
from pipeline_src.systems.joseki.lookup import look_up
from pipeline_src.systems.joseki.lookup_paper import code_index, look_up_paper
from pipeline_src.systems.joseki.made import make_games
from pipeline_src.systems.joseki.params import MadeGames
from pipeline_src.systems.joseki.pattern_code import pattern_codes
from pipeline_src.systems.joseki.sequences import walk
from pipeline_src.systems.joseki.side_by_side import spread
from pipeline_src.systems.joseki.symmetric_code import symmetric_codes

GAMES = 250
POSITIONS = 2_000
SEED = 2007
REPEATS = 7
MADE = MadeGames(games=GAMES, plies=120, tenuki=0.15, transposed=0.1, mistakes=0.04)


def _reference_key(window: np.ndarray) -> bytes:
    """The smallest of the four forms, by NumPy."""
    swap = np.array([0, 2, 1], np.int8)
    return min(np.ascontiguousarray(form).tobytes() for form in (window, window.T, swap[window], swap[window.T]))


def _each(look: Callable[..., Any], *first: Any, windows: Any, colours: list[int] | None = None) -> Callable[[], float]:
    def run() -> float:
        begin = time.perf_counter()
        if colours is None:
            for window in windows:
                look(window)
        else:
            for window, colour in zip(windows, colours, strict=True):
                look(*first, window, colour)
        return 1e6 * (time.perf_counter() - begin) / len(windows)

    return run


def _all(encode: Callable[[Any], Any], windows: Any) -> Callable[[], float]:
    def run() -> float:
        begin = time.perf_counter()
        for _ in range(20):
            encode(windows)
        return 1e6 * (time.perf_counter() - begin) / len(windows) / 20

    return run


def measure() -> list[dict[str, Any]]:
    """Both codes, the exact key and both look-ups, on made games."""
    records = make_games(MADE, SEED, 0, GAMES)
    builder = Builder()
    builder.add(records)
    library = builder.library()
    index = code_index(library)
    steps = spread(walk(records).steps, POSITIONS)
    order = random.Random(SEED).sample(range(len(steps.ply)), len(steps.ply))
    windows, colours = steps.before[order], steps.colour[order].tolist()
    ours = _each(look_up, library, windows=windows, colours=colours)
    paper = _each(look_up_paper, index, windows=windows, colours=colours)
    codes = medians(_all(symmetric_codes, windows), _all(pattern_codes, windows), REPEATS)
    keys = medians(_all(canonical_keys, windows), _each(_reference_key, windows=windows), REPEATS)
    look_ups = medians(ours, paper, REPEATS)
    return [
        row("joseki_encode_us", codes[1], None, None, "us"),
        row("joseki_encode_ours_us", codes[0], codes[1], "the paper's code", "us"),
        row("joseki_canonical_us", *keys, "the smallest of four forms, NumPy", "us"),
        row("joseki_lookup_us", *look_ups, "the paper's look-up, by code and hint", "us"),
        row("joseki_lookup_paper_us", look_ups[1], None, None, "us"),
    ]
