"""The page Analyse without a browser: files of all formats, analysis in a process, export, puzzles."""

import asyncio
import json
import os
import re
import signal
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from starlette.websockets import WebSocketDisconnect

import zugwerk
from pipeline_src.arena.journal import Journal
from pipeline_src.arena.match import MatchSpec, Tournament, run_match, run_tournament
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons, gomoku
from pipeline_src.records.forced_wins import PACKAGED, read_forced_wins
from pipeline_src.records.go_games import write_sgf
from pipeline_src.records.littlegolem.amazons import write_record
from pipeline_src.records.psq import write_psq
from pipeline_src.records.record import GameRecord, write_records
from pipeline_src.search.gomoku.solver import Solver
from pipeline_src.search.limits import Limit
from pipeline_src.web import analyse
from pipeline_src.web.analyse import follow, forced_wins, known
from pipeline_src.web.child import PROOF
from pipeline_src.web.engine import Place
from pipeline_src.web.messages import AnalysisRequest, Judgement, PlyAnalysis
from pipeline_src.web.records import read_games
from pipeline_src.web.site import STATIC
from pipeline_src.web.trees import tree_of, written
from tests.players.test_programs import SCRIPT
from tests.systems.joseki.games import random_record
from tests.web.conftest import ask, post, run, wait, watching


def game_record(rules, size, seed, plies=1000, gid=1):
    rng, state, actions = np.random.default_rng(seed), rules.initial_state(size), []
    while len(actions) < plies and rules.winner(state) is None:
        actions.append(int(rng.choice(rules.legal_actions(state))))
        state = rules.play(state, actions[-1])
    about = rules.NAME, gid, "file", rules.VARIANTS[0], size, size, tuple(actions), rules.winner(state)
    return GameRecord(*about, first_name="ann", second_name="bob")


def sgf_of(record):
    return written(tree_of(record)[0], "sgf")


AMAZONS, GOMOKU, GO = game_record(amazons, 10, 1), game_record(gomoku, 15, 2, 12), random_record(3, 40)


def uploaded(client, data, name="x"):
    """The answer to an upload."""
    answer = client.post(f"/api/analyse/upload?name={name}", content=data)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.fixture(scope="session")
def record_file(web_folder):
    path = web_folder / "records/amazons/games.parquet"
    write_records([AMAZONS, game_record(amazons, 10, 7, 3, gid=2)], path)
    return path


@pytest.mark.parametrize(
    ("name", "data", "game"),
    [
        ("a.txt", write_record(AMAZONS), AMAZONS),
        ("b.psq", write_psq(GOMOKU).encode(), GOMOKU),
        ("c.sgf", write_sgf(GO), GO),
        ("d.sgf", sgf_of(AMAZONS).encode(), AMAZONS),
        ("e.sgf", sgf_of(GOMOKU).encode(), GOMOKU),
        ("f.sgf", sgf_of(GOMOKU).encode("utf-16"), GOMOKU),
        ("g.sgf", sgf_of(GOMOKU).encode("utf-8-sig"), GOMOKU),
        ("h.psq", write_psq(GOMOKU).encode("utf-8-sig"), GOMOKU),
    ],
)
def test_a_file_of_each_format_is_read_by_its_content(client, name, data, game):
    (read,), _ = read_games(data, "no suffix")
    assert (read.game, read.actions, read.height) == (game.game, game.actions, game.height)
    opened = uploaded(client, data, name)
    assert (opened["name"], opened["games"]) == (name, 1)
    replay = first_of(client, data)
    assert len(replay["nodes"]) == len(game.actions)
    assert not replay["left_out"]
    assert bool(replay["analysts"]) == (game.game != "go")


def test_an_archive_and_the_journal_of_a_match_under_way(client, web_folder, record_file, tmp_path):
    assert [one.gid for one in read_games(record_file.read_bytes(), "x").games] == [1, 2]
    spec = MatchSpec("gomoku", "random", "random", 4, size=5)
    run_match(spec, web_folder / "matches/test.parquet")
    journal = web_folder / "matches/test.journal.jsonl"
    whole = journal.read_bytes()
    listed = ask(client, "analyse/games", source=f"file:{journal}")
    assert [one["number"] for one in listed["games"]] == [1, 2, 3, 4]
    journal.write_bytes(whole[: whole.rindex(b"\n", 0, -1) + 40])  # the second pair is half written
    listed = ask(client, "analyse/games", source=f"file:{journal}")
    assert listed["games_in_all"] == 2
    names = [one["name"] for one in ask(client, "analyse/files")["files"]]
    assert names[0] == "matches/test.journal.jsonl"
    assert "records/amazons/games.parquet" in names
    assert "matches/test.parquet" in names
    empty = tmp_path / "empty.jsonl"
    Journal(empty, spec.identity()).close()
    with pytest.raises(ZugwerkError, match="no finished pair"):
        read_games(empty.read_bytes(), "empty")


def test_tournament_journal_and_archive_explain_forfeits(client, web_folder):
    brain = f"brain:'{sys.executable}' -S '{SCRIPT}' crash"
    entries = {"chance": "random", "engine": brain}
    wanted = Tournament(game="gomoku", size=5, games=2, openings="random:1", players=entries)
    played = run_tournament(wanted, web_folder / "club")
    for name, players in (("games.journal.jsonl", {"random", brain}), ("games.parquet", {"chance", "engine"})):
        source = f"file:{web_folder / 'club' / name}"
        listed = ask(client, "analyse/games", source=source)
        assert [one["number"] for one in listed["games"]] == [1, 2]
        assert {one["first_name"] for one in listed["games"]} == {text[:100] for text in players}
        head = ask(client, "analyse/game", source=source, number=1)["head"]
        assert head["event"] == f"forfeit:crash: {played.forfeited[0]['detail']}"
        assert head["event"].endswith("; on stderr: warming up | no memory ?[31mleft")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "found nothing"),
        (b"\x89PNG", "not a record"),
        (b"<html>", "not a record"),
        (b"PAR1 and no more", "not a Parquet file"),
        (b'{"a": 1}\n{"b"', "not the journal of a match"),
        (b'{"game": "chess"}\n{"key": "0", "value": []}\n', "no finished pair"),
        (b'{"game": "gomoku"}\n{"key": "0", "value": [{"fixture": 3}]}\n', "not the journal"),
        (b"[" * 100_000, "not a record"),
        (b'{"a":' + b"[" * 100_000 + b"\n", "not the journal"),
        (b"(;GM[18]SZ[10];W[a1-a2/a3])", "move 1, a1-a2/a3, is not legal"),
        (b"(;GM[4]SZ[x];B[hh])", "SZ is not a size"),
        (b"(;GM[4]SZ[15];B[zz];W[hh])", "move 1"),
        (b"(;W[d1-d7/g7];B[d1-d7/g7])", "x: d1-d7/g7 is not legal from either start"),
        (b"(;GM[2];B[hh])", "GM['2']"),
        (b"(;GM[18]SZ[10]AW[d1]AB[d10];W[d1-d7/g7])", "no point that can be set up: 'd10'"),
        (b"(;GM[1]SZ[19]PB[\xc0\xee];B[dd])", "no charset (CA)"),
        (b"Piskvorky 99x99, 1:1, 0\n", "no Gomoku board"),
    ],
)
def test_file_that_is_no_record_is_refused(client, data, words):
    answer = client.post("/api/analyse/upload?name=../../x", content=data)
    assert answer.status_code == 400
    assert words in answer.json()["error"]


def test_all_games_of_a_file_are_listed_with_errors(client):
    """A collection of all games, sizes and rules, with two games that cannot be read."""
    texts = [
        "(;GM[4]SZ[15]PB[ann]PW[bob]RU[Renju];B[hh];W[ii])",
        "(;GM[4]SZ[15];W[hh])",
        "(;GM[18]SZ[10]PB[cid]RE[W+R];W[d1-d7/g7];B[a7-f2/i5])",
        "(;GM[1]SZ[9]KM[7]RE[W+3];B[ee])",
        "(;GM[1]SZ[19];B[dd];W[pp])",
        "(;GM[1]SZ[19];B[zz];W[dd])",
    ]
    opened = uploaded(client, "\n".join(texts).encode(), "all.sgf")
    assert opened["games"] == 4
    listed = ask(client, "analyse/games", source=opened["source"])
    heads = [(one["number"], one["game"], one["winner"], one["plies"]) for one in listed["games"]]
    assert heads == [(1, "gomoku", None, 2), (3, "amazons", "first", 2), (4, "go", "second", 1), (5, "go", None, 2)]
    assert (listed["games_in_all"], listed["rejects_in_all"]) == (4, 2)
    assert listed["rejects"][0] == "all.sgf (game 2 of 6): White moves where Black should"
    for one in listed["games"]:
        found = ask(client, "analyse/game", source=opened["source"], number=one["number"])
        assert (len(found["nodes"]), found["left_out"]) == (one["plies"], [])


def test_all_records_of_the_site_are_listed(client):
    first, second = write_record(AMAZONS), write_record(game_record(amazons, 10, 7, 3, gid=2))
    go = b"(;FF[4]EV[null]PB[lazy\\player]PW[b]KM[0.5]SZ[9]SO[http://www.littlegolem.com]HA[2]AB[gc]AB[cg];W[ee];B[tt])"
    for between in (b"", b"\n", b"\r\n\r\n"):
        games, rejects = read_games(between.join([first, second, b"(;)", go]), "bulk.txt")
        found = [(one.game, one.gid, len(one.actions)) for one in games]
        assert found == [("amazons", 1, len(AMAZONS.actions)), ("amazons", 2, 3), ("go", 3, 2)]
        assert (games[2].first_name, games[2].variant) == ("lazy\\player", "komi-0.5/handicap-2:gc,cg")
        assert rejects == []
    games, rejects = read_games(first + b"\n\n(;EV[null]PB[cut", "bulk.txt")
    assert (len(games), rejects[0].gid) == (1, 2)
    assert rejects[0].detail.startswith("bulk.txt (record 2 of 2): cut off")


def test_game_from_a_set_up_position_is_shown(client):
    text = "(;GM[4]SZ[15]RU[Standard]PB[a]AB[hh][ig]AW[gi][gh]PL[B];B[jj];W[kk])"
    replay = first_of(client, text.encode())
    assert replay["place"]["fen"] == "15/15/15/15/15/15/8x6/6ox7/6o8/15/15/15/15/15/15 b exact"
    assert [one["move"] for one in replay["nodes"]] == ["j6", "k5"]
    assert replay["formats"] == ["sgf"]
    messages = analysed(client, place=place_of(replay), player="alphabeta:depth=1", nodes=500)
    assert messages[-1]["state"] == "done", messages[-1]
    exported = exported_from(client, replay)["text"]
    assert all(part in exported for part in ("AB[ig][hh]", "AW[gh][gi]", "PL[B]"))
    (back,), _ = read_games(exported.encode(), "back")
    assert (back.variant, back.actions) == (replay["place"]["fen"], read_games(text.encode(), "x").games[0].actions)


def test_no_file_outside_the_folders(client, tmp_path):
    outside = tmp_path / "x.psq"
    outside.write_text(write_psq(GOMOKU))
    for source in (f"file:{outside}", "file:../../etc/passwd", "upload:gone", "joseki"):
        ask(client, "analyse/games", 400, source=source)
    ask(client, "analyse/game", 400, source="upload:gone", number=1)


def test_the_oldest_upload_makes_room_for_the_newest(client, monkeypatch):
    monkeypatch.setattr(analyse, "UPLOADS", 1)
    first, second = (uploaded(client, data.encode())["source"] for data in (write_psq(GOMOKU), sgf_of(GOMOKU)))
    ask(client, "analyse/games", source=second)
    ask(client, "analyse/games", 400, source=first)


START = {"game": "amazons", "size": 10, "variant": "standard"}


def first_of(client, data):
    """The first game of a file, as the page gets it."""
    source = uploaded(client, data)["source"]
    number = ask(client, "analyse/games", source=source)["games"][0]["number"]
    return ask(client, "analyse/game", source=source, number=number)


def place_of(replay):
    """The end of the main line of a game without variations."""
    return replay["place"] | {"moves": [one["move"] for one in replay["nodes"]]}


def exported_from(client, replay, suffix="sgf", **more):
    """A game as a file, with more in its tree."""
    nodes = [{key: value for key, value in one.items() if key != "fen"} for one in replay["nodes"]]
    tree = {"place": replay["place"], "nodes": nodes, "comment": replay["comment"]} | more
    return post(client, "analyse/export", {"tree": tree, "format": suffix, "name": "games-2"})


def analysed(client, **wanted):
    """All messages of an analysis."""
    with watching(client) as socket:
        socket.send_text(json.dumps(wanted))
        messages = []
        while not messages or messages[-1].get("state") not in ("done", "failed"):
            messages.append(json.loads(socket.receive_text()))
    return messages


@pytest.fixture
def short_game(client, record_file):
    """A game of the Amazons of three moves."""
    return ask(client, "analyse/game", source=f"file:{record_file}", number=2)


def test_a_game_is_analysed_once_and_exported_with_comments(client, short_game):
    wanted = {"place": place_of(short_game), "player": "alphabeta:width=3", "nodes": 500}
    messages = analysed(client, **wanted)
    assert messages[-1]["state"] == "done", messages[-1]
    found = [one for one in messages if one["kind"] == "ply"]
    assert [one["ply"] for one in found] == [0, 1, 2, 3]
    assert found[0]["lost"] is None
    assert all(0 <= one["win_rate"] <= 1 and one["line"] and one["lost"] >= 0 for one in found[1:])
    again = analysed(client, **wanted)
    assert [one for one in again if one["kind"] == "ply"] == found
    assert again[-1] == {"kind": "state", "state": "done", "done": 4, "positions": 4, "error": ""}
    kept, by = ("win_rate", "depth", "nodes", "line", "lost"), {"player": "alphabeta:width=3"}
    said = [by | {key: one[key] for key in kept} for one in found]
    short_game["nodes"] = [one | {"judgements": [two]} for one, two in zip(short_game["nodes"], said[1:], strict=True)]
    exported = exported_from(client, short_game, judgements=[said[0]])
    assert exported["name"] == "games-2.sgf"
    assert exported["text"].count("alphabeta:width=3: first side wins") == 4
    (back,), _ = read_games(exported["text"].encode(), "back")
    assert len(back.actions) == 3


def test_deeper_analysis_replaces_shallower_one_and_shallower_none(client, short_game):
    wanted = {"place": place_of(short_game), "player": "alphabeta:width=5"}
    shallow, deep, again = (
        {one["ply"]: one for one in analysed(client, **wanted, nodes=nodes) if one["kind"] == "ply"}
        for nodes in (300, 20_000, 300)
    )
    assert again == deep
    assert all(shallow[ply]["budget"] == 300 and deep[ply]["budget"] == 20_000 for ply in range(4))
    assert deep[0]["nodes"] > 5 * shallow[0]["nodes"]


def test_some_positions_of_a_line_are_analysed_by_one_request(client, short_game):
    wanted = {"place": place_of(short_game), "player": "alphabeta:width=6", "nodes": 500, "first": 2}
    found = post(client, "analyse/line", wanted)["positions"]
    assert [one["ply"] for one in found] == [2, 3]
    assert found[1]["lost"] is not None
    assert "after the last of 3 moves" in post(client, "analyse/line", wanted | {"first": 4}, 400)["error"]
    assert "starts another program" in post(client, "analyse/line", wanted | {"player": "uci:/bin/sh"}, 400)["error"]


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"player": "nobody"}, "no player 'nobody'"),
        ({"player": "random"}, "does not search"),
        ({"player": "uci:/bin/sh"}, "starts another program"),
        ({"player": "puct:/etc/passwd"}, "no such file"),
        ({"player": "alphabeta", "moves": ["a1-a2/a3"]}, "move 1, a1-a2/a3, is not legal"),
        ({"player": "alphabeta", "fen": "3q/4 w"}, "FEN"),
        ({"player": "alphabeta", "nodes": 10**10}, "less than or equal to 1000000000"),
    ],
)
def test_impossible_analysis_explains_why(client, wanted, words):
    place = START | {key: wanted[key] for key in ("fen", "moves") if key in wanted}
    rest = {key: value for key, value in wanted.items() if key not in place}
    (*_, last) = analysed(client, place=place, **rest)
    assert last["state"] == "failed"
    assert words in last["error"]


def test_closing_the_socket_ends_the_process(client):
    with watching(client) as socket:
        wanted = {"place": START, "player": "alphabeta:width=3", "nodes": 10**9}
        socket.send_text(json.dumps(wanted))
        while json.loads(socket.receive_text()).get("state") not in ("running", "failed"):
            pass
        engines = client.app.app.state.engines
        assert engines._free == 1
    wait(lambda: engines._free == 2, 5)


@pytest.mark.slow
def test_analysis_reports_lost_process_and_can_resume(client, short_game):
    wanted = {"place": place_of(short_game), "player": "alphabeta:width=2"}
    with watching(client) as socket:
        socket.send_text(json.dumps(wanted | {"nodes": 10**9}))
        while json.loads(socket.receive_text())["state"] != "running":
            pass
        (engine,) = (one for one in client.app.app.state.engines._all if one.busy)
        os.kill(engine.process.pid, signal.SIGKILL)
        last = json.loads(socket.receive_text())
    assert last["state"] == "failed"
    assert "killed by SIGKILL" in last["error"]
    assert analysed(client, **wanted, nodes=500)[-1]["state"] == "done"


def test_binary_request_is_refused_and_later_one_ignored(client, short_game):
    with watching(client) as socket:
        socket.send_bytes(b"{}")
        assert json.loads(socket.receive_text())["state"] == "failed"
    wanted = {"place": place_of(short_game), "player": "alphabeta:width=4", "nodes": 500}
    with watching(client) as socket:
        socket.send_text(json.dumps(wanted))
        socket.send_bytes(b"{}")
        while (state := json.loads(socket.receive_text()).get("state")) != "done":
            assert state != "failed"


def test_page_closed_at_once_is_no_error():
    class Closed:
        app = SimpleNamespace(state=SimpleNamespace(engines=None))

        async def send_text(self, _):
            raise WebSocketDisconnect

        async def receive_text(self):
            await asyncio.sleep(60)

        async def close(self):
            raise RuntimeError("closed already")

    run(follow(Closed(), GOMOKU, AnalysisRequest(place=START, player="alphabeta")))


def test_link_to_a_missing_file_is_left_out(client, web_folder, tmp_path):
    record, link = tmp_path / "game.psq", web_folder / "links/game.psq"
    record.write_text(write_psq(GOMOKU))
    link.parent.mkdir()
    link.symlink_to(record)
    assert "links/game.psq" in {one["name"] for one in ask(client, "analyse/files")["files"]}
    record.unlink()
    assert "links/game.psq" not in {one["name"] for one in ask(client, "analyse/files")["files"]}


def test_mistakes_are_exported_as_marks():
    tree, _ = tree_of(AMAZONS)
    one = {"player": "alphabeta", "win_rate": 0.5, "depth": 1, "nodes": 1, "line": ()}
    nodes = list(tree.nodes)
    for k, lost in ((0, 0.05), (1, 0.15), (2, 0.4)):
        nodes[k] = nodes[k].model_copy(update={"judgements": (Judgement(lost=lost, **one),)})
    text = written(tree.model_copy(update={"nodes": tuple(nodes)}), "sgf")
    marks = [re.findall(r"BM|DO", node) for node in re.split(r";(?=(?:BM|DO|[BCW])\[)", text)[1:5]]
    assert marks == [[], ["DO"], ["BM"], []]


VARIED = (
    b"(;GM[4]SZ[15]PB[ann]C[an end \\] of a comment];B[hh](;W[ii]C[main];B[hi](;W[hj])(;W[hk]))"
    b"(;W[gg]N[side];B[ff];W[hh];B[aa])(;W[zz])(;B[aa]))"
)


def test_variations_names_and_comments_of_sgf_are_read_and_written(client):
    replay = first_of(client, VARIED)
    nodes = [(one["parent"], one["move"], one["name"], one["comment"]) for one in replay["nodes"]]
    assert nodes == [
        *((0, "h8", "", ""), (1, "i7", "", "main"), (2, "h7", "", ""), (3, "h6", "", ""), (3, "h5", "", "")),
        *((1, "g9", "side", ""), (6, "f10", "", "")),
    ]
    assert replay["comment"] == "an end ] of a comment"
    assert replay["nodes"][6]["fen"] == "15/15/15/15/15/5x9/6o8/7x7/15/15/15/15/15/15/15 w"
    assert replay["left_out"] == [
        "move 4, h8, is not legal: left out with what follows",
        "move 2, zz, is off the board: left out with what follows",
        "move 2, 'aa', is not of the side to move; left out",
    ]
    text = exported_from(client, replay)["text"]
    again = first_of(client, text.encode())
    assert (again["nodes"], again["comment"], again["left_out"]) == (replay["nodes"], replay["comment"], [])


@pytest.mark.parametrize(
    ("moves", "kept", "said"),
    [
        (b";B[pd];W[zz];B[dd]", ["Q16"], "move 2, zz, is off the board: left out with what follows"),
        (b";B[pd];B[dd];W[dd];W[aa]", ["Q16", "pass", "D16"], "move 4, D16, is not legal: left out with what follows"),
    ],
)
def test_game_of_go_is_read_up_to_a_bad_move(client, moves, kept, said):
    replay = first_of(client, b"(;SZ[19]KM[6.5]PB[ann]RE[B+2]" + moves + b")(;SZ[19];B[zz])")
    assert [one["move"] for one in replay["nodes"]] == kept
    assert replay["left_out"] == [said]
    assert (replay["head"]["plies"], replay["head"]["first_name"]) == (len(kept), "ann")
    listed = ask(client, "analyse/games", source=replay["source"])
    assert (listed["games_in_all"], listed["rejects_in_all"]) == (1, 1)


def test_a_missing_pass_of_go_is_added_in_variations_too(client):
    replay = first_of(client, b"(;GM[1]SZ[9]KM[7]AB[cc][gg];W[ee](;B[];W[ef])(;B[ed];W[tt])(;W[aa]))")
    moves = [(one["parent"], one["move"]) for one in replay["nodes"]]
    assert moves == [(0, "E5"), (1, "pass"), (2, "E4"), (1, "E6"), (4, "pass"), (2, "A9")]
    text = exported_from(client, replay)["text"]
    assert "AB[cc][gg]" in text
    assert ";W[ee](;B[](;W[ef])(;W[aa]))(;B[ed];W[]))" in text


def test_nodes_that_are_no_single_move_end_a_variation(client):
    variations = b"(;B[ed];W[aa])(;AW[cc];B[ef])(;B[ef]W[ab];B[aa])(;B[eg][ba])(;C[\n];B[fe]C[a\nb\n\nc])"
    replay = first_of(client, b"(;GM[1]SZ[9];AB[gg];W[ee]" + variations + b")")
    assert [(one["parent"], one["move"]) for one in replay["nodes"]] == [(0, "E5"), (1, "E6"), (2, "A9"), (1, "F5")]
    assert replay["left_out"] == [
        "move 2: a variation sets up pieces: left out with what follows",
        "move 2: two moves in one node: left out with what follows",
        "move 2: two moves in one node: left out with what follows",
    ]
    again = first_of(client, exported_from(client, replay)["text"].encode())
    assert [one["comment"] for one in (replay["nodes"][3], again["nodes"][3])] == ["a\nb\n\nc"] * 2


def test_too_long_comments_are_cut_with_a_word(client):
    replay = first_of(client, b"(;GM[4]SZ[15];B[hh]C[" + b"a" * 20_001 + b"])")
    assert len(replay["nodes"][0]["comment"]) == 20_000
    assert replay["left_out"] == ["a comment has more than 20,000 letters; the others are left out"]


def test_a_changed_net_is_analysed_again(tmp_path):
    net = tmp_path / "net.lines"
    net.write_bytes(b"1")
    record = GameRecord("gomoku", 1, "file", "freestyle", 15, 15, (112,), None)
    place = Place(game="gomoku", size=15, variant="freestyle", moves=("h8",))
    request = AnalysisRequest(place=place, player=f"zero:{net},simulations=9")
    known(record, request)[0] = PlyAnalysis(
        ply=0, win_rate=0.5, value=None, depth=0, nodes=0, line=(), lost=None, budget=9
    )
    assert known(record, request)
    net.write_bytes(b"23")
    assert not known(record, request)


def test_the_main_line_is_exported_for_other_programs(client):
    replay = first_of(client, VARIED)
    assert replay["formats"] == ["sgf", "psq"]
    exported = exported_from(client, replay, "psq", first_name="ann", second_name="bob")
    text = "Piskvorky 15x15, 1:1, 0\n8,8,0\n9,9,0\n8,9,0\n8,10,0\nann\nbob\n0\n"
    assert exported == {"name": "games-2.psq", "text": text}
    replay = first_of(client, sgf_of(AMAZONS).encode())
    assert replay["formats"] == ["sgf", "txt"]
    (back,), _ = read_games(exported_from(client, replay, "txt")["text"].encode(), "x")
    assert back.actions == AMAZONS.actions


def test_game_from_own_position_is_exported_and_read_back(client):
    fen = "q5/6/2*3/6/6/5Q w"
    tree = {"place": START | {"size": 6, "fen": fen, "moves": ["f1-f2/f3"]}}
    replay = post(client, "analyse/tree", tree)
    assert (replay["formats"], replay["height"], len(replay["nodes"])) == (["sgf"], 6, 1)
    again = first_of(client, exported_from(client, replay)["text"].encode())
    assert (again["place"]["fen"], again["nodes"]) == (fen, replay["nodes"])
    refused = post(client, "analyse/export", {"tree": tree, "format": "txt"}, 400)
    assert refused["error"] == ".txt cannot hold this start position; export it as .sgf"


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        ([{"parent": 1, "move": "d1-d7/g7"}], "position 1 of the tree is after position 1"),
        ([{"parent": 0, "move": "d1-d7/g7"}, {"parent": 1, "move": "d1-d7/g7"}], "move 2, d1-d7/g7, is not legal here"),
    ],
)
def test_impossible_tree_is_refused(client, nodes, words):
    assert words in post(client, "analyse/tree", {"place": START, "nodes": nodes}, 400)["error"]


def test_names_cannot_break_out_of_an_export():
    hostile = GameRecord("gomoku", 1, "file", "freestyle", 15, 15, (112,), None, first_name="a];B[aa]\\", event="]")
    (read,), _ = read_games(sgf_of(hostile).encode(), "x")
    assert (read.first_name, read.event, read.actions) == ("a];B[aa]\\", "]", (112,))


THREE_STONES = {"game": "gomoku", "size": 15, "variant": "freestyle", "moves": ["h8", "i9", "g8"]}
ONE_TURN = {"game": "amazons", "size": 10, "variant": "standard", "moves": ["d1-d7/g7"]}


@pytest.fixture
def socket(client):
    with watching(client, "think") as one:
        yield one


def demand(socket, number, **wanted):
    socket.send_text(json.dumps({"number": number} | wanted))


def awaited(socket, good):
    """The first message of which something holds."""
    while True:
        message = json.loads(socket.receive_text())
        assert message["state"] != "failed" or good(message), message
        if good(message):
            return message


@pytest.mark.parametrize(
    ("place", "player"),
    [*((THREE_STONES, name) for name in ("engine", "alphabeta", "zero")), (ONE_TURN, "alphabeta"), (ONE_TURN, "puct")],
)
def test_player_gives_several_moves_with_values_and_lines(socket, place, player):
    demand(socket, 7, place=place, player=player, lines=3)
    message = awaited(socket, lambda one: one["thought"] and len(one["thought"]["lines"]) == 3)
    lines = message["thought"]["lines"]
    assert message["number"] == 7
    assert len({one["moves"][0] for one in lines}) == 3
    assert all(0 <= one["win_rate"] <= 1 for one in lines)
    assert lines[0]["moves"] == message["thought"]["line"]
    tree = player in ("zero", "puct")
    assert all((one["visits"] is not None) == tree for one in lines)
    if not tree:
        assert [one["value"] for one in lines] == sorted((one["value"] for one in lines), reverse=True)


def test_next_position_ends_search_and_leaving_frees_process(client):
    with watching(client, "think") as socket:
        engines = client.app.app.state.engines
        demand(socket, 1, place=THREE_STONES, player="engine")
        awaited(socket, lambda one: one["number"] == 1 and one["thought"])
        demand(socket, 2, place=ONE_TURN, player="alphabeta")
        awaited(socket, lambda one: one["number"] == 2 and one["thought"])
        assert engines._free == 1
    wait(lambda: engines._free == 2, 5)


def test_finished_search_is_reported(socket):
    place = {"game": "gomoku", "size": 3, "variant": "freestyle-3", "moves": ["b2"]}
    demand(socket, 1, place=place, player="engine", lines=2)
    message = awaited(socket, lambda one: one["state"] == "done")
    assert len(message["thought"]["lines"]) == 2


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"player": "random"}, "does not search"),
        ({"player": "brain:/bin/sh"}, "starts another program"),
        ({"player": "engine", "lines": 99}, "less than or equal to 10"),
        ({"player": "engine", "place": THREE_STONES | {"moves": ["h8", "h8"]}}, "move 2, h8, is not legal here"),
    ],
)
def test_impossible_request_is_reported_and_next_is_answered(socket, wanted, words):
    demand(socket, 3, **({"place": THREE_STONES} | wanted))
    assert words in awaited(socket, lambda one: one["state"] == "failed")["error"]
    demand(socket, 4, place=THREE_STONES, player="engine")
    awaited(socket, lambda one: one["number"] == 4 and one["thought"])


FOUR = {"game": "gomoku", "size": 9, "variant": "freestyle", "moves": ["c5", "a1", "d5", "a9", "e5", "i1"]}
"""Black has three in a row; both f5 and b5 make a straight four."""


def answer(client, *moves, status=200):
    return post(client, "analyse/forced/answer", FOUR | {"moves": [*FOUR["moves"], *moves]}, status)


def test_each_packaged_forced_win_is_proven_and_legal():
    rows = [json.loads(text) for text in PACKAGED.read_text().splitlines()]
    wins = read_forced_wins(PACKAGED)
    solver = Solver()
    for (state, plies), row in zip(wins, rows, strict=True):
        found = solver.solve(state, Limit(nodes=PROOF))
        assert found.win, row
        assert (found.line[0], len(found.line)) == (row["win"], plies)
        for action in found.line:
            state = gomoku.play(state, action)
        assert gomoku.winner(state) is not None
    assert len(rows) >= 40
    assert len({row["plies"] for row in rows}) >= 5
    assert {row["variant"] for row in rows} == {"freestyle", "renju"}
    assert [row["plies"] for row in rows] == sorted(row["plies"] for row in rows)


def test_the_collection_lists_the_positions(client):
    wins = ask(client, "analyse/forced")["wins"]
    assert [one["number"] for one in wins] == list(range(1, len(wins) + 1))
    for one, (state, plies) in zip(wins[:3], read_forced_wins(PACKAGED), strict=False):
        board = post(client, "play/board", one["place"])
        assert (board["fen"], one["plies"]) == (gomoku.to_fen(state), plies)
    assert len(forced_wins().wins) == len(wins)


def test_a_try_is_answered(client):
    holds = answer(client, "f5")
    assert (holds["state"], holds["plies"]) == ("holds", 1)
    assert answer(client, "f5", "b5", "g5") == {"state": "won", "answer": "", "plies": 0}
    spoilt = answer(client, "i9")
    assert spoilt["state"] == "spoilt"
    assert spoilt["answer"] in ("b5", "f5")
    line = post(client, "analyse/forced/line", FOUR)["moves"]
    assert (len(line), line[0] in ("b5", "f5")) == (3, True)


def test_forced_wins_are_of_gomoku(client):
    place = {"game": "amazons", "size": 6, "variant": "standard", "moves": ["b1-b3/b1"]}
    assert "in positions of Gomoku" in post(client, "analyse/forced/answer", place, 400)["error"]


def test_amazons_puzzles_are_legal_lines_of_open_games():
    text = (STATIC / "analyse/amazons.js").read_text().partition("AMAZONS = ")[2].replace(",\n];", "]")
    puzzles = json.loads(text)
    assert len({one["fen"] for one in puzzles}) == len(puzzles) > 20
    for one in puzzles:
        assert 0.2 <= one["lost"] <= 1
        zugwerk.game("amazons", fen=one["fen"]).play(*one["line"])
