"""Keep the figures of a run of the graph at another profile than the committed one, in docs/measured."""

import datetime
from pathlib import Path

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import write_json
from pipeline_src.project.params import PARAMS_FILE, read_tree
from pipeline_src.report import provenance
from pipeline_src.report.figures import ESTIMATE, figures, of_the_graph
from pipeline_src.report.measurements import FOLDER, profile_measurements

COMMITTED = "laptop"
"""The profile whose metrics are committed, so that its figures are read from them."""


def keep(folder: Path = Path()) -> tuple[Path, int]:
    """Write the graph's figures at the profile of params.yaml to ``docs/measured/<profile>.json``.

    Figures in the file that the graph has not made at this profile stay, so that the systems of a night can be made,
    and kept, one by one.

    Returns:
        The file, and the number of figures that the graph has.

    Raises:
        ZugwerkError: the profile is `COMMITTED`, or nothing was made at it; a file is damaged.
    """
    params = read_tree(folder / PARAMS_FILE)
    profile = str(params["profile"])
    if profile == COMMITTED:
        raise ZugwerkError(
            f"{folder / PARAMS_FILE}: profile {COMMITTED}: its figures are read from the committed metrics; "
            "`zugwerk profile overnight` chooses another"
        )
    about = {
        "commit": provenance.commit(folder, provenance.CODE),
        "hardware": provenance.hardware(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }
    kept, count = dict(profile_measurements(folder).get(profile, {})), 0
    for system, rows in figures(folder).items():
        for name, row in rows.items():
            own = of_the_graph(row)
            if own is None or own["label"] != profile:
                continue
            values = {key: own[key] for key in (*ESTIMATE, "data", "code")}
            command = f"zugwerk profile {profile} && {own['command']}"
            kept[system] = kept.get(system, {}) | {name: values | {"command": command} | about}
            count += 1
    path = folder / FOLDER / f"{profile}.json"
    if not count:
        raise ZugwerkError(f"{path}: the graph has made nothing at the profile {profile}; `zugwerk repro` makes it")
    write_json(path, kept)
    return path, count
