"""Tables of the exported page, its one file, and the command."""

import base64
import re
import shutil

import pytest
from typer.testing import CliRunner

from pipeline_src.cli.app import app
from pipeline_src.errors import ZugwerkError
from pipeline_src.players.packaged import ladders
from pipeline_src.players.registry import build_player, listed
from pipeline_src.web.messages import Choices
from pipeline_src.web.site import BOARDS, PLAYERS, STATIC, joined, tables, write_site


@pytest.fixture(scope="module")
def told():
    return tables()


def test_the_page_offers_players_and_options_that_there_are(told):
    Choices.model_validate(
        {"games": [{key: value for key, value in one.items() if key != "usual"} for one in plain(told["choices"])]}
    )
    for game, players in PLAYERS.items():
        known = {(one.name, option.name) for one in listed(game) for option in one.options}
        known |= {(one.name, option.also) for one in listed(game) for option in one.options}
        assert {(name, option) for name, options in players.items() for option in options} <= known
    assert all(any(one["game"] == game and one["players"] for one in told["choices"]["games"]) for game in BOARDS)


def plain(choices):
    for game in choices["games"]:
        ladders = [
            {**one, "levels": [{k: v for k, v in level.items() if k != "elsewhere"} for level in one["levels"]]}
            for one in game["ladders"]
        ]
        yield {**game, "ladders": ladders}


def test_levels_are_those_of_the_table_with_their_numbers(told):
    for game in BOARDS:
        for ladder, here in zip(ladders(game), (one for one in told["levels"] if one["game"] == game), strict=True):
            assert [text for text in here["levels"] if text] == [
                one.player for one, text in zip(ladder.levels, here["levels"], strict=True) if text
            ]
            assert any(here["levels"])
            for text in filter(None, here["levels"]):
                build_player(game, text)


def test_one_file_has_all_modules_in_order(tmp_path):
    shutil.copytree(STATIC, tmp_path / "page")
    for name in ("vega.js", "tables.json"):
        (tmp_path / "page" / name).write_text("")
    page = joined(tmp_path / "page")
    assert not re.search(r'(?:src|href)="(?!data:|#)', page)
    seen = set()
    for name, content in re.findall(r'data-file="([^"]+)">([^<]*)<', page):
        for other in re.findall(r'from "\./([^"/]+)"', base64.b64decode(content).decode()):
            assert f"{name.rpartition('/')[0]}/{other}".lstrip("/") in seen, (name, other)
        seen.add(name)
    assert {"app.js", "local/worker.js", "tables.json"} <= seen


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(ZugwerkError, match=r"not empty.*new folder"):
        write_site(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize("given", [[], ["--single-file"], ["best.pt", "--web", "page"], ["--web", "page", "--int8"]])
def test_export_says_what_it_needs(given):
    done = CliRunner().invoke(app, ["export", *given])
    assert done.exit_code == 1
    assert "--web" in str(done.exception)
