"""Stage code: a digest of the first-party code behind every other stage, by the stage's name.

Reads the sources, dvc.yaml and params.yaml, whose texts name players; writes ``artifacts/code.json``, which also lists
the params behind each target, for the metrics files to say what made them. An edited comment
runs this stage alone; any other edit runs the stages whose digest has changed. A mistake in any section of params.yaml
is an error here, before anything runs for hours.
"""

from pipeline_src.errors import run_main
from pipeline_src.files import write_json
from pipeline_src.project.graph import keys_behind, read_graph
from pipeline_src.project.params import CODE_FILE, read_tree
from pipeline_src.reference.stage_code import check_params, digests


def main() -> None:
    """Check params.yaml and write the digests.

    Raises:
        ZugwerkError: dvc.yaml or a source file cannot be read, or something is wrong in params.yaml.
    """
    check_params()
    graph = read_graph()
    write_json(CODE_FILE, {"code": digests(graph, read_tree()), "params": keys_behind(graph)})


if __name__ == "__main__":
    run_main(main)
