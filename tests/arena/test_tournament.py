import json
import re
import subprocess
import sys
import time

import pytest
from markupsafe import escape
from typer.testing import CliRunner

from pipeline_src.arena import match
from pipeline_src.arena.person import game_text
from pipeline_src.arena.tournament import ROUND, read_tournament, run_tournament
from pipeline_src.cli.app import app
from pipeline_src.errors import ZugwerkError
from pipeline_src.parallel import Parallel
from pipeline_src.records.record import GameRecord, read_records
from tests.cli.test_match import full
from tests.players.engines.test_brain import SCRIPT

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
    assert [(one.gid, one.first_name, one.second_name) for one in records[:2]] == [
        (1, "deep", "flat"),
        (2, "flat", "deep"),
    ]
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
    assert run_tournament(read_tournament(file), out).status == "interrupted"
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
    assert [one["sprt"]["verdict"] for one in results["meetings"]] == [
        match.test.verdict for match in found.matches.values()
    ]
    again = run_tournament(read_tournament(file), tmp_path / "out")
    assert moves(again) == moves(found)
    assert moves(run_tournament(read_tournament(file), parallel=Parallel(workers=workers))) == moves(found)


def test_unfinished_meeting_is_marked(file, monkeypatch):
    monkeypatch.setattr(match, "play_group", lambda *_: interrupted())
    found = run_tournament(read_tournament(file))
    assert {one.status for one in found.matches.values()} == {found.status} == {"interrupted"}
    assert found.games == []
    assert found.as_json()["ranking"][0]["elo"] is None


def interrupted():
    raise KeyboardInterrupt


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
    assert re.search(
        rf"^game 5: chance forfeits to deep \(crash\), move 2: engine .* {re.escape(why)}$", done.stdout, re.M
    )
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
    page = (out / "index.html").read_text()
    assert str(escape(told[0])) in page
    as_json = CliRunner().invoke(app, ["tournament", str(file), "--out", str(out), "--json"])
    assert json.loads(as_json.stdout)["forfeits"] == results["forfeits"]


def test_quotes_in_an_engines_words_do_not_end_a_tag():
    record = GameRecord("gomoku", 1, "engine", "freestyle", 5, 5, (0, 1, 2), "first", event=r'forfeit:crash: says "\"')
    assert game_text(record) == (
        '[Game "gomoku"]\n[Round "1"]\n[First ""]\n[Second ""]\n[Board "5x5 freestyle"]\n[Result "1-0"]\n'
        r'[Forfeit "crash: says \"\\\""]'
        "\n\n1. a5 b5 2. c5\n1-0\n\n"
    )


@pytest.mark.slow
def test_killed_tournament_resumes_with_missing_games(file, tmp_path):
    """kill -9: the pairs that were finished are not played again, and the end is the same."""
    file.write_text(FILE.replace("games: 4", "games: 60").replace("random:1", "random:2"))
    out = tmp_path / "out"
    line = [sys.executable, "-m", "pipeline_src.cli", "tournament", str(file), "--out", str(out), "--workers", "2"]
    journal = out / "games.journal.jsonl"
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        end = time.monotonic() + 200
        while not (journal.exists() and journal.read_bytes().count(b"\n") > 5) and time.monotonic() < end:
            assert process.poll() is None
            time.sleep(0.005)
        process.kill()
    before = journal.read_bytes()
    before = before[: before.rindex(b"\n") + 1]
    assert not (out / "results.json").exists()
    assert 5 <= before.count(b"\n") - 1 < 90
    whole = run_tournament(read_tournament(file), out)
    assert whole.status == "finished"
    assert journal.read_bytes().startswith(before)
    assert journal.read_bytes().count(b"\n") == 1 + 90
    assert moves(run_tournament(read_tournament(file))) == moves(whole)


def test_the_command_prints_a_table_and_the_forfeits(file, tmp_path):
    brain = f"brain:'{sys.executable}' -S '{SCRIPT}' suggest"
    file.write_text(FILE.replace("chance: random", f'chance: "{brain}"').replace("-4", ""))
    done = CliRunner().invoke(app, ["tournament", str(file), "--out", str(tmp_path / "out")])
    assert done.exit_code == 1, done.output
    assert "no result: flat - chance: chance made no legal move in time in any game" in done.stderr
    assert "12 games, finished" in done.stdout
    assert "game 5: chance forfeits to deep (illegal), move 2: engine" in done.stdout
    as_json = CliRunner().invoke(app, ["tournament", str(file), "--out", str(tmp_path / "out"), "--json"])
    ranking = json.loads(as_json.stdout)["ranking"]
    assert [(row["player"], row["forfeits"], row["elo"] is None) for row in ranking][-1] == ("chance", 8, True)
    assert [row["elo"]["n"] for row in ranking[:2]] == [4, 4]


def test_out_that_is_no_file_is_refused(file, tmp_path):
    with pytest.raises(ZugwerkError, match="is a file; name a folder"):
        run_tournament(read_tournament(file), file)


@pytest.mark.parametrize(
    "writes", ["pipeline_src.arena.tournament.write_json", "pipeline_src.report.tournament_page.write_page"]
)
def test_a_table_is_printed_also_where_files_cannot_be_written(file, tmp_path, monkeypatch, writes):
    monkeypatch.setattr(writes, full)
    done = CliRunner().invoke(app, ["tournament", str(file), "--out", str(tmp_path / "out")])
    assert "12 games, finished" in done.stdout
    assert done.exit_code == 1
    assert str(done.exception).startswith("12 of 12 games played: games.parquet: the disk is full; ")
    assert str(done.exception).endswith(f"the finished pairs are in {tmp_path / 'out/games.journal.jsonl'}")


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
    assert read_tournament(file).texts() == {
        "deep": "alphabeta:depth=2",
        "flat": "alphabeta:depth=1",
        "chance": "random",
        "plain": "alphabeta:movetime=20",
    }
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
