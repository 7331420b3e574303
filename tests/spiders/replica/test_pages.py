"""The replica's pages, as the spider reads them."""

import json
import re

import pytest

from pipeline_src.records.crawl_params import QuirkParams
from pipeline_src.records.littlegolem.amazons import write_record
from pipeline_src.records.littlegolem.text import split_records
from spiders.pages import first_json, read_api_games, read_game_list, read_players
from spiders.replica.site import FOREIGN, MISSING, NO_QUIRKS, Routes
from tests.spiders.sites import QUIRKS, games, site_of

API = "/api/games/variant/amzn/{}?state=finished&min_rating=0&offset={}&limit={}"


@pytest.fixture(scope="module")
def routes(tmp_path_factory):
    return Routes(site_of(games(), tmp_path_factory.mktemp("site")))


@pytest.fixture(scope="module")
def quirky(tmp_path_factory):
    return Routes(site_of(games(), tmp_path_factory.mktemp("site"), QUIRKS), double_json=0.5)


def body(routes, target):
    answer = routes(target)
    assert answer.status == 200, target
    return answer.body


def test_player_list_holds_everyone_of_a_variant_once(routes):
    of_cross = {plid for game in games() if game.variant == "cross" for plid in (game.first_plid, game.second_plid)}
    assert read_players(body(routes, "/jsp/info/player_list.jsp?gtvar=amzn_CROSS&page=1")).keys() == of_cross
    assert read_players(body(routes, "/jsp/info/player_list.jsp?gtvar=amzn_CROSS&page=2")) == {}
    assert read_players(body(routes, "/jsp/info/player_list.jsp?gtvar=hex_CROSS&page=1")) == {}


def test_a_long_player_list_has_pages(tmp_path):
    import dataclasses

    many = [dataclasses.replace(game, first_plid=1000 + i, first_name=f"p{i}") for i, game in enumerate(games() * 3)]
    many = [dataclasses.replace(game, gid=i, variant="standard") for i, game in enumerate(many)]
    site = Routes(site_of(many, tmp_path))
    pages = [read_players(body(site, f"/jsp/info/player_list.jsp?gtvar=amzn_DEFAULT&page={i}")) for i in (1, 2, 3, 4)]
    assert [len(page) for page in pages] == [50, 50, 27, 0]
    assert len(pages[0] | pages[1] | pages[2]) == 127


def test_game_list_has_known_facts_of_each_game(routes):
    listed = read_game_list(body(routes, "/jsp/info/player_game_list.jsp?gtid=amzn&plid=103"), 103)
    assert listed.name == "engine 3"
    mine = {game.gid: game for game in games() if 103 in (game.first_plid, game.second_plid)}
    assert [row.gid for row in listed.rows] == sorted(mine, reverse=True)
    for row in listed.rows:
        game = mine[row.gid]
        first = game.first_plid == 103
        assert row.opponent == (game.second_name if first else game.first_name)
        assert row.variant == {"standard": "Size 10", "cross": "Cross"}[game.variant]
        assert row.plies == len(game.actions) + game.resigned
        assert row.result == ("won" if (game.winner == "first") == first else "lost")


def test_game_list_of_unknown_game_type_is_empty(routes):
    assert read_game_list(body(routes, "/jsp/info/player_game_list.jsp?gtid=twixt.PP&plid=103"), 103).rows == ()


@pytest.mark.parametrize("name", ["game{0}.txt", "game{0}.sgf", "game{0}.hsgf", "game.tsgf", "game.hsgf"])
def test_record_under_all_its_names(routes, name):
    for game in games()[:6]:
        target = f"/servlet/sgf/{game.gid}/{name.format(game.gid)}"
        assert body(routes, target) == write_record(game)


def test_records_of_a_player(routes):
    mine = [game for game in reversed(games()) if 103 in (game.first_plid, game.second_plid)]
    page = body(routes, "/jsp/info/player_game_list_txt.jsp?plid=103&gtid=amzn")
    assert split_records(page) == [write_record(game) for game in mine]
    assert body(routes, "/jsp/info/player_game_list_txt.jsp?plid=103&gtid=hex") == b""


def test_api_lists_newest_first_in_pages(routes):
    pages = [read_api_games(body(routes, API.format("DEFAULT", offset, 20))) for offset in (0, 20, 40)]
    assert [len(page) for page in pages] == [20, 12, 0]
    found = [game for page in pages for game in page]
    known = {game.gid: game for game in games() if game.variant == "standard"}
    assert [game.gid for game in found] == sorted(known, reverse=True)
    for game in found:
        record = known[game.gid]
        assert [seat.plid for seat in game.seats] == [record.first_plid, record.second_plid]
        assert [seat.result for seat in game.seats] == (
            ["won", "lost"] if record.winner == "first" else ["lost", "won"]
        )


@pytest.mark.parametrize(
    ("target", "status"),
    [("/", 404), ("/jsp/nothing.jsp", 404), ("/servlet/sgf/5/game5.txt", 500)],
)
def test_missing_pages(routes, target, status):
    assert routes(target).status == status


def quirk_games(routes, quirk):
    """Gids above the archive's by the kind of their record."""
    added = sorted(gid for gid in routes._site.games if gid >= 100_000)
    kinds = {"in_progress": added[:4], "missing": added[4:8], "foreign": added[8:]}
    assert len(added) == 12
    return kinds[quirk]


def test_games_in_progress_have_no_result_and_half_a_record(quirky):
    for gid in quirk_games(quirky, "in_progress"):
        game = quirky._site.games[gid]
        (row,) = [
            row
            for row in read_game_list(
                body(quirky, f"/jsp/info/player_game_list.jsp?gtid=amzn&plid={game.players[0]}"), 1
            ).rows
            if row.gid == gid
        ]
        assert row.result == ""
        assert body(quirky, f"/servlet/sgf/{gid}/game{gid}.txt").count(b"];") == row.plies > 0


def test_missing_games_answer_in_all_ways_a_missing_game_does(quirky):
    gids = quirk_games(quirky, "missing")
    assert [quirky(f"/servlet/sgf/{gid}/game{gid}.txt") for gid in gids] == list(MISSING)


def test_foreign_records_are_other_games(quirky):
    texts = [body(quirky, f"/servlet/sgf/{gid}/game{gid}.txt") for gid in quirk_games(quirky, "foreign")]
    assert [text[:8] for text in texts] == [FOREIGN[i % len(FOREIGN)].encode()[:8] for i in range(4)]


def test_timeouts_leave_no_word_and_the_loser_on_move(tmp_path):
    plain = Routes(site_of(games(), tmp_path))
    late = Routes(site_of(games(), tmp_path, QuirkParams(**{**vars(NO_QUIRKS), "timeouts": 1.0})))
    variants = [first_json(body(late, API.format(variant, 0, 100)))["games"] for variant in ("DEFAULT", "CROSS")]
    listed = {one["gid"]: one for games_of in variants for one in games_of}
    for game in games():
        target = f"/servlet/sgf/{game.gid}/game{game.gid}.txt"
        before, after = body(plain, target), body(late, target)
        shorter = before.count(b"];") - after.count(b"];")
        assert shorter == (1 if game.resigned else 2)
        assert before.startswith(after[:-1])
        assert b"resign" not in after
        assert listed[game.gid]["results"] == ([2, 0] if game.winner == "first" else [0, 2])


def test_names_are_not_escaped_and_records_are_latin_1(tmp_path):
    routes = Routes(site_of(games(), tmp_path, QuirkParams(**{**vars(NO_QUIRKS), "names": 1.0})))
    players = read_players(body(routes, "/jsp/info/player_list.jsp?gtvar=amzn_DEFAULT&page=1"))
    assert sorted(re.sub(r"engine \d", "", name).strip() for name in players.values()) == sorted(
        ["lazy\\", "lazy\\", ";]", "Jürgen", "★", "Ã¥Â¦", "["]
    )
    records = b"".join(body(routes, f"/servlet/sgf/{game.gid}/game{game.gid}.txt") for game in games())
    for name in (rb"[lazy\engine", b";]]", "[Jürgen engine".encode("latin-1"), b" ?]", b"[[engine"):
        assert name in records


def test_some_json_comes_twice(quirky):
    bodies = [body(quirky, API.format("DEFAULT", offset, 1)) for offset in range(30)]
    twice = [text for text in bodies if text[: len(text) // 2] == text[len(text) // 2 :]]
    assert 5 < len(twice) < 25
    for text in twice:
        with pytest.raises(ValueError, match="Extra data"):
            json.loads(text)
        assert first_json(text)["games"]


def test_the_same_seed_has_the_same_quirks(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one, same = (site_of(games(), tmp_path / name, QUIRKS) for name in "ab")
    other = site_of(games(), tmp_path, QUIRKS, seed=1)
    assert one.names == same.names
    assert {gid: game.record for gid, game in one.games.items()} == {gid: g.record for gid, g in same.games.items()}
    assert one.names != other.names


def test_real_games_are_served_unchanged(tmp_path):
    import dataclasses

    real = tuple(dataclasses.replace(game, source="littlegolem") for game in games())
    all_on = QuirkParams(**{**vars(QUIRKS), "names": 1.0, "timeouts": 1.0})
    site = site_of(real, tmp_path, all_on)
    assert {gid: game.record.body for gid, game in site.games.items()} == {g.gid: write_record(g) for g in real}
