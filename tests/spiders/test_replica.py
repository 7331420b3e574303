import http.client
import json
import os
import re
import socket
import subprocess
import sys
import time
from urllib.parse import urlsplit

import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.records.crawl_params import QuirkParams
from pipeline_src.records.littlegolem.amazons import write_record
from pipeline_src.records.littlegolem.text import split_records
from spiders.pages import first_json, read_api_games, read_game_list, read_players
from spiders.replica.archive import open_archive, record_files
from spiders.replica.site import FOREIGN, MISSING, NO_QUIRKS, Answer, Moods, Routes, choose, fraction
from tests.records.amazons_games import DATA, needs_data
from tests.spiders.sites import ENVIRONMENT, QUIRKS, ROOT, games, served, site_of, wait_until, write_records

PAGE = Answer(200, "text/plain", b"\xe9page")


@pytest.fixture
def connection():
    with served(lambda target: PAGE if target == "/x?a=1" else Answer(404, "text/plain", b"")) as (url, _):
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
        yield connection
        connection.close()


def test_one_connection_serves_many_pages(connection):
    for _ in range(3):
        connection.request("GET", "/x?a=1")
        answer = connection.getresponse()
        assert (answer.status, answer.read(), answer.headers["Content-Type"]) == (200, b"\xe9page", "text/plain")
        before = connection.sock
    assert connection.sock is before is not None
    connection.request("GET", "/y")
    assert connection.getresponse().read() == b""


def test_head_has_the_length_and_no_body(connection):
    connection.request("HEAD", "/x?a=1")
    answer = connection.getresponse()
    assert (answer.headers["Content-Length"], answer.read()) == ("5", b"")
    connection.request("GET", "/x?a=1")
    assert connection.getresponse().read() == b"\xe9page"


def test_chosen_shares_are_exact_and_keep_when_keys_are_added():
    assert len(choose(range(1000), 0.013, 1, "x")) == 13
    assert choose(range(1000), 0.5, 1, "x") != choose(range(1000), 0.5, 1, "y")
    assert choose(reversed(range(1000)), 0.5, 1, "x") == choose(range(1000), 0.5, 1, "x")
    assert 0.4 < sum(fraction(3, "slow", f"/{i}") < 0.5 for i in range(1000)) / 1000 < 0.6


def test_failing_pages_answer_the_second_time():
    moods = Moods(lambda target: PAGE, QuirkParams(**{**vars(NO_QUIRKS), "failing": 0.5}), 0, ())
    first = [moods(f"/{i}").status for i in range(100)]
    assert set(first) == {200, 500, 503}
    assert [moods(f"/{i}").status for i in range(100)] == [200] * 100
    assert moods("/robots.txt").status == 200


def test_broken_pages_never_answer_and_slow_ones_late():
    quirks = QuirkParams(**{**vars(NO_QUIRKS), "slow": 1.0, "slow_s": 0.05})
    moods = Moods(lambda target: PAGE, quirks, 0, ["/jsp/info/"])
    assert [moods("/jsp/info/player.jsp?plid=1").status for _ in range(3)] == [500] * 3
    begun = time.monotonic()
    assert moods("/jsp/game/game.jsp") == PAGE
    assert time.monotonic() - begun >= 0.05


def command(*args):
    return [sys.executable, "-m", "spiders.replica", *args]


def test_the_process_serves_and_ends_with_its_stdin(tmp_path):
    site_of(games(), tmp_path)
    args = ("--archive", str(tmp_path / "served.parquet"), "--port", "0", "--missing=0.05", "--until-stdin-closes")
    with subprocess.Popen(
        command(*args), stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, env=ENVIRONMENT
    ) as process:
        said = process.stdout.readline().decode()
        assert "serves 42 games as amzn" in said
        connection = http.client.HTTPConnection(urlsplit(said.split()[0]).netloc, timeout=60)
        connection.request("GET", "/robots.txt")
        assert b"User-agent" in connection.getresponse().read()
        connection.close()
        process.stdin.close()
        wait_until(lambda: process.poll() is not None)
        assert process.returncode == 0


@pytest.mark.parametrize("case", ["no archive", "empty archive", "port taken"])
def test_unservable_input_is_reported_in_one_line(tmp_path, case):
    write_records(games()[: 0 if case == "empty archive" else 3], tmp_path / "a.parquet")
    archive = tmp_path / ("none.parquet" if case == "no archive" else "a.parquet")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1] if case == "port taken" else 0
        done = subprocess.run(
            command("--archive", str(archive), "--port", str(port)),
            cwd=ROOT,
            env=os.environ,
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert {"no archive": "no such file", "empty archive": "no games", "port taken": "choose another port"}[
        case
    ] in done.stderr


# The replica's pages, as the spider reads them.

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
    ("target", "status"), [("/", 404), ("/jsp/nothing.jsp", 404), ("/servlet/sgf/5/game5.txt", 500)]
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


RECORD = b"(;EV[amzn.ch.1.1.1]PB[lazy\\player]PW[J\xfcrgen;]]SO[x];W[d1-d7/g7];B[resign])"


def folder(tmp_path, **files):
    for name, body in files.items():
        (tmp_path / name.replace("__", ".")).write_bytes(body)
    return tmp_path


def test_gids_come_from_names_and_others_are_numbered_around_them(tmp_path):
    other = RECORD.replace(b"d1-d7", b"d1-d6")
    files = {"game77__txt": RECORD, "2__sgf": other, "best__hsgf": RECORD, "another__TXT": b"\xef\xbb\xbf \r\n" + other}
    found = record_files(folder(tmp_path, **files))
    assert found == {77: RECORD, 2: other, 1: files["another__TXT"], 3: RECORD}


def test_all_records_of_a_bulk_file_are_games(tmp_path):
    records = [RECORD.replace(b"d1-d7", b"d1-d%d" % rank) for rank in range(2, 8)]
    pages = b"\r\n\r\n".join([*records[:3], b"(;)"])
    files = {"player_game_list_txt__txt": pages, "5__txt": b"".join(records[3:])}
    assert record_files(folder(tmp_path, **files)) == dict(enumerate(records[3:] + records[:3], 1))
    site = open_archive(tmp_path, "", NO_QUIRKS, 0)
    assert [len(game.nodes) for game in site.games.values()] == [2] * 6


def test_non_records_are_left_out(tmp_path):
    files = {"game5__txt": RECORD, "README__txt": b"my games", "game6__md": RECORD, "game7__txt": b""}
    assert list(record_files(folder(tmp_path, **files))) == [5]


def test_two_files_of_one_gid(tmp_path):
    with pytest.raises(ZugwerkError, match="game 5 twice"):
        record_files(folder(tmp_path, game5__txt=RECORD, game5__sgf=RECORD))


def test_nothing_to_serve(tmp_path):
    with pytest.raises(ZugwerkError, match="no records there"):
        open_archive(folder(tmp_path, a__txt=b"text"), "", NO_QUIRKS, 0)


def test_a_folder_as_a_site(tmp_path):
    site = open_archive(folder(tmp_path, game77__txt=RECORD, game78__txt=b"(;damaged"), "go19", NO_QUIRKS, 0)
    assert (site.gtid, site.title) == ("go19", "Go")
    game = site.games[77]
    assert game.record.body == RECORD
    assert [site.names[plid] for plid in game.players] == ["lazy\\player", "Jürgen;]"]
    assert (game.points, game.running) == (None, False)
    assert site.games[78].record.body == b"(;damaged"
    assert len(set(site.games[78].players)) == 2


def test_a_player_against_his_namesake_has_two_numbers(tmp_path):
    body = RECORD.replace(b"J\xfcrgen;]", b"lazy\\player")
    site = open_archive(folder(tmp_path, game1__txt=body), "", NO_QUIRKS, 0)
    assert len(set(site.games[1].players)) == 2
    assert set(site.names.values()) == {"lazy\\player"}


@needs_data
def test_the_collected_real_records(tmp_path):
    site = open_archive(DATA / "littlegolem_amazons", "", NO_QUIRKS, 0)
    assert set(site.games) == {1, 2328640}
    assert len(site.games[2328640].nodes) == 73
