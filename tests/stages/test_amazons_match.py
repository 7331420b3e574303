import json

import pytest

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons
from pipeline_src.records.record import read_records
from pipeline_src.stages import amazons_match
from pipeline_src.systems.amazons_net.nets import save_nets
from pipeline_src.systems.amazons_net.params import section_of
from tests.players.positions import small_nets
from tests.stages.killed import check_kill

NETS = "nets:artifacts/models/amazons/cross_entropy/nets.pt"
MATCHES = {
    "random": {"a": "nets:{published}", "b": "random", "pairs": 3},
    "noisy": {"a": "one_ply:noise=1", "b": "nets:{published}", "pairs": 2},
}
MATCH = {"loss": "cross_entropy", "opening_plies": 2, "matches": MATCHES}
PARAMS = {
    "seed": 1,
    "parallel": {"workers": 1},
    "amazons_models": {"trained": {name: section_of(name) for name in ("cross_entropy", "soft_argmax", "residual")}},
    "amazons_match": MATCH,
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_nets(amazons_match.MODELS / "cross_entropy" / "nets.pt", small_nets(6))
    return tmp_path


def play(project, **changes):
    (project / "params.yaml").write_text(yaml12.dump(PARAMS | {"amazons_match": MATCH | changes}))
    amazons_match.main()
    return amazons_match.REPORT.read_bytes(), amazons_match.GAMES.read_bytes()


def test_the_report_counts_the_games_that_are_kept(project):
    once = play(project)
    report, games = json.loads(once[0]), read_records(amazons_match.GAMES)
    assert set(report) == set(MATCHES)
    assert [game.gid for game in games] == list(range(1, 11))
    for (name, a, b), mine in zip(
        [("random", NETS, "random"), ("noisy", "one_ply:noise=1", NETS)], [games[:6], games[6:]], strict=True
    ):
        found, n = report[name], len(mine)
        won = sum((game.first_name == a) == (game.winner == "first") for game in mine)
        assert (found["wins"], found["draws"], found["losses"]) == (won, 0, n - won)
        assert (found["illegal"], found["illegal_opponent"]) == (0, 0)
        assert found["score"]["value"] == won / n
        assert found["score"]["low"] <= found["score"]["value"] <= found["score"]["high"]
        assert found["score"]["n"] == n
        assert [(game.first_name, game.second_name) for game in mine] == [(a, b), (b, a)] * (n // 2)
    for game in games:
        state = amazons.initial_state(6)
        for action in game.actions:
            assert amazons.is_legal(state, action)
            state = amazons.play(state, action)
        assert amazons.winner(state) == game.winner
        assert (game.source, game.variant, game.height) == ("engine", "standard", 6)
    assert not amazons_match.WORK.exists()
    assert play(project) == once


def test_another_match_leaves_the_first_as_it_was(project):
    both = json.loads(play(project)[0])
    alone = json.loads(play(project, matches={"noisy": MATCHES["noisy"]})[0])
    assert alone == {"noisy": both["noisy"]}


def test_after_a_kill_only_missing_games_are_played(project, monkeypatch):
    check_kill(monkeypatch, lambda: play(project))


def random_and(**changes):
    return {"matches": {"random": MATCHES["random"] | changes}}


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"loss": "mean"}, "amazons_match.loss: mean is not in amazons_models.trained"),
        ({"loss": "soft_argmax"}, "amazons/soft_argmax/nets.pt: no such model; `dvc repro amazons_train` makes it"),
        (random_and(b="deep_blue"), "no player 'deep_blue'"),
        (random_and(b="nets:{best}"), "expected one of these in braces: published, residual"),
        (random_and(a="nets:{residual}"), "residual/nets.pt: no such model"),
        ({"matches": {}}, "matches must name at least one"),
        (random_and(pairs=0), "amazons_match.matches.random: pairs must be at least 1"),
        ({"opening_plies": 0}, "opening_plies must be 1 to 20"),
    ],
)
def test_bad_params_are_named_before_any_game(project, monkeypatch, changes, complaint):
    monkeypatch.setattr(amazons_match, "play_matches", None)
    with pytest.raises(ZugwerkError, match=complaint):
        play(project, **changes)
    assert not amazons_match.REPORT.exists()
    assert not amazons_match.GAMES.exists()
