"""Every stage of the graph, with its inputs missing or damaged: the error names one and what to do; nothing is written.

What readers say about each kind of file is in tests/test_damage.py.
"""

import re
from functools import cache
from pathlib import Path

import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.stage import main_of
from tests.layout.imports import profile_text
from tests.reference.test_params import command, graph_of, words

INSIDE = {
    r"/pages$": ["games-000000000.parquet"],
    r"/samples/": ["manifest.json"],
    r"/models/gomoku/\d+$": ["best.pt", "model.pt", "learner.pt"],
    r"/models/growing/\d+$": ["best.pt", "01.pt"],
    r"/records/growing/\d+$": ["01.parquet"],
    r"/depth/moves$": ["cnn.csv"],
}
"""Files that are read in folders that stages make, by the end of the folder's path."""
CONTENT = {"missing": None, "empty": b"", "of something else": b"no array and no table"}


def within(out):
    """The files of an output."""
    names = next((names for end, names in INSIDE.items() if re.search(end, out)), [""])
    return [Path(out, name) for name in names]


@cache
def made():
    """The files that each target makes."""
    targets = (files for stage in graph_of("laptop").values() for files in stage.files.values())
    return [[path for out in outs for path in within(out)] for _, outs in targets]


def inputs():
    """The first target of each stage, and the files of the targets before it."""
    for stage in graph_of("laptop").values():
        target = next(iter(stage.listed))
        deps = {Path(dep) for dep in stage.files[target][0]} - {Path("artifacts/code.json")}
        before = [files for files in made() if any(deps & {path, *path.parents} for path in files)]
        if before:
            yield target, [path for files in before for path in files]


@pytest.mark.parametrize("content", CONTENT)
@pytest.mark.parametrize(("target", "found"), inputs(), ids=[target for target, _ in inputs()])
def test_a_stage_names_an_input_and_writes_nothing(tmp_path, monkeypatch, target, found, content):
    if content == "missing" and (target.startswith("report_") or target.endswith("_headlines")):
        pytest.skip("a report has what there is")
    monkeypatch.chdir(tmp_path)
    Path("params.yaml").write_text(profile_text("laptop"))
    for path in found if content != "missing" else ():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(CONTENT[content])
    before = {path for path in Path("artifacts").rglob("*") if path.is_file()}
    with pytest.raises(ZugwerkError) as error:
        main_of(command(target)[0])(*words(target, "laptop"))
    said = str(error.value)
    assert any(str(one) in said for path in found for one in (path, path.parent)), said
    assert re.search(r"dvc repro|run the one before|again|make", said)
    assert {path for path in Path("artifacts").rglob("*") if path.is_file()} == before
