"""The archive, the parser and the matches as stages; trainings as printed."""

import dataclasses
import json
from copy import deepcopy
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons
from pipeline_src.project.profile import profile_names
from pipeline_src.records.littlegolem.amazons import write_record
from pipeline_src.records.raw import RawGame, Seat, write_raw
from pipeline_src.records.record import read_records
from pipeline_src.systems.amazons_net import archive, match, records
from pipeline_src.systems.amazons_net.declaration import departures, printed_words
from pipeline_src.systems.amazons_net.nets import save_nets
from pipeline_src.systems.amazons_net.params import section_of
from tests.layout.imports import ROOT, profile_tree
from tests.players.positions import small_nets
from tests.records.amazons_games import random_game, record_of
from tests.run_stage import check_kill

ARCHIVE = {
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
    """An empty folder; writes its params."""
    monkeypatch.chdir(tmp_path)
    return lambda params: (tmp_path / "params.yaml").write_text(yaml12.dump(params))


def test_after_a_kill_the_archive_equals_that_of_one_run(project, monkeypatch):
    project(ARCHIVE)

    def run():
        archive.main()
        return Path(archive.OUT).read_bytes()

    check_kill(monkeypatch, run)
    assert not archive.WORK.exists()
    games = read_records(archive.OUT)
    assert [game.gid - archive.FIRST_GID for game in games] == list(range(24))
    for group in (games[: archive.GROUP], games[archive.GROUP :]):
        assert len({(game.first_name, game.second_name, game.variant) for game in group}) == 1


def test_a_loser_that_is_behind_resigns_and_no_result_changes(project):
    small = ARCHIVE["amazons_archive"] | {"games": 8}
    project(ARCHIVE | {"amazons_archive": small})
    archive.main()
    whole = read_records(archive.OUT)
    project(ARCHIVE | {"amazons_archive": small | {"resign": 3.0}})
    archive.main()
    resigned = read_records(archive.OUT)
    assert [game.winner for game in resigned] == [game.winner for game in whole]
    assert all(b.actions == a.actions[: len(b.actions)] for a, b in zip(whole, resigned, strict=True))
    assert {game.resigned for game in whole} == {False}
    cut = [(a, b) for a, b in zip(whole, resigned, strict=True) if b.resigned]
    assert cut
    for game, shorter in cut:
        assert len(shorter.actions) < len(game.actions)
        write_record(shorter)  # an error, if the winner were to move


def crawl():
    """Forty games over three shards: whole ones, and some that are not usable."""
    games = []
    for gid in range(9_990, 30_000, 500):
        actions, _ = random_game(gid)
        record = record_of(actions, first_name="ann", second_name="bob")
        games.append(
            RawGame(gid, f"/servlet/sgf/{gid}/game{gid}.txt", 200, write_record(record), "Size 10", engine=True)
        )
    games[3] = dataclasses.replace(games[3], status=500, body=b"")
    games[5] = dataclasses.replace(games[5], body=games[5].body[:300] + b")", engine=False)
    games[8] = dataclasses.replace(games[8], variant="Cross", seats=(Seat(1, "ann", "won"),))
    games[9] = dataclasses.replace(games[9], status=0, engine=False)
    return games


@pytest.fixture
def pages(project):
    project({"amazons_parse": {"min_plies": 20, "variants": ["standard"]}})
    write_raw(records.PAGES, crawl())


def test_every_row_is_a_game_or_a_reject(pages):
    records.parse()
    games, rejects = read_records(records.GAMES), pq.ParquetFile(records.REJECTS).read().to_pylist()
    assert sorted([game.gid for game in games] + [reject["gid"] for reject in rejects]) == [raw.gid for raw in crawl()]
    report = json.loads(records.REPORT.read_text())
    rows = len(crawl())
    assert (report["rows"], report["games"], report["rejects"]) == (rows, rows - 3, 3)
    assert {reason: n for reason, n in report["rejects_by_reason"].items() if n} == {
        "http_status": 1,
        "bad_text": 1,
        "other_variant": 1,
    }
    by_source = report["by_source"]
    assert by_source["engine"] == {"rows": rows - 2, "games": rows - 4, "rejects": 2}
    assert by_source["littlegolem"] == {"rows": 1, "games": 0, "rejects": 1}
    assert by_source["file"] == {"rows": 1, "games": 1, "rejects": 0}
    assert report["winner_by"]["position"] == report["by_variant"]["standard"] == rows - 3
    assert report["mean_plies"] == pytest.approx(sum(len(game.actions) for game in games) / len(games))
    assert report["first_side_score"] == pytest.approx(sum(game.winner == "first" for game in games) / len(games))


def test_same_pages_same_bytes(pages):
    paths = (records.GAMES, records.REJECTS, records.REPORT)
    records.parse()
    first = [path.read_bytes() for path in paths]
    records.parse()
    assert [path.read_bytes() for path in paths] == first


def test_a_crawl_without_one_usable_game_fails_and_says_why(pages):
    write_raw(records.PAGES, [dataclasses.replace(raw, body=b"<html>") for raw in crawl()[:4]])
    with pytest.raises(ZugwerkError, match=r"not one usable game among 4 \(1 http_status, 3 bad_text\); see .*rejects"):
        records.parse()
    assert not records.GAMES.exists()


NETS = "nets:artifacts/models/amazons/cross_entropy/nets.pt"
MATCHES = {
    "random": {"a": "nets:{published}", "b": "random", "pairs": 3},
    "noisy": {"a": "one_ply:noise=1", "b": "nets:{published}", "pairs": 2},
}
MATCH = {"loss": "cross_entropy", "opening_plies": 2, "matches": MATCHES}
MATCH_PARAMS = {
    "seed": 1,
    "parallel": {"workers": 1},
    "amazons_models": {"trained": {name: section_of(name) for name in ("cross_entropy", "soft_argmax", "residual")}},
    "amazons_match": MATCH,
}


@pytest.fixture
def play(project):
    """Plays with some params of the match other than usual; returns what is written."""
    save_nets(match.MODELS / "cross_entropy" / "nets.pt", small_nets(6))

    def play(**changes):
        project(MATCH_PARAMS | {"amazons_match": MATCH | changes})
        match.main()
        return match.REPORT.read_bytes(), match.GAMES.read_bytes()

    return play


def test_the_report_counts_the_games_that_are_kept(play):
    once = play()
    report, games = json.loads(once[0]), read_records(match.GAMES)
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
    assert not match.WORK.exists()
    assert play() == once


def test_another_match_leaves_the_first_as_it_was(play):
    both = json.loads(play()[0])
    alone = json.loads(play(matches={"noisy": MATCHES["noisy"]})[0])
    assert alone == {"noisy": both["noisy"]}


def test_after_a_kill_only_missing_games_are_played(play, monkeypatch):
    check_kill(monkeypatch, play)


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
    ],
)
def test_bad_params_are_named_before_any_game(play, monkeypatch, changes, complaint):
    monkeypatch.setattr(match, "play_matches", None)
    with pytest.raises(ZugwerkError, match=complaint):
        play(**changes)
    assert not match.REPORT.exists()
    assert not match.GAMES.exists()


def tree(profile, **changed):
    """Params of a profile with other values, by the end of their keys."""
    params = deepcopy(profile_tree(profile))
    for name, value in changed.items():
        section = "amazons_match" if name == "loss" else "amazons_train"
        assert name in params[section]
        params[section][name] = value
    return params


def test_the_profile_is_as_printed_and_no_other_is():
    assert [name for name in profile_names(ROOT) if not departures(tree(name))] == ["as_printed"]
    assert departures(tree("overnight"))["amazons_train.width"] == 0.5


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({}, "as printed"),
        ({"batch": 64}, "as printed"),
        ({"starting_weights": "mirrored"}, "as printed but for starting_weights mirrored"),
        ({"loss": "cross_entropy"}, "as printed but for loss cross_entropy"),
        (
            {"loss": "cross_entropy", "starting_weights": "mirrored"},
            "as printed but for loss cross_entropy and starting_weights mirrored",
        ),
        ({"width": 0.5, "dropout": 0.0, "augment": True}, ""),
    ],
)
def test_departures_from_print_are_listed(changed, words):
    assert printed_words(tree("as_printed", **changed)) == words


def test_params_that_do_not_say_are_not_called_as_printed():
    assert printed_words({}) == printed_words(tree("laptop")) == printed_words(tree("paper")) == ""
