"""Stage code: a digest of the first-party code behind every other stage, by the stage's name.

Reads the sources, dvc.yaml and params.yaml, whose texts name players; writes ``artifacts/code.json``. An edited comment
runs this stage alone; any other edit runs the stages whose digest has changed. A mistake in any section of params.yaml
is an error here, before anything runs for hours.
"""

from pathlib import Path

from pipeline_src.errors import run_main
from pipeline_src.files import write_json
from pipeline_src.project.graph import read_graph
from pipeline_src.project.params import read_tree
from pipeline_src.reference.stage_code import check_params, digests

OUT = Path("artifacts/code.json")


def main() -> None:
    """Check params.yaml and write the digests.

    Raises:
        ZugwerkError: dvc.yaml or a source file cannot be read, or something is wrong in params.yaml.
    """
    check_params()
    write_json(OUT, {"code": digests(read_graph(), read_tree())})


if __name__ == "__main__":
    run_main(main)
