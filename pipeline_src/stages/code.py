"""Stage code: a digest of the first-party code behind every other stage, by the stage's name.

Reads the sources, dvc.yaml and params.yaml, whose texts name players; writes ``artifacts/code.json``. An edited comment
runs this stage alone; any other edit runs the stages whose digest has changed.
"""

from pathlib import Path

from pipeline_src.errors import run_main
from pipeline_src.files import write_json
from pipeline_src.project.graph import read_graph
from pipeline_src.project.params import read_tree
from pipeline_src.project.stage_code import digests

OUT = Path("artifacts/code.json")


def main() -> None:
    """Write the digests.

    Raises:
        ZugwerkError: dvc.yaml, params.yaml or a source file cannot be read.
    """
    write_json(OUT, digests(read_graph(), read_tree()))


if __name__ == "__main__":
    run_main(main)
