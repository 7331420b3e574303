"""Run all generations of Gomoku's self-play in one process, with the same files as the separate stages.

Example: ``python -m pipeline_src.stages.gomoku_cycle``

For a machine without DVC, such as one with a GPU, where starting a process for each generation costs too much. A
generation that exists already, made from the same params, code and files, is kept; killed and run again, the
cycle resumes where it was.
"""

import argparse
import time

from pipeline_src.errors import run_main
from pipeline_src.files import read_json
from pipeline_src.parallel import Parallel
from pipeline_src.project.params import load
from pipeline_src.systems.gomoku_zero.files import ARTIFACTS, GenerationFiles
from pipeline_src.systems.gomoku_zero.generation import run_generation
from pipeline_src.systems.gomoku_zero.params import read_numbers, read_setting


def main() -> None:
    """Read the command line.

    Raises:
        ZugwerkError: bad params, or a file of a generation is damaged.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, help="begin no generation after so many; run again to go on")
    minutes = parser.parse_args().minutes
    start = time.perf_counter()
    setting, parallel = read_setting(), load(Parallel, "parallel")
    for number in read_numbers():
        if minutes is not None and time.perf_counter() - start > 60 * minutes:
            break
        made = run_generation(number, setting, parallel, ARTIFACTS, again=False)
        print(_line(GenerationFiles(number), made), flush=True)  # noqa: T201


def _line(files: GenerationFiles, made: bool) -> str:
    report = read_json(files.report)
    gate, train = report["gate"], report["train"]
    return (
        f"generation {files.name}{'' if made else ' (there already)'}: "
        f"gate {gate['wins']}-{gate['draws']}-{gate['losses']}{'' if gate['accepted'] else ', kept the old best'}; "
        f"policy loss {train['policy_loss']:.3f}, value loss {train['value_loss']:.3f}; "
        f"{read_json(files.timings)['seconds']}"
    )


if __name__ == "__main__":
    run_main(main)
