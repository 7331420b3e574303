import json

import pytest
import yaml

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons
from pipeline_src.nets.amazons_models import save_nets
from pipeline_src.records.parquet import read_records
from pipeline_src.stages import amazons_match
from tests.players.positions import small_nets

MATCH = {"loss": "cross_entropy", "opponents": ["random", "one_ply:noise=1"], "pairs": 3, "opening_plies": 2}
PARAMS = {"seed": 1, "parallel": {"backend": "loky", "workers": 1}, "amazons_match": MATCH}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_nets(amazons_match.MODELS / "cross_entropy" / "nets.pt", small_nets(6))
    return tmp_path


def play(project, **changes):
    (project / "params.yaml").write_text(yaml.safe_dump(PARAMS | {"amazons_match": MATCH | changes}))
    amazons_match.main()
    return amazons_match.REPORT.read_bytes(), amazons_match.GAMES.read_bytes()


def test_the_report_counts_the_games_that_are_kept(project):
    once = play(project)
    report, games = json.loads(once[0]), read_records(amazons_match.GAMES)
    assert list(report) == sorted(MATCH["opponents"])
    assert [game.gid for game in games] == list(range(1, 13))
    nets = "nets:artifacts/models/amazons/cross_entropy/nets.pt"
    for number, opponent in enumerate(MATCH["opponents"]):
        found, mine = report[opponent], games[6 * number : 6 * number + 6]
        won = sum((game.first_name == nets) == (game.winner == "first") for game in mine)
        assert (found["wins"], found["draws"], found["losses"]) == (won, 0, 6 - won)
        assert (found["illegal"], found["illegal_opponent"]) == (0, 0)
        assert found["score"]["value"] == won / 6
        assert found["score"]["low"] <= found["score"]["value"] <= found["score"]["high"]
        assert found["score"]["n"] == 6
        assert [(game.first_name, game.second_name) for game in mine] == [(nets, opponent), (opponent, nets)] * 3
    for game in games:
        state = amazons.initial_state(6)
        for action in game.actions:
            assert amazons.is_legal(state, action)
            state = amazons.play(state, action)
        assert amazons.winner(state) == game.winner
        assert (game.source, game.variant, game.height) == ("engine", "standard", 6)
    assert play(project) == once


def test_another_opponent_leaves_the_first_match_as_it_was(project):
    both = json.loads(play(project)[0])
    assert json.loads(play(project, opponents=["random"])[0]) == {"random": both["random"]}


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"loss": "mean"}, "models/amazons/mean/nets.pt: no such model; `dvc repro amazons_train` makes it"),
        ({"opponents": ["random", "deep_blue"]}, "no player 'deep_blue'"),
        ({"opponents": []}, "opponents must name at least one"),
        ({"opponents": ["random", "random"]}, "each once"),
        ({"pairs": 0}, "pairs must be at least 1"),
        ({"opening_plies": 0}, "opening_plies must be 1 to 20"),
    ],
)
def test_bad_params_are_named_before_any_game(project, monkeypatch, changes, complaint):
    monkeypatch.setattr(amazons_match, "play_match", None)
    with pytest.raises(ZugwerkError, match=complaint):
        play(project, **changes)
    assert not amazons_match.REPORT.exists()
    assert not amazons_match.GAMES.exists()
