import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pipeline_src.cli import joseki
from pipeline_src.cli.app import app
from pipeline_src.errors import ZugwerkError
from pipeline_src.records.record import SOURCES, write_records
from pipeline_src.records.sgf import write_sgf
from pipeline_src.systems.joseki.library import load, save
from tests.systems.joseki.games import at, random_record, record
from tests.systems.joseki.test_library import built, same

GOLDEN = "X 3,5 4,4 7,3 O 3,6 4,6 3,9"
GAMES = [
    record([at(4, 4), at(3, 6), at(6, 3), at(9, 3)], 1),
    record([at(4, 4), at(3, 6), at(6, 3), at(8, 3)], 2, "second"),
]


def run(*words):
    result = CliRunner().invoke(app, ["joseki", *map(str, words)])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


@pytest.fixture
def library(tmp_path):
    save(built(GAMES), tmp_path / "library.joseki")
    return tmp_path / "library.joseki"


@pytest.fixture
def game(tmp_path):
    path = tmp_path / "game.sgf"
    path.write_bytes(write_sgf(record([at(4, 4, 3), at(3, 6, 3), at(10, 9)])))
    return path


def test_encode_prints_all_factors_as_json():
    codes = json.loads(run("encode", GOLDEN, "--json"))
    assert codes["x"] == {"A": 1, "B": 159766464, "C": 15, "K": 159766479}
    assert codes["o"] == {"A": 4, "B": 354200, "C": 8, "K": 1416808}
    assert codes["both"] == {"A": 12, "B": 102516814400, "C": 35, "K": 1230201772835}
    assert codes["S"] == 3483223225763992904
    mirrored = "O 5,3 4,4 3,7 X 6,3 6,4 9,3"
    assert json.loads(run("encode", mirrored, "--json"))["key"] == codes["key"]
    assert re.fullmatch(r"[0-9a-f]{52}", codes["key"])


def test_encode_prints_a_table():
    lines = run("encode", GOLDEN).splitlines()
    assert lines[0].split() == ["A", "B", "C", "K"]
    assert lines[3].split() == ["both", "12", "102516814400", "35", "1230201772835"]
    assert lines[4] == "S    3483223225763992904"


def test_encode_names_unreadable_input():
    with pytest.raises(ZugwerkError, match="'P' is neither"):
        run("encode", "X 3,4 P")


def test_recommend_prints_candidates_and_draws_them(library, game, tmp_path):
    out = run("recommend", game, "--move", 2, "--corner", "bottom-right", "--library", library)
    first = out.splitlines()[1].split()
    assert first[:6] == ["1", "bottom-right", "R6", "2", "1.000", "0.500"]
    assert set(first[6:]) == {"1:2", "2:2"}
    rows = json.loads(
        run("recommend", game, "--move", 2, "--library", library, "--json", "--svg", tmp_path / "a.svg", "--top", 2)
    )
    assert len(rows) == 2
    assert "100</text>" in (tmp_path / "a.svg").read_text()


def test_recommend_for_a_game_of_a_collection(library, game, tmp_path):
    path = tmp_path / "two.sgf"
    path.write_bytes(b"(;SZ[19];B[aa])\n" + Path(game).read_bytes())
    words = ("--move", 2, "--corner", "bottom-right", "--library", library)
    assert run("recommend", path, "--game", 2, *words) == run("recommend", game, *words)
    with pytest.raises(ZugwerkError, match="2 games; choose one"):
        run("recommend", path, *words)


def test_recommend_says_where_it_knows_nothing(library, tmp_path):
    path = tmp_path / "odd.sgf"
    path.write_bytes(write_sgf(record([at(1, 1), at(9, 9)])))
    assert "no pattern" in run("recommend", path, "--corner", "top-left", "--library", library)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--move", "9"], "--move 9: the game has 3 moves"),
        (["--move", "-1"], "--move -1"),
        (["--corner", "left"], "--corner 'left': expected all, top-left"),
        (["--top", "0"], "--top must be at least 1"),
        (["--library", "nowhere"], "nowhere: no such file"),
    ],
)
def test_recommend_names_unusable_input(library, game, words, complaint):
    with pytest.raises(ZugwerkError, match=complaint):
        run("recommend", game, "--library", library, *words)


def test_recommend_names_a_record_that_is_no_game(library, tmp_path):
    path = tmp_path / "cut.sgf"
    path.write_bytes(b"(;GM[1]SZ[19];B[dd];W[p")
    with pytest.raises(ZugwerkError, match="not SGF, or cut off"):
        run("recommend", path, "--library", library)
    path.write_bytes(b"(;GM[1]SZ[9];B[dd])")
    with pytest.raises(ZugwerkError, match="9"):
        run("recommend", path, "--library", library)


def test_merge_names_files_with_unequal_moves(library, tmp_path):
    save(built([random_record(3)], moves=8), tmp_path / "short.joseki")
    with pytest.raises(ZugwerkError, match=r"library\.joseki and .*short\.joseki: they count 20 and 8 moves"):
        run("merge", library, tmp_path / "short.joseki", "--out", tmp_path / "both.joseki")


def test_add_merge_prune_and_show(library, tmp_path):
    more = [*GAMES, random_record(1)]
    write_records([GAMES[0], random_record(1)], tmp_path / "games.parquet")
    assert "1 games added, 1 known before" in run("add", library, tmp_path / "games.parquet", "--out", tmp_path / "b")
    assert same(load(tmp_path / "b"), built(more))
    save(built([random_record(1)]), tmp_path / "c")
    assert run("merge", library, tmp_path / "c", "--out", tmp_path / "d").startswith("3 games")
    assert (tmp_path / "d").read_bytes() == (tmp_path / "b").read_bytes()
    run("prune", tmp_path / "d", "--fewest-games", 2, "--out", tmp_path / "e")
    assert same(load(tmp_path / "e"), built(more, 2))
    shown = json.loads(run("show", tmp_path / "e", "--json"))
    assert shown["library"] == str(tmp_path / "e")
    assert shown["games"] == 3
    assert shown["fewest_games"] == 2
    assert re.search(r"^patterns +\d+ +different corner patterns", run("show", library), re.MULTILINE)
    assert set(joseki.SOURCE_WORDS) == set(SOURCES)
    with pytest.raises(ZugwerkError, match="cannot be added to or merged"):
        run("merge", tmp_path / "e", tmp_path / "c", "--out", tmp_path / "f")
    assert not (tmp_path / "f").exists()


def test_show_lists_sources_of_games(tmp_path):
    """The made ones are not the user's, in whatever way they came into a library."""
    own, made = GAMES, [replace(random_record(seed), source="engine") for seed in range(3)]
    save(built(own), tmp_path / "own")
    assert "nobody played" not in run("show", tmp_path / "own")
    save(built(made), tmp_path / "made")
    write_records(made, tmp_path / "made.parquet")
    run("merge", tmp_path / "own", tmp_path / "made", "--out", tmp_path / "merged")
    run("add", tmp_path / "own", tmp_path / "made.parquet", "--out", tmp_path / "added")
    run("prune", tmp_path / "added", "--fewest-games", 2, "--out", tmp_path / "pruned")
    for name in ("merged", "added", "pruned"):
        lines = dict(line.split()[:2] for line in run("show", tmp_path / name).splitlines()[:-1])
        assert lines["library"] == str(tmp_path / name)
        assert {key: lines[key] for key in ("games", "file", "engine", "littlegolem")} == {
            "games": "5",
            "file": "2",
            "engine": "3",
            "littlegolem": "0",
        }
        assert "note: nobody played 3 of the 5 games" in run("show", tmp_path / name)
