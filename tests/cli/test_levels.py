import json

import pytest
from typer.testing import CliRunner

from pipeline_src.cli.app import app
from pipeline_src.errors import ZugwerkError
from pipeline_src.players.packaged import ladders


def run(*words):
    return CliRunner().invoke(app, ["levels", *words])


def test_the_levels_of_each_board_are_listed_with_their_elo():
    shown = run("gomoku").stdout
    for ladder in ladders("gomoku"):
        assert f"{ladder.size}x{ladder.size} {ladder.variant}" in shown
        for level in ladder.levels:
            assert level.player in shown
            assert f"{level.low:.0f} to {level.high:.0f}" in shown


def test_as_json_they_are_those_of_the_table():
    assert json.loads(run("--json").stdout) == [ladder.model_dump(mode="json") for ladder in ladders()]


def test_a_game_without_levels_is_refused():
    found = run("go")
    assert found.exit_code == 1
    with pytest.raises(ZugwerkError, match="no levels of 'go'; there are those of: gomoku, amazons"):
        raise found.exception
