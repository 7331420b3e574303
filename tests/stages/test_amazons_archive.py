import pytest

from pipeline_src import yaml12
from pipeline_src.records.record import read_records
from pipeline_src.stages import amazons_archive as stage
from tests.stages.killed import check_kill

PARAMS = {
    "seed": 1,
    "parallel": {"workers": 1},
    "amazons_archive": {
        "games": 24,
        "players": ["random", "one_ply:noise=3", "one_ply:noise=1"],
        "opening_plies": 4,
        "cross_share": 0.5,
    },
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text(yaml12.dump(PARAMS))
    return tmp_path


def test_after_a_kill_the_archive_equals_that_of_one_run(project, monkeypatch):
    def run():
        stage.main()
        return (project / stage.OUT).read_bytes()

    check_kill(monkeypatch, run)
    assert not stage.WORK.exists()
    games = read_records(stage.OUT)
    assert [game.gid - stage.FIRST_GID for game in games] == list(range(24))
    for group in (games[: stage.GROUP], games[stage.GROUP :]):
        assert len({(game.first_name, game.second_name, game.variant) for game in group}) == 1
