"""All players: their texts, kernels that are there before the clock runs, and games after other games."""

import importlib
import json
import os
import pkgutil
import subprocess
import sys
from contextlib import ExitStack
from functools import reduce
from typing import ClassVar, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from pipeline_src import systems
from pipeline_src.arena.game import Fixture, GameClock, OpenGame, TimeControl, play, random_openings
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons
from pipeline_src.games.game import get_game
from pipeline_src.players import ENGINES, PLAYERS
from pipeline_src.players.amazons import OnePlyPlayer
from pipeline_src.players.player import Bounds, Options, Player, PlayerText, Position, read_options
from pipeline_src.players.registry import make_player, maker_of, makers_of, open_maker, players_of, texts_of
from pipeline_src.players.searching import RandomPlayer, time_on_clock
from pipeline_src.search.limits import Clock, Limit
from tests.players import test_programs


def test_texts_become_players():
    assert isinstance(make_player("amazons", "random"), RandomPlayer)
    player = make_player("amazons", " one_ply:noise=0.5 ")
    assert isinstance(player, OnePlyPlayer)
    assert player.noise == 0.5


@pytest.mark.parametrize(
    ("text", "name", "value", "options"),
    [
        ("random", "random", "", {}),
        ("nets:a/b.pt", "nets", "a/b.pt", {}),
        ("uct:movetime=1000,threads=2", "uct", "", {"movetime": "1000", "threads": "2"}),
        ("nets:a/b.pt,temperature=0.5", "nets", "a/b.pt", {"temperature": "0.5"}),
        ("nets:runs/lr=0.1/nets.pt", "nets", "runs/lr=0.1/nets.pt", {}),
        ("uci:", "uci", "", {}),
        ('nets:"runs/a,b=1.pt",temperature=0.5', "nets", "runs/a,b=1.pt", {"temperature": "0.5"}),
        ('nets:"x=1"', "nets", "x=1", {}),
        ('nets:"a ""b"".pt"', "nets", 'a "b".pt', {}),
        ('nets:5"x.pt,temperature=1', "nets", '5"x.pt', {"temperature": "1"}),
        ("uci:'./e --x',option.A B=c d", "uci", "'./e --x'", {"option.A B": "c d"}),
        ('uci:"/a b,c/e" --x "d,e",option.P="f, ""g"""', "uci", '"/a b,c/e" --x "d,e"', {"option.P": 'f, "g"'}),
    ],
)
def test_a_text_taken_apart(text, name, value, options):
    found = PlayerText.parse(text)
    assert found == PlayerText(name, value, options)
    assert PlayerText.parse(str(found)) == found
    assert str(found) == text.removesuffix(":")


@given(st.text(), st.dictionaries(st.text("ab", min_size=1), st.text(min_size=1)))
def test_any_value_and_setting_can_be_written(value, options):
    wanted = PlayerText("nets", value, options)
    assert PlayerText.parse(str(wanted)) == wanted


@pytest.mark.parametrize(
    ("game", "text", "complaint"),
    [
        ("amazons", "", "expected NAME"),
        ("amazons", ":x", "expected NAME"),
        (
            "amazons",
            "two_ply",
            "no player 'two_ply' for amazons; there are: random, .*, nets, puct, uci",
        ),
        ("amazons", "random:5", "takes no '5' after the colon"),
        ("amazons", "random:noise=1", "has no option 'noise'; its options: none"),
        ("amazons", "one_ply:noise", "takes no 'noise'"),
        ("amazons", "one_ply:noise=", "cannot read 'noise='"),
        ("amazons", "one_ply:noise=1,noise=2", "cannot read 'noise=2'"),
        ("amazons", "one_ply:noise=1,,", "cannot read ''"),
        ("amazons", "uci:/a,b/engine", 'each key once; a value with a comma stands in double quotes: NAME:"a,b"'),
        ("amazons", "one_ply:noise=loud", "noise='loud' is not a number"),
        ("amazons", "one_ply:noise=-1", "noise must be at least 0"),
        ("amazons", "one_ply:noise=inf", "noise must be at least 0"),
        ("amazons", "nets:no/such/nets.pt", "no/such/nets.pt: no such model"),
        ("amazons", "nets:no/such/nets.pt,noise=1", "has no option 'noise'"),
        ("gomoku", "alphabeta:4", "takes no '4'"),
        ("gomoku", "alphabeta:depth=0", "depth must be at least 1"),
        ("gomoku", "alphabeta:near=2", "has no option 'near'"),
        ("gomoku", "alphabeta:width=1.5", "width must be a whole number"),
        ("gomoku", "minimax:depth=0", "1 to 8"),
        ("gomoku", "minimax:nodes=5", "has no option 'nodes'"),
        ("gomoku", "mcts:playouts=0", "playouts must be at least 1 and below 2147483647, not 0"),
        ("gomoku", "mcts:playouts=2.5", "playouts must be a whole number, not 2.5"),
        ("gomoku", "mcts:c=-1", "c must be at least 0"),
        ("amazons", "alphabeta:size=3", "its options: depth, nodes, movetime, width"),
        ("amazons", "alphabeta:width=2.5", "width must be a whole number, not 2.5"),
        ("amazons", "alphabeta:table_mb=inf", "table_mb"),
        ("amazons", "alphabeta:depth=0", "depth must be at least 1, not 0"),
        ("amazons", "uct:nodes=5,iterations=5", "one option"),
        ("amazons", "uct:tree=0", "tree must be 1 to 33554432"),
        ("gomoku", "brain", "needs a command, as in brain:"),
        ("gomoku", "brain:'x", "command is not a command line"),
        ("gomoku", "brain:x,movetime=0", "movetime must be at least 1"),
        ("amazons", "uci", "needs a command, as in uci:"),
        ("amazons", "uci:x,movetime=fast", "is not a number"),
    ],
)
@pytest.mark.usefixtures("shipped")
def test_unreadable_text_is_named(game, text, complaint):
    with pytest.raises(ZugwerkError, match=complaint):
        make_player(game, text)


def test_a_game_without_players():
    with pytest.raises(ZugwerkError, match="no game called 'chess'"):
        make_player("chess", "random")


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize("game", ["amazons", "gomoku"])
def test_every_maker_takes_options_with_an_example(game, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    names = [name for room in rooms(game) for name in room]
    assert len(names) == len(set(names)) == len(makers_of(game))
    for where in makers_of(game).values():
        _, options = open_maker(where)
        assert issubclass(options, Options)
        assert maker_of(game, PlayerText.parse(options.EXAMPLE)) == where
        with ExitStack() as expected:
            if "artifacts/" in options.EXAMPLE:
                expected.enter_context(pytest.raises(ZugwerkError, match=r"artifacts/models/.*: no such model"))
            make_player(game, options.EXAMPLE).close()


def rooms(game):
    """The players that each room names."""
    yield PLAYERS[game]
    yield ENGINES[game]
    for system in pkgutil.iter_modules(systems.__path__):
        module = importlib.import_module(f"pipeline_src.systems.{system.name}")
        yield getattr(module, "PLAYERS", {}).get(game, {})


SERVED = (
    "from pipeline_src.players.session import converse; lines = io.BytesIO(b'uci\\nposition startpos\\ngo\\n'); "
    "converse(lambda write: Session('amazons', 'one_ply', write), lines, out); "
    "assert b'bestmove' in out.getvalue()"
)


@pytest.mark.parametrize(
    ("module", "program", "absent"),
    [
        ("registry", "assert makers_of('amazons') and makers_of('gomoku')", {"torch", "numba", "pyarrow"}),
        ("registry", "make_player('amazons', 'one_ply')", {"torch", "pyarrow"}),
        ("uci", SERVED, {"torch", "pyarrow"}),
    ],
)
def test_no_player_is_heavier_than_what_it_plays_with(module, program, absent):
    code = f"import io, sys; out = io.BytesIO(); from pipeline_src.players.{module} import *; {program}; "
    code += f"sys.exit(bool({absent} & sys.modules.keys()))"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_options_are_read_by_their_types():
    class Some(Options):
        ALIASES: ClassVar = {"simulations": "nodes"}

        nodes: int | None = None
        share: float = 0.5
        fast: bool = False
        way: Literal["up", "down"] = "up"
        info: dict[str, str] = Field(default_factory=dict)

    def read(text):
        return read_options(Some, PlayerText.parse(text))

    assert read("some") == Some()
    assert read("some:nodes=1e4,share=1,fast=1,way=down") == Some(nodes=10_000, share=1.0, fast=True, way="down")
    assert read("some:simulations=3,info.a=b,info.c.d=5") == Some(nodes=3, info={"a": "b", "c.d": "5"})
    for text, complaint in (
        ("nodes=2.5", "nodes must be a whole number, not 2.5"),
        ("nodes=inf", "nodes must be a whole number, not inf"),
        ("simulations=many", "simulations='many' is not a number"),
        ("nodes=1,simulations=1", "nodes and simulations are one option; give one of them"),
        ("share=x", "share='x' is not a number"),
        ("share=nan", "share must be finite, not nan"),
        ("fast=yes", "fast must be 0 or 1, not 'yes'"),
        ("way=left", "way is one of up, down, not 'left'"),
        ("info=3", "has no option 'info'; its options: nodes, share, fast, way, info.KEY"),
        ("speed=1,share=x", "has no option 'speed'"),
    ):
        with pytest.raises(ZugwerkError, match=f"^player 'some':? {complaint}"):
            read(f"some:{text}")


def test_a_limit_of_depth_or_nodes_leaves_the_clock_on():
    player, start = make_player("amazons", "alphabeta"), amazons.initial_state()
    position = Position(start, np.random.default_rng(0), start, (), Clock(1000.0, 1000.0, 0.0))
    time_ms = time_on_clock(position)
    assert player._limit(position, Bounds(depth=9)) == Limit(depth=9, movetime_ms=time_ms)
    assert player._limit(position, Bounds(nodes=9)) == Limit(nodes=9, movetime_ms=time_ms)
    assert player._limit(position, Bounds(depth=9, movetime_ms=70.0)) == Limit(depth=9, movetime_ms=70.0)
    assert player._limit(position, Bounds(infinite=True)) == Limit()


# Nothing compiles on the clock: what a player calls in a game is there once it is ready.


PROGRAM = """
import json, os, sys
import numpy as np
import torch  # once for all who need it
from pipeline_src.games.game import get_game
from pipeline_src.games.kernels import rules_need
from pipeline_src.jit import ready
from pipeline_src.jit.parts import Kernel
from pipeline_src.players.player import Bounds, Position
from pipeline_src.players.registry import build_player
from pipeline_src.search.limits import Clock

def play(game, text, size, plies):
    rules, player = get_game(game), build_player(game, text)
    state = start = rules.initial_state(size)
    new = ready([*rules_need(start), *player.needs(start)])
    late, compile = [], Kernel.compile

    def noted(kernel, signature):
        late.append(kernel.py_func.__qualname__)
        return compile(kernel, signature)

    Kernel.compile = noted
    actions = []
    while rules.winner(state) is None and len(actions) < plies:
        timed = not text.startswith("minimax")  # which knows a depth alone
        clock = Clock(2_000, 2_000) if timed and len(actions) % 3 == 1 else None
        position = Position(state, np.random.default_rng(len(actions)), start, tuple(actions), clock)
        if timed and len(actions) % 3 == 2:
            action = player.think(position, Bounds(depth=2, nodes=30)).action
        else:
            action = player.choose([position])[0]
        assert rules.is_legal(state, action)
        state = rules.play(state, action)
        actions.append(action)
    return [new, late, len(actions), rules.winner(state)]

for case in json.loads(sys.argv[1]):
    child = os.fork()  # a process each, that has loaded no kernel
    if not child:
        status = 1
        try:
            print(json.dumps(play(*case)), flush=True)
            status = 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(status)
    if os.waitpid(child, 0)[1]:
        print(json.dumps(None), flush=True)
"""
CHEAP = {
    "amazons": {
        "random": ("random", 6),
        "one_ply": ("one_ply:noise=0.5", 6),
        "alphabeta": ("alphabeta:nodes=100", 6),
        "uct": ("uct:nodes=20", 6),
        "level": ("level:1", 6),
        "nets": ("nets", 10),
        "puct": ("puct:simulations=4", 10),
    },
    "gomoku": {
        "random": ("random", 6),
        "one_ply": ("one_ply:noise=10", 7),
        "minimax": ("minimax:depth=1", 6),
        "alphabeta": ("alphabeta:nodes=100", 7),
        "engine": ("engine:nodes=100", 9),
        "mcts": ("mcts:playouts=20", 6),
        "level": ("level:1", 9),
        "zero": ("zero:fours=40,simulations=8", 9),
        "zero:simulations=300": ("zero:simulations=8", 9),
        "zero:search=gumbel": ("zero:simulations=8,search=gumbel", 9),
        "zero:solver=200": ("zero:simulations=8,solver=20", 9),
    },
}
"""By the text with no limits: such a player that moves fast, and a board that it plays on."""


def play_apart(*cases, cache=None):
    """Of each case (kernels compiled before the game, loaded or compiled within it, plies, result); None if it failed.

    A case is a game, a player, a size and a number of plies.
    """
    env = os.environ | ({} if cache is None else {"ZUGWERK_CACHE": str(cache)})
    words = [sys.executable, "-W", "error", "-c", PROGRAM, json.dumps(cases)]
    done = subprocess.run(words, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def played():
    """Games of all cheap players, by their cases."""
    cases = [(game, *player, 300) for game, players in CHEAP.items() for player in players.values()]
    return dict(zip(cases, play_apart(*cases), strict=True))


@pytest.mark.usefixtures("shipped")
def test_each_player_that_is_warmed_is_looked_at():
    for game, texts in CHEAP.items():
        assert sorted(texts) == sorted(texts_of(game))
        assert {text.partition(":")[0] for text in texts} | ENGINES[game].keys() == players_of(game).keys()


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("game", "name"), [(game, name) for game, texts in CHEAP.items() for name in texts])
def test_no_kernel_is_loaded_in_a_game(played, game, name):
    """Nor compiled, which comes to the same where all of them are on disk."""
    _, late, plies, winner = played[game, *CHEAP[game][name], 300]
    assert late == []
    assert winner is not None or plies == 300


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_after_ready_no_kernel_is_compiled_in_a_game(tmp_path):
    cold = [(game, *CHEAP[game][name]) for game, name in (("amazons", "random"), ("gomoku", "minimax"))]
    found = play_apart(*((*case, plies) for plies in (300, 1) for case in cold), cache=tmp_path)
    for new, late, _, winner in found[:2]:
        assert new >= 4
        assert late == []
        assert winner is not None
    assert [again for again, *_ in found[2:]] == [0, 0]  # all on disk now


# A player is made once: after `new_game` it plays just as one that was made a moment ago.


SIZES = {"amazons": 10, "gomoku": 9}
SCRIPTED = {
    "uci": f"uci:{test_programs.command('good')},movetime=500,grace=5000",
    "brain": test_programs.text("good", options="movetime=3000,grace=3000"),
}
TEXTS = {
    "amazons": [
        "random",
        "one_ply:noise=2",
        "alphabeta:nodes=300",
        "alphabeta:depth=table,lowest=1,table=900,width=8,nodes_per_ms=1000,clock=60",
        "alphabeta:nodes_per_ms=1000,clock=60,width=8",
        "uct:iterations=12",
        "level:2",
        "nets",
        "nets:temperature=1",
        "puct:simulations=2",
        SCRIPTED["uci"],
    ],
    "gomoku": [
        "random",
        "one_ply:noise=10",
        "minimax:depth=1",
        "alphabeta:depth=2",
        "alphabeta:nodes=300",
        "engine:nodes=300",
        "mcts:playouts=40",
        "level:1",
        "zero:simulations=16",
        "zero:simulations=16,temperature=1",
        "zero:simulations=16,search=gumbel",
        "zero:simulations=16,solver=50",
        SCRIPTED["brain"],
    ],
}


def test_every_player_is_here():
    for game in TEXTS:
        shipped = {name for name, maker in players_of(game).items() if maker.startswith("pipeline_src.")}
        assert shipped == {text.partition(":")[0] for text in TEXTS[game]}


def play_all(game, player, openings, first):
    """One game from each opening, in lock step where the player keeps no clock; numbered from ``first``."""
    rules, other = get_game(game), make_player(game, "random")
    start = rules.initial_state(SIZES[game])
    control = TimeControl(clock_ms=60.0, nodes_per_ms=1000.0) if hasattr(player, "chooser") else None
    fixtures = [Fixture("", "", opening, (number,)) for number, opening in enumerate(openings, first)]
    clocks = [None if control is None else GameClock(control) for _ in openings]
    both = zip(fixtures, clocks, strict=True)
    return play([OpenGame(rules, start, fixture, (player, other), clock) for fixture, clock in both])


@pytest.mark.parametrize(("game", "text"), [(game, text) for game, texts in TEXTS.items() for text in texts])
def test_a_used_player_plays_as_a_new_one(game, text):
    start = get_game(game).initial_state(SIZES[game])
    openings = random_openings(get_game(game), start, 3, 4, [1])
    fresh, used = make_player(game, text), make_player(game, text)
    assert isinstance(fresh, Player)
    try:
        expected = play_all(game, fresh, openings[:1], 0)
        assert len(expected[0].actions) > 8
        used.check(start)
        used.ready(start)
        used.new_game()
        play_all(game, used, openings[1:], 1)
        used.new_game()
        used.ready(start)
        assert play_all(game, used, openings[:1], 0) == expected
        used.close()  # the next move starts again what this ended
        used.new_game()
        assert play_all(game, used, openings[:1], 0) == expected
    finally:
        fresh.close()
        used.close()


def test_the_engine_searches_afresh_in_a_new_game():
    player, rules = make_player("gomoku", "engine"), get_game("gomoku")
    state = reduce(rules.play, (40, 41, 32), rules.initial_state(9))

    def nodes():
        return player.engine.search(state, Limit(movetime_ms=60_000, depth=5)).nodes

    fresh = nodes()
    assert nodes() < fresh
    player.new_game()
    assert nodes() == fresh


def test_player_with_memory_is_notified_of_a_new_game():
    class Remembering(Player):
        """Plays by how many moves it has made in this game."""

        def __init__(self):
            self.made = 0

        def new_game(self):
            self.made = 0

        def choose(self, positions):
            self.made += 1
            legal = get_game("amazons").legal_actions(positions[0].state)
            return [int(legal[self.made % len(legal)])]

    player = Remembering()
    first = play_all("amazons", player, [()], 0)
    assert play_all("amazons", player, [()], 0) != first
    player.ready(get_game("amazons").initial_state(10))  # which chooses for once, and forgets that
    assert play_all("amazons", player, [()], 0) == first
    player.new_game()
    assert play_all("amazons", player, [()], 0) == first
