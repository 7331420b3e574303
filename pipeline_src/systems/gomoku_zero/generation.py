"""The generations of Gomoku's self-play, as stages and in one process."""

from pipeline_src.selfplay import generation
from pipeline_src.systems.gomoku_zero.params import read_numbers, read_setting
from pipeline_src.systems.gomoku_zero.self_play import Gomoku


def main(*options: str) -> None:
    """Stage gomoku_generation: make one generation of Gomoku's self-play from the one before it.

    Reads ``artifacts/models/gomoku/<before>/`` and ``artifacts/samples/gomoku/<before>/``; the first generation has
    none before it. Writes the files of `GenerationFiles`. Killed and run again, it resumes from ``work/gomoku/``.

    Raises:
        ZugwerkError: bad params, or the generation before is missing or damaged.
    """
    generation.one_generation(Gomoku(), read_setting(), options)


def cycle(*options: str) -> None:
    """Make all generations in one process; see `selfplay.generation.all_generations`.

    Raises:
        ZugwerkError: bad params, or a file of a generation is damaged.
    """
    generation.all_generations(Gomoku(), read_setting(), read_numbers(), options)
