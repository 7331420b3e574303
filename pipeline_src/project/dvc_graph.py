"""A command for DVC: print the graph and its changed targets as JSON.

    python -m pipeline_src.project.dvc_graph --wait-for-lock graph [TARGET …]

This is the one module that imports DVC. It runs in a process of its own, since DVC takes over a second to import, and
what it holds ends with it. `dvc dag` and `dvc status` say the same in two processes, the first as text to be read.
"""

import sys
from argparse import ArgumentParser
from typing import Any

from dvc.cli import main, parser
from dvc.cli.command import CmdBase
from dvc.repo import lock_repo
from dvc.ui import ui


class CmdGraph(CmdBase):  # type: ignore[misc]
    """Prints ``before``, the targets that each one depends on in dvc.yaml's order, and ``changed``."""

    def run(self) -> int:
        """Return the exit status. ``changed`` is of the targets given, or of all without any."""
        with lock_repo(self.repo):
            graph = self.repo.index.graph  # its edges go to dependencies
            before = {stage.addressing: [other.addressing for other in graph.successors(stage)] for stage in graph}
            ui.write_json({"before": before, "changed": [*self.repo.status(self.args.targets)]})
        return 0


def add_parser(commands: Any, options: ArgumentParser) -> None:
    """Add the command to DVC's; ``options`` are those of each command."""
    graph = commands.add_parser("graph", parents=[options], help="Print the graph and its changed targets.")
    graph.add_argument("targets", nargs="*", help="Targets to look at; all by default.")
    graph.set_defaults(func=CmdGraph)


if __name__ == "__main__":
    parser.COMMANDS.append(sys.modules[__name__])
    sys.exit(main())
