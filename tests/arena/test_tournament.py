import json
import sys

import pytest
from typer.testing import CliRunner

from pipeline_src.arena import match
from pipeline_src.arena.tournament import read_tournament, run_tournament
from pipeline_src.cli.app import app
from pipeline_src.errors import ZugwerkError
from pipeline_src.records.parquet import read_records
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
    assert '[First "deep"]\n[Second "flat"]\n[Board "5x5 freestyle-4"]' in text


def test_a_gauntlet_is_the_first_against_all(file):
    file.write_text(FILE + "format: gauntlet\n")
    assert [*run_tournament(read_tournament(file)).matches] == [("deep", "flat"), ("deep", "chance")]


def test_it_goes_on_where_it_was_and_a_new_player_changes_no_game(file, tmp_path, monkeypatch):
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
        (("game: gomoku\n", ""), "tournament.game: .*missing|missing.*game"),
    ],
)
def test_wrong_files_are_refused(file, change, said):
    file.write_text(FILE.replace(*change))
    with pytest.raises(ZugwerkError, match=said):
        run_tournament(read_tournament(file))


def test_the_command_prints_a_table_and_the_forfeits(file, tmp_path):
    brain = f"brain:'{sys.executable}' -S '{SCRIPT}' suggest"
    file.write_text(FILE.replace("chance: random", f'chance: "{brain}"').replace("-4", ""))
    done = CliRunner().invoke(app, ["tournament", str(file), "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert "12 games, finished" in done.stdout
    assert "deep - chance: chance forfeits (illegal), move 3: engine" in done.stdout
    as_json = CliRunner().invoke(app, ["tournament", str(file), "--out", str(tmp_path / "out"), "--json"])
    assert json.loads(as_json.stdout)["ranking"][-1]["forfeits"] == 8
