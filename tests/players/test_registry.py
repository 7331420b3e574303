import importlib
import pkgutil
import subprocess
import sys
from contextlib import ExitStack
from typing import ClassVar, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from pipeline_src import systems
from pipeline_src.errors import ZugwerkError
from pipeline_src.players import ENGINES, PLAYERS
from pipeline_src.players.amazons import OnePlyPlayer, RandomPlayer
from pipeline_src.players.player import Options, PlayerText, read_options
from pipeline_src.players.registry import make_player, maker_of, makers_of, open_maker


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
            "no player 'two_ply' for amazons; there are: random, one_ply, alphabeta, uct, level, nets, puct, uci",
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
        ("amazons", "one_ply:noise=nan", "noise must be at least 0"),
        ("amazons", "one_ply:noise=inf", "noise must be at least 0"),
        ("amazons", "nets:no/such/nets.pt", "no/such/nets.pt: no such model"),
        ("amazons", "nets:no/such/nets.pt,noise=1", "has no option 'noise'"),
        ("gomoku", "alphabeta:4", "takes no '4'"),
        ("gomoku", "alphabeta:depth=0", "depth must be at least 1"),
        ("gomoku", "alphabeta:near=2", "has no option 'near'"),
        ("gomoku", "alphabeta:width=1.5", "width must be a whole number"),
        ("gomoku", "alphabeta:table_mb=-1", "table_mb"),
        ("gomoku", "minimax:depth=0", "1 to 8"),
        ("gomoku", "minimax:depth=9", "1 to 8"),
        ("gomoku", "minimax:depth=1.5", "depth must be a whole number, not 1.5"),
        ("gomoku", "minimax:nodes=5", "has no option 'nodes'"),
        ("gomoku", "mcts:playouts=0", "playouts must be at least 1 and below 2147483647, not 0"),
        ("gomoku", "mcts:playouts=2.5", "playouts must be a whole number, not 2.5"),
        ("gomoku", "mcts:c=-1", "c must be at least 0"),
        ("gomoku", "mcts:1000", "takes no '1000'"),
        ("gomoku", "random:1", "takes no '1'"),
        ("amazons", "alphabeta:strong", "takes no 'strong'"),
        ("amazons", "alphabeta:size=3", "its options: depth, nodes, movetime, width"),
        ("amazons", "alphabeta:width=2.5", "width must be a whole number, not 2.5"),
        ("amazons", "alphabeta:table_mb=-1", "table_mb"),
        ("amazons", "alphabeta:table_mb=inf", "table_mb"),
        ("amazons", "alphabeta:depth=0", "depth must be at least 1, not 0"),
        ("amazons", "uct:fast", "takes no 'fast'"),
        ("amazons", "uct:nodes=0", "nodes must be at least 1"),
        ("amazons", "uct:nodes=5,iterations=5", "one option"),
        ("amazons", "uct:tree=2.5", "tree must be a whole number, not 2.5"),
        ("amazons", "uct:tree=0", "tree must be 1 to 33554432"),
        ("amazons", "uct:c=-2", "c must be at least 0, not -2.0"),
        ("amazons", "uct:speed=2", "no option 'speed'"),
        ("gomoku", "brain", "needs a command, as in brain:"),
        ("gomoku", "brain:'x", "command is not a command line"),
        ("gomoku", "brain:x,movetime=0", "movetime must be at least 1"),
        ("gomoku", "brain:x,depth=3", "has no option 'depth'"),
        ("amazons", "uci", "needs a command, as in uci:"),
        ("amazons", "uci:'x", "command is not a command line"),
        ("amazons", "uci:x,movetime=0", "movetime must be at least 1"),
        ("amazons", "uci:x,movetime=fast", "is not a number"),
        ("amazons", "uci:x,width=3", "has no option 'width'"),
    ],
)
@pytest.mark.usefixtures("shipped")
def test_unreadable_text_is_named(game, text, complaint):
    with pytest.raises(ZugwerkError, match=complaint):
        make_player(game, text)


def test_a_game_without_players():
    with pytest.raises(ZugwerkError, match="for chess"):
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


def test_packages_import_without_heavy_dependencies():
    """Who plays is known without what they play with."""
    code = "import sys; from pipeline_src.players.registry import makers_of as m; assert m('amazons') and m('gomoku'); "
    code += "sys.exit(bool({'torch', 'numba', 'pyarrow'} & sys.modules.keys()))"
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


def test_players_without_a_net_bring_no_torch():
    code = "import sys; from pipeline_src.players.registry import make_player as m; m('amazons', 'one_ply'); "
    subprocess.run([sys.executable, "-c", code + "sys.exit('torch' in sys.modules)"], check=True)
