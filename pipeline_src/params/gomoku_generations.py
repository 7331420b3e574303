"""Params section gomoku_generations: which generations there are.

It maps the name of each generation after the first to the one before it, which is how dvc.yaml makes a stage of each:
``"02": {before: "01"}``. ``zugwerk gomoku generations N`` writes it.
"""

from pathlib import Path
from typing import Any

from pipeline_src.errors import ZugwerkError
from pipeline_src.params.load import PARAMS_FILE, read_tree

SECTION = "gomoku_generations"


def read_numbers(path: Path | str = PARAMS_FILE) -> list[int]:
    """The numbers of the generations, from 1 on.

    Raises:
        ZugwerkError: the section is missing, or is not an unbroken row of generations.
    """
    section = read_tree(path).get(SECTION)
    if section == {} or not isinstance(section, dict) or section != wanted(len(section) + 1):
        raise ZugwerkError(
            f'{path}: {SECTION}: expected generations in a row, from "02": {{before: "01"}} on; '
            "`zugwerk gomoku generations N` writes them"
        )
    return list(range(1, len(section) + 2))


def wanted(count: int) -> dict[str, dict[str, Any]]:
    """The section for ``count`` generations."""
    return {f"{n:02d}": {"before": f"{n - 1:02d}"} for n in range(2, count + 1)}
