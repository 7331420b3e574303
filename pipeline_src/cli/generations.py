"""The number of generations of Gomoku's self-play: `set_generations` rewrites that section of params.yaml.

No file of a generation is deleted with it: `files_beyond` finds those that the section has no more.
"""

from pathlib import Path

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import written_aside
from pipeline_src.project.profile import PARAMS, round_trip_yaml
from pipeline_src.systems.gomoku_zero.params import SECTION, GenerationFiles, read_numbers, wanted

MOST = 99


def set_generations(count: int, folder: Path = Path()) -> str:
    """Write ``count`` generations into ``params.yaml``, and keep comments. All files of generations stay.

    Returns:
        A line that reports the changes.

    Raises:
        ZugwerkError: a count outside 2..99, or params.yaml has no such section.
    """
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString

    if not 2 <= count <= MOST:
        raise ZugwerkError(f"there can be 2 to {MOST} generations, not {count}")
    path = folder / PARAMS
    before = len(read_numbers(path))
    yaml = round_trip_yaml()
    tree = yaml.load(path.read_text(encoding="utf-8"))
    section = tree[SECTION]
    for name in [name for name in section if name not in wanted(count)]:
        del section[name]
    for name, entry in wanted(count).items():
        if name not in section:
            section[DoubleQuotedScalarString(name)] = _flow(entry)
    with written_aside(path) as aside, open(aside, "w", encoding="utf-8") as file:
        yaml.dump(tree, file)
    return f"{path} has {count} generations, where it had {before}; `dvc repro gomoku_evaluate` makes what is missing"


def files_beyond(count: int, folder: Path = Path()) -> list[Path]:
    """Return the files and folders of the generations after ``count`` that exist, by generation."""
    found = []
    for number in range(count + 1, MOST + 1):
        files = GenerationFiles(number, folder / "artifacts")
        of_one = (files.window, files.models, files.games, files.gate_games, files.report, files.curves, files.timings)
        found += [path for path in of_one if path.exists()]
    return found


def _flow(entry: dict[str, str]) -> object:
    from ruamel.yaml.comments import CommentedMap
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString

    made = CommentedMap({key: DoubleQuotedScalarString(value) for key, value in entry.items()})
    made.fa.set_flow_style()
    return made
