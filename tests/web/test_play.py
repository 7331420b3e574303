"""The routes of the page Play and the WebSocket of a game, without a browser."""

import contextlib
import math
import os
import signal
import time

import pytest
from starlette.websockets import WebSocketDisconnect

from pipeline_src.games import amazons, gomoku
from pipeline_src.games.game import LEARNABLE, load_game
from pipeline_src.players.packaged import ladders
from pipeline_src.records.record import read_records
from pipeline_src.web import play as page
from pipeline_src.web import session
from pipeline_src.web.app import Guard, create_app
from pipeline_src.web.choices import ANALYSTS, USUAL, VARIANTS, hinting
from pipeline_src.web.engine import Thinking
from pipeline_src.web.messages import A_SECOND, BURST, FLOOD
from pipeline_src.web.play import BUSY, GONE, MOST_TABS, SLOW
from pipeline_src.web.records import read_games
from pipeline_src.web.settings import Settings
from tests.layout.imports import ROOT
from tests.selfplay.test_any_game import write_random_net
from tests.web.conftest import BASE, SIX, THREE, TestClient, act, ask, begin, joined, move, post, until, wait

LONG, SOON_S = 600_000, 60.0
"""Milliseconds of a search that has to be ended, and seconds until it is."""


def test_games_list_their_choices():
    for game in (amazons, gomoku):
        offered = VARIANTS[game.NAME]
        assert [one.name for one in offered] == list(game.VARIANTS)
        assert USUAL[game.NAME] == game.initial_state().board.shape[0]
        for one in offered:
            for size in (*one.sizes[:2], one.sizes[-1]):
                if game is amazons or size >= 5:
                    game.initial_state(size, one.name)
        assert {size for one in offered for size in one.sizes} >= set(game.SIZES)


def test_choices_list_players_levels_and_models_below_the_folder(client, web_folder):
    path = web_folder / "models" / "gomoku" / "7" / "best.pt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    games = {one["game"]: one for one in ask(client, "play/choices")["games"]}
    names = {one["name"] for one in games["gomoku"]["players"]}
    assert {"random", "engine", "mcts", "zero"} <= names
    assert not names & {"brain", "uci", "level"}
    assert str(path) in games["gomoku"]["models"]
    assert str(path) not in games["amazons"]["models"]
    for game, about in games.items():
        found = {(one["size"], one["variant"]): one["levels"] for one in about["ladders"]}
        assert list(found) == [(one.size, one.variant) for one in ladders(game)]
        for one in ladders(game):
            rows = [level.model_dump(include={"name", "elo", "low", "high", "games"}) for level in one.levels]
            assert found[one.size, one.variant] == rows
    sizes = {(one["size"], one["variant"]): one["sizes"] for one in games["gomoku"]["ladders"]}
    assert sizes[15, "freestyle"] == [15]
    assert sizes[20, "freestyle"] == [size for size in range(9, 26) if size not in (9, 15)]
    assert sizes[15, "caro"] == list(range(9, 26))


def test_level_plays_and_its_value_has_players_unit(client):
    (nine,) = [one for one in ladders("gomoku") if one.size == 9]
    number = next(k for k, level in enumerate(nine.levels, 1) if level.player.startswith("engine"))
    name = begin(client, {"game": "gomoku", "size": 9, "variant": "freestyle"}, second=f"level:{number}")
    with joined(client, name) as wire:
        words = until(wire, "game")["levels"]
        assert words[0] == ""
        assert words[1].startswith(f"Level {number}, {nine.levels[number - 1].name}, about 1,")
        move(wire, "e5")
        thought = until(wire, "thought", lambda one: one["stage"] == "done")["thought"]
        assert (thought["unit"], thought["nodes"] > 0) == ("points", True)
        here = 1 / (1 + math.exp(-thought["value"] / 400))
        assert thought["win_rate"] == pytest.approx(here, abs=0.1), "the mean of the last two depths"
        assert len(until(wire, "game")["board"]["moves"]) == 2


def test_a_move_is_judged_before_it_is_played(client):
    place = {"game": "gomoku", "size": 9, "variant": "freestyle", "moves": ["e3", "b8", "e4", "c8", "e5", "d8"]}

    def judged(move, status=200, **more):
        return post(client, "play/judge", {"place": place | more, "move": move}, status)

    blunder = judged("i1")
    assert blunder["lost"] > 0.9, "Black has an open three and passes, and White has one too"
    assert blunder["win_rates"][0] - blunder["win_rates"][1] == pytest.approx(blunder["lost"])
    assert blunder["line"][0] in ("e2", "e6")
    assert judged(blunder["line"][0])["lost"] == 0
    for_white = judged("i1", moves=[*place["moves"][:5], "i9", "i8"])
    assert for_white["lost"] >= 0
    assert for_white["win_rates"][0] > 0.9, "of the side that moves first, whoever is to move"
    assert "move 7, e3, is not legal here" in judged("e3", 400)["error"]


def test_long_lines_have_hints_judgements_and_analysts(client):
    place = {"game": "gomoku", "size": 9, "variant": "freestyle-6", "moves": ["e5", "a1", "e6"]}
    post(client, "play/judge", {"place": place, "move": "a2"})
    assert hinting("gomoku", "freestyle-5") == hinting("gomoku", "") == "engine:movetime=1000"
    assert hinting("gomoku", "9/9 w renju-6") == hinting("gomoku", "exact-12") == "alphabeta:movetime=1000"
    tree = {"place": place | {"moves": []}, "nodes": []}
    assert "engine" not in post(client, "analyse/tree", tree)["analysts"]


def test_two_people_finish_and_save_a_game(client, tmp_path):
    name = begin(client, THREE)
    with joined(client, name) as wire:
        game = until(wire, "game")
        assert (game["board"]["fen"], len(game["board"]["cells"])) == ("5/5/5/5/5 b freestyle-3", 25)
        for k, text in enumerate(["a1", "a5", "b1", "b5", "c1"]):
            game = move(wire, text, ply=k)
        assert (game["ended"], game["board"]["winner"], game["board"]["cells"]) == ("board", "first", [])
        assert "the game is over" in act(wire, "move", "problem", move="e5")
    psq = client.get(f"/api/play/games/{name}/record.psq")
    assert psq.text.splitlines()[:2] == ["Piskvorky 5x5, 1:1, 0", "1,5,0"]
    path = tmp_path / "game.parquet"
    path.write_bytes(client.get(f"/api/play/games/{name}/record.parquet").content)
    (record,) = read_records(path)
    assert (record.winner, record.variant, len(record.actions)) == ("first", "freestyle-3", 5)
    sgf = client.get(f"/api/play/games/{name}/record.sgf")
    assert sgf.headers["content-type"].startswith("application/x-go-sgf")
    assert "PB[First person]PW[Second person]RE[B+]RU[freestyle-3]SZ[5];B[ae];W[aa];B[be];W[ba];B[ce])" in sgf.text
    assert client.get(f"/api/play/games/{name}/record.txt").status_code == 400


def test_game_from_own_position_is_saved_as_sgf(client):
    fen = "5/5/2x2/5/5 w freestyle-3"
    name = begin(client, {"game": "gomoku", "size": 5, "variant": "", "fen": fen, "moves": ["a1"]})
    with joined(client, name) as wire:
        assert until(wire, "game")["formats"] == ["sgf"]
    sgf = client.get(f"/api/play/games/{name}/record.sgf").content
    (record,), _ = read_games(sgf, "x")
    assert (record.variant, record.actions) == (fen, (20,))


def test_amazons_game_is_saved_in_the_sites_format(client):
    name = begin(client, {"game": "amazons", "size": 10, "variant": "standard", "moves": ["d1-d7/g7"]})
    with joined(client, name) as wire:
        until(wire, "game")
        game = act(wire, "resign")
        assert (game["ended"], game["board"]["winner"]) == ("resigned", "first")
    text = client.get(f"/api/play/games/{name}/record.txt").text
    assert ";W[d1-d7/g7];B[resign]" in text
    assert "RE[W+R]RU[standard]SZ[10];W[djddgd])" in client.get(f"/api/play/games/{name}/record.sgf").text


def test_short_cross_game_is_not_saved_without_its_start(client):
    for moves, status in ((["d1-d7/g7"], 400), (["d10-d8/g8"], 200)):
        name = begin(client, {"game": "amazons", "size": 10, "variant": "cross", "moves": moves})
        answer = client.get(f"/api/play/games/{name}/record.txt")
        assert answer.status_code == status
        assert status == 200 or "these turns also fit the standard one; save it as .sgf" in answer.text


def test_the_legal_turns_come_as_a_tree(client):
    board = post(client, "play/board", SIX)
    flat = [f"{a}-{b}/{c}" for a, below in board["turns"].items() for b, arrows in below.items() for c in arrows]
    state = amazons.initial_state(6)
    assert sorted(flat) == sorted(amazons.format_move(int(a), 6, 6) for a in amazons.legal_actions(state))


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ({**THREE, "size": 4, "variant": "freestyle-5"}, "a line of 5 does not fit"),
        ({**SIX, "size": 9}, "9"),
        ({**SIX, "variant": "<b>"}, "<b>"),
        ({**THREE, "moves": ["a1", "a1"]}, "move 2, a1, is not legal"),
        ({**THREE, "moves": ["z9"]}, "z9"),
        ({**THREE, "fen": "q" * 900}, "bad FEN"),
        ({**SIX, "game": "chess"}, "chess"),
        ({**SIX, "game": "../go"}, "../go"),
    ],
)
def test_bad_place_is_refused_with_a_reason(client, place, said):
    for path, body in (("play/board", place), ("play/games", {"place": place})):
        assert said in post(client, path, body, 400)["error"]


def test_bad_message_is_refused_with_a_reason(client):
    for body in ("", "{", "[]", '{"place": 3}', '{"place": {"game": "gomoku"}}', '{"x": NaN}'):
        answer = client.post("/api/play/games", content=body, headers={"content-type": "application/json"})
        assert (answer.status_code, bool(answer.json()["error"])) == (422, True), body


@pytest.mark.parametrize(
    ("player", "said"),
    [
        ("uci:/bin/sh", "starts another program"),
        ("brain:/bin/sh", "no player 'brain'"),
        ("nets:/etc/passwd", "no such file below the folders"),
        ("alphabeta:depth=cnn,model=/etc/passwd", "no such file below the folders"),
        ("nobody", "no player 'nobody'"),
        ("alphabeta:speed=3", "no option 'speed'"),
        ("alphabeta:depth=0", "depth must be at least 1"),
        ("", "first"),
    ],
)
def test_players_that_pages_may_not_ask_for(client, player, said):
    assert said in post(client, "play/games", {"place": SIX, "first": player}, 400 if player else 422)["error"]
    with joined(client, begin(client, SIX)) as wire:
        until(wire, "game")
        act(wire, "hint", "problem", player=player)


def test_a_person_against_a_player_undo_and_pause(client):
    name = begin(client, THREE, second="random")
    with joined(client, name) as wire:
        assert until(wire, "game")["persons_turn"]
        assert not move(wire, "c3")["persons_turn"]
        game = until(wire, "game", lambda one: one["persons_turn"])
        assert len(game["board"]["moves"]) == 2
        assert act(wire, "undo")["board"]["moves"] == []
        assert "no move of a person" in act(wire, "undo", "problem")
    with joined(client, name) as wire:  # another tab, or the same one after a reload
        assert until(wire, "game")["persons_turn"]
        assert move(wire, "a1", ply=0)["board"]["moves"] == ["a1"]
        until(wire, "game", lambda one: one["persons_turn"])
        assert "moved on" in act(wire, "move", "problem", move="b1", ply=0)


def test_two_players_play_while_a_page_watches(client):
    with joined(client, begin(client, SIX, "random", "one_ply")) as wire:
        until(wire, "game", lambda one: len(one["board"]["moves"]) >= 3)
        wire.send_json({"do": "pause"})
        game = until(wire, "game", lambda one: one["paused"])
        assert len(act(wire, "undo")["board"]["moves"]) == len(game["board"]["moves"]) - 1
        wire.send_json({"do": "go"})
        until(wire, "game", lambda one: len(one["board"]["moves"]) > len(game["board"]["moves"]))


@pytest.fixture(scope="module")
def own_games(tmp_path_factory):
    """A server with a game in a file, its path, and a net for its smaller board in the folder."""
    folder = tmp_path_factory.mktemp("own")
    path, net = folder / "my_game.py", folder / "learnt" / "net"
    path.write_text((ROOT / "pipeline_src/games/learnable/othello.py").read_text())
    net.parent.mkdir()
    rules = load_game(str(path))
    write_random_net(net, rules, rules.DIGEST, size=6)
    (folder / "net").write_bytes(net.read_bytes()[:-99])  # cut short
    settings = Settings(folders=(folder,), engines=1, games=(str(path),))
    with TestClient(Guard(create_app(settings), "127.0.0.1"), base_url=BASE) as one:
        yield one, str(path), str(net)


def test_games_in_one_file_come_with_rules_and_nets(own_games):
    client, path, net = own_games
    games = {one["game"]: one for one in ask(client, "play/choices")["games"]}
    assert [*games] == ["amazons", "gomoku", path, *LEARNABLE]
    one = games[path]
    assert one["rules"].startswith("Othello: a disc turns those")
    assert (one["size"], one["variants"]) == (8, [{"name": "standard", "sizes": [8, 6]}])
    assert (one["models"], one["boards"]) == ([net], {net: {"size": 6, "variant": "standard"}})
    assert {"mcts", "net"} <= {player["name"] for player in one["players"]}
    assert games["othello"]["models"] == []  # the net is of a game with another name


def test_a_net_of_a_game_in_one_file_plays(own_games):
    client, path, net = own_games
    place = {"game": path, "size": 6, "variant": "standard"}
    with joined(client, begin(client, place, second=f"net:{net},simulations=20")) as wire:
        board = until(wire, "game")["board"]
        assert sorted(board["plain"]["picks"]) == ["b4", "c5", "d2", "e3"]
        move(wire, "d2")
        board = until(wire, "game", lambda one: one["persons_turn"])["board"]
        assert len(board["moves"]) == 2
        assert board["plain"]["last"] == board["moves"][1]
        act(wire, "hint", "thought", player=f"net:{net}")
        assert until(wire, "thought", lambda one: one["hint"])["hint"] in board["plain"]["picks"]
    judged = post(client, "play/judge", {"place": place, "move": "d2"})
    assert 0 <= judged["lost"] <= 1
    asked = {"game": path, "player": "net:/etc/passwd"}
    assert "no such file below" in post(client, "play/player", asked, 400)["error"]


def test_a_game_in_one_file_is_analysed_by_its_net(own_games):
    client, path, net = own_games
    place = {"game": path, "size": 6, "variant": "standard", "moves": ["d2", "c2"]}
    replay = post(client, "analyse/tree", {"place": place})
    assert (replay["look"], replay["sides"], replay["formats"]) == ("points", [0, 1, 0], [])
    assert replay["analysts"] == [f"net:{net}", "mcts"]
    larger = post(client, "analyse/tree", {"place": {"game": path, "size": 8, "variant": "standard"}})
    assert larger["analysts"] == ["mcts"]
    line = post(client, "analyse/line", {"place": place, "player": f"net:{net}", "nodes": 30})["positions"]
    assert [(one["ply"], one["nodes"] >= 30, 0 < one["win_rate"] < 1) for one in line] == [
        (k, True, True) for k in range(3)
    ]
    game = client.get(f"/api/play/games/{begin(client, place)}/record.parquet").content
    source = client.post("/api/analyse/upload?name=game.parquet", content=game).json()["source"]
    again = ask(client, "analyse/game", source=source, number=1)
    assert [one["move"] for one in again["nodes"]] == ["d2", "c2"]


def test_files_that_the_server_was_not_given_are_refused(client, tmp_path):
    path = tmp_path / "other.py"
    path.write_text("raise SystemExit")
    for game in (str(path), "othello.py", "pipeline_src.games.go"):
        place = {"game": game, "size": 8, "variant": "standard"}
        for where, body in (("board", place), ("games", {"place": place}), ("judge", {"place": place, "move": "a1"})):
            assert "no game called" in post(client, f"play/{where}", body, 400)["error"]


def test_moves_in_one_file_are_picked_by_cells(client, tmp_path):
    place = {"game": "connect_four", "size": 7, "variant": "standard"}
    name = begin(client, place)
    with joined(client, name) as wire:
        plain = until(wire, "game")["board"]["plain"]
        assert (plain["look"], plain["picks"]["d1"], plain["last"]) == ("squares", "d", "")
        for text in "dedeed":
            plain = move(wire, text)["board"]["plain"]
        assert plain["stones"] == {"d1": "x", "e1": "o", "d2": "x", "e2": "o", "e3": "x", "d3": "o"}
        assert (plain["last"], plain["picks"]["d4"], "d1" in plain["picks"]) == ("d3", "d", False)
        assert "expected a column" in act(wire, "move", "problem", move="d4")
    path = tmp_path / "game.parquet"
    path.write_bytes(client.get(f"/api/play/games/{name}/record.parquet").content)
    assert read_records(path)[0].actions == (3, 4, 3, 4, 4, 3)
    ways = post(client, "play/board", {"game": "breakthrough", "size": 6, "variant": "standard"})["plain"]
    assert {"b2-a3", "b2-b3", "b2-c3"} <= set(ways["picks"])
    for game, size, look in (("hex", 7, "hexagons"), ("connect6", 15, "points")):
        assert post(client, "play/board", {"game": game, "size": size, "variant": ""})["plain"]["look"] == look


def free(client):
    return client.app.app.state.engines._free


def test_thoughts_arrive_and_a_closed_tab_ends_the_search(client):
    name = begin(client, SIX, f"alphabeta:movetime={LONG}")
    with joined(client, name) as wire:
        thought = until(wire, "thought", lambda one: one["thought"])["thought"]
        assert (thought["nodes"] > 0, 0 <= thought["win_rate"] <= 1, thought["unit"]) == (True, True, "squares")
        assert free(client) == 1
    wait(lambda: free(client) == 2, SOON_S)
    with joined(client, name) as wire:
        until(wire, "thought", lambda one: one["thought"])
        asked = time.monotonic()
        wire.send_json({"do": "stop"})
        until(wire, "game", lambda one: one["board"]["moves"])
    assert time.monotonic() - asked < SOON_S


def test_a_hint_is_shown_and_changes_nothing(client):
    with joined(client, begin(client, THREE)) as wire:
        until(wire, "game")
        wire.send_json({"do": "hint", "player": "alphabeta:depth=1"})
        done = until(wire, "thought", lambda one: one["stage"] == "done")
        assert done["hint"]
        assert move(wire, "a1", ply=0)["board"]["moves"] == ["a1"]


def test_killed_engine_is_reported_and_asked_again(client):
    with joined(client, begin(client, SIX, f"alphabeta:movetime={LONG}")) as wire:
        until(wire, "thought", lambda one: one["thought"])
        (engine,) = (one for one in client.app.app.state.engines._all if one.busy)
        os.kill(engine.process.pid, signal.SIGKILL)
        problem = until(wire, "problem")
        assert (problem["engine"], "killed by SIGKILL" in problem["text"]) == (True, True)
        assert not until(wire, "game")["thinking"]
        wire.send_json({"do": "go"})
        until(wire, "thought", lambda one: one["thought"])


def test_bad_model_is_reported_and_can_be_checked_before(client, web_folder):
    path = web_folder / "models" / "amazons" / "nets.pt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"no model")
    with joined(client, begin(client, SIX, f"nets:{path}")) as wire:
        assert str(path) in until(wire, "problem", lambda one: one["engine"])["text"]
    assert str(path) in post(client, "play/player", {"game": "amazons", "player": f"nets:{path}"}, 400)["error"]
    assert post(client, "play/player", {"game": "amazons", "player": "random"}) == {"only": None}


def test_player_waiting_for_a_process_is_notified(client):
    with (
        joined(client, begin(client, SIX, f"alphabeta:movetime={LONG}")) as one,
        joined(client, begin(client, SIX, f"alphabeta:movetime={LONG}")) as two,
    ):
        for wire in (one, two):
            until(wire, "thought", lambda thought: thought["thought"])
        with joined(client, begin(client, SIX, "random")) as three:
            assert until(three, "thought")["stage"] == "waiting"
            one.send_json({"do": "pause"})
            until(three, "game", lambda game: game["board"]["moves"])


def test_clock_runs_down_and_game_is_lost_on_time(client):
    name = begin(client, THREE, minutes=0.02, increment_s=0.5)
    with joined(client, name) as wire:
        assert until(wire, "game")["clocks"] == {"left_ms": [1200.0, 1200.0], "running": None}
        game = move(wire, "a1")
        assert game["clocks"]["running"] == 1
        assert game["clocks"]["left_ms"][0] == 1700
        game = until(wire, "game", lambda one: one["ended"])
        assert (game["ended"], game["board"]["winner"]) == ("time", "first")
        game = act(wire, "undo")
        assert (game["ended"], game["board"]["moves"]) == (None, ["a1"])  # the turn in which the time ran out
        assert game["clocks"]["left_ms"][0] == 1700
        assert game["clocks"]["left_ms"][1] > 0


def test_no_time_passes_without_a_watching_page(client, monkeypatch):
    monkeypatch.setattr(session, "GRACE_S", 0.0)
    name = begin(client, THREE, minutes=1)
    with joined(client, name) as wire:
        until(wire, "game")
        move(wire, "a1")
    time.sleep(2)
    with joined(client, name) as wire:
        assert until(wire, "game")["clocks"]["left_ms"][1] > 60_000 - 1500


def test_flood_of_messages_closes_only_its_tab(client):
    with joined(client, begin(client, THREE)) as other, joined(client, begin(client, THREE)) as wire:
        until(wire, "game")
        for _ in range(BURST + 10 * A_SECOND):
            wire.send_json({"do": "undo"})
        with pytest.raises(WebSocketDisconnect) as closed:
            until(wire, "nothing")
        assert closed.value.code == FLOOD
        until(other, "game")
        move(other, "a1")


def test_bad_message_is_reported_and_game_continues(client):
    with joined(client, begin(client, THREE)) as wire:
        until(wire, "game")
        wire.send_bytes(b'{"do": "pause"}')
        assert until(wire, "problem")["text"]
        for text in ("", "x", "[]", '{"do": "fly"}', '{"do": "move", "move": "' + "a" * 100 + '"}'):
            wire.send_text(text)
            assert until(wire, "problem")["text"]
        move(wire, "a1")


def test_missing_game_and_too_many_tabs(client):
    with pytest.raises(WebSocketDisconnect) as closed, joined(client, "none") as wire:
        wire.receive_json()
    assert closed.value.code == GONE
    assert client.get("/api/play/games/none/record.psq").status_code == 404
    name = begin(client, THREE)
    with contextlib.ExitStack() as tabs:
        for _ in range(MOST_TABS):
            until(tabs.enter_context(joined(client, name)), "game")
        with pytest.raises(WebSocketDisconnect) as closed, joined(client, name) as wire:
            wire.receive_json()
        assert closed.value.code == BUSY


def test_number_of_games_is_bounded_and_oldest_goes(client, monkeypatch):
    assert session.MOST >= 100
    monkeypatch.setattr(session, "MOST", 3)
    names = [begin(client, THREE) for _ in range(4)]
    assert all(len(name) >= 12 for name in {*names}), "nobody can guess them"
    kept = [client.app.app.state.games.get(name) is not None for name in names]
    assert kept == [False, True, True, True]
    with joined(client, names[1]), joined(client, names[2]), joined(client, names[3]):
        wait(lambda: all(client.app.app.state.games.get(name).tabs for name in names[1:]))
        assert "too many games" in post(client, "play/games", {"place": THREE}, 503)["error"]


@pytest.mark.parametrize("games", [["gomoku"], pytest.param([*USUAL], marks=pytest.mark.slow)])
def test_usual_players_are_loaded_in_advance(web_folder, monkeypatch, games):
    done, own = [], Thinking.last
    monkeypatch.setattr(page, "USUAL", {game: USUAL[game] for game in games})

    async def last(thinking):
        answer = await own(thinking)
        done.append((thinking._work.player, answer.chosen.move))
        return answer

    monkeypatch.setattr(Thinking, "last", last)
    with TestClient(create_app(Settings(folders=(web_folder,), engines=1, ahead=True)), base_url=BASE):
        wanted = [player for game in games for player in (hinting(game, ""), ANALYSTS[game][0])]
        wait(lambda: len(done) == len(wanted), 120)
    assert [player for player, move in done if move] == wanted


def test_the_docs_have_the_codes_that_close_a_game():
    text = (ROOT / "docs/reference/web.md").read_text()
    assert all(f"| {code} | " in text for code in (GONE, BUSY, FLOOD, SLOW))
    assert f"open {MOST_TABS} times" in text
    assert f"more than {BURST} messages at once, or {A_SECOND} a second" in text
