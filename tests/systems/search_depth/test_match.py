"""Matches on a clock, tables, and the stage, between nets that learnt nothing."""

import csv
import time
from itertools import chain, repeat

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src import yaml12
from pipeline_src.arena.game import Fixture, GameClock, OpenGame, PlayedGame, TimeControl, play
from pipeline_src.arena.journal import Journal
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json
from pipeline_src.games import amazons
from pipeline_src.parallel import Parallel
from pipeline_src.players.registry import make_player
from pipeline_src.search.limits import SearchResult
from pipeline_src.systems.search_depth import match as depth_match
from pipeline_src.systems.search_depth.match import (
    DepthCosts,
    DepthMatch,
    Meeting,
    fit_costs,
    fit_table,
    move_rows,
    play_meetings,
    squares_left,
    table_within,
    tune_table,
)
from pipeline_src.systems.search_depth.net import PublishedDepthConfig, SavedDepthNet, make_depth_net, save_depth_net
from pipeline_src.systems.search_depth.player import Choice, DepthMove, DepthPlayer, TableDepth, read_table
from tests.run_stage import check_kill
from tests.systems.search_depth.synthetic import DEEPENING, DEPTH1, DEPTH2, GAME, chooser, searcher, write_synthetic

ALONE = Parallel(workers=1)
OPENING = (int(amazons.legal_actions(amazons.initial_state())[700]),)


def play_one(first, second, clock_ms=GAME.clock_ms, rate=GAME.nodes_per_ms):
    fixture, clock = Fixture("a", "b", OPENING, (1,)), GameClock(TimeControl(clock_ms, nodes_per_ms=rate))
    return play([OpenGame(amazons, amazons.initial_state(), fixture, (first, second), clock)])[0]


def meet(a, b, pairs, game, seed, journal=None):
    return play_meetings([Meeting(a, b, pairs, seed)], game, ALONE, journal)


def moves_of(game, side):
    return [move for move in map(DepthMove._make, game.notes) if move.side == side]


@pytest.fixture(scope="module")
def players():
    return make_player("amazons", DEEPENING), make_player("amazons", DEPTH1)


def test_game_follows_rules_and_clock(players):
    game = play_one(*players)
    state = amazons.initial_state()
    for action in game.actions:
        assert amazons.is_legal(state, action)
        state = amazons.play(state, action)
    assert amazons.winner(state) == game.winner
    assert game.ended == "board"
    winner = ("first", "second").index(game.winner)
    match = DepthMatch.of("a", "b", [game, game])
    assert abs(match.margin.value) == 0  # once for either player
    assert depth_match._margin(game) == squares_left(state, winner)
    total = GAME.clock_ms * GAME.nodes_per_ms
    for side in (0, 1):
        mine = moves_of(game, side)
        spent = np.cumsum([0, *(move.nodes + move.choosing for move in mine)])
        np.testing.assert_allclose([move.used for move in mine], spent[:-1] / total, atol=1e-9)
        assert spent[-1] == sum(game.spent_by(side)) < total
    assert {move.asked for move in moves_of(game, 0)} == {0}
    assert {(move.asked, move.reached) for move in moves_of(game, 1)} == {(1, 1)}
    plies = [int(ply) for ply, *_ in game.notes]
    assert plies == sorted(plies)
    assert play_one(*players) == game


def test_side_out_of_time_loses():
    """It takes all the time there is to choose, at the third time."""
    cheap = make_player("amazons", DEPTH1)

    def dear():
        costs = chain([0, 0, 70_000], repeat(0))
        choose = chooser(lambda *_: Choice(1, next(costs)))
        return DepthPlayer(cheap.searcher, choose, GAME.clock_ms, GAME.nodes_per_ms)

    game = play_one(dear(), cheap)
    assert (game.winner, game.ended) == ("second", "time")
    assert [move.choosing for move in moves_of(game, 0)] == [0, 0, 70_000]
    assert play_one(cheap, dear()).winner == "first"


def test_wall_time_is_charged_where_there_is_no_rate():
    until = time.perf_counter() + 0.05

    def slow(state, limit, _seed=0, _on_info=None):
        assert limit.nodes is None
        action = int(amazons.legal_actions(state)[0])
        while time.perf_counter() < until:
            pass
        return SearchResult(action, 0.0, 1, 1, (action,), 0.0)

    one = DepthPlayer(searcher(slow), None, 20.0, 0.0)
    game = play_one(one, one, clock_ms=20.0, rate=0.0)
    assert game.ended == "time"
    assert game.winner == "first"  # after an opening of one ply it is the second side that moves


def test_margins_are_squares_that_the_winner_could_walk_to():
    state = amazons.from_fen("Q2*1q/2**2/******/******/******/****** b")
    assert squares_left(state, 0) == 4
    assert squares_left(state, 1) == 3
    assert squares_left(amazons.from_fen("Q*q/***/3 w"), 0) == 0


def game(winner, *moves, ended="board"):
    return PlayedGame(Fixture("a", "b", (), ()), (), winner, ended, notes=moves)


def move(ply, side, nodes, choosing=0, reached=3, used=0.0):
    return DepthMove(ply, side, used, 4, reached, nodes, choosing)


def test_match_is_scored_for_its_first_player(monkeypatch):
    games = [
        game("first", move(4, 0, 10, 5), move(5, 1, 100)),
        game("first", move(4, 0, 200), move(5, 1, 20, 10)),
        game("second", move(4, 0, 30), ended="time"),
        game("second", move(4, 1, 60)),
    ]
    margins = dict(zip(map(id, games), (4, 2, 0, 7), strict=True))
    monkeypatch.setattr(depth_match, "_margin", lambda game: margins[id(game)])
    match = DepthMatch.of("a", "b", games)
    assert match.points == [(1.0, 0.0), (0.0, 1.0)]
    assert match.score.value == 0.5
    assert match.margin.value == pytest.approx((4 - 2 + 7) / 3)
    assert (match.forfeits(0), match.forfeits(1)) == ({"time": 1}, {})
    assert match.nodes(0) == (15 + 30 + 30 + 60) / 4
    assert match.nodes(1) == (100 + 200) / 4
    assert match.choosing(0) == 15 / 135
    assert match.choosing(1) == 0
    assert match.mean_depth(0) == 3


def test_rows_are_means_by_player_and_number_of_its_move():
    games = [game("first", move(4, 0, 10, reached=2), move(5, 1, 90), move(6, 0, 30, reached=5)) for _ in range(4)]
    rows = move_rows([(DepthMatch.of("a", "b", games), "one", "other")])
    # In games 1 and 3 the players have changed sides.
    assert [(row["move"], row["moves"]) for row in rows["one"]] == [(3, 4)]
    assert rows["one"][0]["depth"] == (2 + 3) / 2
    assert rows["one"][0]["nodes"] == (10 + 90) / 2
    assert [(row["move"], row["moves"]) for row in rows["other"]] == [(3, 4)]


def test_killed_match_resumes_to_the_same_games(tmp_path, monkeypatch):
    (whole,) = meet(DEEPENING, DEPTH1, 3, GAME, [1])
    path = tmp_path / "journal.jsonl"
    with Journal(path, {}) as journal:
        (again,) = meet(DEEPENING, DEPTH1, 3, GAME, [1], journal)
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) == 1 + 6
    path.write_bytes(b"".join((*lines[:2], *lines[3:])))
    with Journal(path, {}) as journal:
        (resumed,) = meet(DEEPENING, DEPTH1, 3, GAME, [1], journal)
    alone = lines[2].replace(b',"more":true', b"")
    assert path.read_bytes() == b"".join((*lines[:2], *lines[3:], alone))
    assert whole.games == again.games == resumed.games
    assert len(whole.games) == 6
    assert whole.games[0].actions[:4] == whole.games[1].actions[:4] != whole.games[2].actions[:4]


def test_other_players_or_another_clock_do_not_meet_kept_games(tmp_path):
    with Journal(tmp_path / "journal.jsonl", {}) as journal:
        meet(DEEPENING, DEPTH1, 1, GAME, [1], journal)
        meet(DEEPENING, DEPTH2, 1, GAME, [1], journal)
        meet(DEEPENING, DEPTH2, 1, GAME, [2], journal)
        meet(DEEPENING, DEPTH2, 1, GAME.model_copy(update={"clock_ms": 61}), [2], journal)
        assert len(journal.entries) == 8
        meet(DEEPENING, DEPTH2, 1, GAME, [2], journal)
        assert len(journal.entries) == 8
    with pytest.raises(ZugwerkError, match="counts no nodes"):
        meet(DEEPENING, "alphabeta:depth=2", 1, GAME, [1])


def test_a_table_is_tuned_to_its_opponents_computing():
    rng = np.random.default_rng(0)
    legal = rng.integers(2, 2000, 300).astype(np.int32)
    nodes = DepthCosts(((0.0, 1.0), (0.7, 0.1), (0.5, 0.1), (0.5, 0.1), (0.5, 0.1))).nodes(legal).astype(np.int64)
    tuned = tune_table(DEPTH2, legal, nodes, GAME, 1, [2], ALONE, None)
    assert isinstance(tuned.table, TableDepth)
    assert tuned.table.lowest == GAME.lowest
    assert 0.5 < tuned.spent / tuned.wanted < 2
    assert tuned.options.startswith("depth=table,lowest=2")
    assert tune_table(DEPTH2, legal, nodes, GAME, 1, [2], ALONE, None) == tuned


COSTS = DepthCosts(((0.0, 1.0), (1.0, 0.3), (0.5, 0.2), (1.0, 0.1), (0.5, 0.2)))
"""Depth 1 takes as many nodes as there are legal turns."""


def positions(rows, seed=0):
    """Legal turns and the nodes by depth that `COSTS` gives, each search ending somewhere."""
    rng = np.random.default_rng(seed)
    legal = rng.integers(2, 2000, rows).astype(np.int32)
    nodes = np.zeros((rows, 8), np.int64)
    nodes[:, :5] = np.maximum(1, COSTS.nodes(legal).round()).astype(np.int64)
    nodes[np.arange(8)[None] >= rng.integers(3, 6, rows)[:, None]] = 0
    return legal, nodes


def test_costs_are_found_again_and_unreached_depths_grow():
    legal, nodes = positions(500)
    found = fit_costs(legal, nodes, 7)
    np.testing.assert_allclose(found.nodes([10, 100, 1000])[:, :5], COSTS.nodes([10, 100, 1000]), rtol=0.1)
    assert found.powers[5] == found.powers[6] == found.powers[4]
    assert fit_costs(legal, nodes, 20).powers[19] == found.powers[4]  # more than the array has
    with pytest.raises(ZugwerkError, match="there are 5; raise depth_label"):
        fit_costs(*positions(5), 5)


@given(st.floats(1, 1e9), st.integers(1, 5000))
def test_a_table_keeps_within_its_budget(budget, legal):
    depth = table_within(COSTS, 2, 5, budget).depth_of(legal)
    expected = COSTS.nodes([legal])[0]
    assert 2 <= depth <= 5
    if depth > 2:
        assert expected[depth - 1] <= budget * (1 + 1e-9)
    if depth < 5 and legal < 4 * 35 * 35:
        assert expected[depth] > budget


@pytest.mark.parametrize("wanted", [5e4, 2e5, 1e6])
def test_table_is_fitted_to_its_budget(wanted):
    legal, _ = positions(400)
    expected = COSTS.nodes(legal)

    def spend(table):
        """The clock of a game takes something off the deepest searches."""
        return sum(min(3e5, expected[i, table.depth_of(n) - 1]) for i, n in enumerate(legal)) / 20

    table, spent = fit_table(COSTS, 1, 5, wanted, wanted / 20, spend, rounds=8)
    assert spend(table) == spent
    assert abs(np.log(spent / wanted)) < 0.1


def test_a_table_is_written_and_read():
    table = TableDepth(3, (900, 400, 150))
    assert read_table(str(table), 3) == table
    assert [table.depth_of(n) for n in (2000, 900, 899, 400, 151, 150, 149, 1)] == [3, 3, 4, 4, 5, 5, 6, 6]
    assert read_table("", 4).depth_of(1) == 4


@pytest.mark.parametrize(("text", "lowest"), [("1/2", 3), ("a", 3), ("-5", 3), ("9//3", 3), ("", 0)])
def test_bad_tables_are_refused(text, lowest):
    with pytest.raises(ZugwerkError, match="depth table"):
        read_table(text, lowest)


CLASSES = GAME.model_copy(update={"lowest": 3, "highest": 7})
MATCH = {
    "pilot_pairs": 1,
    "players": {"net": "depth=cnn,model={paper}", "two": "depth=2", "deepening": ""},
    "matches": {
        "net_table": {"a": "net", "b": "table", "pairs": 2},
        "two_deepening": {"a": "two", "b": "deepening", "pairs": 1},
    },
}
PARAMS = {
    "seed": 1,
    "parallel": {"workers": 1},
    "amazons_engine": {},
    "depth_game": CLASSES.model_dump(),
    "depth_split": {"train": 75, "validation": 10, "test": 15},
    "depth_match": MATCH,
}
REPORT = "artifacts/reports/depth/match.json"


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_synthetic(depth_match.POSITIONS)
    torch.manual_seed(0)
    net = make_depth_net(PublishedDepthConfig(10, 1, 1, filters=3)).eval()
    save_depth_net(depth_match.MODELS / "paper/model.pt", SavedDepthNet(net, "reached", 3, 7, "linear", "published"))
    write(tmp_path)
    return tmp_path


def write(folder, **changed):
    (folder / "params.yaml").write_text(yaml12.dump(PARAMS | changed))


def rows(name):
    with open(f"artifacts/reports/depth/moves/{name}.csv", newline="") as file:
        return list(csv.DictReader(file))


def test_report_covers_every_match(project):
    depth_match.main()
    report = read_json(REPORT)
    assert set(report) == {"net_table", "two_deepening", "tables"}
    assert report["net_table"]["score"]["n"] == 4
    assert report["two_deepening"]["score"]["n"] == 2
    assert 0 < report["net_table"]["choosing"] < 1
    assert report["two_deepening"]["choosing"] == 0
    assert report["two_deepening"]["mean_depth"] <= 2
    for match in ("net_table", "two_deepening"):
        assert report[match]["time_outs"] == report[match]["time_outs_opponent"] == 0
    table = report["tables"]["net"]
    assert [*table["below"]] == ["4", "5", "6", "7"]
    assert table["wanted"] > 0
    assert {row["move"] for row in rows("net")} == {row["move"] for row in rows("net")}
    assert all(float(row["asked"]) == 2 for row in rows("two"))
    assert all(0 <= float(row["used"]) <= 1 for row in rows("table_net"))
    assert not depth_match.WORK.exists()
    before = read_json(REPORT)
    depth_match.main()
    assert read_json(REPORT) == before


def test_after_a_kill_only_missing_games_are_played(project, monkeypatch):
    def run():
        depth_match.main()
        written = (path for path in (project / "artifacts/reports").rglob("*.*") if ".timings." not in path.name)
        return {path: path.read_bytes() for path in written}

    check_kill(monkeypatch, run)


@pytest.mark.parametrize(
    ("player", "complaint"),
    [
        ("depth=cnn,model={nobody}", ".*nobody/model.pt: no such model"),
        ("depth={", "cannot read"),
        ("depth=deep", ".*depth must be cnn, table"),
    ],
)
def test_a_text_that_makes_no_player_is_named(project, player, complaint):
    write(project, depth_match=MATCH | {"players": MATCH["players"] | {"net": player}})
    with pytest.raises(ZugwerkError, match=f"players.net: {complaint}"):
        depth_match.main()


def test_positions_of_other_depths_are_refused(project):
    write(project, depth_game=CLASSES.model_dump() | {"highest": 6})
    with pytest.raises(ZugwerkError, match="labelled with depths 3 to 7, depth_game has 3 to 6"):
        depth_match.main()
