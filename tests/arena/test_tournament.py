"""Tournaments, and matches of several players that share openings."""

import dataclasses
import json
import re
import sys
from itertools import product

import numpy as np
import pytest
from markupsafe import escape
from typer.testing import CliRunner

from pipeline_src.arena import match
from pipeline_src.arena.game import Fixture, PlayedGame
from pipeline_src.arena.match import ROUND, read_tournament, run_tournament
from pipeline_src.arena.person import game_text
from pipeline_src.arena.result import Match, Standing, first_side_share
from pipeline_src.arena.runner import BestOf, Board, Event, Pairing, Rules, cross_table, pairings, records
from pipeline_src.cli.app import app
from pipeline_src.errors import ZugwerkError
from pipeline_src.parallel import Parallel
from pipeline_src.records.record import GameRecord, read_records
from tests.arena.gomoku_stubs import stubs  # noqa: F401
from tests.cli.test_matches import full
from tests.players.test_programs import SCRIPT

FILE = """
game: gomoku
size: 5
variant: freestyle-4
games: 4
openings: random:1
players:
  deep: alphabeta:depth=2
  flat: alphabeta:depth=1
  chance: random
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "t.yaml"
    path.write_text(FILE)
    return path


def moves(found):
    return [[game.actions for game in one.games] for one in found.matches.values()]


def test_a_round_robin_rates_everybody(file, tmp_path):
    seen = []
    found = run_tournament(read_tournament(file), tmp_path / "out", on_pair=lambda so_far: seen.append(so_far.totals))
    assert [*found.matches] == [("deep", "flat"), ("deep", "chance"), ("flat", "chance")]
    assert {name: total.games for name, total in found.totals.items()} == {"deep": 8, "flat": 8, "chance": 8}
    assert found.ranking[-1] == "chance"
    assert found.ratings["deep"].elo == 0 > found.ratings["chance"].elo + 100
    assert len(seen) == 1 + 6
    results = json.loads((tmp_path / "out/results.json").read_text())
    assert [row["player"] for row in results["ranking"]] == found.ranking
    records = read_records(tmp_path / "out/games.parquet")
    names = [(one.gid, one.first_name, one.second_name) for one in records[:2]]
    assert names == [(1, "deep", "flat"), (2, "flat", "deep")]
    text = (tmp_path / "out/games.txt").read_text()
    assert text.count("[Round ") == 12
    assert '[Game "gomoku"]\n[Round "1"]\n[First "deep"]\n[Second "flat"]\n[Board "5x5 freestyle-4"]' in text


def test_a_gauntlet_is_the_first_against_all(file):
    file.write_text(FILE + "format: gauntlet\n")
    assert [*run_tournament(read_tournament(file)).matches] == [("deep", "flat"), ("deep", "chance")]


def test_tournament_resumes_and_new_player_changes_no_game(file, tmp_path, monkeypatch):
    play_group, played = match.play_group, []

    def noted(board, fixtures):
        played.append({fixtures[0].first, fixtures[0].second})
        if len(played) == 4:
            raise KeyboardInterrupt
        return play_group(board, fixtures)

    monkeypatch.setattr(match, "play_group", noted)
    out = tmp_path / "out"
    part = run_tournament(read_tournament(file), out)
    assert [one.status for one in (part, *part.matches.values())].count("interrupted") == 4
    assert len(read_records(out / "games.parquet")) == 6
    whole = run_tournament(read_tournament(file), out)
    assert (whole.status, len(played)) == ("finished", 4 + 3)
    monkeypatch.setattr(match, "play_group", play_group)
    assert moves(run_tournament(read_tournament(file))) == moves(whole)
    file.write_text(FILE + "  more: mcts:nodes=20\n")
    monkeypatch.setattr(match, "play_group", noted)
    more = run_tournament(read_tournament(file), out)
    assert moves(more)[0:1] + moves(more)[1:2] + moves(more)[3:4] == moves(whole)
    assert len(played) == 7 + 6


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("games: 4", "games: 3"), "t.yaml: tournament: games must be even and at least 2, not 3"),
        (("chance: random", "chance: alphabeta:depth=1"), "players must differ; option name="),
        (("chance: random", "chance: nobody"), "no player 'nobody'"),
        (("chance: random", "all: random"), "players must have another name than 'all'"),
        (("players:", "sprt: [50, 0]\nplayers:"), "sprt is no test: elo0 must be below elo1"),
        (("players:", "sprt: [50]\nplayers:"), "sprt must name at least 2, not 1"),
        (("players:", "sprt: [0, 10, 0.05]\nplayers:"), "sprt must be elo0, elo1 or elo0, elo1, alpha, beta"),
        (("game: gomoku\n", ""), "tournament.game: .*missing|missing.*game"),
    ],
)
def test_wrong_files_are_refused(file, change, said):
    file.write_text(FILE.replace(*change))
    with pytest.raises(ZugwerkError, match=said):
        run_tournament(read_tournament(file))


def test_players_that_the_movetime_makes_the_same_are_refused(file):
    same = FILE.replace("deep: alphabeta:depth=2", "deep: alphabeta").replace("depth=1", "movetime=50")
    file.write_text(same + "movetime: 50\n")
    with pytest.raises(ZugwerkError, match="players 'deep' and 'flat' are both 'alphabeta:movetime=50'"):
        run_tournament(read_tournament(file))


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_sequential_test_ends_only_its_meeting(file, tmp_path, workers):
    """And workers do not decide which games are played."""
    players = FILE.replace("flat: alphabeta:depth=1", "twin: alphabeta:depth=2,width=300")
    file.write_text(players.replace("games: 4", "games: 40") + "sprt: [0, 300]\n")
    found = run_tournament(read_tournament(file), tmp_path / "out")
    won = found.matches["deep", "chance"]
    assert (won.status, won.test.verdict) == ("decided", "H1")
    assert won.test.pairs <= len(won.pairs) < 20
    assert len(won.pairs) % ROUND == 0
    assert found.status == "finished"
    assert len(found.games) < found.planned == 3 * 40
    results = json.loads((tmp_path / "out/results.json").read_text())
    verdicts = [match.test.verdict for match in found.matches.values()]
    assert [one["sprt"]["verdict"] for one in results["meetings"]] == verdicts
    again = run_tournament(read_tournament(file), tmp_path / "out")
    assert moves(again) == moves(found)
    assert moves(run_tournament(read_tournament(file), parallel=Parallel(workers=workers))) == moves(found)


def test_a_forfeit_says_why_everywhere(file, tmp_path):
    """Table, JSON, text, journal, archive and page; the browser is in tests/web/test_analyse.py."""
    out = tmp_path / "out"
    brain = f"brain:'{sys.executable}' -S '{SCRIPT}' crash"
    file.write_text(FILE.replace("chance: random", f'chance: "{brain}"').replace("-4", "") + "format: gauntlet\n")
    done = CliRunner().invoke(app, ["tournament", str(file), "--out", str(out)])
    assert done.exit_code == 1, done.output
    assert "no result: deep - chance: chance made no legal move in time in any game" in done.stderr
    why = "crashed (status 3); its last lines: OK; on stderr: warming up | no memory ?[31mleft"
    assert "8 games, finished" in done.stdout
    told = rf"^game 5: chance forfeits to deep \(crash\), move 2: engine .* {re.escape(why)}$"
    assert re.search(told, done.stdout, re.M)
    results = json.loads((out / "results.json").read_text())
    assert [one["game"] for one in results["forfeits"]] == [5, 6, 7, 8]
    assert all(one["player"] == "chance" and one["kind"] == "crash" for one in results["forfeits"])
    told = [one["detail"] for one in results["forfeits"]]
    assert all(re.fullmatch(rf"move \d: engine .* {re.escape(why)}", one) for one in told)
    assert [row["forfeits"] for row in results["ranking"]] == [0, 0, 4]
    texts = [json.loads(line)["value"] for line in (out / "games.journal.jsonl").read_text().splitlines()[1:]]
    assert sorted(game["detail"] for pair in texts for game in pair if game["ended"] == "crash") == sorted(told)
    events = [one.event for one in read_records(out / "games.parquet")]
    assert events == [""] * 4 + [f"forfeit:crash: {one}" for one in told]
    assert f'[Forfeit "crash: {told[0]}"]' in (out / "games.txt").read_text()
    assert str(escape(told[0])) in (out / "index.html").read_text()
    as_json = CliRunner().invoke(app, ["tournament", str(file), "--out", str(out), "--json"])
    assert json.loads(as_json.stdout)["forfeits"] == results["forfeits"]


def test_quotes_in_an_engines_words_do_not_end_a_tag():
    record = GameRecord("gomoku", 1, "engine", "freestyle", 5, 5, (0, 1, 2), "first", event=r'forfeit:crash: says "\"')
    assert game_text(record) == (
        '[Game "gomoku"]\n[Round "1"]\n[First ""]\n[Second ""]\n[Board "5x5 freestyle"]\n[Result "1-0"]\n'
        r'[Forfeit "crash: says \"\\\""]'
        "\n\n1. a5 b5 2. c5\n1-0\n\n"
    )


def test_out_that_is_no_file_is_refused(file, tmp_path):
    with pytest.raises(ZugwerkError, match="is a file; name a folder"):
        run_tournament(read_tournament(file), file)


@pytest.mark.parametrize(
    "writes", ["pipeline_src.arena.match.write_json", "pipeline_src.report.tournament_page.write_page"]
)
def test_a_table_is_printed_also_where_files_cannot_be_written(file, tmp_path, monkeypatch, writes):
    monkeypatch.setattr(writes, full)
    done = CliRunner().invoke(app, ["tournament", str(file), "--out", str(tmp_path / "out")])
    assert "12 games, finished" in done.stdout
    assert done.exit_code == 1
    assert str(done.exception).startswith("12 of 12 games played: games.parquet: the disk is full; ")
    assert str(done.exception).endswith(f"the finished pairs are in {tmp_path / 'out/games.journal.jsonl'}")


def test_page_of_a_game_in_one_file_shows_stones(file, tmp_path):
    file.write_text("game: connect_four\ngames: 2\nopenings: random:1\nplayers: {a: random, b: 'mcts:playouts=9'}\n")
    done = CliRunner().invoke(app, ["tournament", str(file), "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.exception
    (data,) = re.findall('id="data"[^>]*>(.*?)<', (tmp_path / "out/index.html").read_text())
    for game in json.loads(data)["games"]:
        assert game["ranks"][0] == "7/7/7/7/7/7"
        assert len(re.sub("[^xo]", "", game["ranks"][-1])) == len(game["moves"])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("movetime: 100\nclock: [1000, 0]", "movetime and clock: each side has one or the other"),
        ("clock: [1000, 0]", "player 'alphabeta:depth=2': on a clock .* leave out depth, or the clock"),
        ("movetime: .nan", "movetime"),
        ("movetime: 0", "movetime must be above 0"),
        ("margin: -1", "margin must be at least 0"),
        ("clock: [0, 0]", "clock must be above 0"),
        ("clock: [.inf, 0]", "clock"),
    ],
)
def test_times_are_checked_before_the_first_game(file, line, said):
    file.write_text(FILE + line + "\n")
    with pytest.raises(ZugwerkError, match=said):
        run_tournament(read_tournament(file))


def test_movetime_is_for_players_without_own_limit(file):
    file.write_text(FILE + "  plain: alphabeta\nmovetime: 20\n")
    texts = ["alphabeta:depth=2", "alphabeta:depth=1", "random", "alphabeta:movetime=20"]
    assert [*read_tournament(file).texts().values()] == texts
    file.write_text(FILE + "  plain: minimax\nmovetime: 20\n")
    with pytest.raises(ZugwerkError, match="player 'minimax' has no movetime; its limits: depth"):
        read_tournament(file).texts()


def test_table_is_live_in_terminal_and_printed_once_elsewhere(file):
    file.write_text(FILE + "format: gauntlet\n")
    live = CliRunner().invoke(app, ["tournament", str(file)], env={"FORCE_COLOR": "1", "COLUMNS": "140"}).stdout
    titles = re.findall(r"(\d+(?: of \d+)? games, \w+)", live)
    assert titles[0] == "0 of 8 games, playing"
    assert {"2 of 8 games, playing", "4 of 8 games, playing", "6 of 8 games, playing"} <= set(titles)
    assert titles[-1] == "8 games, finished"
    assert re.search(r"-\d+ to \+?-?\d+", live[live.index("4 of 8") : live.index("6 of 8")])
    quiet = CliRunner().invoke(app, ["tournament", str(file)]).stdout
    assert re.findall(r"games, \w+", quiet) == ["games, finished"]


OPENINGS = [(i,) for i in range(8)]
RULES = Rules(5, 4)


@pytest.fixture
def event(tmp_path, stubs):  # noqa: F811
    (tmp_path / "m.pt").write_text("1.0")
    texts = {"strong": f"zero:{tmp_path / 'm.pt'},search=puct", "weak": "random", "other": "random"}
    return Event(Board("gomoku", 4, "freestyle-3"), texts, OPENINGS, [1, 2], Parallel(workers=1))


def test_match_is_independent_of_other_matches(event):
    pairing = Pairing("t", "strong", "weak", 4)
    (alone,) = event.play([pairing])
    both = event.play([Pairing("t", "other", "weak", 3), pairing])
    assert both[1] == alone
    assert event.play([Pairing("u", "strong", "weak", 4)])[0].games != alone.games


def test_pairs_share_openings_and_matches_repeat_none(event):
    (played,) = event.play([Pairing("t", "strong", "weak", 8)])
    openings = [game.actions[0] for game in played.games]
    assert openings[::2] == openings[1::2]
    assert sorted(openings[::2]) == list(range(8))
    assert openings[::2] != list(range(8))
    assert played.standing.games == 16
    assert played.standing.wins >= 12
    assert played.score.value == played.standing.points / 16


def best_of(winners, a_begins=True, rules=RULES):
    """A match whose games are won by those sides; how many games each round asked for."""
    rounds = []

    class Told(Event):
        def _play(self, fixtures):
            rounds.append(len(fixtures))
            numbers = [one.seed[-1] for one in fixtures]
            return [PlayedGame(one, (n,), winners[n]) for one, n in zip(fixtures, numbers, strict=True)]

    seed = next(seed for seed in range(99) if lot(seed) == a_begins)
    event = Told(Board("gomoku", 4, "freestyle-3"), {"a": "A", "b": "B"}, OPENINGS, [seed])
    (match,) = event.play_best_of("t", [("a", "b")], rules)
    assert match.a_begins == a_begins
    assert [game.actions[0] for game in match.games] == list(range(len(match.games)))
    firsts = ["A" if a_begins == (number % 2 == 0) else "B" for number in range(len(match.games))]
    assert [game.fixture.first for game in match.games] == firsts
    return match, rounds


def lot(seed):
    """Who begins, of an event with that seed."""
    return bool(np.random.default_rng([seed, *b"t/a/b", 0]).integers(2))


@pytest.mark.parametrize(("results", "won", "games"), [
    ("aaa", True, 3), ("bbb", False, 3), ("abab" "a", True, 5), ("daadb" "a", True, 6), ("ddddddddd", None, 9),
    ("abdddddab", None, 9), ("ddaabb" "b", False, 7),
])  # fmt: skip
def test_play_stops_when_decided_and_draws_are_replayed_to_limit(results, won, games):
    for a_begins in (True, False):
        sides = []
        for number, one in enumerate(results.ljust(9, "a")):
            first = a_begins == (number % 2 == 0)
            sides.append("draw" if one == "d" else "first" if (one == "a") == first else "second")
        match, rounds = best_of(sides, a_begins)
        assert len(match.games) == games
        assert match.won(RULES) is won
        assert sum(rounds) == games
        assert rounds[0] == 3


def test_only_games_needed_by_the_protocol_are_played():
    """All results of a best of three: a game is asked for only while nobody has two wins."""
    for results in product(["first", "second", "draw"], repeat=5):
        match, _ = best_of(results, rules=Rules(3, 2))
        wins, losses = 0, 0
        for number, game in enumerate(match.games):
            assert max(wins, losses) < 2
            if game.winner != "draw":
                ahead = (game.winner == "first") == (number % 2 == 0)
                wins, losses = wins + ahead, losses + (not ahead)
        assert max(wins, losses) == 2 or len(match.games) == 5


def test_best_of_matches_of_an_event_swap_sides_within_openings(event):
    matches = event.play_best_of("t4", [("strong", "weak"), ("weak", "other")], RULES)
    assert matches == event.play_best_of("t4", [("strong", "weak"), ("weak", "other")], RULES)
    assert matches[0].won(RULES) is True
    openings = [game.actions[0] for game in matches[0].games]
    assert openings[0] == openings[1] != openings[2]
    assert event.play_best_of("t4", [("weak", "other")], RULES) == matches[1:]


def test_cross_table_has_both_ways_and_totals():
    names = ["1", "2", "3"]
    assert pairings(names) == [("1", "2"), ("1", "3"), ("2", "3")]
    standings = {("1", "2"): Standing(1, 0, 1), ("1", "3"): Standing(0, 1, 1), ("2", "3"): Standing(2, 0, 0)}
    rows = {(a, b): standing for a, b, standing in cross_table(names, standings)}
    assert rows["3", "1"] == Standing(1, 1, 0)
    assert rows["1", "all"] == Standing(1, 1, 2)
    assert rows["2", "all"].points == 3
    assert len(rows) == 9
    assert sum(rows[name, "all"].points for name in names) == 6


def test_records_name_who_moved_first():
    a_first, b_first = Fixture("A", "B", (), ()), Fixture("B", "A", (), ())
    match = Match.of("a", "b", [PlayedGame(a_first, (1,), "first"), PlayedGame(b_first, (2,), "second")])
    best = BestOf("b", "a", False, [PlayedGame(a_first, (3,), "draw"), PlayedGame(b_first, (4,), "first")])
    found = records(Board("gomoku", 4, "freestyle-3"), [("t", match.games), ("table4", best.games)])
    assert [(one.gid, one.event, one.first_name + one.second_name, one.actions) for one in found] == [
        *((1, "t", "AB", (1,)), (2, "t", "BA", (2,))),
        *((3, "table4", "AB", (3,)), (4, "table4", "BA", (4,))),
    ]
    assert first_side_share(match.games + best.games) == pytest.approx(2.5 / 4)
    assert dataclasses.asdict(match.standing) == {"wins": 2, "draws": 0, "losses": 0}
    assert dataclasses.asdict(best.standing) == {"wins": 1, "draws": 1, "losses": 0}
