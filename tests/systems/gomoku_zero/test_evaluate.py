"""The stage gomoku_evaluate on models that are a number each."""

import csv
import json
import re
import xml.etree.ElementTree as ET

import pytest

from pipeline_src import yaml12
from pipeline_src.arena.runner import Board
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.parallel import Parallel
from pipeline_src.records.record import read_records
from pipeline_src.selfplay.params import wanted
from pipeline_src.systems.gomoku_zero import evaluate as event
from pipeline_src.systems.gomoku_zero import evaluate as stage
from pipeline_src.systems.gomoku_zero.params import GomokuOpenings, data_words, origin_words
from tests.arena import gomoku_stubs
from tests.arena.gomoku_stubs import stubs  # noqa: F401
from tests.run_stage import check_kill


def opponents(pairs=4, player="random"):
    return {"mcts1000": {"player": player, "pairs": pairs}, "minimax": {"player": "random:strength=1", "pairs": 4}}


SECTION = {
    "opponents": opponents(),
    "anchor_pairs": 2,
    "table3_games": 4,
    "tables_against": ["minimax"],
    "openings": {"count": 8, "plies": 2, "area": 0, "judge": "judge", "bound": 3.0},
}
SKILLS = (0.0, 0.1, 0.2, 0.4, 1.0)
ACCEPTED = (1, 1, 0, 1, 0)
CSVS = ("table1", "table2", "table3", "table4", "elo", "losses")


@pytest.fixture
def project(tmp_path, monkeypatch, stubs):  # noqa: F811
    """Five generations of models that are a number each, on 5x5 with lines of four."""
    monkeypatch.chdir(tmp_path)
    for number, (skill, accepted) in enumerate(zip(SKILLS, ACCEPTED, strict=True), 1):
        files = stage.GenerationFiles(number)
        files.models.mkdir(parents=True)
        files.model.write_text(str(skill))
        best = max(i for i in range(number) if ACCEPTED[i])
        files.best.write_text(str(SKILLS[best]))
        files.report.parent.mkdir(parents=True, exist_ok=True)
        gate = {
            "wins": 3,
            "draws": 1,
            "losses": 2,
            "score": {"value": 3.5 / 6, "low": 0.2, "high": 0.8, "n": 6},
            "accepted": accepted,
        }
        files.report.write_text(json.dumps({"gate": gate, "self_play": {"games": 4}, "train": {}}))
        files.curves.write_text("step,loss,policy_loss,value_loss\n" + "".join(f"{s}.0,5,4,{s}\n" for s in (10, 20)))
    return tmp_path


def evaluate(project, generations=5, **changes):
    params = {
        "seed": 1,
        "parallel": {"workers": 1},
        "gomoku_game": {"size": 5, "variant": "freestyle-4"},
        "gomoku_generations": wanted(generations),
        "gomoku_evaluate": SECTION | changes,
    }
    (project / "params.yaml").write_text(yaml12.dump(params))
    stage.main()
    return {path.name: path.read_bytes() for path in [*stage.REPORTS.glob("*.*"), stage.GAMES]}


def table(name):
    with open(stage.REPORTS / f"{name}.csv", newline="") as file:
        return list(csv.DictReader(file))


def test_tables_metrics_and_games_say_the_same(project):
    files = evaluate(project)
    assert set(files) == {"evaluate.json", "game.svg", "matches.parquet", *(f"{name}.csv" for name in CSVS)}
    metrics, games = json.loads(files["evaluate.json"]), read_records(stage.GAMES)
    assert metrics["games"] == len(games)
    assert (metrics["generations"], metrics["last_accepted"], metrics["illegal"]) == (5, 4, 0)
    rated = ["1", "4", "5"]
    assert [row["generation"] for row in table("table1")] == list("12345")
    assert table("table1")[2] == {
        "generation": "3", "wins": "3", "draws": "1", "losses": "2", "score": str(3.5 / 6),
        "accepted": "0",
    }  # fmt: skip
    assert [(row["generation"], row["opponent"]) for row in table("table2")] == [
        (a, b) for a in rated for b in [*(x for x in rated if x != a), "all"]
    ]
    assert sum(float(row["points"]) for row in table("table2") if row["opponent"] == "all") == 3 * 2
    assert [(row["generation"], row["games"]) for row in table("table3")] == [(name, "4") for name in rated]
    assert [row["generation"] for row in table("table4")] == rated
    assert [row["generation"] for row in table("elo")] == rated
    by_event = {
        event: [game for game in games if game.event == event]
        for event in ("headline", "anchor", "table2", "table3", "table4")
    }
    assert [len(found) for found in by_event.values()][:4] == [2 * 2 * 4, 3 * 2 * 2, 3 * 2, 3 * 4]
    assert sum(map(len, by_event.values())) == len(games)
    best = f"zero:{stage.GenerationFiles(5).best},simulations=300,search=puct,chunk=8"
    won = sum(
        (game.first_name == best) == (game.winner == "first") if game.winner != "draw" else 0.5
        for game in by_event["headline"][:8]
    )
    assert metrics["score_vs_mcts1000"]["value"] == won / 8
    assert metrics["score_vs_mcts1000"]["n"] == 8
    for game in games:
        state = gomoku.initial_state(5, game.variant)
        for action in game.actions:
            state = gomoku.play(state, action)
        assert gomoku.winner(state) == game.winner


@pytest.mark.parametrize(("best_of", "written"), [(5, True), (1, False), (3, False), (7, False)])
def test_best_of_five_counts_only_such_matches(project, best_of, written):
    metrics = json.loads(evaluate(project, best_of=best_of)["evaluate.json"])
    assert [key for key in metrics if "five" in key] == ["best_of_five_won"] * written
    assert len(table("table4")) == 3


def test_ratings_follow_strength_and_best_is_last_accepted(project):
    evaluate(project, opponents=opponents(8), anchor_pairs=8, table2_games=16)
    metrics = json.loads((stage.REPORTS / "evaluate.json").read_text())
    elo = {row["generation"]: float(row["elo"]) for row in table("elo")}
    assert elo["1"] < elo["4"] < elo["5"]
    assert elo["4"] == metrics["elo_last"]["value"]
    assert metrics["elo_last"]["n"] == (8 + 4) * 2 + 8 * 2 + 2 * 16 + 4  # headlines, anchor, table 2, table 3


def test_headline_options_apply_to_best_player_rated_separately(project):
    evaluate(project, headline_options="leaves=2")
    games = read_records(stage.GAMES)
    names = {game.event: set() for game in games}
    for game in games:
        names[game.event] |= {name for name in (game.first_name, game.second_name) if name.startswith("zero:")}
    best = f"zero:{stage.GenerationFiles(5).best},simulations=300,search=puct,chunk=8,leaves=2"
    assert names["headline"] == {best}
    assert best not in names["anchor"] | names["table2"] | names["table3"] | names["table4"]
    assert (
        json.loads((stage.REPORTS / "evaluate.json").read_text())["elo_last"]["n"] == (4 + 4) * 2
    )  # the headlines alone


def test_losses_continue_over_generations(project):
    evaluate(project, 2)
    assert [(row["generation"], row["iteration"], row["mean"]) for row in table("losses")] == [
        ("1", "10", "7.0"), ("1", "20", "12.0"), ("2", "30", "7.0"), ("2", "40", "12.0")
    ]  # fmt: skip


def test_after_a_kill_only_missing_games_are_played(project, monkeypatch):
    check_kill(monkeypatch, lambda: evaluate(project))
    assert not stage.WORK.exists()


def test_generations_come_from_params_and_not_from_folders(project):
    three = evaluate(project, 3)
    assert b"\n4," not in three["table1.csv"]
    assert json.loads(three["evaluate.json"])["last_accepted"] == 2
    assert [row["generation"] for row in table("elo")] == ["1", "3"]


def test_shown_game_is_the_last_headline_game(project):
    picture = evaluate(project)["game.svg"].decode()
    ET.fromstring(picture)
    game = [game for game in read_records(stage.GAMES) if game.event == "headline"][-1]
    assert picture.count("<circle") == len(game.actions)
    assert f"random:strength=1 (black) against generation 5: {game.winner}" in picture


@pytest.mark.parametrize(("changes", "complaint"), [
    ({"anchor": "nobody"}, "no opponent is called 'nobody'; there are: mcts1000, minimax"),
    ({"table3_games": 3}, "table3_games must be even"),
    ({"best_of": 4}, "best_of must be odd"),
    ({"tables_against": ["minimax", "minimax"]}, "tables_against names a player twice"),
    ({"opponents": {"best": {"player": "random", "pairs": 1}}}, "opponents: 'best' is the name of a model"),
    ({"opponents": {"4": {"player": "random", "pairs": 1}}}, "opponents: '4' is the name of a model"),
    ({"opponents": opponents(9)}, "openings.count must be at least 9"),
    ({"headline_games": 9}, "gomoku_evaluate.headline_games: unknown key"),
    ({"search": "minimax"}, "search: 'minimax' is not one of puct, gumbel"),
    ({"opponents": opponents(0)}, "opponents.mcts1000: pairs must be at least 1"),
    ({"opponents": opponents(4, "mcts9")}, "no player 'mcts9' for gomoku"),
    ({"openings": SECTION["openings"] | {"judge": "random"}}, "'random' cannot judge"),
    ({"openings": SECTION["openings"] | {"area": 6}}, "no square of 6"),
    ({"options": "strange"}, "cannot read 'strange'"),
])  # fmt: skip
def test_bad_params_are_named_before_any_game(project, changes, complaint):
    with pytest.raises(ZugwerkError, match=complaint):
        evaluate(project, **changes)
    assert not gomoku_stubs.CALLS
    assert not stage.REPORTS.joinpath("evaluate.json").exists()


@pytest.mark.parametrize("name", ["model", "best", "report", "curves"])
def test_a_missing_file_of_a_generation_is_named(project, name):
    path = getattr(stage.GenerationFiles(5), name)
    path.unlink()
    gomoku_stubs.CALLS.clear()
    with pytest.raises(ZugwerkError, match=re.escape(str(path))):
        evaluate(project)
    assert not gomoku_stubs.CALLS


@pytest.mark.parametrize(("games", "nodes"), [(0, []), (3, [1500, 2250, 3375])])
def test_quick_judge_games_decide_which_openings_are_level(monkeypatch, games, nodes):
    asked = []
    monkeypatch.setattr(event, "balanced_openings", lambda *about: asked.append(about) or [])
    chosen = GomokuOpenings(count=2, plies=4, area=5, judge="engine:nodes=100", bound=400.0, quick_games=games)
    event.gomoku_event({}, Board("gomoku", 9, "freestyle"), chosen, [7], Parallel(workers=1))
    (about,) = asked
    assert about[2:7] == (2, 4, [7, 0], "engine:nodes=100", 400.0)
    assert about[-1] == nodes


@pytest.mark.parametrize(
    ("section", "words", "data"),
    [
        ({}, "", ""),
        ({"fours": 0}, "from nothing", "its own games"),
        ({"fours": 40}, "from nothing but fours", "its own games"),
    ],
)
def test_words_name_how_the_net_began(section, words, data):
    params = {"gomoku_self_play": section}
    assert (origin_words(params), data_words(params)) == (words, data)
