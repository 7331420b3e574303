"""The figures of a run at another profile are kept beside those that are known."""

import json

import pytest
import yaml

from pipeline_src.errors import ZugwerkError
from pipeline_src.report.figures import figures
from pipeline_src.report.keep import keep


@pytest.fixture
def night(tmp_path):
    """A checkout whose matches were made at the profile `overnight`, and whose samples at another one."""
    (tmp_path / "params.yaml").write_text(
        "profile: overnight\nseed: 1\namazons_match: {loss: x}\namazons_samples: {size: 10}\n"
    )
    reports = tmp_path / "artifacts/reports/amazons"
    reports.mkdir(parents=True)
    score = {"value": 0.9, "low": 0.8, "high": 0.95, "n": 100}
    (reports / "match.json").write_text(json.dumps({"random": {"score": score}}))
    (reports / "samples.json").write_text(json.dumps({"games": 7}))
    made = {"amazons_match": {"seed": 1, "amazons_match": {"loss": "x"}}, "amazons_samples": {"amazons_samples": {}}}
    lock = {"stages": {stage: {"params": {"params.yaml": params}} for stage, params in made.items()}}
    (tmp_path / "dvc.lock").write_text(yaml.safe_dump(lock))
    known = {"joseki": {"games": {"ours": 5, "command": "x"}}, "amazons_net": {"games": {"ours": 6, "command": "x"}}}
    (tmp_path / "docs/measured").mkdir(parents=True)
    (tmp_path / "docs/measured/overnight.json").write_text(json.dumps(known))
    return tmp_path


def test_what_this_profile_made_is_kept_and_what_it_did_not_make_stays(night):
    path, count = keep(night)
    assert count == 1
    kept = json.loads(path.read_text())
    row = kept["amazons_net"]["score_vs_random"]
    assert {key: row[key] for key in ("ours", "low", "high", "n", "command")} == {
        "ours": 0.9,
        "low": 0.8,
        "high": 0.95,
        "n": 100,
        "command": "zugwerk profile overnight && dvc repro amazons_match",
    }
    assert kept["joseki"]["games"]["ours"] == 5
    assert kept["amazons_net"]["games"]["ours"] == 6  # the graph's was made with other params
    assert {key: row[key] for key in ("player", "code")} == {"player": None, "code": None}
    assert figures(night)["amazons_net"]["score_vs_random"]["profiles"]["overnight"]["n"] == 100


def test_the_committed_profile_and_a_graph_that_was_not_run_keep_nothing(night):
    (night / "dvc.lock").unlink()
    before = (night / "docs/measured/overnight.json").read_text()
    with pytest.raises(ZugwerkError, match=r"overnight\.json: the graph has made nothing at the profile overnight"):
        keep(night)
    assert (night / "docs/measured/overnight.json").read_text() == before
    (night / "params.yaml").write_text("profile: laptop\n")
    with pytest.raises(ZugwerkError, match=r"params\.yaml: profile laptop: its figures are read from"):
        keep(night)
