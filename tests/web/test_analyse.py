"""The page Analyse: files of all formats, the analysis in its process, the export, and the page in a browser."""

import asyncio
import json
import os
import re
import shutil
import signal
import sys
from pathlib import Path

import pytest
from starlette.websockets import WebSocketDisconnect

from pipeline_src.arena.journal import Journal
from pipeline_src.arena.match import MatchSpec, run_match
from pipeline_src.arena.tournament import Tournament, run_tournament
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons, gomoku
from pipeline_src.records.littlegolem.amazons import write_record
from pipeline_src.records.psq import write_psq
from pipeline_src.records.record import GameRecord, write_records
from pipeline_src.records.sgf import write_sgf
from pipeline_src.web.analysis import follow, known
from pipeline_src.web.engine.pool import Place
from pipeline_src.web.messages.analyse import AnalysisRequest, Judgement, PlyAnalysis
from pipeline_src.web.play import UNJUDGED
from pipeline_src.web.records import read_games
from pipeline_src.web.trees import tree_of, written
from tests.players.engines.test_brain import SCRIPT
from tests.systems.joseki.games import random_record
from tests.web.conftest import PHONE, ask, fits, run, violations, wait
from tests.web.test_listing import age


def random_game(rules, size, seed, plies=1000):
    import numpy as np

    rng, state, actions = np.random.default_rng(seed), rules.initial_state(size), []
    while len(actions) < plies and rules.winner(state) is None:
        actions.append(int(rng.choice(rules.legal_actions(state))))
        state = rules.play(state, actions[-1])
    return tuple(actions), rules.winner(state)


def game_record(rules, size, seed, plies=1000, gid=1):
    actions, winner = random_game(rules, size, seed, plies)
    variant = rules.VARIANTS[0]
    return GameRecord(
        rules.NAME, gid, "file", variant, size, size, actions, winner, first_name="ann", second_name="bob"
    )


def sgf_of(record):
    return written(tree_of(record)[0], "sgf")


AMAZONS, GOMOKU, GO = game_record(amazons, 10, 1), game_record(gomoku, 15, 2, 12), random_record(3, 40)


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
    answer = client.post(f"/api/analyse/upload?name={name}", content=data)
    assert answer.status_code == 200, answer.text
    opened = answer.json()
    listed = client.get("/api/analyse/games", params={"source": opened["source"]}).json()
    assert (opened["name"], opened["games"], listed["games_in_all"]) == (name, 1, 1)
    number = listed["games"][0]["number"]
    replay = client.get("/api/analyse/game", params={"source": opened["source"], "number": number}).json()
    assert len(replay["nodes"]) == len(game.actions)
    assert not replay["left_out"]
    assert bool(replay["analysts"]) == (game.game != "go")


def test_an_archive_and_the_journal_of_a_match_under_way(client, web_folder, record_file, tmp_path):
    assert [one.gid for one in read_games(record_file.read_bytes(), "x").games] == [1, 2]
    spec = MatchSpec("gomoku", "random", "random", 4, size=5)
    run_match(spec, web_folder / "matches/test.parquet")
    journal = web_folder / "matches/test.journal.jsonl"
    whole = journal.read_bytes()
    listed = client.get("/api/analyse/games", params={"source": f"file:{journal}"}).json()
    assert [one["number"] for one in listed["games"]] == [1, 2, 3, 4]
    journal.write_bytes(whole[: whole.rindex(b"\n", 0, -1) + 40])  # the second pair is half written
    listed = client.get("/api/analyse/games", params={"source": f"file:{journal}"}).json()
    assert listed["games_in_all"] == 2
    names = [one["name"] for one in client.get("/api/analyse/files").json()["files"]]
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
        listed = client.get("/api/analyse/games", params={"source": source}).json()
        assert [one["number"] for one in listed["games"]] == [1, 2]
        assert {one["first_name"] for one in listed["games"]} == {text[:100] for text in players}
        head = client.get("/api/analyse/game", params={"source": source, "number": 1}).json()["head"]
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
        (b"(;GM[4]SZ[15];B[hh];W[hh])", "move 2"),
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
        "(;GM[1]SZ[19];B[dd];W[dd])",
    ]
    opened = client.post("/api/analyse/upload?name=all.sgf", content="\n".join(texts).encode()).json()
    assert opened["games"] == 4
    listed = client.get("/api/analyse/games", params={"source": opened["source"]}).json()
    assert [(one["number"], one["game"], one["winner"], one["plies"]) for one in listed["games"]] == [
        (1, "gomoku", None, 2),
        (3, "amazons", "first", 2),
        (4, "go", "second", 1),
        (5, "go", None, 2),
    ]
    assert (listed["games_in_all"], listed["rejects_in_all"]) == (4, 2)
    assert listed["rejects"][0] == "all.sgf (game 2 of 6): White moves where Black should"
    for one in listed["games"]:
        found = client.get("/api/analyse/game", params={"source": opened["source"], "number": one["number"]}).json()
        assert (len(found["nodes"]), found["left_out"]) == (one["plies"], [])


def test_all_records_of_the_site_are_listed(client):
    first, second = write_record(AMAZONS), write_record(game_record(amazons, 10, 7, 3, gid=2))
    go = b"(;FF[4]EV[null]PB[lazy\\player]PW[b]KM[0.5]SZ[9]SO[http://www.littlegolem.com]HA[2]AB[gc]AB[cg];W[ee];B[tt])"
    for between in (b"", b"\n", b"\r\n\r\n"):
        games, rejects = read_games(between.join([first, second, b"(;)", go]), "bulk.txt")
        assert [(one.game, one.gid, len(one.actions)) for one in games] == [
            ("amazons", 1, len(AMAZONS.actions)),
            ("amazons", 2, 3),
            ("go", 3, 2),
        ]
        assert (games[2].first_name, games[2].variant) == ("lazy\\player", "komi-0.5/handicap-2:gc,cg")
        assert rejects == []
    games, rejects = read_games(first + b"\n\n(;EV[null]PB[cut", "bulk.txt")
    assert (len(games), rejects[0].gid) == (1, 2)
    assert rejects[0].detail.startswith("bulk.txt (record 2 of 2): cut off")


def test_game_from_a_set_up_position_is_shown(client):
    text = "(;GM[4]SZ[15]RU[Standard]PB[a]AB[hh][ig]AW[gi][gh]PL[B];B[jj];W[kk])"
    source = client.post("/api/analyse/upload?name=setup.sgf", content=text.encode()).json()["source"]
    replay = client.get("/api/analyse/game", params={"source": source, "number": 1}).json()
    assert replay["place"]["fen"] == "15/15/15/15/15/15/8x6/6ox7/6o8/15/15/15/15/15/15 b exact"
    assert [one["move"] for one in replay["nodes"]] == ["j6", "k5"]
    assert replay["formats"] == ["sgf"]
    messages = analysed(client, place=place_of(replay), player="alphabeta:depth=1", movetime=5)
    assert messages[-1]["state"] == "done", messages[-1]
    exported = exported_from(client, replay)["text"]
    assert all(part in exported for part in ("AB[ig][hh]", "AW[gh][gi]", "PL[B]"))
    (back,), _ = read_games(exported.encode(), "back")
    assert (back.variant, back.actions) == (replay["place"]["fen"], read_games(text.encode(), "x").games[0].actions)


def test_no_file_outside_the_folders(client, tmp_path):
    outside = tmp_path / "x.psq"
    outside.write_text(write_psq(GOMOKU))
    for source in (f"file:{outside}", "file:../../etc/passwd", "upload:gone", "joseki"):
        answer = client.get("/api/analyse/games", params={"source": source})
        assert answer.status_code == 400, answer.text
    assert client.get("/api/analyse/game", params={"source": "upload:gone", "number": 1}).status_code == 400


START = {"game": "amazons", "size": 10, "variant": "standard"}


def first_of(client, data, name="x"):
    """The first game of a file, as the page gets it."""
    answer = client.post(f"/api/analyse/upload?name={name}", content=data)
    assert answer.status_code == 200, answer.text
    source = answer.json()["source"]
    number = ask(client, "analyse/games", source=source)["games"][0]["number"]
    return ask(client, "analyse/game", source=source, number=number)


def place_of(replay):
    """The end of the main line of a game without variations."""
    return replay["place"] | {"moves": [one["move"] for one in replay["nodes"]]}


def exported_from(client, replay, suffix="sgf", **more):
    """A game as a file, with more in its tree."""
    nodes = [{key: value for key, value in one.items() if key != "fen"} for one in replay["nodes"]]
    tree = {"place": replay["place"], "nodes": nodes, "comment": replay["comment"]} | more
    answer = client.post("/api/analyse/export", json={"tree": tree, "format": suffix, "name": "games-2"})
    assert answer.status_code == 200, answer.text
    return answer.json()


def analysed(client, **wanted):
    """All messages of an analysis."""
    with client.websocket_connect("/api/analyse/watch", headers={"host": "127.0.0.1"}) as socket:
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
    wanted = {"place": place_of(short_game), "player": "alphabeta:width=3", "movetime": 5}
    messages = analysed(client, **wanted)
    assert messages[-1]["state"] == "done", messages[-1]
    found = [one for one in messages if one["kind"] == "ply"]
    assert [one["ply"] for one in found] == [0, 1, 2, 3]
    assert found[0]["lost"] is None
    assert all(0 <= one["win_rate"] <= 1 and one["line"] and one["lost"] >= 0 for one in found[1:])
    again = analysed(client, **wanted)
    assert [one for one in again if one["kind"] == "ply"] == found
    assert again[-1] == {"kind": "state", "state": "done", "done": 4, "positions": 4, "error": ""}
    said = [
        {"player": "alphabeta:width=3", "movetime": 5}
        | {k: one[k] for k in ("win_rate", "depth", "nodes", "line", "lost")}
        for one in found
    ]
    short_game["nodes"] = [one | {"judgements": [two]} for one, two in zip(short_game["nodes"], said[1:], strict=True)]
    exported = exported_from(client, short_game, judgements=[said[0]])
    assert exported["name"] == "games-2.sgf"
    assert exported["text"].count("alphabeta:width=3, 5 ms: first side wins") == 4
    (back,), _ = read_games(exported["text"].encode(), "back")
    assert len(back.actions) == 3


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"player": "nobody"}, "no player 'nobody'"),
        ({"player": "random"}, "does not search"),
        ({"player": "uci:/bin/sh"}, "starts another program"),
        ({"player": "puct:/etc/passwd"}, "no such file"),
        ({"player": "alphabeta", "moves": ["a1-a2/a3"]}, "move 1, a1-a2/a3, is not legal"),
        ({"player": "alphabeta", "fen": "3q/4 w"}, "FEN"),
        ({"player": "alphabeta", "movetime": 1e9}, "less than or equal to 60000"),
    ],
)
def test_impossible_analysis_explains_why(client, wanted, words):
    place = START | {key: wanted[key] for key in ("fen", "moves") if key in wanted}
    rest = {key: value for key, value in wanted.items() if key not in place}
    (*_, last) = analysed(client, place=place, **rest)
    assert last["state"] == "failed"
    assert words in last["error"]


def test_closing_the_socket_ends_the_process(client):
    with client.websocket_connect("/api/analyse/watch", headers={"host": "127.0.0.1"}) as socket:
        wanted = {"place": START, "player": "alphabeta:width=3", "movetime": 20_000}
        socket.send_text(json.dumps(wanted))
        while json.loads(socket.receive_text()).get("state") not in ("running", "failed"):
            pass
        engines = client.app.app.state.engines
        assert engines._free == 1
    wait(lambda: engines._free == 2, 5)


@pytest.mark.slow
def test_analysis_reports_lost_process_and_can_resume(client, short_game):
    wanted = {"place": place_of(short_game), "player": "alphabeta:width=2"}
    with client.websocket_connect("/api/analyse/watch", headers={"host": "127.0.0.1"}) as socket:
        socket.send_text(json.dumps(wanted | {"movetime": 20_000}))
        while json.loads(socket.receive_text())["state"] != "running":
            pass
        (engine,) = (one for one in client.app.app.state.engines._all if one.busy)
        os.kill(engine.process.pid, signal.SIGKILL)
        last = json.loads(socket.receive_text())
    assert last["state"] == "failed"
    assert "killed by SIGKILL" in last["error"]
    assert analysed(client, **wanted, movetime=5)[-1]["state"] == "done"


def test_binary_request_is_refused(client):
    with client.websocket_connect("/api/analyse/watch", headers={"host": "127.0.0.1"}) as socket:
        socket.send_bytes(b"{}")
        assert json.loads(socket.receive_text())["state"] == "failed"


def test_binary_message_does_not_end_an_analysis(client, short_game):
    wanted = {"place": place_of(short_game), "player": "alphabeta:width=4", "movetime": 5}
    with client.websocket_connect("/api/analyse/watch", headers={"host": "127.0.0.1"}) as socket:
        socket.send_text(json.dumps(wanted))
        socket.send_bytes(b"{}")
        while (state := json.loads(socket.receive_text()).get("state")) != "done":
            assert state != "failed"


def test_page_closed_at_once_is_no_error():
    class Closed:
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
    age(link.parent)
    assert "links/game.psq" in {one["name"] for one in client.get("/api/analyse/files").json()["files"]}
    record.unlink()
    assert "links/game.psq" not in {one["name"] for one in client.get("/api/analyse/files").json()["files"]}


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
        (0, "h8", "", ""),
        (1, "i7", "", "main"),
        (2, "h7", "", ""),
        (3, "h6", "", ""),
        (3, "h5", "", ""),
        (1, "g9", "side", ""),
        (6, "f10", "", ""),
    ]
    assert replay["comment"] == "an end ] of a comment"
    assert replay["nodes"][6]["fen"] == "15/15/15/15/15/5x9/6o8/7x7/15/15/15/15/15/15/15 w"
    assert replay["left_out"] == [
        "move 4, h8, is not legal; it is left out with all that follows it",
        "move 2, 'zz', is no move; it is left out",
        "move 2, 'aa', is not of the side to move; left out",
    ]
    text = exported_from(client, replay)["text"]
    again = first_of(client, text.encode())
    assert (again["nodes"], again["comment"], again["left_out"]) == (replay["nodes"], replay["comment"], [])


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
        "move 2: a variation sets up pieces; left out with all that follows",
        "move 2: two moves in one node; left out with all that follows",
        "move 2: two moves in one node; left out with all that follows",
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
    request = AnalysisRequest(place=place, player=f"zero:{net},simulations=9", movetime=50)
    known(record, request)[0] = PlyAnalysis(ply=0, **UNJUDGED)
    assert known(record, request)
    net.write_bytes(b"23")
    assert not known(record, request)


def test_the_main_line_is_exported_for_other_programs(client):
    replay = first_of(client, VARIED)
    assert replay["formats"] == ["sgf", "psq"]
    exported = exported_from(client, replay, "psq", first_name="ann", second_name="bob")
    assert exported == {
        "name": "games-2.psq",
        "text": "Piskvorky 15x15, 1:1, 0\n8,8,0\n9,9,0\n8,9,0\n8,10,0\nann\nbob\n0\n",
    }
    replay = first_of(client, sgf_of(AMAZONS).encode())
    assert replay["formats"] == ["sgf", "txt"]
    (back,), _ = read_games(exported_from(client, replay, "txt")["text"].encode(), "x")
    assert back.actions == AMAZONS.actions


def test_game_from_own_position_is_exported_and_read_back(client):
    fen = "q5/6/2*3/6/6/5Q w"
    tree = {"place": START | {"size": 6, "fen": fen, "moves": ["f1-f2/f3"]}}
    replay = client.post("/api/analyse/tree", json=tree).json()
    assert (replay["formats"], replay["height"], len(replay["nodes"])) == (["sgf"], 6, 1)
    again = first_of(client, exported_from(client, replay)["text"].encode())
    assert (again["place"]["fen"], again["nodes"]) == (fen, replay["nodes"])
    refused = client.post("/api/analyse/export", json={"tree": tree, "format": "txt"})
    assert refused.status_code == 400
    assert refused.json()["error"] == ".txt cannot hold this start position; export it as .sgf"


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        ([{"parent": 1, "move": "d1-d7/g7"}], "position 1 of the tree is after position 1"),
        ([{"parent": 0, "move": "d1-d7/g7"}, {"parent": 1, "move": "d1-d7/g7"}], "move 2, d1-d7/g7, is not legal here"),
    ],
)
def test_impossible_tree_is_refused(client, nodes, words):
    answer = client.post("/api/analyse/tree", json={"place": START, "nodes": nodes})
    assert answer.status_code == 400
    assert words in answer.json()["error"]


GOMOKU_15 = {"game": "gomoku", "size": 15, "variant": "renju"}


@pytest.mark.parametrize(
    ("place", "text", "fen", "moves"),
    [
        (GOMOKU_15, "h8 i9, j7", None, ["h8", "i9", "j7"]),
        (GOMOKU_15, "1. h8 i9 2. j7", None, ["h8", "i9", "j7"]),
        (GOMOKU_15, "1.h8 2.i9", None, ["h8", "i9"]),
        (GOMOKU_15, "H8i9j7", None, ["h8", "i9", "j7"]),
        (GOMOKU_15, "5/5/2x2/5/5 w\n", "5/5/2x2/5/5 w", []),
        (START, "1. d1-d7/g7 a7-f2/i5", None, ["d1-d7/g7", "a7-f2/i5"]),
        (START, "q5/6/6/6/6/5Q b", "q5/6/6/6/6/5Q b", []),
    ],
)
def test_moves_and_positions_are_pasted_as_text(client, place, text, fen, moves):
    answer = client.post("/api/analyse/paste", json={"place": place, "text": text})
    assert answer.status_code == 200, answer.text
    replay = answer.json()
    assert [one["move"] for one in replay["nodes"]] == moves
    assert fen in (None, replay["place"]["fen"])
    if fen is None:
        assert replay["place"]["fen"].endswith("renju") == (place == GOMOKU_15)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (" ", "nothing to read"),
        ("hello world", "'hello' is no move; expected moves such as h8 i9"),
        ("h8 h8", "move 2, h8, is not legal here"),
        ("5/5/2z2/5/5 w", "FEN"),
    ],
)
def test_text_that_is_no_position_is_refused(client, text, words):
    answer = client.post("/api/analyse/paste", json={"place": GOMOKU_15, "text": text})
    assert answer.status_code == 400
    assert words in answer.json()["error"]


def test_names_cannot_break_out_of_an_export():
    hostile = GameRecord("gomoku", 1, "file", "freestyle", 15, 15, (112,), None, first_name="a];B[aa]\\", event="]")
    (read,), _ = read_games(sgf_of(hostile).encode(), "x")
    assert (read.first_name, read.event, read.actions) == ("a];B[aa]\\", "]", (112,))


def test_the_page_analyses_a_game_by_mouse_and_keyboard(open_page, web_folder, record_file):
    page = open_page("#/analyse")
    page.get_by_role("button", name="records/amazons/games.parquet").click()
    page.get_by_role("button", name="Game 2").click()
    page.get_by_text("3 moves").first.wait_for()
    page.get_by_label("Player").fill("alphabeta:width=3")
    page.get_by_label("Milliseconds a position").fill("5")
    page.get_by_role("button", name="Analyse", exact=True).click()
    page.get_by_text("4 of 4 positions").wait_for()
    page.get_by_role("button", name="Next move").click()
    page.get_by_text("Move 1 of 3").wait_for()
    page.keyboard.press("ArrowRight")
    page.get_by_text("Move 2 of 3").wait_for()
    chart = page.get_by_role("slider", name="Win rate over the game")
    assert chart.is_visible()
    chart.focus()
    page.keyboard.press("End")
    page.get_by_text("Move 3 of 3").wait_for()
    chart.locator("svg .mark-line path").first.wait_for(state="attached")
    chart.click(position={"x": 50, "y": 80})
    page.get_by_text("Move 0 of 3").wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Export .sgf").click()
    assert "first side wins" in Path(download.value.path()).read_text()
    assert violations(page) == []
    page.set_viewport_size(PHONE)
    assert fits(page)


def test_the_page_lists_files_by_their_numbers(open_page, web_folder):
    (web_folder / "numbered").mkdir()
    for number in (10, 2, 1):
        (web_folder / f"numbered/g{number}.sgf").write_text("(;GM[4]SZ[15];B[hh])")
    page = open_page("#/analyse")
    files = page.get_by_role("button", name=re.compile("numbered"))
    files.nth(2).wait_for()
    found = files.all_inner_texts()
    shutil.rmtree(web_folder / "numbered")  # other tests read the folder, too
    assert found == ["g1.sgf", "g2.sgf", "g10.sgf"]


def test_the_page_grows_variations_and_keeps_them(open_page, tmp_path):
    page = open_page("#/analyse?game=gomoku&size=15&variant=freestyle")
    play = lambda cell: page.locator(f"[data-cell={cell}]").click()  # noqa: E731
    page.locator(".board.live").wait_for()
    assert page.locator(".chart").is_hidden(), "there is no curve yet"
    for k, cell in enumerate(("h8", "i9", "h7"), 1):
        page.locator(".board.live").wait_for()
        play(cell)
        page.get_by_text(f"Move {k} of {k}").wait_for()
    page.get_by_role("button", name="Previous move").click()
    page.locator(".board.live").wait_for()
    play("j10")
    page.get_by_text("Move 3 of 3, a variation").wait_for()
    page.get_by_text("Name, comment, variations").click()
    page.get_by_label("Name of the position").fill("aside")
    page.get_by_role("textbox", name="Comment").fill("too far]")
    turns = page.get_by_role("group", name="Moves")
    assert turns.get_by_role("group", name="Variation of move 3").inner_text().split() == ["2.", "j10", "aside", "✎"]
    page.get_by_role("button", name="Make main line").click()
    page.get_by_text("Move 3 of 3", exact=True).wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Export .sgf").click()
    text = Path(download.value.path()).read_text()
    assert ";B[hh];W[ig](;B[jf]C[too far\\]]N[aside])(;B[hi])" in text
    page.get_by_role("button", name="Delete from here").click()
    page.get_by_text("Move 2 of 3").wait_for()
    assert turns.get_by_role("group").count() == 0
    page.get_by_role("button", name="Undo deletion").click()
    page.get_by_text("Move 3 of 3", exact=True).wait_for()
    page.reload()
    page.get_by_text("Move 3 of 3", exact=True).wait_for()
    assert turns.get_by_role("group", name="Variation of move 3").inner_text().split() == ["2.", "h7"]
    page.get_by_text("Name, comment, variations").click()
    assert page.get_by_role("textbox", name="Comment").input_value() == "too far]"
    assert violations(page) == []
    page.set_viewport_size(PHONE)
    assert fits(page)


def test_changes_of_one_file_do_not_show_in_another(open_page, web_folder):
    (web_folder / "lessons").mkdir()
    for name, rest in (("a", ";W[ii]C[of file A]"), ("b", "(;W[ii]C[of file B])(;W[aa]C[aside])")):
        (web_folder / f"lessons/{name}.sgf").write_text(f"(;GM[4]SZ[15];B[hh]{rest})")
    page = open_page("#/analyse")
    page.get_by_role("button", name="a.sgf").click()
    page.get_by_text("Name, comment, variations").click()
    page.get_by_role("button", name="Next move").click()
    page.get_by_label("Name of the position").fill("mine")
    page.get_by_role("group", name="Moves").get_by_text("mine").wait_for()
    page.goto(page.url.partition("#")[0] + "#/analyse")
    page.get_by_role("button", name="b.sgf").click()
    page.get_by_role("group", name="Variation of move 2").wait_for()
    assert page.get_by_role("group", name="Moves").get_by_text("mine").count() == 0
    page.goto(page.url.partition("#")[0] + "#/analyse")
    page.get_by_role("button", name="a.sgf").click()
    page.get_by_role("group", name="Moves").get_by_text("mine").wait_for()
    shutil.rmtree(web_folder / "lessons")  # other tests read the folder, too


def test_kept_changes_survive_a_failure_to_show_them(open_page):
    page = open_page("#/analyse?game=gomoku&size=15&variant=freestyle")
    page.locator(".board.live").wait_for()
    page.locator("[data-cell=h8]").click()
    page.get_by_text("Move 1 of 1").wait_for()

    def fail(route):
        if route.request.post_data_json.get("nodes"):
            route.fulfill(status=500, json={"error": "out of order"})
        else:
            route.continue_()

    page.expected = ("500",)
    page.route("**/analyse/tree", fail)
    page.reload()
    page.get_by_text("are kept, but not shown here: out of order").wait_for()
    page.locator(".board.live").wait_for()
    page.locator("[data-cell=a1]").click()
    page.get_by_text("Move 1 of 1").wait_for()
    page.unroute("**/analyse/tree")
    page.goto(page.url.partition("&at=")[0])
    page.reload()
    page.get_by_role("group", name="Moves").get_by_text("h8").wait_for()
    assert page.get_by_text("but not shown here").count() == 0


def test_two_tabs_do_not_overwrite_each_other(open_page):
    page = open_page("#/analyse?game=gomoku&size=15&variant=freestyle")
    page.locator(".board.live").wait_for()
    other = page.context.new_page()
    other.goto(page.url)
    other.locator(".board.live").wait_for()
    page.locator("[data-cell=h8]").click()
    page.get_by_text("Move 1 of 1").wait_for()
    other.get_by_text("but not shown here: another tab made them.").wait_for()
    other.locator("[data-cell=a1]").click()
    other.get_by_text("Move 1 of 1").wait_for()
    other.goto(other.url.partition("&at=")[0])
    other.reload()
    other.get_by_role("group", name="Moves").get_by_text("h8").wait_for()
    assert other.get_by_role("group", name="Moves").get_by_text("a1").count() == 0


def test_page_marks_mistakes_and_adds_better_moves(open_page):
    page = open_page("#/analyse?game=gomoku&size=15&moves=h8,i9,h9,i8,h10,a1,h11,a3,h12&judge=1", PHONE)
    page.get_by_text("10 of 10 positions").wait_for()
    button = page.get_by_role("button", name=re.compile(r"^6\. a1 \?\? "))
    button.wait_for()
    assert "??" in page.get_by_role("group", name="Moves").get_by_role("button", name=re.compile("^a1")).inner_text()
    button.click()
    page.get_by_text("Move 6 of 9").wait_for()
    text = page.locator(".lines strong", has_text="better").inner_text()
    page.get_by_role("button", name="Add what was better than move 6 as a variation").click()
    page.get_by_text("a variation").wait_for()
    variation = page.get_by_role("group", name="Variation of move 6").inner_text()
    assert "better, by engine" in variation
    assert text.split()[1] in variation
    assert violations(page) == []
    assert fits(page)


def test_page_plays_amazons_turns_from_a_set_up_position(open_page):
    page = open_page("#/analyse")
    page.get_by_role("button", name="Set up a position").click()
    page.get_by_role("button", name="Clear the board").click()
    page.locator("[data-cell=a1]").click()
    page.get_by_label("Black amazon").check()
    page.locator("[data-cell=j10]").click()
    page.get_by_role("button", name="Analyse this position").click()
    page.get_by_text("Move 0 of 0").wait_for()  # the board that was set up has gone
    for cell in ("a1", "a3", "a1"):
        page.locator(f".board.live .cell.legal[data-cell={cell}]").click()
    page.get_by_text("Move 1 of 1").wait_for()
    assert page.locator(".turns button").all_inner_texts() == ["a1-a3/a1"]
    assert violations(page) == []


def test_the_page_reads_a_text_and_shows_variations_of_sgf(open_page):
    page = open_page("#/analyse", PHONE)
    box = page.get_by_label("Moves, a FEN, SGF")
    page.get_by_label("Gomoku", exact=True).check()
    box.fill("h8 h8")
    page.expected = ["400"]
    page.get_by_role("button", name="Read the text").click()
    page.get_by_text("move 2, h8, is not legal here").wait_for()
    box.fill(VARIED.decode())
    page.get_by_role("button", name="Read the text").click()
    page.get_by_role("button", name="g9 side").click()
    page.get_by_text("Move 2 of 3, a variation").wait_for()
    page.get_by_text("Move 4, h8, is not legal; it is left out").wait_for()
    assert violations(page) == []
    assert fits(page)


def test_page_lists_games_of_a_collection(open_page, tmp_path):
    page = open_page("#/analyse", PHONE)
    path = tmp_path / "three.sgf"
    path.write_text("(;GM[4]SZ[15]PB[ann];B[hh];W[ii])\n(;GM[4]SZ[15];W[hh])\n(;GM[4]SZ[15]PB[cid];B[gg])")
    page.set_input_files("input[type=file]", path)
    page.get_by_text("1 more cannot be read. three.sgf (game 2 of 3): White moves where Black should").wait_for()
    assert page.get_by_role("button", name="Game ").all_inner_texts() == ["Game 1", "Game 3"]
    assert violations(page) == []
    assert fits(page)
    page.get_by_role("button", name="Game 3").click()
    page.get_by_text("three.sgf, game 3: 1 moves").wait_for()


def test_the_page_opens_a_file_of_the_user(open_page, tmp_path):
    page = open_page("#/analyse", PHONE)
    path = tmp_path / "mine.psq"
    path.write_text(write_psq(GOMOKU))
    page.set_input_files("input[type=file]", path)
    page.get_by_text("12 moves").first.wait_for()
    page.expected = ["400"]
    path.write_text("hello")
    page.get_by_role("button", name="Open another").click()
    page.set_input_files("input[type=file]", path)
    page.get_by_text("not a record").wait_for()
    assert fits(page)
