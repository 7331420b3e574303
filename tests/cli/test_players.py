import json

import pytest
from typer.testing import CliRunner

from pipeline_src.cli.app import app
from pipeline_src.errors import ZugwerkError
from pipeline_src.players.registry import players_of

pytestmark = pytest.mark.usefixtures("shipped")


def run(*words):
    return CliRunner().invoke(app, ["players", *words])


@pytest.mark.parametrize("game", ["amazons", "gomoku"])
def test_every_player_is_listed_with_its_options_and_an_example(game):
    found = json.loads(run(game, "--json").stdout)
    assert {one["name"] for one in found} == players_of(game).keys()
    assert {one["game"] for one in found} == {game}
    shown = run(game).stdout
    for one in found:
        assert one["meaning"]
        assert one["example"].startswith(one["name"])
        assert one["example"] in shown
        for option in one["options"]:
            assert all(option[key] for key in ("name", "type", "meaning"))
            assert option["name"] in shown


def test_defaults_bounds_and_other_names_are_listed():
    (mcts,) = (one for one in json.loads(run("gomoku", "--json").stdout) if one["name"] == "mcts")
    options = {option["name"]: option for option in mcts["options"]}
    assert options["c"] == {**options["c"], "type": "number, at least 0", "default": "0.15"}
    assert options["nodes"]["also"] == "playouts"
    (chooser,) = (one for one in json.loads(run("amazons", "--json").stdout) if one["with_options"])
    assert (chooser["name"], chooser["with_options"][-1]) == ("alphabeta", "nodes_per_ms")


def test_all_games_without_one_and_no_other():
    assert {one["game"] for one in json.loads(run("--json").stdout)} == {"amazons", "gomoku"}
    refused = run("go").exception
    assert isinstance(refused, ZugwerkError)
    assert str(refused) == "no players of 'go'; there are those of: amazons, gomoku"
